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
    # All tokens are counted: whether one is in the head is a condition that would often be foretold wrongly.
    counts = np.zeros(skip.shape[0], np.int64)
    for i in range(windows.shape[0]):
        tokens = windows[i, of_next : np.int64(lengths[i]) - 1 + of_next]
        for t in range(tokens.shape[0]):
            counts[tokens[t]] += 1
    return np.where(skip[low:high] == 0, counts[low:high], 0)


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
    # One table says where the next place of a token goes; for tokens that are left out, after the end.
    end, wide, flat = places.shape[0], windows.shape[1], windows.reshape(-1)
    table = np.full(skip.shape[0], end, np.int64)
    for token in range(low, high):
        if skip[token] == 0:
            table[token] = fill[token - low]
    for i in range(windows.shape[0]):
        start = i * wide + of_next
        for t in range(np.int64(lengths[i]) - 1):
            found = flat[np.uint64(start + t)]
            at = table[found]
            if at < end:
                table[found] = at + 1
                places[np.uint64(at)] = first + i
                times[np.uint64(at)] = t


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
