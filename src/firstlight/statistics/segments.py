"""Segments: the windows of a corpus read in pieces that stay in the cache, and the threads that share the work.

A segment is copied out of the memory-mapped shard and the map is let go, so that pages of a large corpus do not pile up
in the memory of the process.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Int32, Int64

from firstlight.corpus.corpus import Corpus

# Longer segments gain nothing.
SEGMENT_BYTES = 256 * 2**20
LENGTHS_AT_ONCE = 2**20

Result = TypeVar("Result")


@dataclass(frozen=True)
class Segment:
    """Consecutive windows.

    Attributes:
        start: the number of the first window.
        windows: token ids, each row padded after its end.
        lengths: how many tokens of each row are real.
        means: the prefix means of each row; empty where they are not needed.
    """

    start: int
    windows: np.ndarray
    lengths: Int32[np.ndarray, " window"]
    means: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def stop(self) -> int:
        """The number after the last window."""
        return self.start + len(self.windows)


def segment_bytes(rows: int, window: int, itemsize: int) -> int:
    """Return what a segment takes: a token, a mean (8 bytes) and a posting (8 bytes) for each position."""
    return rows * (window + 1) * (itemsize + 16)


def rows_per_segment(window: int, itemsize: int, size: int) -> int:
    """Return how many windows fit in a segment of a size in bytes."""
    return max(1, size // segment_bytes(1, window, itemsize))


def windows_by_length(corpus: Corpus) -> Int64[np.ndarray, " length"]:
    """Return how many windows have 0, 1, ..., T + 1 tokens; a piece at a time, as there may be hundreds of millions."""
    counts = np.zeros(corpus.window + 2, np.int64)
    for start in range(0, int(corpus.manifest["windows"]), LENGTHS_AT_ONCE):
        # A fresh object has a fresh map, as below.
        piece = Corpus(corpus.path, corpus.manifest).lengths[start : start + LENGTHS_AT_ONCE]
        counts += np.bincount(piece, minlength=len(counts))
    return counts


def segments(corpora: Sequence[Corpus], rows: int) -> Iterator[Segment]:
    """Yield the windows of corpora one after the other, `rows` at a time."""
    first = 0
    for corpus in corpora:
        count = int(corpus.manifest["windows"])
        for start in range(0, count, rows):
            # A fresh object has a fresh map: it, and every page read through it, goes when the piece has been copied.
            fresh = Corpus(corpus.path, corpus.manifest)
            windows = np.array(fresh.windows[start : start + rows], order="C")
            yield Segment(first + start, windows, np.array(fresh.lengths[start : start + rows], np.int32))
        first += count


class Workers:
    """Threads that run compiled loops, which hold no lock of the interpreter."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def map(self, task: Callable[..., Result], *arguments: Sequence[Any]) -> list[Result]:
        """Run the task once for each set of arguments and return the results in order."""
        if self.count == 1:
            return [task(*each) for each in zip(*arguments, strict=True)]
        return list(self._pool.map(task, *arguments))


def balanced_ranges(starts: Int64[np.ndarray, " edge"], parts: int) -> list[tuple[int, int]]:
    """Cut posted tokens into at most `parts` ranges with about equally many postings each."""
    tokens = len(starts) - 1
    targets = np.linspace(starts[0], starts[-1], parts + 1)[1:-1]
    edges = np.unique(np.concatenate([[0], np.searchsorted(starts, targets), [tokens]]))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def even_ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """Cut range(count) into at most `parts` ranges of about equal length."""
    edges = np.unique(np.linspace(0, count, parts + 1).astype(int))
    return [(int(a), int(b)) for a, b in pairwise(edges)]
