"""Fixed point: sums that do not depend on their order, with scales chosen so that nothing overflows or is lost.

A sum of float64 numbers depends on the order of its terms, so on the number of workers and the order of windows. A sum
of int64 numbers does not. Every accumulated quantity is therefore an integer times a power of two.

- Context shares 1/t have one scale for a window length, whatever the corpus, so that the sums of two corpora add. Sums
  of large corpora outgrow an int64: they are kept as carry * 2**62 + low.
- Terms of the attention and position statistics depend on the composed matrix of the very corpus; their scales are the
  finest for which a bound computed beforehand shows that no sum can overflow.
"""

import math

import numpy as np
from jaxtyping import Float64, Int32, Int64

from firstlight.errors import FirstlightError
from firstlight.statistics import sparse_kernels

# A term is rounded by adding and subtracting 1.5 * 2**52, which is exact below 2**51.
TERM_BITS = 51
# Sums stay below 2**62: half of an int64 is left for the rounding of the bounds themselves.
SUM_BITS = 62
# Integer rows of the composed matrix are exact as float64 below 2**53, and a sum over a prefix must stay below 2**62.
ROW_BITS = 52


def context_bits(window: int) -> int:
    """Return the scale of the context shares: 1/T is stored to one part in 2**34, the larger shares better.

    Windows of more than 8,192 get less, so that one window alone can never fill an int64.
    """
    return min(33 + (window - 1).bit_length(), SUM_BITS - 2 - window.bit_length())


def context_weights(window: int) -> Int64[np.ndarray, " position"]:
    """Return 1/t for t = 1..T in fixed point, each rounded to nearest."""
    one = 1 << context_bits(window)
    return np.array([(2 * one + t) // (2 * t) for t in range(1, window + 1)], np.int64)


def most_before_carry(window: int) -> int:
    """Return how often a token may be next before a context sum can reach 2**62: its share of a prefix is at most 1."""
    # Rounding can make the shares of a prefix sum to a little more than 1.
    return (1 << (SUM_BITS - context_bits(window))) * 99 // 100


def refuse_context_overflow(next_count: Int64[np.ndarray, " next"], window: int) -> None:
    """Raise an error if a carry could pass the largest int32."""
    largest, most = int(next_count.max(initial=0)), most_before_carry(window) << 31
    if largest > most:
        raise FirstlightError(
            f"context sums would overflow: token {int(next_count.argmax())} is the next token {largest:,} times, "
            f"at most {most:,} are possible with windows of {window}"
        )


def move_carry(low: Int64[np.ndarray, "row column"], carry: Int32[np.ndarray, "row column"]) -> None:
    """Move what is above 2**62 from `low` to `carry`, in place; a few rows at a time to keep the copies small."""
    for start in range(0, len(low), 64):
        part = low[start : start + 64]
        carry[start : start + 64] += (part >> SUM_BITS).astype(np.int32)
        part &= (1 << SUM_BITS) - 1


def as_float(
    low: Int64[np.ndarray, "row column"], carry: Int32[np.ndarray, "row column"] | None, bits: int
) -> Float64[np.ndarray, "row column"]:
    """Return sums in fixed point as float64."""
    values = low.astype(np.float64)
    if carry is not None:
        values += np.ldexp(carry.astype(np.float64), SUM_BITS)
    values *= 2.0**-bits
    return values


def ceil_log2(bound: float) -> int:
    """Return the smallest e with bound <= 2**e; 0 for a bound of 0."""
    if bound == 0:
        return 0
    fraction, exponent = math.frexp(bound)
    return exponent - 1 if fraction == 0.5 else exponent


def row_exponents(largest: Float64[np.ndarray, " next"], window: int) -> Int32[np.ndarray, " next"]:
    """Return for each row the finest scale at which a sum over a prefix of T entries stays within SUM_BITS.

    Arguments:
        largest: the largest |entry| of each row.
        window: T.
    """
    bits = min(ROW_BITS, SUM_BITS - window.bit_length())
    return np.array([bits - ceil_log2(float(value)) for value in largest], np.int32)


def key_exponents(
    column_max: Float64[np.ndarray, " key"], column_sum: Float64[np.ndarray, " key"], largest_mean: float
) -> Int32[np.ndarray, " key"]:
    """Return the scale of each column of the attention sums.

    A term is (count/t) (g - m): its count/t is at most 1 and sums, over all queries, to the column sum of the context.

    Arguments:
        column_max: the largest |g| of each key.
        column_sum: the sum over positions of count/t.
        largest_mean: the largest |m|.
    """
    size = column_max + largest_mean
    return np.array(
        [
            min(TERM_BITS - 1 - ceil_log2(float(s)), SUM_BITS - 1 - ceil_log2(float(s * c)))
            for s, c in zip(size, column_sum, strict=True)
        ],
        np.int32,
    )


def offset_exponent(largest: float, inverse_sum: float) -> int:
    """Return the scale of the position sums: terms g/t and m/t, the sum of all 1/t being `inverse_sum`."""
    return min(TERM_BITS - 1 - ceil_log2(largest), SUM_BITS - 1 - ceil_log2(largest * inverse_sum))


def row_sums(
    rows: Int64[np.ndarray, "key other"], carry: Int32[np.ndarray, "key other"] | None, bits: int
) -> Float64[np.ndarray, " key"]:
    """Return the sums of rows in fixed point, exact but for one rounding: entries are added in two halves."""
    lower, upper = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    sparse_kernels.sum_halves(rows, lower, upper)
    above = np.zeros_like(upper) if carry is None else carry.sum(axis=1, dtype=np.int64)
    return _rounded_once(lower, upper, above, bits)


def sparse_row_sums(
    starts: Int64[np.ndarray, " edge"], entries: Int64[np.ndarray, " entry"], bits: int
) -> Float64[np.ndarray, " key"]:
    """Return the same for rows that are kept as their entries."""
    lower, upper = np.zeros(len(starts) - 1, np.int64), np.zeros(len(starts) - 1, np.int64)
    sparse_kernels.sum_entry_halves(starts, entries, lower, upper)
    return _rounded_once(lower, upper, np.zeros_like(upper), bits)


def _rounded_once(lower: np.ndarray, upper: np.ndarray, above: np.ndarray, bits: int) -> np.ndarray:
    exact = [(int(c) << SUM_BITS) + (int(h) << 32) + int(lo) for c, h, lo in zip(above, upper, lower, strict=True)]
    return np.array([value / (1 << bits) for value in exact])
