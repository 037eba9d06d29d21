"""Runs that differ in their seed alone: the least, the middle and the largest of what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firstlight.errors import FirstlightError
from firstlight.report.rows import Range, range_of
from firstlight.theory.trained import is_full_batch
from firstlight.theory.verification import Row

if TYPE_CHECKING:
    from firstlight.runs import Run


@dataclass(frozen=True)
class SpreadRow:
    """One weight at one checkpoint, over runs.

    Attributes:
        step: updates done.
        s_eta: step times rate.
        weight: its name in the checkpoint.
        runs: how many runs have this checkpoint.
        cosine: of the weight and its prediction.
        relative_error: as in `Row`.
        deviation: as in `Row`.
        loss: as in `Row`.
        bound: as in `Row`, the same for all runs.
    """

    step: int
    s_eta: float
    weight: str
    runs: int
    cosine: Range
    relative_error: Range
    deviation: Range
    loss: Range
    bound: float | None


def spread(runs_rows: Sequence[Sequence[Row]]) -> list[SpreadRow]:
    """Put the rows of several runs together, checkpoint by checkpoint; of one run the three values are equal."""
    groups: dict[tuple[int, str], list[Row]] = {}
    for rows in runs_rows:
        for row in rows:
            groups.setdefault((row.step, row.weight), []).append(row)
    order = {weight: place for place, weight in enumerate(dict.fromkeys(row.weight for row in runs_rows[0]))}
    return [
        SpreadRow(
            step=step,
            s_eta=group[0].s_eta,
            weight=weight,
            runs=len(group),
            cosine=range_of([row.cosine for row in group]),
            relative_error=range_of([row.relative_error for row in group]),
            deviation=range_of([row.deviation for row in group]),
            loss=range_of([row.loss for row in group]),
            bound=group[0].bound,
        )
        for (step, weight), group in sorted(groups.items(), key=lambda item: (item[0][0], order[item[0][1]]))
    ]


def check_alike(runs: Sequence["Run"]) -> None:
    """Raise an error unless runs differ in their seed alone."""
    first = _without_seed(runs[0])
    for run in runs[1:]:
        other = _without_seed(run)
        for name in [*first, *other]:
            if first.get(name) != other.get(name):
                raise FirstlightError(
                    f"{run.path}: {name} is {other.get(name)!r}, but {first.get(name)!r} in {runs[0].path}; "
                    "expected runs that differ in their seed alone"
                )
    seeds = [run.manifest["seed"] for run in runs]
    if len(set(seeds)) < len(seeds):
        raise FirstlightError(f"{runs[0].path} and others: seeds {', '.join(map(str, seeds))}; expected distinct ones")


def seed_matters(run: "Run") -> bool:
    """Return whether the seed of a run decides anything: it draws the start, and the order of batches."""
    return bool(run.settings["init"] == "gaussian" or not is_full_batch(run))


def _without_seed(run: "Run") -> dict[str, Any]:
    return {name: value for name, value in run.settings.items() if name != "seed"}
