"""Passes of the reference model over a corpus: mean loss, and the gradient of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from firstlight.reference.model import Batch, batch_of, windows_at_a_time
from firstlight.reference.residual import Residual
from firstlight.report.progress import Advance

if TYPE_CHECKING:
    from firstlight.corpus import Corpus

Weights = dict[str, torch.Tensor]


def batches(corpus: "Corpus", windows: np.ndarray, chunk: int) -> Iterator[Batch]:
    """Yield the chosen windows of a corpus, some at a time."""
    for start in range(0, len(windows), chunk):
        part = windows[start : start + chunk]
        yield batch_of(np.asarray(corpus.windows[part]), np.asarray(corpus.lengths[part]))


def spread_windows(corpus: "Corpus", count: int | None) -> np.ndarray:
    """Return so many windows at equal distances, all when None."""
    total = len(corpus.windows)
    return np.arange(total) if count is None or count >= total else np.arange(count) * total // count


def mean_loss(weights: Weights, corpus: "Corpus", windows: np.ndarray, advance: Advance) -> float:
    """Return the mean cross-entropy over the positions of some windows."""
    sums, total, positions = Residual(weights, with_gradient=False), 0.0, 0
    for batch in batches(corpus, windows, windows_at_a_time(weights)):
        total += sums.add(batch)
        positions += batch.positions
        advance(len(batch.inputs))
    return total / positions


def descent_direction(weights: Weights, corpus: "Corpus", advance: Advance) -> Weights:
    """Return -dL/dweight of the mean loss over a corpus."""
    sums = Residual(weights)
    for batch in batches(corpus, spread_windows(corpus, None), windows_at_a_time(weights)):
        sums.add(batch)
        advance(len(batch.inputs))
    return {name: tensor / -corpus.positions for name, tensor in sums.finish().items()}
