"""How far trained weights are from their prediction: a row for each checkpoint and weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firstlight.report.progress import progress
from firstlight.theory.agreement import Comparison
from firstlight.theory.bounds import Setting, Theorem, theorem_for
from firstlight.theory.leading import Order, leading_terms_along
from firstlight.theory.terms import kind_of, weight_names
from firstlight.theory.trained import (
    check_belongs,
    chosen_checkpoints,
    layers_of,
    lr_of,
    recorded_losses,
    setting_of,
    weights_at,
)

if TYPE_CHECKING:
    from firstlight.runs import Run
    from firstlight.statistics import Statistics

THRESHOLDS = (0.999, 0.99, 0.9, 0.7)


@dataclass(frozen=True)
class Row:
    """One weight at one checkpoint.

    Attributes:
        step: updates done.
        s_eta: step times rate.
        weight: its name in the checkpoint.
        loss: what the run recorded at that step, or None where it recorded none.
        cosine: of the weight and its prediction, None where one of them is zero.
        relative_error: the norm of the deviation over that of the prediction, None where that is zero.
        deviation: the Frobenius norm of weight - prediction.
        bound: what the theorem has for the deviation from the leading term; None where the prediction is another.
        in_proved_range: whether the theorem is proved for this setting and step.
        within_bound: whether the deviation is at most the bound.
    """

    step: int
    s_eta: float
    weight: str
    loss: float | None
    cosine: float | None
    relative_error: float | None
    deviation: float
    bound: float | None
    in_proved_range: bool
    within_bound: bool | None


@dataclass(frozen=True)
class Horizon:
    """How far the cosine of a weight stays above a threshold.

    Attributes:
        weight: its name in the checkpoint.
        threshold: the threshold.
        step: the last checkpoint with a cosine above it, None when there is none.
        s_eta: that step times rate.
        censored: whether that is the last checkpoint there is, so that the true horizon may be later.
        dipped: whether an earlier checkpoint is not above it.
    """

    weight: str
    threshold: float
    step: int | None
    s_eta: float | None
    censored: bool
    dipped: bool


@dataclass(frozen=True)
class Verification:
    """A run beside its prediction.

    Attributes:
        setting: the corpus and the training, as far as the theorems ask.
        theorem: the one that speaks about it.
        order: of the predicted output weight.
        rows: a row for each checkpoint and weight.
        horizons: for each weight and threshold.
    """

    setting: Setting
    theorem: Theorem
    order: Order
    rows: tuple[Row, ...]
    horizons: tuple[Horizon, ...]


def verify(
    run: "Run",
    stats: "Statistics",
    *,
    order: Order = "leading",
    checkpoints: Sequence[int] | None = None,
    same_corpus: bool = True,
    show_progress: bool = False,
) -> Verification:
    """Compare every weight at every checkpoint of a run with its prediction from the statistics of its corpus.

    Arguments:
        run: the training, see `open_run`.
        stats: of the corpus it was trained on.
        order: of the predicted output weight, as in `leading_terms`.
        checkpoints: steps of the checkpoints to look at; all when None.
        same_corpus: False allows statistics of another corpus of as many tokens.
        show_progress: whether to show a bar on stderr.
    """
    check_belongs(run, stats, same_corpus)
    setting, steps = setting_of(run, stats), chosen_checkpoints(run, checkpoints)
    theorem, losses, rows = theorem_for(setting), recorded_losses(run), []
    predictions = leading_terms_along(stats, steps, lr=lr_of(run), layers=layers_of(run), order=order)
    with progress("checkpoints", len(steps), "checkpoints", show_progress) as advance:
        for step, predicted in zip(steps, predictions, strict=True):
            weights = weights_at(run, step)
            comparisons = {name: Comparison() for name in predicted}
            for names in _alike(layers_of(run)):
                for part, block in predicted.blocks(names[0]):
                    for name in names:
                        comparisons[name].add(weights[name].reshape(-1, block.shape[1])[part].numpy(), block)
            rows += [_row(theorem, order, step, losses.get(step), name, comparisons[name]) for name in predicted]
            advance(1)
    return Verification(setting, theorem, order, tuple(rows), tuple(horizons(rows)))


def horizons(rows: Sequence[Row]) -> list[Horizon]:
    """Return for each weight the last checkpoint whose cosine is above each threshold."""
    found = []
    for weight in dict.fromkeys(row.weight for row in rows):
        known = [row for row in rows if row.weight == weight and row.cosine is not None]
        for threshold in THRESHOLDS:
            above = [row for row in known if row.cosine is not None and row.cosine > threshold]
            last = above[-1] if above else None
            censored = last is not None and last is known[-1]
            dipped = last is not None and known.index(last) + 1 != len(above)
            step, s_eta = (None, None) if last is None else (last.step, last.s_eta)
            found.append(Horizon(weight, threshold, step, s_eta, censored, dipped))
    return found


def _alike(layers: int) -> list[list[str]]:
    """Return the names of the weights that have the same prediction, together."""
    names = weight_names(layers)
    return [[name for name in names if kind_of(name) == kind] for kind in dict.fromkeys(map(kind_of, names))]


def _row(theorem: Theorem, order: Order, step: int, loss: float | None, name: str, comparison: Comparison) -> Row:
    result = comparison.result()
    # The theorems bound the distance to the leading term and to nothing else.
    bound = theorem.bound(kind_of(name), step) if order == "leading" or name != "W_O" else None
    return Row(
        step=step,
        s_eta=step * theorem.lr,
        weight=name,
        loss=loss,
        cosine=result.cosine,
        relative_error=result.relative_error,
        deviation=result.deviation,
        bound=bound,
        in_proved_range=theorem.in_proved_range(step),
        within_bound=None if bound is None else result.deviation <= bound,
    )
