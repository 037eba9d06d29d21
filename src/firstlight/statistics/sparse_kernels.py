"""Compiled loops over matrices kept as the entries that are not zero: key by key, other tokens ascending."""

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

TURNED_AT_ONCE = 1024


@njit(cache=True, nogil=True)
def nonzeros(rows: Array) -> tuple[Array, Array, Array]:
    """Return where each row's entries start, their columns and their values, leaving out zeros."""
    starts = np.zeros(rows.shape[0] + 1, np.int64)
    for a in range(rows.shape[0]):
        count = 0
        for b in range(rows.shape[1]):
            count += rows[a, b] != 0
        starts[a + 1] = starts[a] + count
    others = np.empty(starts[-1], np.int32)
    entries = np.empty(starts[-1], rows.dtype)
    at = 0
    for a in range(rows.shape[0]):
        for b in range(rows.shape[1]):
            if rows[a, b] != 0:
                others[at] = b
                entries[at] = rows[a, b]
                at += 1
    return starts, others, entries


@njit(cache=True, nogil=True)
def fill_rows(starts: Array, others: Array, entries: Array, first: int, low: int, high: int, rows: Array) -> None:
    """Write the entries of keys [low, high) into dense rows that start at key `low`; the unit starts at `first`."""
    for key in range(max(low, first), min(high, first + starts.shape[0] - 1)):
        row = rows[key - low]
        for at in range(starts[key - first], starts[key - first + 1]):
            row[others[at]] = entries[at]


@njit(cache=True, nogil=True)
def pick_places(starts: Array, others: Array, entries: Array, first: int, places: Array, rows: Array) -> None:
    """Write the entries of chosen columns into dense rows: the row of a column, or -1, is in `places`."""
    for key in range(starts.shape[0] - 1):
        for at in range(starts[key], starts[key + 1]):
            place = places[others[at]]
            if place >= 0:
                rows[place, first + key] = entries[at]


@njit(cache=True, nogil=True)
def largest_by(others: Array, entries: Array, largest: Array) -> None:
    """Raise `largest` of each column to the largest |entry| in it."""
    for at in range(others.shape[0]):
        size = abs(entries[at])
        if size > largest[others[at]]:
            largest[others[at]] = size


@njit(cache=True, nogil=True)
def sum_halves(rows: Array, lower: Array, upper: Array) -> None:
    """Sum each row in two halves, the lower 32 bits and what is above, neither of which can overflow."""
    for a in range(rows.shape[0]):
        low, high = np.int64(0), np.int64(0)
        for b in range(rows.shape[1]):
            low += rows[a, b] & 0xFFFFFFFF
            high += rows[a, b] >> 32
        lower[a], upper[a] = low, high


@njit(cache=True, nogil=True)
def sum_entry_halves(starts: Array, entries: Array, lower: Array, upper: Array) -> None:
    """Do the same for rows that are kept as their entries."""
    for key in range(starts.shape[0] - 1):
        low, high = np.int64(0), np.int64(0)
        for at in range(starts[key], starts[key + 1]):
            low += entries[at] & 0xFFFFFFFF
            high += entries[at] >> 32
        lower[key], upper[key] = low, high


@njit(cache=True, nogil=True)
def add_to_block(
    starts: Array, others: Array, entries: Array, first: int, low: int, high: int, scale: float, block: Array
) -> None:
    """Add scaled entries of keys [low, high) to a dense block, other x key."""
    for key in range(low, high):
        for at in range(starts[key - first], starts[key - first + 1]):
            block[others[at], key - low] += entries[at] * scale


@njit(cache=True, nogil=True)
def take_from_block(
    starts: Array, others: Array, first: int, low: int, high: int, block: Array, entries: Array, largest: Array
) -> None:
    """Read the places of a sparse matrix from a dense block, other x key, and the largest size of each key."""
    for key in range(low, high):
        most = 0.0
        for at in range(starts[key - first], starts[key - first + 1]):
            value = block[others[at], key - low]
            entries[at] = value
            if abs(value) > most:
                most = abs(value)
        largest[key - first] = most


@njit(cache=True, nogil=True)
def count_others(starts: Array, others: Array, low: int, high: int, counts: Array) -> None:
    """Add to `counts` how many entries stand in each other token of [low, high)."""
    for key in range(starts.shape[0] - 1):
        begin, end = starts[key], starts[key + 1]
        at = begin + np.searchsorted(others[begin:end], low)
        while at < end and others[at] < high:
            counts[others[at] - low] += 1
            at += 1


@njit(cache=True, nogil=True)
def turn_scaled(
    starts: Array,
    others: Array,
    entries: Array,
    first: int,
    low: int,
    high: int,
    scales: Array,
    fill: Array,
    keys: Array,
    integers: Array,
) -> None:
    """Write the entries of other tokens [low, high), times a power of two for each and rounded, by other token.

    `fill` says where the next entry of each other token goes; keys ascend when units are turned in order.
    """
    cursors = np.empty(starts.shape[0] - 1, np.int64)
    for key in range(starts.shape[0] - 1):
        cursors[key] = starts[key] + np.searchsorted(others[starts[key] : starts[key + 1]], low)
    # So few other tokens at a time that the ends of their rows, where entries are added, stay in the cache.
    for edge in range(low, high, TURNED_AT_ONCE):
        stop = min(edge + TURNED_AT_ONCE, high)
        for key in range(starts.shape[0] - 1):
            at, end = cursors[key], starts[key + 1]
            while at < end and others[at] < stop:
                other = others[at] - low
                keys[fill[other]] = first + key
                integers[fill[other]] = np.int64(np.rint(entries[at] * scales[other]))
                fill[other] += 1
                at += 1
            cursors[key] = at


@njit(cache=True, nogil=True)
def merged(
    starts: Array, others: Array, entries: Array, more_starts: Array, more_others: Array, more_entries: Array
) -> tuple[Array, Array, Array]:
    """Return the sum of two matrices of the same keys; entries that cancel are left out."""
    keys = starts.shape[0] - 1
    sum_starts = np.zeros(keys + 1, np.int64)
    sum_others = np.empty(starts[-1] + more_starts[-1], np.int32)
    sums = np.empty(starts[-1] + more_starts[-1], np.int64)
    filled = 0
    for key in range(keys):
        a, b = starts[key], more_starts[key]
        while a < starts[key + 1] or b < more_starts[key + 1]:
            left = others[a] if a < starts[key + 1] else np.iinfo(np.int32).max
            right = more_others[b] if b < more_starts[key + 1] else np.iinfo(np.int32).max
            value = np.int64(0)
            if left <= right:
                value += entries[a]
                a += 1
            if right <= left:
                value += more_entries[b]
                b += 1
            if value != 0:
                sum_others[filled] = min(left, right)
                sums[filled] = value
                filled += 1
        sum_starts[key + 1] = filled
    return sum_starts, sum_others[:filled].copy(), sums[:filled].copy()
