"""Making the compiled loops ready, apart from the work: compiled once, then loaded from the cache on disk."""

import time
from collections.abc import Sequence

import numpy as np

from firstlight.corpus.corpus import Corpus
from firstlight.statistics import kernels


def warm_up(corpora: Sequence[Corpus]) -> None:
    """Run every loop on two tiny windows of each token type that will come."""
    for dtype in {corpus.windows.dtype for corpus in corpora}:
        windows, lengths = np.array([[0, 1, 0], [1, 1, 0]], dtype), np.array([3, 3], np.int32)
        inverse, skip, slots = np.array([1.0, 0.5]), np.zeros(2, np.uint8), np.array([0, -1], np.int32)
        weights, strip, square = np.array([4, 2]), np.zeros((2, 1), np.int64), np.zeros((2, 2), np.int64)
        exponents, means, offsets, dense = (
            np.zeros(2, np.int32),
            np.zeros((2, 2)),
            np.zeros(2, np.int64),
            np.ones((2, 2)),
        )
        kernels.count_tokens(windows, lengths, np.zeros(2, np.int64), np.zeros(2, np.int64))
        places = kernels.postings(windows, lengths, skip, 0, 2, 0)
        kernels.bigram_rows(windows, *places, 2)
        kernels.context_head(windows, lengths, weights, slots, strip)
        kernels.context_tail(windows, lengths, *places, weights, 0, 2, square)
        rows = np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([1, 1])
        for integers in (square, square.astype(np.int32)):
            sparse = kernels.nonzeros(integers)
            kernels.fill_rows(*sparse, 0, 0, 2, integers)
            kernels.add_to_block(*sparse, 0, 0, 2, 1.0, dense)
        values, largest = np.ones(len(sparse[1])), np.zeros(2)
        kernels.take_from_block(*sparse[:2], 0, 0, 2, dense, values, largest)
        kernels.fill_rows(*sparse[:2], values, 0, 0, 2, dense)
        kernels.largest_by(sparse[1], values, largest)
        kernels.pick_scaled(*sparse[:2], values, 0, 0, 2, np.ones(2), square)
        kernels.nonzeros(dense)
        kernels.sum_halves(square, np.zeros(2, np.int64), np.zeros(2, np.int64))
        kernels.sparse_times_block(*rows, dense, 0, 2, np.empty((2, 2)))
        kernels.weighted_sum(np.ones(2), dense, np.zeros(2))
        kernels.prefix_means(windows, *places, square, exponents, inverse, 1.0, 0, 2, means, offsets)
        kernels.mean_offsets(lengths, means, inverse, 1.0, offsets)
        kernels.attention_head(windows, lengths, dense[:, :1].copy(), means, inverse, np.ones(1), slots, strip)
        kernels.attention_tail(windows, lengths, *places, dense, means, inverse, np.ones(2), 0, 2, square)


def measure_scatter() -> float:
    """Return the seconds of one scatter-add into a cache-resident row on this machine, now."""
    ids = np.random.default_rng(0).integers(0, 3000, 4000).astype(np.uint16)
    row = np.zeros(3000, np.int64)
    kernels.scatter_speed(ids, row, 1)
    start = time.perf_counter()
    kernels.scatter_speed(ids, row, 500)
    return (time.perf_counter() - start) / (500 * len(ids))
