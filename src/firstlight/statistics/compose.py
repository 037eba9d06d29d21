"""The composed matrix: interchangeability times context, by columns, never a dense V x V x V product.

With C the sparse bigram counts, P positions, and S the uncentred context sums with column sums c,

    B context = C S / P^2 - alpha c^T / (V P)                 (rows of the bigram matrix B sum to 0)
    composed  = B^T (B context) = C^T H / P - 1 (alpha^T H) / V,    H = B context

so both products run over the non-zero bigrams, with a narrow block of columns that stays in the cache. Every entry is
summed in the order of the sparse rows, whatever block it falls in: the result is the same bit for bit.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy.sparse import csr_array

from firstlight.statistics import kernels
from firstlight.statistics.bigrams import Bigrams

# Where each row starts, and the column and the count of each entry, columns ascending.
SparseRows: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Composer:
    """What the products need of the bigram counts.

    Attributes:
        counts: current x next.
        transposed: next x current.
        alpha: the share of each current token.
        positions: P.
    """

    counts: SparseRows
    transposed: SparseRows
    alpha: Float64[np.ndarray, " current"]
    positions: int


def composer(bigrams: Bigrams) -> Composer:
    """Prepare the products."""
    return Composer(_rows(bigrams.counts), _rows(bigrams.counts.T), bigrams.alpha, bigrams.positions)


def block_width(vocabulary: int) -> int:
    """Return how many columns are done at once: three blocks of V x width float64 should share the cache."""
    return 64 if vocabulary <= 8192 else 32


def composed_columns(
    source: Composer, context: Float64[np.ndarray, "next prefix"], column_sum: Float64[np.ndarray, " prefix"]
) -> Float64[np.ndarray, "next prefix"]:
    """Return columns of the composed matrix from the same columns of the stored context sums.

    Arguments:
        source: the bigram counts.
        context: some columns of the uncentred context sums.
        column_sum: their sums.
    """
    vocabulary = len(source.alpha)
    block = np.array(context, order="C")
    through = np.empty_like(block)
    kernels.sparse_times_block(*source.counts, block, 0, vocabulary, through)
    through /= float(source.positions) ** 2
    through -= np.outer(source.alpha, column_sum / (float(vocabulary) * source.positions))
    composed = block
    kernels.sparse_times_block(*source.transposed, through, 0, vocabulary, composed)
    composed /= source.positions
    # An explicit loop over tokens, not a BLAS product: its order of summation would depend on the shape of the block.
    centre = np.zeros(through.shape[1])
    kernels.weighted_sum(source.alpha, through, centre)
    composed -= centre / vocabulary
    return composed


def _rows(matrix: Any) -> SparseRows:
    rows = csr_array(matrix)
    rows.sort_indices()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data
