"""Passes of the reference model over a corpus: mean loss, and the direction of descent."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.reference.evaluation import load_of, positions_of, sum_over
from firstlight.reference.model import Batch, batch_of
from firstlight.reference.parameters import shape_of
from firstlight.reference.plan import Plan, make_plan
from firstlight.report.progress import Advance

if TYPE_CHECKING:
    from firstlight.corpus import Corpus

Weights = dict[str, torch.Tensor]
MEMORY = 8 * 2**30


def spread_windows(corpus: "Corpus", count: int | None) -> Int64[np.ndarray, " window"]:
    """Return so many windows at equal distances, all when None."""
    if count is not None and count < 1:
        raise FirstlightError(f"windows = {count}: expected at least 1")
    total = len(corpus.windows)
    return np.arange(total) if count is None or count >= total else np.arange(count) * total // count


def batches(corpus: "Corpus", windows: Int64[np.ndarray, " window"], chunk: int) -> Iterator[Batch]:
    """Yield the chosen windows of a corpus, some at a time."""
    for start in range(0, len(windows), chunk):
        part = windows[start : start + chunk]
        yield batch_of(np.asarray(corpus.windows[part]), np.asarray(corpus.lengths[part]))


def mean_loss(
    weights: Weights, corpus: "Corpus", windows: Int64[np.ndarray, " window"], advance: Advance, memory: int = MEMORY
) -> float:
    """Return the mean cross-entropy over the positions of some windows."""
    plan = _plan(weights, corpus, windows, memory)
    loss, _ = sum_over(plan, weights, corpus, windows, with_gradient=False, advance=advance)
    return loss / positions_of(corpus, windows)


def descent_direction(weights: Weights, corpus: "Corpus", advance: Advance, memory: int = MEMORY) -> Weights:
    """Return -dL/dweight of the mean loss over a corpus."""
    windows = spread_windows(corpus, None)
    plan = _plan(weights, corpus, windows, memory)
    _, gradients = sum_over(plan, weights, corpus, windows, with_gradient=True, advance=advance)
    return {name: gradient.div_(-corpus.positions) for name, gradient in gradients.items()}


def _plan(weights: Weights, corpus: "Corpus", windows: Int64[np.ndarray, " window"], memory: int) -> Plan:
    return make_plan(load_of(corpus, shape_of(weights), len(windows), weights["W_O"].element_size()), memory)
