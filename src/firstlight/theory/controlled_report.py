"""The page of the controlled experiments: where prediction, counts and training meet the truth, and where not."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from firstlight.files import write_json
from firstlight.report.page import Section, Table, write_page
from firstlight.report.plots import Axis, Line, line_plot, write_png
from firstlight.report.rows import grouped, range_of
from firstlight.theory.controlled import Comparison, Controlled, Losses
from firstlight.theory.tables import spread_text
from firstlight.theory.terms import KINDS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Found = TypeVar("Found", Comparison, Losses)

STORIES = (
    "Stories of the embedded grammar, whose true output and value terms are known exactly. Attention and position "
    "terms have no known truth: they are compared with counts of as many other stories."
)
COPIES = (
    "Windows that are a random string, twice. The true bigram matrix is zero, so the truth predicts that nothing is "
    "learnt, and what is counted of output and value is noise that another sample does not share. The model learns to "
    "copy all the same. Attention and position terms are made of squares of that noise, whose mean is not zero: of "
    "attention little is shared, of position nearly all, which finds the distance of the copy."
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
    """Return cosines of what is counted, trained and true: the middle of all seeds, and their range."""
    header = ["windows", "term", "s*lr", "counted, true", "counted, other sample", "trained, counted",
              "trained, other sample", "trained, true"]  # fmt: skip
    columns = ("counted_true", "counted_other", "trained_counted", "trained_other", "trained_true")
    cells = [
        [*place, f"{group[0].s_eta:.4g}", *(spread_text([getattr(row, name) for row in group]) for name in columns)]
        for place, group in grouped(rows, lambda row: (row.windows, row.kind)).items()
    ]
    return Table(header, cells, "rlrrrrrr")


def loss_table(rows: Sequence[Losses]) -> Table:
    """Return the losses at the last checkpoint of each experiment: the middle of all seeds, and their range."""
    header = ["corpus", "windows", "s*lr", "trained", "closed form", "uniform", "unigram", "bigram"]
    columns = ("trained", "closed_form", "uniform", "unigram", "bigram")
    cells = []
    for place, group in grouped(rows, lambda row: (row.corpus, row.windows)).items():
        end = max(row.step for row in group)
        last = [row for row in group if row.step == end]
        losses = (spread_text([getattr(row, name) for row in last], "{:.4f}".format) for name in columns)
        cells.append([*place, f"{last[0].s_eta:.4g}", *losses])
    return Table(header, cells, "lrrrrrrr")


def controlled_figures(found: Controlled) -> dict[str, "Figure"]:
    """Return the plots by the names of their files."""
    stories, copies = found.last("stories"), [row for row in found.comparisons if row.corpus == "copies" and row.step]
    losses = [row for row in found.losses if row.corpus == "copies" and row.step]
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
                _line("trained", losses, _time, lambda row: row.trained),
                _line("closed form", losses, _time, lambda row: row.closed_form, 1),
                _line("bigram", losses, _time, lambda row: row.bigram, 2, 2),
                _line("uniform", losses, _time, lambda row: row.uniform, 6, 2),
            ],
        ),
    }  # fmt: skip


def _by_count(rows: Sequence[Comparison], kind: str, place: int, trained: bool) -> Line:
    def value(row: Comparison) -> float | None:
        if trained:
            return row.trained_other if row.trained_true is None else row.trained_true
        return row.counted_other if row.counted_true is None else row.counted_true

    own = [row for row in rows if row.kind == kind]
    # Where the theory holds the two are one line: what is counted lies under it.
    name = f"{kind}, {'trained' if trained else 'counted'}"
    return _line(name, own, lambda row: float(row.windows), value, place, pale=not trained)


def _by_time(rows: Sequence[Comparison], kind: str, place: int, other: bool) -> Line:
    own = [row for row in rows if row.kind == kind]
    name = f"{kind}, {'other windows' if other else 'same windows'}"
    return _line(name, own, _time, lambda row: row.trained_other if other else row.trained_counted, place, 2 * other)


def _time(row: Comparison | Losses) -> float:
    return row.s_eta


def _line(
    name: str,
    rows: Sequence[Found],
    place: Callable[[Found], float],
    value: Callable[[Found], float | None],
    colour: int = 0,
    dash: int = 0,
    pale: bool = False,
) -> Line:
    """Draw the middle of all seeds, and their range as a band."""
    groups = grouped(rows, place)
    ranges = [range_of([value(row) for row in group]) for group in groups.values()]
    low, high = [each.low for each in ranges], [each.high for each in ranges]
    return Line(name, list(groups), [each.middle for each in ranges], low, high, colour, dash, pale)
