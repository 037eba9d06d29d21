"""The pair loops for large vocabularies: one row at a time in the cache, kept as the entries that are not zero.

A block of dense rows would be filled with zeros, and read through for the few entries that are not, V x V times. Here
one row of V numbers takes key after key: it is filled by the loops of `kernels`, emptied through the very places that
were filled, and never leaves the cache.
"""

from typing import Any

import numpy as np
from numba import njit

from firstlight.statistics.kernels import attention_of_key, context_of_key, prefix_means_of_key
from firstlight.statistics.marks import GROUP, lowest, marked
from firstlight.statistics.vectors import WIDTH

Array = np.ndarray[Any, Any]

# A row with this many visits for each 64 of its places is read through; one with fewer is emptied visit by visit.
SCAN = 16


@njit(cache=True, nogil=True)
def visits_of_key(lengths: Array, starts: Array, places: Array, times: Array, key: int) -> int:
    """Count the positions at or after the first occurrence of a posted key in each window."""
    visits = np.int64(0)
    for at in range(starts[key], starts[key + 1]):
        if at == starts[key] or places[at - 1] != places[at]:
            visits += np.int64(lengths[places[at]]) - 1 - np.int64(times[at])
    return visits  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def empty_row(
    windows: Array,
    lengths: Array,
    starts: Array,
    places: Array,
    times: Array,
    of_next: int,
    key: int,
    row: Array,
    marks: Array,
    others: Array,
    entries: Array,
    filled: int,
) -> int:
    """Move the entries of a row that are not zero to the end of `others` and `entries`; return the new end.

    Arguments:
        of_next: 1 if the row is by next token, 0 if by query token.
        row: set to zero again.
        marks: none are set, and none are left.
        others: with `entries` it has one place more than entries can come.
    """
    vocabulary = row.shape[0]
    if visits_of_key(lengths, starts, places, times, key) * 64 > SCAN * vocabulary:
        for token in range(vocabulary):
            # Written in any case, and kept if it is not zero: a condition would often be foretold wrongly.
            entry = row[token]
            others[filled] = token
            entries[filled] = entry
            row[token] = 0
            filled += entry != 0
        return filled
    for at in range(starts[key], starts[key + 1]):
        i = places[at]
        if at > starts[key] and places[at - 1] == i:
            continue
        tokens = windows[i, np.int64(times[at]) + of_next : np.int64(lengths[i]) - 1 + of_next]
        for t in range(tokens.shape[0]):
            marks[tokens[t]] = 1
    for start in range(0, marks.shape[0], GROUP):
        bits = marked(marks, start)
        if bits == 0:
            continue
        marks[start : start + GROUP] = 0
        while bits != 0:
            token = start + lowest(bits)
            bits &= bits - np.uint64(1)
            entry = row[token]
            others[filled] = token
            entries[filled] = entry
            row[token] = 0
            filled += entry != 0
    return filled


@njit(cache=True, nogil=True)
def empty_known(known: Array, own: int, row: Array, others: Array, entries: Array, filled: int) -> int:
    """Do the same for a row of query tokens by the next tokens of its key, and the key itself.

    After its first occurrence each query token of a window was the next token of the query before it. So there are no
    places to find and none to sort.

    Arguments:
        known: the next tokens of the key, ascending.
        own: the key.
    """
    split = np.searchsorted(known, own)
    for at in range(split):
        filled = move_entry(known[at], row, others, entries, filled)
    filled = move_entry(own, row, others, entries, filled)
    for at in range(split, known.shape[0]):
        filled = move_entry(known[at], row, others, entries, filled)
    return filled


@njit(cache=True, nogil=True)
def move_entry(token: int, row: Array, others: Array, entries: Array, filled: int) -> int:
    """Move one entry of a row, unless it is zero; return the new end."""
    entry = row[token]
    others[filled] = token
    entries[filled] = entry
    row[token] = 0
    return filled + (entry != 0)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def room_for(
    lengths: Array, starts: Array, places: Array, times: Array, slots: Array, first: int, low: int, high: int, size: int
) -> int:
    """Return the most entries keys [low, high) can have, and one; a key with a slot takes its row from a strip."""
    room = 1
    for key in range(low, high):
        room += size if slots[first + key] >= 0 else min(size, visits_of_key(lengths, starts, places, times, key))
    return room


@njit(cache=True, nogil=True)
def copy_strip(strip: Array, slot: int, others: Array, entries: Array, filled: int) -> int:
    """Move the entries of a column of a strip to the end of `others` and `entries`; return the new end."""
    for token in range(strip.shape[0]):
        if strip[token, slot] != 0:
            others[filled] = token
            entries[filled] = strip[token, slot]
            filled += 1
    return filled


