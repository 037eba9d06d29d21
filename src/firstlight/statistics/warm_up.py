"""Making the compiled loops ready, apart from the work: compiled once, then loaded from the cache on disk."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from firstlight.corpus.corpus import Corpus
from firstlight.statistics import kernels, row_kernels, sparse_kernels, token_kernels
from firstlight.statistics.marks import no_marks
from firstlight.statistics.postings import postings
from firstlight.statistics.segments import Segment, Workers
from firstlight.statistics.vectors import WIDTH


def warm_up(corpora: Sequence[Corpus]) -> None:
    """Run every loop on two tiny windows of each token type that will come."""
    for dtype in {corpus.windows.dtype for corpus in corpora}:
        _token_loops(np.array([[0, 1, 0], [1, 1, 0]], dtype))
    _matrix_loops()


def _token_loops(windows: np.ndarray) -> None:
    lengths, inverse, skip = np.array([3, 3], np.int32), np.array([1.0, 0.5]), np.zeros(2, np.uint8)
    slots, exponents, scales = np.array([0, -1], np.int32), np.zeros(2, np.int32), np.ones(2)
    weights, strip, square = np.array([4, 2]), np.zeros((2, 1), np.int64), np.zeros((2, 2), np.int64)
    means, offsets, dense = np.zeros((2, 2)), np.zeros(2 + WIDTH, np.int64), np.ones((2, 2))
    token_kernels.count_tokens(windows, lengths, np.zeros(2, np.int64), np.zeros(2, np.int64))
    with Workers(1) as workers:
        places = postings(Segment(0, windows, lengths), skip, 0, 2, 0, workers)
    token_kernels.bigram_rows(windows, *places, 2)
    kernels.context_head(windows, lengths, weights, slots, strip)
    kernels.context_tail(windows, lengths, *places, weights, 0, 2, square)
    given, sparse = (windows, lengths, *places), (np.array([0, 0, 0]), np.zeros(9, np.int32), np.zeros(9, np.int64))
    row_kernels.room_for(lengths, *places, slots, 0, 0, 2, 2)
    row_kernels.context_rows(*given, weights, slots, strip, no_marks(2), 0, 0, 2, *sparse[1:])
    kernels.prefix_means(windows, *places, square, exponents, inverse, 1.0, 0, 2, means, offsets)
    row_kernels.prefix_means_rows(windows, *places, *sparse, exponents, inverse, 1.0, 0, 2, 2, means, offsets)
    kernels.mean_offsets(lengths, means, inverse, 1.0, offsets)
    kernels.attention_head(windows, lengths, dense[:, :1].copy(), means, inverse, np.ones(1), slots, strip)
    kernels.attention_tail(windows, lengths, *places, dense, means, inverse, scales, 0, 2, square)
    composed = sparse[0], sparse[1], sparse[2].astype(np.float64)
    rest: tuple[Any, ...] = (*composed, means, inverse, scales, slots, strip, no_marks(2), True, 0, 0, 2, *sparse[1:])
    row_kernels.attention_rows(*given, *rest)


def _matrix_loops() -> None:
    square, dense, numbers = np.ones((2, 2), np.int64), np.ones((2, 2)), np.zeros(2, np.int64)
    rows = np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([1, 1])
    values, largest, scales = np.ones(2), np.zeros(2), np.ones(2)
    for integers in (square, square.astype(np.int32)):
        sparse = sparse_kernels.nonzeros(integers)
        sparse_kernels.fill_rows(*sparse, 0, 0, 2, integers)
        sparse_kernels.add_to_block(*sparse, 0, 0, 2, 1.0, dense)
    sparse_kernels.nonzeros(dense)
    sparse_kernels.fill_rows(*rows[:2], values, 0, 0, 2, dense)
    sparse_kernels.take_from_block(*rows[:2], 0, 0, 2, dense, values, largest)
    sparse_kernels.largest_by(rows[1], values, largest)
    sparse_kernels.count_others(*rows[:2], 0, 2, numbers)
    fill, keys, turned = np.array([0, 1]), np.zeros(2, np.int32), np.zeros(2, np.int64)
    sparse_kernels.turn_scaled(*rows[:2], values, 0, 0, 2, scales, fill, keys, turned)
    sparse_kernels.merged(*rows, *rows)
    sparse_kernels.sum_halves(square, numbers, numbers.copy())
    sparse_kernels.sum_entry_halves(rows[0], rows[2], numbers, numbers.copy())
    kernels.sparse_times_block(*rows, dense, 0, 2, np.empty((2, 2)))
    kernels.weighted_sum(np.ones(2), dense, np.zeros(2))


def measure_scatter() -> float:
    """Return the seconds of one scatter-add into a cache-resident row on this machine, now."""
    ids = np.random.default_rng(0).integers(0, 3000, 4000).astype(np.uint16)
    row = np.zeros(3000, np.int64)
    kernels.scatter_speed(ids, row, 1)
    start = time.perf_counter()
    kernels.scatter_speed(ids, row, 500)
    return (time.perf_counter() - start) / (500 * len(ids))
