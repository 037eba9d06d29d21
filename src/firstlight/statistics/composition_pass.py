"""The composed matrix of the whole corpus, from the context sums, unit by unit."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from firstlight.report.progress import progress
from firstlight.statistics import fixed_point, sparse_kernels
from firstlight.statistics.compose import Composer, block_width, composed_columns
from firstlight.statistics.context_pass import open_context
from firstlight.statistics.job import Job
from firstlight.statistics.matrices import ByOther, Matrix, SparseMatrix, WholeMatrix


@dataclass(frozen=True)
class Composed:
    """The composed matrix where it is needed, key x next, with zeros where no window has the pair.

    Attributes:
        matrix: the matrix, in memory or in scratch.
        column_max: the largest |entry| of each key.
    """

    matrix: ByOther
    column_max: Float64[np.ndarray, " key"]


def compose(job: Job, source: Composer, column_sum: Float64[np.ndarray, " prefix"]) -> Composed:
    """Compute the composed matrix of the context sums, unit by unit."""
    vocabulary, in_memory = job.plan.vocabulary, job.plan.composed_in_memory
    matrix: SparseMatrix | WholeMatrix = job.sparse_matrix("composed", "float64")
    done = job.scratch.done("composed")
    if in_memory:
        # What is in memory does not outlive a kill: it is computed again.
        matrix, done = WholeMatrix(np.empty((vocabulary, vocabulary))), []
    sums, carries = open_context(job, job.has_matrix("context_carry"))
    largest = np.zeros(vocabulary)
    with progress("composition", vocabulary, "columns", job.show) as advance:
        for unit, (low, high) in enumerate(job.unit_ranges(0, vocabulary)):
            if unit in done:
                largest[low:high] = job.scratch.load(f"column-max-{unit}")
                advance(high - low)
                continue
            if isinstance(sums, SparseMatrix) and isinstance(matrix, SparseMatrix):
                largest[low:high], kept = _compose_sparse(job, source, sums, carries, matrix, column_sum, low, high)
            else:
                largest[low:high], kept = _compose_dense(job, source, sums, carries, matrix, column_sum, low, high)
            if kept:
                job.scratch.save(f"column-max-{unit}", largest[low:high])
                job.scratch.finish("composed", [unit])
            advance(high - low)
    return Composed(matrix, largest)


def _compose_dense(
    job: Job,
    source: Composer,
    sums: Matrix,
    carries: Matrix | None,
    target: Matrix,
    column_sum: np.ndarray,
    low: int,
    high: int,
) -> tuple[Float64[np.ndarray, " key"], bool]:
    """Compose a unit of columns through dense rows; return the largest |entry| of each, and whether it is on disk."""
    width = block_width(job.plan.vocabulary)
    carry = None if carries is None else carries.rows(low, high)
    rows = fixed_point.as_float(sums.rows(low, high), carry, fixed_point.context_bits(job.plan.window))

    def columns(a: int) -> None:
        part = rows[a : a + width]
        values = composed_columns(source, part.T, column_sum[low + a : low + a + len(part)])
        # Pairs that no window has are never read; as zeros they need no room, and they keep scales the same whether
        # the matrix is sparse or not.
        part[:] = np.where(part != 0, values.T, 0.0)

    job.workers.map(columns, range(0, high - low, width))
    return np.abs(rows).max(axis=1), target.write(low, rows)


def _compose_sparse(
    job: Job,
    source: Composer,
    sums: SparseMatrix,
    carries: Matrix | None,
    target: SparseMatrix,
    column_sum: np.ndarray,
    low: int,
    high: int,
) -> tuple[Float64[np.ndarray, " key"], bool]:
    """Compose a unit of columns a few at a time, keeping the entries where the context sums have one."""
    width = block_width(job.plan.vocabulary)
    scale = 2.0 ** -fixed_point.context_bits(job.plan.window)
    starts, others, entries = sums.unit_at(low)
    carry = carries.unit_at(low) if isinstance(carries, SparseMatrix) else None
    values, largest = np.empty(len(entries)), np.zeros(high - low)

    def columns(a: int) -> None:
        b = min(a + width, high)
        block = np.zeros((job.plan.vocabulary, b - a))
        sparse_kernels.add_to_block(starts, others, entries, low, a, b, scale, block)
        if carry is not None:
            sparse_kernels.add_to_block(*carry, low, a, b, scale * 2.0**fixed_point.SUM_BITS, block)
        composed = composed_columns(source, block, column_sum[a:b])
        sparse_kernels.take_from_block(starts, others, low, a, b, composed, values, largest)

    job.workers.map(columns, range(low, high, width))
    return largest, target.write_sparse(low, (starts, others, values))