@njit(cache=True, nogil=True)
def context_rows(
    windows: Array,
    lengths: Array,
    starts: Array,
    places: Array,
    times: Array,
    weights: Array,
    slots: Array,
    strip: Array,
    marks: Array,
    first: int,
    low: int,
    high: int,
    others: Array,
    entries: Array,
) -> Array:
    """Write the context sums of posted keys [low, high), by key, and return where each starts.

    Arguments:
        slots: for each token its column in the strip, or -1.
        strip: the finished sums of the head tokens, next x head token.
        marks: room for those of V tokens, none of them set.
        first: the token of key 0.
        others: with `entries` it has the room that `room_for` says.
    """
    vocabulary = strip.shape[0]
    row = np.zeros(vocabulary, np.int64)
    key_starts, filled = np.zeros(high - low + 1, np.int64), 0
    for key in range(low, high):
        slot = slots[first + key]
        if slot >= 0:
            filled = copy_strip(strip, slot, others, entries, filled)
        elif starts[key] < starts[key + 1]:
            context_of_key(windows, lengths, starts, places, times, weights, key, row)
            filled = empty_row(windows, lengths, starts, places, times, 1, key, row, marks, others, entries, filled)
        key_starts[key - low + 1] = filled
    return key_starts


@njit(cache=True, nogil=True)
def attention_rows(
    windows: Array,
    lengths: Array,
    starts: Array,
    places: Array,
    times: Array,
    composed_starts: Array,
    composed_others: Array,
    composed_entries: Array,
    means: Array,
    inverse: Array,
    scales: Array,
    slots: Array,
    strip: Array,
    marks: Array,
    complete: bool,
    first: int,
    low: int,
    high: int,
    others: Array,
    entries: Array,
) -> Array:
    """Write the attention sums of posted keys [low, high), by key, and return where each starts.

    Arguments:
        composed_starts: with the two after it the composed matrix of the posted keys, by key.
        slots: for each token its column in the strip, or -1.
        strip: the finished sums of the head tokens, query x head token.
        marks: room for those of V tokens, none of them set.
        complete: whether the composed matrix has an entry for every next token of a key.
        first: the token of key 0.
        others: with `entries` it has the room that `room_for` says.
    """
    vocabulary = strip.shape[0]
    row, values = np.zeros(vocabulary, np.int64), np.zeros(vocabulary)
    key_starts, filled = np.zeros(high - low + 1, np.int64), 0
    for key in range(low, high):
        slot = slots[first + key]
        if slot >= 0:
            filled = copy_strip(strip, slot, others, entries, filled)
        elif starts[key] < starts[key + 1]:
            for at in range(composed_starts[key], composed_starts[key + 1]):
                values[composed_others[at]] = composed_entries[at]
            attention_of_key(windows, lengths, starts, places, times, values, means, inverse, scales[key], key, row)
            for at in range(composed_starts[key], composed_starts[key + 1]):
                values[composed_others[at]] = 0.0
            known = composed_others[composed_starts[key] : composed_starts[key + 1]]
            if complete:
                filled = empty_known(known, first + key, row, others, entries, filled)
            else:
                filled = empty_row(windows, lengths, starts, places, times, 0, key, row, marks, others, entries, filled)
        key_starts[key - low + 1] = filled
    return key_starts


@njit(cache=True, nogil=True)
def prefix_means_rows(
    windows: Array,
    starts: Array,
    places: Array,
    times: Array,
    composed_starts: Array,
    composed_keys: Array,
    composed_integers: Array,
    exponents: Array,
    inverse: Array,
    offset_scale: float,
    low: int,
    high: int,
    vocabulary: int,
    means: Array,
    offsets: Array,
) -> None:
    """Do the work of `prefix_means` with rows of the composed matrix that are kept as their entries."""
    row, values = np.zeros(vocabulary, np.int64), np.zeros(means.shape[1] + WIDTH)
    for key in range(low, high):
        if starts[key] == starts[key + 1]:
            continue
        for at in range(composed_starts[key], composed_starts[key + 1]):
            row[composed_keys[at]] = composed_integers[at]
        unit = np.ldexp(1.0, -exponents[key])
        prefix_means_of_key(
            windows, starts, places, times, row, unit, inverse, offset_scale, key, values, means, offsets
        )
        for at in range(composed_starts[key], composed_starts[key + 1]):
            row[composed_keys[at]] = 0
