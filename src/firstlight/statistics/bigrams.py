"""Bigram counts: exact integers, sparse, one pass over the tokens."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from jaxtyping import Float64, Int64
from scipy.sparse import csr_array

from firstlight.statistics import token_kernels
from firstlight.statistics.postings import postings
from firstlight.statistics.segments import Segment, Workers, balanced_ranges


@dataclass(frozen=True)
class Bigrams:
    """How often each token follows each, and the counts of tokens as first and as second.

    Attributes:
        counts: current x next, int64.
        token_count: occurrences as current token.
        next_count: occurrences as next token.
    """

    counts: csr_array
    token_count: Int64[np.ndarray, " current"]
    next_count: Int64[np.ndarray, " next"]

    @property
    def positions(self) -> int:
        """The number of (current, next) pairs."""
        return int(self.token_count.sum())

    @cached_property
    def alpha(self) -> Float64[np.ndarray, " current"]:
        """The share of positions whose current token is each."""
        return cast(np.ndarray, self.token_count / self.positions)


def no_bigrams(vocabulary: int) -> Bigrams:
    """Return the counts of nothing."""
    zeros = np.zeros(vocabulary, np.int64)
    return Bigrams(csr_array((vocabulary, vocabulary), dtype=np.int64), zeros, zeros.copy())


def add(first: Bigrams, second: Bigrams) -> Bigrams:
    """Return the counts of two corpora together."""
    return Bigrams(
        csr_array(first.counts + second.counts),
        first.token_count + second.token_count,
        first.next_count + second.next_count,
    )


def count_segment(segment: Segment, vocabulary: int, workers: Workers) -> Bigrams:
    """Count the bigrams of a segment; each worker takes a range of current tokens."""
    current, following = np.zeros(vocabulary, np.int64), np.zeros(vocabulary, np.int64)
    token_kernels.count_tokens(segment.windows, segment.lengths, current, following)
    starts, places, times = postings(segment, np.zeros(vocabulary, np.uint8), 0, vocabulary, 0, workers)

    def rows(low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        part = token_kernels.bigram_rows(segment.windows, starts[low : high + 1], places, times, vocabulary)
        return cast(tuple[np.ndarray, np.ndarray, np.ndarray], part)

    ranges = balanced_ranges(starts, workers.count)
    parts = workers.map(rows, [low for low, _ in ranges], [high for _, high in ranges])
    ends = np.cumsum([part[0][-1] for part in parts])
    indptr = np.concatenate([[0], *(part[0][1:] + end - part[0][-1] for part, end in zip(parts, ends, strict=True))])
    indices = np.concatenate([part[1] for part in parts])
    data = np.concatenate([part[2] for part in parts])
    return Bigrams(csr_array((data, indices, indptr), shape=(vocabulary, vocabulary)), current, following)
