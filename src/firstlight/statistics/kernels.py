"""Compiled loops over token ids: the passes over all (prefix, next) pairs of a corpus.

Nothing here is one-hot and nothing here is a float sum whose order could change: every accumulator is an int64 in
fixed point, so the result does not depend on the number of workers, the order of windows or the memory at hand.

Text is Zipfian, and the loops follow it. A few *head* tokens stand in nearly every prefix: their columns are a narrow
strip that is updated as a dense vector, without any gather or scatter. All other tokens, the *tail*, are visited
through their postings (the places where they occur), one token at a time, so that the row being filled and the row
being read stay in the cache; a token that occurs several times in a prefix is visited once with its count.

Names: a window holds tokens x_0 .. x_T; position t has the query x_t, the next token x_{t+1} and the prefix x_0 .. x_t.
`lengths` says how many tokens of each row are real. Keys are prefix tokens.
"""

from typing import Any

import numpy as np
from numba import njit

from firstlight.statistics.vectors import (
    ROUND,
    WEIGHED,
    WIDTH,
    add_attention,
    add_rounded,
    fetch,
    gather_floats,
    rounded,
    weigh_rows,
)

# Postings ahead whose tokens are fetched: the windows of a posted token lie all over the segment. A line is 64 bytes.
AHEAD = 4
MEANS_AHEAD = 6

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def context_head(windows: Array, lengths: Array, weights: Array, slots: Array, strip: Array) -> None:
    """Add (1/t) * (count of each head token in the prefix) to the row of each next token.

    Arguments:
        weights: 1/t in fixed point.
        slots: for each token its column in the strip, or -1.
        strip: next token x head token, int64, added to.
    """
    width = strip.shape[1]
    # Place -1, the last, counts all other tokens: whether a token is in the head cannot be foretold, so no condition.
    counts = np.zeros(width + 1, np.int64)
    for i in range(windows.shape[0]):
        counts[:] = 0
        for t in range(lengths[i] - 1):
            counts[slots[windows[i, t]]] += 1
            row = strip[windows[i, t + 1]]
            weight = weights[t]
            for a in range(width):
                row[a] += weight * counts[a]


@njit(cache=True, nogil=True)
def context_of_key(
    windows: Array, lengths: Array, starts: Array, places: Array, times: Array, weights: Array, key: int, row: Array
) -> None:
    """Do the same for one posted token: `row` is by next token, int64, added to.

    Between two occurrences of the key its count in the prefix is constant, so the inner loop is a scatter of weights.
    """
    # Places in a flat array that are not negative by their type need no check for places counted from the end.
    wide, flat = windows.shape[1], windows.reshape(-1)
    stop = starts[key + 1]
    count, last = np.int64(0), np.int64(-1)
    for at in range(starts[key], stop):
        i, begin = np.int64(places[at]), np.int64(times[at])
        ahead = min(at + AHEAD, stop - 1)
        coming = np.uint64(places[ahead] * wide + times[ahead])
        for line in range(3):
            fetch(flat, coming + np.uint64(32 * line))
        if i != last:
            count, last = np.int64(0), i
        count += 1
        end = np.int64(lengths[i]) - 1
        if at + 1 < stop and places[at + 1] == i:
            end = np.int64(times[at + 1])
        following, share = np.uint64(i * wide + begin + 1), np.uint64(begin)
        for t in range(end - begin):
            row[flat[following + np.uint64(t)]] += count * weights[share + np.uint64(t)]


@njit(cache=True, nogil=True)
def context_tail(
    windows: Array,
    lengths: Array,
    starts: Array,
    places: Array,
    times: Array,
    weights: Array,
    low: int,
    high: int,
    rows: Array,
) -> None:
    """Do it for posted tokens [low, high): `rows` is key x next token."""
    for key in range(low, high):
        context_of_key(windows, lengths, starts, places, times, weights, key, rows[key])


