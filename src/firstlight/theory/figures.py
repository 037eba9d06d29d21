"""The plots of a verification: cosines, what is missing from 1, losses, and deviations beside their bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from firstlight.report.plots import Axis, Bars, Line, Mark, bar_plot, line_plot
from firstlight.report.rows import Range, grouped, range_of
from firstlight.theory.ablation import AblationRow
from firstlight.theory.bounds import Theorem
from firstlight.theory.spread import SpreadRow
from firstlight.theory.terms import Kind, kind_of, layer_of
from firstlight.theory.truncation import TruncationRow

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_COLOURS: dict[Kind, int] = {"output": 0, "value": 1, "attention": 2, "position": 3}
_TIME = Axis("s·η", log=True)


def verification_figures(
    rows: Sequence[SpreadRow], theorem: Theorem, closed_form: Sequence[Mapping[str, Any]] = ()
) -> dict[str, "Figure"]:
    """Return the plots of a verification by the names of their files."""
    predicted = [row for row in closed_form if row["step"]]
    losses = [_line(rows, rows[0].weight, "loss", "trained")]
    if predicted:
        groups = grouped(predicted, lambda row: float(row["s_eta"]))
        values = {s_eta: [row["closed_form"] for row in group] for s_eta, group in groups.items()}
        losses.append(replace(_spread_line("closed form", values), colour=1))
    marks = [Mark(theorem.limit, f"proved until {theorem.limit:.3g}")] if theorem.applies else []
    weights = list(dict.fromkeys(row.weight for row in rows))
    return {
        "cosine": line_plot(
            "Cosine of trained weights and their prediction", _TIME, Axis("cosine"),
            verification_lines(rows, "cosine"), marks,
        ),
        "gap": line_plot(
            "What the cosine lacks of 1", _TIME, Axis("1 − cosine", log=True),
            [_gap(_line(rows, weight, "cosine")) for weight in weights], marks,
        ),
        "relative_error": line_plot(
            "Size of the deviation over that of the prediction", _TIME, Axis("relative error", log=True),
            verification_lines(rows, "relative_error"), marks,
        ),
        "bounds": line_plot(
            f"Deviation, and what theorem {theorem.name} bounds it by", _TIME, Axis("Frobenius norm", log=True),
            _bounds(rows) + [_line(rows, weight, "deviation") for weight in weights], marks,
        ),
        "loss": line_plot("Loss", _TIME, Axis("loss (nats)"), losses, marks),
    }  # fmt: skip


def verification_lines(rows: Sequence[SpreadRow], what: str) -> list[Line]:
    """Return a line for each weight, of one of the columns of a verification."""
    return [_line(rows, weight, what) for weight in dict.fromkeys(row.weight for row in rows)]


def truncation_figure(rows: Sequence[TruncationRow]) -> "Figure":
    """Return the plot of what leading terms of gradients neglect; rows as in `truncation_table`."""
    lines = []
    for weight, own in grouped(rows, lambda row: row.weight).items():
        steps = grouped(own, lambda row: row.s_eta)
        line = _spread_line(weight, {s_eta: [row.share for row in group] for s_eta, group in steps.items()})
        lines.append(replace(line, colour=_COLOURS[kind_of(weight)], dash=layer_of(weight) or 0))
    return line_plot("Share of the gradient that its leading term neglects", _TIME, Axis("share", log=True), lines)


def _spread_line(name: str, values: Mapping[float, Sequence[float | None]]) -> Line:
    """Draw the middle of several runs at each time, and their range as a band where there is more than one."""
    ranges = [range_of(each) for each in values.values()]
    banded = max(map(len, values.values())) > 1
    low, high = [each.low for each in ranges], [each.high for each in ranges]
    return Line(name, list(values), [each.middle for each in ranges], low if banded else (), high if banded else ())


def ablation_figures(rows: Sequence[AblationRow]) -> dict[str, "Figure"]:
    """Return the plots of what removing leading terms, and random directions, does to the loss and the output.

    Arguments:
        rows: of one run, or of several that differ in their seed alone, whose range the whiskers are.
    """
    return {
        "ablation": _ablation_bars(rows, "loss_change", "Change of the loss without a part of one weight", False),
        "ablation_kl": _ablation_bars(rows, "kl", "KL divergence of the output without a part of one weight", True),
    }


def _ablation_bars(rows: Sequence[AblationRow], what: str, title: str, log: bool) -> "Figure":
    weights = list(dict.fromkeys(row.weight for row in rows if row.removed == "leading term"))

    def bars(name: str, removed: str, colour: int) -> Bars:
        values = [[getattr(row, what) for row in rows if (row.weight, row.removed) == (w, removed)] for w in weights]
        middle, low, high = ([each(of) for of in values] for each in (median, min, max))
        several = max(map(len, values)) > 1
        return Bars(name, middle, low if several else (), high if several else (), colour)

    groups = [bars("leading term", "leading term", 0)]
    if any(row.removed == "random" for row in rows):
        groups.append(bars("random, same norm", "random", 1))
    return bar_plot(title, weights, Axis("nats", log=log), groups)


def _line(rows: Sequence[SpreadRow], weight: str, what: str, name: str | None = None) -> Line:
    own = [row for row in rows if row.weight == weight]
    ranges: list[Range] = [getattr(row, what) for row in own]
    banded = any(row.runs > 1 for row in own)
    return Line(
        name or weight,
        [row.s_eta for row in own],
        [each.middle for each in ranges],
        [each.low for each in ranges] if banded else (),
        [each.high for each in ranges] if banded else (),
        _COLOURS[kind_of(weight)],
        layer_of(weight) or 0,
    )


def _gap(line: Line) -> Line:
    def lacking(values: Sequence[float | None]) -> list[float | None]:
        return [None if value is None else 1 - value for value in values]

    return Line(line.name, line.x, lacking(line.y), lacking(line.high), lacking(line.low), line.colour, line.dash)


def _bounds(rows: Sequence[SpreadRow]) -> list[Line]:
    """Return a line for each kind; layers have one bound in common, and attention has that of position."""
    lines = []
    for weight in ("W_O", "layers.0.V", "layers.0.W"):
        kind, own = kind_of(weight), [row for row in rows if row.weight == weight and row.bound is not None]
        name = f"bound, {kind}{', position' * (kind == 'attention')}"
        xs, ys = [row.s_eta for row in own], [row.bound for row in own]
        lines.append(Line(name, xs, ys, colour=_COLOURS[kind], pale=True))
    return lines
