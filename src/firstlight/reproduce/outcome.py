"""What a reproduction leaves behind: a Markdown report with our numbers beside the paper's, plots, and all numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from firstlight.files import write_atomically, write_json
from firstlight.report.page import Table
from firstlight.report.plots import write_png
from firstlight.report.tables import format_cell

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Scale = Literal["smoke", "laptop", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "laptop", "paper")


@dataclass(frozen=True)
class Place:
    """Where and on what a reproduction works.

    Attributes:
        folder: for all reproductions; corpora, statistics and runs in it are shared between them.
        scale: how large.
        text: a source of stories, or None for the embedded grammar.
        device: of training.
        memory: what a process may hold.
        show: whether to print plans and progress on stderr.
    """

    folder: Path
    scale: Scale
    text: str | None
    device: str = "cpu"
    memory: str = "8GiB"
    show: bool = False

    @property
    def corpus_name(self) -> str:
        """What the stories are, for people."""
        return "the embedded stories" if self.text is None else Path(self.text).name


@dataclass(frozen=True)
class Outcome:
    """A table or figure of a paper, made again.

    Attributes:
        name: such as `associations/table1`.
        title: what it shows.
        claim: what the paper says, in a sentence.
        verdict: what we found, in a sentence that begins with reproduced, partly or not reproduced.
        differences: in what our setting differs from the paper's, and what to keep in mind.
        settings: everything that decides the numbers.
        tables: ours beside theirs.
        figures: by the names of their files.
        numbers: all that was measured.
    """

    name: str
    title: str
    claim: str
    verdict: str
    differences: Sequence[str]
    settings: Mapping[str, Any]
    tables: Mapping[str, Table]
    figures: Mapping[str, "Figure"]
    numbers: Any


def write_outcome(outcome: Outcome, place: Place) -> Path:
    """Write report.md, the plots and numbers.json of an outcome, and return the report."""
    folder = place.folder / outcome.name / place.scale
    folder.mkdir(parents=True, exist_ok=True)
    write_png({folder / f"{name}.png": figure for name, figure in outcome.figures.items()})
    write_json(folder / "numbers.json", {"settings": dict(outcome.settings), "numbers": outcome.numbers})
    write_atomically(folder / "report.md", markdown(outcome, place.scale))
    return folder / "report.md"


def markdown(outcome: Outcome, scale: Scale) -> str:
    """Return the report as Markdown."""
    parts = [
        f"# {outcome.title}",
        f"`firstlight reproduce {outcome.name} --scale {scale}`",
        f"**The paper:** {outcome.claim}",
        f"**Here:** {outcome.verdict}",
    ]
    if outcome.differences:
        parts.append("\n".join(f"- {difference}" for difference in outcome.differences))
    for title, table in outcome.tables.items():
        parts += [f"## {title}", markdown_table(table)]
    parts += [f"![{name}]({name}.png)" for name in outcome.figures]
    settings = Table(["setting", "value"], [[name, str(value)] for name, value in outcome.settings.items()])
    parts += ["## Settings", markdown_table(settings)]
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """Return a table as Markdown."""
    sides = table.right.ljust(len(table.header), "l")

    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(format_cell(cell).replace("|", "\\|") for cell in cells) + " |"

    marks = ["---:" if side == "r" else "---" for side in sides]
    return "\n".join([line(table.header), "|" + "|".join(marks) + "|", *(line(row) for row in table.rows)])
