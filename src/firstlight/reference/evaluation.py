"""Loss and gradient over windows of a corpus, however many there are."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Int64

from firstlight.corpus import Corpus
from firstlight.files import parse_bytes
from firstlight.reference.model import batch_of
from firstlight.reference.parameters import Parameters, Shape, shape_of
from firstlight.reference.plan import Load, Plan, make_plan

SAMPLED_WINDOWS = 256


def loss_and_gradient(
    corpus: Corpus,
    parameters: Parameters,
    *,
    windows: Int64[np.ndarray, " window"] | None = None,
    memory: str | int = "8GiB",
) -> tuple[float, Parameters]:
    """Return the mean loss over all positions of some windows, and its gradient by each weight.

    Arguments:
        corpus: where the windows are.
        parameters: the weights, all of one type on one device.
        windows: their numbers; all when None.
        memory: what the process may hold, as bytes or as text such as `8GiB`.
    """
    chosen = np.arange(len(corpus.windows)) if windows is None else windows
    limit = parse_bytes(memory, "memory") if isinstance(memory, str) else memory
    itemsize = parameters["W_O"].element_size()
    plan = make_plan(load_of(corpus, shape_of(parameters), len(chosen), itemsize), limit)
    positions = positions_of(corpus, chosen)
    loss, gradients = sum_over(plan, parameters, corpus, chosen, with_gradient=True)
    return loss / positions, {name: gradient.div_(positions) for name, gradient in gradients.items()}


def sum_over(
    plan: Plan,
    parameters: Parameters,
    corpus: Corpus,
    windows: Int64[np.ndarray, " window"],
    *,
    with_gradient: bool,
    advance: Callable[[float], None] = lambda amount: None,
) -> tuple[float, Parameters]:
    """Return the summed loss over some windows and its gradient, empty if none is wanted.

    Sums rather than means, so that nothing is scaled down before it is added: gradients of the attention are around
    1e-20 in the first steps, and single contributions to them smaller.

    Arguments:
        plan: how.
        parameters: the weights.
        corpus: where the windows are.
        windows: their numbers.
        with_gradient: whether to compute the gradient too.
        advance: is told of windows done.
    """
    sums = plan.sums(parameters, with_gradient)
    device = parameters["W_O"].device
    loss = 0.0
    for start in range(0, len(windows), plan.chunk):
        chosen = windows[start : start + plan.chunk]
        loss += sums.add(batch_of(corpus.windows[chosen], corpus.lengths[chosen], device))
        advance(len(chosen))
    return loss, sums.finish() if with_gradient else {}


def load_of(corpus: Corpus, shape: Shape, windows: int, itemsize: int) -> Load:
    """Return what a step over so many windows has to do; distinct tokens are counted in the first windows."""
    sample = np.asarray(corpus.windows[:SAMPLED_WINDOWS])[:, :-1]
    distinct = float(np.mean([len(np.unique(row)) for row in sample]))
    return Load(shape, windows, distinct, itemsize)


def positions_of(corpus: Corpus, windows: Int64[np.ndarray, " window"]) -> int:
    """Return how many positions of some windows have a next token."""
    return int(corpus.lengths[windows].sum(dtype=np.int64)) - len(windows)


def is_finite(tensor: torch.Tensor) -> bool:
    """Return whether all numbers of a tensor are."""
    return bool(torch.isfinite(tensor).all())