@njit(cache=True, nogil=True)
def prefix_means_of_key(
    windows: Array,
    starts: Array,
    places: Array,
    times: Array,
    row: Array,
    unit: float,
    inverse: Array,
    offset_scale: float,
    key: int,
    values: Array,
    means: Array,
    offsets: Array,
) -> None:
    """Do the work of `prefix_means` for one posted next token, whose row of the composed matrix counts in `unit`.

    `values` is working memory, float64; it and `offsets` have T + WIDTH places.
    """
    steps, wide, flat, flat_means = means.shape[1], windows.shape[1], windows.reshape(-1), means.reshape(-1)
    stop = starts[key + 1]
    last, begin, total = np.int64(-1), np.int64(0), np.int64(0)
    for at in range(starts[key], stop):
        i, t = np.int64(places[at]), np.int64(times[at])
        ahead = min(at + MEANS_AHEAD, stop - 1)
        for line in range(3):
            fetch(flat, np.uint64(places[ahead] * wide + 32 * line))
        fetch(flat_means, np.uint64(places[ahead] * steps + times[ahead]))
        if i != last:
            last, begin, total = i, np.int64(0), np.int64(0)
        # Eights that the prefix fills stand for the next occurrence too; the one it ends in is gathered again.
        whole, rest = gather_floats(values, begin, t + 1, row, flat, i * wide)
        total += whole
        begin = (t + 1) // WIDTH * WIDTH
        flat_means[np.uint64(i * steps + t)] = (np.float64(total + rest) * unit) * inverse[t]
        factor = unit * inverse[t] * offset_scale
        offset = np.uint64(steps - 1 - t)
        for eighth in range(t // WIDTH + 1):
            first = np.uint64(eighth * WIDTH)
            add_rounded(offsets, offset + first, values, first, factor)


@njit(cache=True, nogil=True)
def prefix_means(
    windows: Array,
    starts: Array,
    places: Array,
    times: Array,
    composed: Array,
    exponents: Array,
    inverse: Array,
    offset_scale: float,
    low: int,
    high: int,
    means: Array,
    offsets: Array,
) -> None:
    """Compute m_t, the mean of g[t, j] over the prefix, and sum g[t, j] / t by offset t - j.

    Arguments:
        composed: rows of the composed matrix for the posted next tokens, as integers scaled by 2**exponents, so that
            the sums over a prefix are exact in any order.
        inverse: 1/t.
        means: window x position, written at the posted positions.
        offsets: integers scaled by offset_scale, added to. Offset m stands at T - 1 - m, which makes the inner loop
            run forwards; after the T offsets come WIDTH places that stay zero.
    """
    values = np.zeros(means.shape[1] + WIDTH)
    for key in range(low, high):
        unit = np.ldexp(1.0, -exponents[key])
        prefix_means_of_key(
            windows, starts, places, times, composed[key], unit, inverse, offset_scale, key, values, means, offsets
        )


@njit(cache=True, nogil=True)
def mean_offsets(lengths: Array, means: Array, inverse: Array, offset_scale: float, at_position: Array) -> float:
    """Add m_t / t in fixed point to each position's sum, and return the largest |m_t|."""
    largest = 0.0
    for i in range(means.shape[0]):
        for t in range(lengths[i] - 1):
            mean = means[i, t]
            if abs(mean) > largest:
                largest = abs(mean)
            at_position[t] += np.int64((mean * inverse[t] * offset_scale + ROUND) - ROUND)
    return largest


@njit(cache=True, nogil=True)
def attention_head(
    windows: Array,
    lengths: Array,
    composed: Array,
    means: Array,
    inverse: Array,
    scales: Array,
    slots: Array,
    strip: Array,
) -> None:
    """Add (count / t) * (g - m_t) of each head token in the prefix to the row of each query token.

    Arguments:
        composed: next token x head token, float64.
        scales: the fixed-point scale of each head token, a power of two.
        strip: query token x head token, int64, added to.
    """
    width = strip.shape[1]
    # As in the context, what is at place -1 is not read.
    counts, steps = np.zeros(width + 1), np.zeros(width + 1)
    steps[:width] = scales
    for i in range(windows.shape[0]):
        counts[:] = 0.0
        for t in range(lengths[i] - 1):
            slot = slots[windows[i, t]]
            counts[slot] += steps[slot]
            values = composed[windows[i, t + 1]]
            row = strip[windows[i, t]]
            mean = means[i, t]
            share = inverse[t]
            for a in range(width):
                row[a] += np.int64((counts[a] * share * (values[a] - mean) + ROUND) - ROUND)


@njit(cache=True, nogil=True)
def attention_of_key(
    windows: Array,
    lengths: Array,
    starts: Array,
    places: Array,
    times: Array,
    values: Array,
    means: Array,
    inverse: Array,
    scale: float,
    key: int,
    row: Array,
) -> None:
    """Do the same for one posted key: `values` is the composed matrix by next token, `row` is by query token."""
    steps, wide, flat, flat_means = means.shape[1], windows.shape[1], windows.reshape(-1), means.reshape(-1)
    stop = starts[key + 1]
    scaled, last = 0.0, np.int64(-1)
    for at in range(starts[key], stop):
        i, begin = np.int64(places[at]), np.int64(times[at])
        ahead = min(at + AHEAD, stop - 1)
        coming = np.uint64(places[ahead] * wide + times[ahead])
        coming_mean = np.uint64(places[ahead] * steps + times[ahead])
        # Two streams, tokens and means, fetched up to where their posting ends.
        visits = np.int64(lengths[places[ahead]]) - 1 - times[ahead]
        if ahead + 1 < stop and places[ahead + 1] == places[ahead]:
            visits = np.int64(times[ahead + 1] - times[ahead])
        for line in range(visits // 32 + 1):
            fetch(flat, coming + np.uint64(32 * line))
        for line in range(visits // 8 + 1):
            fetch(flat_means, coming_mean + np.uint64(8 * line))
        if i != last:
            scaled, last = 0.0, i
        scaled += scale
        end = np.int64(lengths[i]) - 1
        if at + 1 < stop and places[at + 1] == i:
            end = np.int64(times[at + 1])
        query, mean = i * wide, i * steps
        eights = begin + (end - begin) // WIDTH * WIDTH
        for t in range(begin, eights, WIDTH):
            add_attention(row, values, flat, query + t, flat_means, mean + t, inverse, t, scaled)
        for t in range(eights, end):
            at_query = np.uint64(query + t)
            gap = values[flat[at_query + np.uint64(1)]] - flat_means[np.uint64(mean + t)]
            row[flat[at_query]] += rounded(scaled * inverse[np.uint64(t)] * gap)


@njit(cache=True, nogil=True)
def attention_tail(
    windows: Array,
    lengths: Array,
    starts: Array,
    places: Array,
    times: Array,
    composed: Array,
    means: Array,
    inverse: Array,
    scales: Array,
    low: int,
    high: int,
    rows: Array,
) -> None:
    """Do it for posted keys [low, high): `composed` is key x next token, `rows` is key x query token."""
    for key in range(low, high):
        attention_of_key(
            windows, lengths, starts, places, times, composed[key], means, inverse, scales[key], key, rows[key]
        )


@njit(cache=True, nogil=True)
def sparse_times_block(
    indptr: Array, indices: Array, data: Array, block: Array, low: int, high: int, out: Array
) -> None:
    """Write rows [low, high) of (sparse matrix) x (dense block), each entry summed in the order of the sparse row."""
    width = block.shape[1]
    whole = width // WEIGHED * WEIGHED
    flat, flat_out = block.reshape(-1), out.reshape(-1)
    for row in range(low, high):
        begin, end = indptr[row], indptr[row + 1]
        for first in range(0, whole, WEIGHED):
            weigh_rows(indices, data, begin, end, flat, width, first, flat_out, row * width + first)
        target = out[row, whole:]
        target[:] = 0.0
        for at in range(begin, end):
            source = block[indices[at], whole:]
            value = data[at]
            for a in range(width - whole):
                target[a] += value * source[a]


@njit(cache=True, nogil=True)
def scatter_speed(ids: Array, row: Array, repeats: int) -> None:
    """Add one at each id, over and over: the plain scatter into a cached row that pair loops are held against."""
    for _ in range(repeats):
        for at in range(ids.shape[0]):
            row[ids[at]] += 1


@njit(cache=True, nogil=True)
def weighted_sum(weights: Array, rows: Array, out: Array) -> None:
    """Add the weighted sum of rows to `out`, row after row."""
    for a in range(rows.shape[0]):
        for b in range(rows.shape[1]):
            out[b] += weights[a] * rows[a, b]
