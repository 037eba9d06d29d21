"""The tables of a verification and of an ablation, for the terminal and for the page."""

from collections.abc import Callable, Sequence
from typing import Any

from firstlight.report.page import Table
from firstlight.report.rows import grouped, range_of
from firstlight.theory.ablation import AblationRow
from firstlight.theory.bounds import Theorem
from firstlight.theory.spread import SpreadRow
from firstlight.theory.truncation import TruncationRow
from firstlight.theory.verification import THRESHOLDS, Horizon, Row


def checkpoint_table(rows: Sequence[SpreadRow]) -> Table:
    """Return a line for each checkpoint: the loss and the cosine of each weight, the middle one of several runs."""
    weights = list(dict.fromkeys(row.weight for row in rows))
    cells = []
    for step in dict.fromkeys(row.step for row in rows):
        own = {row.weight: row for row in rows if row.step == step}
        first = own[weights[0]]
        loss = "" if first.loss.middle is None else loss_text(first.loss.middle)
        cells.append([step, f"{first.s_eta:.4g}", loss, *(cosine_text(own[w].cosine.middle) for w in weights)])
    header = ["step", "s*lr", "loss", *weights]
    return Table(header, cells, "r" * len(header))


def row_table(rows: Sequence[Row]) -> Table:
    """Return every row as it is."""
    header = ["step", "s_eta", "weight", "loss", "cosine", "relative_error", "deviation", "bound", "proved", "within"]
    cells = [
        [
            row.step, row.s_eta, row.weight, _known(row.loss), cosine_text(row.cosine), _known(row.relative_error),
            row.deviation, _known(row.bound), _yes(row.in_proved_range), _within(row.within_bound),
        ]
        for row in rows
    ]  # fmt: skip
    return Table(header, cells, "rrlrrrrrll")


def bound_table(rows: Sequence[SpreadRow], theorem: Theorem) -> Table:
    """Return the largest deviations beside bounds: at the end of the proved range, and at the last checkpoint."""
    steps = sorted({row.step for row in rows if row.step > 0})
    proved = [step for step in steps if theorem.in_proved_range(step)]
    shown = {*proved[-1:], *steps[-1:]}
    cells = [
        [
            row.step, row.weight, _known(row.relative_error.high), _known(row.deviation.high), _known(row.bound),
            _yes(theorem.in_proved_range(row.step)), _within(_holds(row)),
        ]
        for row in rows
        if row.step in shown
    ]  # fmt: skip
    header = ["step", "weight", "relative error", "deviation", "bound", "proved range", "within"]
    return Table(header, cells, "rlrrrll")


def horizon_table(horizons: Sequence[Sequence[Horizon]]) -> Table:
    """Return for each weight the s*lr up to which its cosine stays above each threshold, least to largest of runs."""
    cells = []
    for weight in dict.fromkeys(each.weight for each in horizons[0]):
        own = [
            sorted(
                (each for run in horizons for each in run if (each.weight, each.threshold) == (weight, threshold)),
                key=lambda each: -1 if each.step is None else each.step,
            )
            for threshold in THRESHOLDS
        ]
        cells.append([weight, *(" to ".join(dict.fromkeys(map(_horizon_text, (e[0], e[-1])))) for e in own)])
    return Table(["cosine above", *(f"{threshold:g}" for threshold in THRESHOLDS)], cells, "l")


def truncation_table(rows: Sequence[TruncationRow]) -> Table:
    """Return gradients, their leading terms, and what is neglected.

    Arguments:
        rows: of one run, or of several that differ in their seed alone.
    """
    cells = []
    for (step, weight), group in grouped(rows, lambda row: (row.step, row.weight)).items():
        sizes = ([getattr(row, name) for row in group] for name in ("gradient", "leading", "neglected", "share"))
        cells.append([step, f"{group[0].s_eta:.4g}", weight, *(spread_text(size, "{:.4g}".format) for size in sizes)])
    return Table(["step", "s*lr", "weight", "gradient", "leading term", "neglected", "share"], cells, "rrlrrrr")


def ablation_table(rows: Sequence[AblationRow]) -> Table:
    """Return a line for each weight: without its leading term, and without a random direction (least to largest).

    Arguments:
        rows: of one run, or of several that differ in their seed alone.
    """
    cells = []
    for weight, group in grouped(rows, lambda row: row.weight).items():
        controls = [row for row in group if row.removed == "random"]
        changes = _from_to([each.loss_change for each in controls], "+.2g")
        divergences = _from_to([each.kl for each in controls], ".2g")
        kept = [row for row in group if row.removed != "random"]
        own = [
            spread_text([row.share for row in kept], "{:.3f}".format),
            spread_text([row.loss for row in kept], loss_text),
            spread_text([row.loss_change for row in kept], "{:+.3g}".format),
            spread_text([row.kl for row in kept], "{:.3g}".format),
        ]
        cells.append([weight, *own, changes, divergences])
    header = ["weight", "share removed", "loss", "change", "KL", "random: change", "random: KL"]
    return Table(header, cells, "lrrrrrr")


def loss_text(loss: float) -> str:
    """Write a loss; that of a training about to diverge may be of any size."""
    return f"{loss:.4f}" if loss < 1e4 else f"{loss:.3e}"


def cosine_text(cosine: float | None) -> str:
    """Write a cosine so that what it lacks of 1 can be read."""
    if cosine is None:
        return "-"
    lacking = 1 - cosine
    if lacking > 1e-4:
        return f"{cosine:.4f}"
    return f"1-{lacking:.0e}" if lacking > 0 else "1"


def spread_text(values: Sequence[float | None], told: Callable[[float], str] = cosine_text) -> str:
    """Write the middle of several values and, in brackets, the least and the largest where they differ.

    Arguments:
        values: of seeds; those that are None are left out.
        told: writes one.
    """
    known = range_of(values)
    if known.low is None or known.middle is None or known.high is None:
        return "-"
    if told(known.low) == told(known.high):
        return told(known.middle)
    return f"{told(known.middle)} ({told(known.low)} to {told(known.high)})"


def _holds(row: SpreadRow) -> bool | None:
    if row.bound is None or row.deviation.high is None:
        return None
    return row.deviation.high <= row.bound


def _known(value: float | None) -> Any:
    return "-" if value is None else value


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _within(value: bool | None) -> str:
    # In capitals what must not be overlooked.
    return {True: "yes", False: "NO", None: "-"}[value]


def _horizon_text(horizon: Horizon) -> str:
    if horizon.step is None:
        return "never"
    return f"{horizon.s_eta:.4g}{'+' * horizon.censored} (step {horizon.step:,}){' *' * horizon.dipped}"


def horizon_notes(horizons: Sequence[Sequence[Horizon]]) -> list[str]:
    """Return what the signs in the table mean, of those that are there."""
    signs, all_of_them = [], [each for run in horizons for each in run]
    if any(each.censored for each in all_of_them):
        signs.append("+ still above at the last checkpoint")
    if any(each.dipped for each in all_of_them):
        signs.append("* not above at every checkpoint before")
    return signs


def _from_to(values: Sequence[float], form: str) -> str:
    return f"{min(values):{form}} to {max(values):{form}}" if values else ""
