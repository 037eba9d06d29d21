"""The page of the controlled experiments: where prediction, counts and training meet the truth, and where not."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.files import write_json
from firstlight.report.page import Section, Table, write_page
from firstlight.report.plots import Axis, Line, line_plot, write_png
from firstlight.theory.controlled import Comparison, Controlled, Losses
from firstlight.theory.tables import cosine_text
from firstlight.theory.terms import KINDS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

STORIES = (
    "Stories of the embedded grammar, whose true output and value terms are known exactly. Attention and position "
    "terms have no known truth: they are compared with counts of as many other stories."
)
COPIES = (
    "Windows that are a random string, twice. The true bigram matrix is zero, so the truth predicts that nothing is "
    "learnt, and what is counted is noise that another sample does not share. The model learns to copy all the same. "
    "The position term alone is no noise: it finds the distance of the copy."
)


def write_controlled(folder: Path, found: Controlled, interactive: bool = False) -> list[Path]:
    """Write plots, a page and all numbers, and return the files.

    Arguments:
        folder: where.
        found: what came of the experiments.
        interactive: whether figures on the page zoom and tell values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    figures = controlled_figures(found)
    paths = {folder / f"{name}.png": figure for name, figure in figures.items()}
    write_png(paths)
    settings = [[name, str(value)] for name, value in asdict(found.scale).items()]
    sections = [
        Section("Where the theory holds", [STORIES], [figures["stories"]], [comparison_table(found.last("stories"))]),
        Section(
            "Where it fails", [COPIES], [figures["copies"], figures["copies_loss"]],
            [comparison_table(found.last("copies")), loss_table(found.losses)],
        ),
        Section("Settings", tables=[Table(["setting", "value"], settings)]),
    ]  # fmt: skip
    write_page(folder / "controlled.html", "The theory where the truth is known", sections, interactive)
    write_json(folder / "controlled.json", asdict(found))
    return [*paths, folder / "controlled.html", folder / "controlled.json"]


def comparison_table(rows: Sequence[Comparison]) -> Table:
    """Return cosines of what is counted, trained and true."""
    header = ["windows", "term", "s*lr", "counted, true", "counted, other sample", "trained, counted",
              "trained, other sample", "trained, true"]  # fmt: skip
    cells = [
        [
            row.windows, row.kind, f"{row.s_eta:.4g}",
            *(cosine_text(value) for value in (row.counted_true, row.counted_other, row.trained_counted)),
            *(cosine_text(value) for value in (row.trained_other, row.trained_true)),
        ]
        for row in rows
    ]  # fmt: skip
    return Table(header, cells, "rlrrrrrr")


def loss_table(rows: Sequence[Losses]) -> Table:
    """Return the losses at the last checkpoint of each experiment."""
    last = {(row.corpus, row.windows): row for row in rows}
    header = ["corpus", "windows", "s*lr", "trained", "closed form", "uniform", "unigram", "bigram"]
    cells = [
        [row.corpus, row.windows, f"{row.s_eta:.4g}"]
        + [f"{loss:.4f}" for loss in (row.trained, row.closed_form, row.uniform, row.unigram, row.bigram)]
        for row in last.values()
    ]
    return Table(header, cells, "lrrrrrrr")


def controlled_figures(found: Controlled) -> dict[str, "Figure"]:
    """Return the plots by the names of their files."""
    stories, copies = found.last("stories"), [row for row in found.comparisons if row.corpus == "copies" and row.step]
    losses = [row for row in found.losses if row.corpus == "copies" and row.step]
    time = [row.s_eta for row in losses]
    return {
        "stories": line_plot(
            "Stories: cosine with the true term (output, value) or with that of other stories",
            Axis("windows", log=True), Axis("cosine"),
            [_by_count(stories, kind, place, trained) for place, kind in enumerate(KINDS) for trained in (False, True)],
        ),
        "copies": line_plot(
            "Copies: cosine of trained weights and terms of the same, or other, windows",
            Axis("s·η", log=True), Axis("cosine", between=(-0.5, 1.05)),
            [_by_time(copies, kind, place, other) for place, kind in enumerate(KINDS) for other in (False, True)],
        ),
        "copies_loss": line_plot(
            "Copies: loss of the trained model and of its prediction", Axis("s·η", log=True),
            Axis("loss (nats)", between=(0, 1.3 * losses[0].uniform)),
            [
                Line("trained", time, [row.trained for row in losses]),
                Line("closed form", time, [row.closed_form for row in losses], colour=1),
                Line("bigram", time, [row.bigram for row in losses], colour=2, dash=2),
                Line("uniform", time, [row.uniform for row in losses], colour=6, dash=2),
            ],
        ),
    }  # fmt: skip


def _by_count(rows: Sequence[Comparison], kind: str, place: int, trained: bool) -> Line:
    own = [row for row in rows if row.kind == kind]
    if trained:
        values = [row.trained_other if row.trained_true is None else row.trained_true for row in own]
    else:
        values = [row.counted_other if row.counted_true is None else row.counted_true for row in own]
    name = f"{kind}, {'trained' if trained else 'counted'}"
    # Where the theory holds the two are one line: what is counted lies under it.
    return Line(name, [float(row.windows) for row in own], values, colour=place, pale=not trained)


def _by_time(rows: Sequence[Comparison], kind: str, place: int, other: bool) -> Line:
    own = [row for row in rows if row.kind == kind]
    values = [row.trained_other if other else row.trained_counted for row in own]
    name = f"{kind}, {'other windows' if other else 'same windows'}"
    return Line(name, [row.s_eta for row in own], values, colour=place, dash=2 * other)
