"""What the leading terms leave out, measured: the full gradient at each checkpoint beside its leading term."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firstlight.reference.parameters import shape_of
from firstlight.report.progress import progress
from firstlight.theory.agreement import Comparison
from firstlight.theory.directions import Directions
from firstlight.theory.passes import Weights, descent_direction
from firstlight.theory.terms import gradient_coefficient, kind_of, weight_names
from firstlight.theory.trained import check_belongs, chosen_checkpoints, lr_of, weights_at

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.runs import Run
    from firstlight.statistics import Statistics


@dataclass(frozen=True)
class TruncationRow:
    """The descent direction -dL/dweight of one weight at one checkpoint, and what its leading term leaves out.

    Attributes:
        step: updates done.
        s_eta: step times rate.
        weight: its name in the checkpoint.
        gradient: the norm of the gradient over the whole corpus.
        leading: the norm of its leading term.
        neglected: the norm of their difference.
        share: neglected / gradient, None where the gradient is zero.
        cosine: of the two, None where one is zero.
    """

    step: int
    s_eta: float
    weight: str
    gradient: float
    leading: float
    neglected: float
    share: float | None
    cosine: float | None


def truncation(
    run: "Run",
    stats: "Statistics",
    corpus: "Corpus",
    *,
    checkpoints: Sequence[int] | None = None,
    show_progress: bool = False,
) -> list[TruncationRow]:
    """Measure what the leading term of each gradient neglects; each checkpoint takes a pass over the whole corpus.

    The pass is in float64: what is neglected early is below the rounding of float32.

    Arguments:
        run: the training.
        stats: of its corpus.
        corpus: that corpus.
        checkpoints: steps of the checkpoints; all when None.
        show_progress: whether to show a bar on stderr.
    """
    check_belongs(run, stats)
    directions, steps, rows = Directions(stats), chosen_checkpoints(run, checkpoints), []
    with progress("gradients", len(steps) * len(corpus.windows), "windows", show_progress) as advance:
        for step in steps:
            weights = {name: tensor.double() for name, tensor in weights_at(run, step).items()}
            descent = descent_direction(weights, corpus, advance)
            rows += list(_rows(directions, lr_of(run), step, descent))
    return rows


def _rows(directions: Directions, lr: float, step: int, descent: Weights) -> Iterator[TruncationRow]:
    for name in weight_names(shape_of(descent).layers):
        kind, comparison, tensor = kind_of(name), Comparison(), descent[name]
        for part, direction in directions.blocks(kind):
            leading = gradient_coefficient(kind, step, lr) * direction
            comparison.add(tensor.reshape(-1, direction.shape[1])[part].numpy(), leading)
        result = comparison.result()
        share = result.deviation / result.norm if result.norm else None
        yield TruncationRow(
            step, step * lr, name, result.norm, result.predicted_norm, result.deviation, share, result.cosine
        )
