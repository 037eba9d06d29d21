"""Compiled loops over tokens, one position at a time: their counts, the places where they are, their next tokens."""

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def count_tokens(windows: Array, lengths: Array, current: Array, following: Array) -> None:
    """Add each token's occurrences as current and as next token."""
    for i in range(windows.shape[0]):
        for t in range(lengths[i] - 1):
            current[windows[i, t]] += 1
            following[windows[i, t + 1]] += 1


@njit(cache=True, nogil=True)
def count_postings(windows: Array, lengths: Array, skip: Array, low: int, high: int, of_next: int) -> Array:
    """Count the places of each token in [low, high).

    Arguments:
        skip: tokens that are left out (nonzero).
        of_next: 0 counts t with x_t = token, 1 counts t with x_{t+1} = token.
    """
    counts = np.zeros(high - low, np.int64)
    for i in range(windows.shape[0]):
        for t in range(lengths[i] - 1):
            token = np.int64(windows[i, t + of_next])
            if low <= token < high and skip[token] == 0:
                counts[token - low] += 1
    return counts


@njit(cache=True, nogil=True)
def fill_postings(
    windows: Array,
    lengths: Array,
    skip: Array,
    low: int,
    high: int,
    of_next: int,
    first: int,
    fill: Array,
    places: Array,
    times: Array,
) -> None:
    """Write the window and the t of each place, token by token, from where `fill` says; `first` numbers the windows."""
    for i in range(windows.shape[0]):
        for t in range(lengths[i] - 1):
            token = np.int64(windows[i, t + of_next])
            if low <= token < high and skip[token] == 0:
                at = fill[token - low]
                fill[token - low] = at + 1
                places[at] = first + i
                times[at] = t


@njit(cache=True, nogil=True)
def bigram_rows(
    windows: Array, starts: Array, places: Array, times: Array, vocabulary: int
) -> tuple[Array, Array, Array]:
    """Count the next tokens of each posted token, as the three arrays of a compressed sparse row matrix."""
    rows = starts.shape[0] - 1
    indptr = np.zeros(rows + 1, np.int64)
    indices = np.empty(starts[-1] - starts[0], np.int32)
    data = np.empty(starts[-1] - starts[0], np.int64)
    counts = np.zeros(vocabulary, np.int64)
    touched = np.empty(vocabulary, np.int32)
    filled = 0
    for row in range(rows):
        distinct = 0
        for at in range(starts[row], starts[row + 1]):
            following = np.int64(windows[places[at], times[at] + 1])
            if counts[following] == 0:
                touched[distinct] = following
                distinct += 1
            counts[following] += 1
        ordered = np.sort(touched[:distinct])
        for following in ordered:
            indices[filled] = following
            data[filled] = counts[following]
            counts[following] = 0
            filled += 1
        indptr[row + 1] = filled
    return indptr, indices[:filled].copy(), data[:filled].copy()
