"""The basis functions as float64, from the integers of a store: rows or columns at a time.

With C the bigram counts, P positions, V tokens, alpha = C 1 / P and beta = C^T alpha / P,

    bigram              B     = C / P - alpha 1^T / V
    interchangeability  Sigma = B^T B = C^T C / P^2 - (beta 1^T + 1 beta^T) / V + 1 (alpha . alpha) 1^T / V^2
    context             Phi   = (S - 1 c^T / V) / P          S the context sums, c their column sums
    composed            G     = Sigma Phi
    attention           Q     = attention sums / P
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64, Int64
from scipy.sparse import csr_array

from firstlight.statistics import fixed_point, layout, sparse_kernels
from firstlight.statistics.compose import block_width, composed_columns, composer

if TYPE_CHECKING:
    from firstlight.statistics.statistics import Basis, Statistics

# Rows of a V x V array are read this many at a time when all are wanted.
ROWS_AT_ONCE = 1024


def rows_of(
    stats: "Statistics", basis: "Basis", tokens: Int64[np.ndarray, " chosen"]
) -> Float64[np.ndarray, "chosen token"]:
    """Return the chosen rows of a basis function."""
    if basis == "bigram":
        return _bigram_rows(stats, tokens)
    if basis == "interchangeability":
        return _interchangeability_rows(stats, tokens)
    if basis == "context":
        return _context(stats, context_sums(stats, tokens, by_row=True), slice(None))
    if basis == "attention":
        stats.require_attention()
        return _attention(stats, _stored(stats, "attention_sum", tokens, by_row=True), slice(None))
    if len(tokens) == len(stats.vocabulary) and (tokens == np.arange(len(tokens))).all():
        return columns_of(stats, "composed", tokens)
    return _composed_rows(stats, tokens)


def columns_of(
    stats: "Statistics", basis: "Basis", tokens: Int64[np.ndarray, " chosen"]
) -> Float64[np.ndarray, "token chosen"]:
    """Return the chosen columns of a basis function."""
    if basis == "bigram":
        counts = csr_array(stats.bigrams.counts[:, tokens]).toarray() / stats.positions
        return np.asarray(counts - stats.alpha[:, None] / len(stats.alpha))
    if basis == "interchangeability":
        return np.ascontiguousarray(_interchangeability_rows(stats, tokens).T)
    if basis == "context":
        return _context(stats, context_sums(stats, tokens, by_row=False), tokens)
    if basis == "attention":
        stats.require_attention()
        return _attention(stats, _stored(stats, "attention_sum", tokens, by_row=False), tokens)
    source = composer(stats.bigrams)
    column_sum = layout.read(stats.group, "context_column_sum")
    result = np.empty((len(stats.vocabulary), len(tokens)))
    width = block_width(len(stats.vocabulary))
    for start in range(0, len(tokens), width):
        part = tokens[start : start + width]
        context = context_sums(stats, part, by_row=False)
        result[:, start : start + width] = composed_columns(source, context, column_sum[part])
    return result


def _bigram_rows(stats: "Statistics", tokens: np.ndarray) -> np.ndarray:
    dense = csr_array(stats.bigrams.counts[tokens]).toarray() / stats.positions
    dense -= stats.alpha[tokens, None] / len(stats.alpha)
    return np.asarray(dense)


def _interchangeability_rows(stats: "Statistics", tokens: np.ndarray) -> np.ndarray:
    counts, alpha, size = stats.bigrams.counts, stats.alpha, len(stats.alpha)
    beta = (counts.T @ alpha) / stats.positions
    # The product of counts is one of integers, so it is exact and the result exactly symmetric.
    product = csr_array(csr_array(counts[:, tokens].T) @ counts).toarray() / float(stats.positions) ** 2
    product -= (beta[tokens, None] + beta[None, :]) / size
    product += float(alpha @ alpha) / size**2
    return np.asarray(product)


def context_sums(stats: "Statistics", tokens: np.ndarray, by_row: bool) -> Float64[np.ndarray, "row column"]:
    """Return chosen rows or columns of the uncentred context sums."""
    low = _stored(stats, "context_sum", tokens, by_row)
    carry = _stored(stats, "context_carry", tokens, by_row) if "context_carry" in stats.group else None
    return fixed_point.as_float(low, carry, int(stats.facts["context_bits"]))


def _context(stats: "Statistics", sums: np.ndarray, columns: slice | np.ndarray) -> np.ndarray:
    values = sums
    values -= layout.read(stats.group, "context_column_sum")[columns] / len(stats.vocabulary)
    values /= stats.positions
    return np.asarray(values)


def _attention(stats: "Statistics", sums: np.ndarray, columns: slice | np.ndarray) -> np.ndarray:
    values = np.ldexp(sums.astype(np.float64), -layout.read(stats.group, "attention_exponent")[columns])
    values /= stats.positions
    return np.asarray(values)


def _composed_rows(stats: "Statistics", tokens: np.ndarray) -> np.ndarray:
    sigma = _interchangeability_rows(stats, tokens)
    result = np.zeros_like(sigma)
    for start in range(0, len(stats.vocabulary), ROWS_AT_ONCE):
        part = np.arange(start, min(start + ROWS_AT_ONCE, len(stats.vocabulary)))
        result += sigma[:, part] @ rows_of(stats, "context", part)
    return result


def _stored(stats: "Statistics", name: str, tokens: np.ndarray, by_row: bool) -> np.ndarray:
    """Read chosen rows or columns of a stored matrix: a slice when they are consecutive, chunk by chunk when not."""
    group, size, side = stats.group, len(stats.vocabulary), layout.chunk_side(len(stats.vocabulary))
    if by_row and layout.is_sparse(group, name):
        return _sparse_rows(stats, name, tokens)
    consecutive = len(tokens) > 0 and bool((np.diff(tokens) == 1).all())
    result = np.empty((len(tokens), size) if by_row else (size, len(tokens)), np.int64)
    starts = [int(tokens[0])] if consecutive else (np.unique(tokens // side) * side).tolist()
    for start in starts:
        stop = int(tokens[-1]) + 1 if consecutive else start + side
        within = np.flatnonzero((tokens >= start) & (tokens < stop))
        low, high = int(tokens[within].min()), int(tokens[within].max()) + 1
        if by_row:
            result[within] = layout.read(group, name, slice(low, high), slice(None))[tokens[within] - low]
        else:
            result[:, within] = layout.read_columns(group, name, low, high)[:, tokens[within] - low]
    return result


def _sparse_rows(stats: "Statistics", name: str, tokens: np.ndarray) -> np.ndarray:
    """Read chosen rows of a matrix that is kept by column: all its entries pass by once."""
    size = len(stats.vocabulary)
    distinct, places_of = np.unique(tokens, return_inverse=True)
    places = np.full(size, -1, np.int64)
    places[distinct] = np.arange(len(distinct))
    rows = np.zeros((len(distinct), size), np.int64)
    for first, sparse in layout.sparse_units(stats.group, name, 0, size, layout.chunk_side(size)):
        sparse_kernels.pick_places(*sparse, first, places, rows)
    return rows[places_of]
