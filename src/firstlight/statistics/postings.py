"""Postings: the places of every token in a segment, token by token, so that a loop can stay with one token."""

import numpy as np

from firstlight.statistics import token_kernels
from firstlight.statistics.segments import Segment, Workers, even_ranges

Postings = tuple[np.ndarray, np.ndarray, np.ndarray]


def postings(segment: Segment, skip: np.ndarray, low: int, high: int, of_next: int, workers: Workers) -> Postings:
    """List the places of each token in [low, high), token by token, in order of window and position.

    Arguments:
        segment: the windows.
        skip: tokens that are left out (nonzero).
        low: the first token.
        high: the token after the last.
        of_next: 0 lists t with x_t = token, 1 lists t with x_{t+1} = token.
        workers: each takes some of the windows.

    Returns:
        starts (high - low + 1), and for each place its window and its t.
    """
    ranges = even_ranges(len(segment.windows), workers.count)
    parts = [(segment.windows[a:b], segment.lengths[a:b]) for a, b in ranges]

    def count(part: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        counts: np.ndarray = token_kernels.count_postings(part[0], part[1], skip, low, high, of_next)
        return counts

    counts = np.array(workers.map(count, parts))
    starts = np.concatenate([[0], counts.sum(axis=0).cumsum()])
    fills = starts[:-1] + counts.cumsum(axis=0) - counts
    places, times = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)

    def fill(part: tuple[np.ndarray, np.ndarray], first: int, at: np.ndarray) -> None:
        token_kernels.fill_postings(part[0], part[1], skip, low, high, of_next, first, at, places, times)

    workers.map(fill, parts, [a for a, _ in ranges], list(fills))
    return starts, places, times
