"""The second pass: what depends on the composed matrix of the whole, attention and position."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from firstlight.report.progress import progress
from firstlight.statistics import fixed_point, kernels
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.compose import Composer, block_width, composed_columns
from firstlight.statistics.context_pass import open_context
from firstlight.statistics.job import Head, Job, Postings, head_sums, insert_head, open_matrix, visit_postings
from firstlight.statistics.matrices import Buffer, ByOther, Matrix, SparseMatrix, WholeMatrix
from firstlight.statistics.segments import Segment


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
    matrix: SparseMatrix | WholeMatrix = SparseMatrix(job.scratch, "composed", job.plan.unit, vocabulary, "float64")
    done = job.scratch.done("composed")
    if in_memory:
        # What is in memory does not outlive a kill: it is computed again.
        matrix, done = WholeMatrix(np.empty((vocabulary, vocabulary))), []
    sums, carries = open_context(job, job.scratch.has("context_carry"))
    largest = np.zeros(vocabulary)
    with progress("composition", vocabulary, "columns", job.show) as advance:
        for unit, (low, high) in enumerate(job.unit_ranges(0, vocabulary)):
            if unit in done:
                largest[low:high] = job.scratch.load(f"column-max-{unit}")
                advance(high - low)
                continue
            if isinstance(sums, SparseMatrix) and isinstance(matrix, SparseMatrix):
                largest[low:high] = _compose_sparse(job, source, sums, carries, matrix, column_sum, low, high)
            else:
                largest[low:high] = _compose_dense(job, source, sums, carries, matrix, column_sum, low, high)
            if not in_memory:
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
) -> Float64[np.ndarray, " key"]:
    """Compose a unit of columns through dense rows; return the largest |entry| of each."""
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
    target.write(low, rows)
    largest: np.ndarray = np.abs(rows).max(axis=1)
    return largest


def _compose_sparse(
    job: Job,
    source: Composer,
    sums: SparseMatrix,
    carries: Matrix | None,
    target: SparseMatrix,
    column_sum: np.ndarray,
    low: int,
    high: int,
) -> Float64[np.ndarray, " key"]:
    """Compose a unit of columns a few at a time, keeping the entries where the context sums have one."""
    width = block_width(job.plan.vocabulary)
    scale = 2.0 ** -fixed_point.context_bits(job.plan.window)
    starts, others, entries = sums.unit_at(low)
    carry = carries.unit_at(low) if isinstance(carries, SparseMatrix) else None
    values, largest = np.empty(len(entries)), np.zeros(high - low)

    def columns(a: int) -> None:
        b = min(a + width, high)
        block = np.zeros((job.plan.vocabulary, b - a))
        kernels.add_to_block(starts, others, entries, low, a, b, scale, block)
        if carry is not None:
            kernels.add_to_block(*carry, low, a, b, scale * 2.0**fixed_point.SUM_BITS, block)
        composed = composed_columns(source, block, column_sum[a:b])
        kernels.take_from_block(starts, others, low, a, b, composed, values, largest)

    job.workers.map(columns, range(low, high, width))
    target.write_sparse(low, (starts, others, values))
    return largest


def average_prefixes(job: Job, bigrams: Bigrams, composed: Composed) -> tuple[Float64[np.ndarray, " offset"], float]:
    """Compute the mean of g over each prefix, into scratch; return the position sums and the largest |mean|."""
    steps, windows = job.plan.window, job.plan.windows
    inverse = 1.0 / np.arange(1, steps + 1)
    by_length = np.bincount(np.concatenate([corpus.lengths for corpus in job.corpora]), minlength=steps + 2)
    # Windows of at least t + 1 tokens have a position t.
    at_position = by_length[::-1].cumsum()[::-1][2 : steps + 2]
    exponent = fixed_point.offset_exponent(float(composed.column_max.max()), float((inverse * at_position).sum()))
    scale = 2.0**exponent
    # The sums so far, then for each unit whether they hold it: one file, so that a kill cannot part the two.
    progress_file = "offsets"
    if job.scratch.exists(progress_file):
        saved = job.scratch.load(progress_file)
    else:
        saved = np.zeros(steps + job.plan.units, np.int64)
        with job.scratch.path("means").open("wb") as file:
            file.truncate(windows * steps * 8)
    by_offset, finished = saved[:steps], saved[steps:]
    nothing = np.zeros(job.plan.vocabulary, np.uint8)
    exponents = fixed_point.row_exponents(composed.matrix.largest_of_others(), steps)
    with progress("prefix means", job.plan.pairs, "pairs", job.show) as advance:
        for units, low, high in job.missing_blocks(np.flatnonzero(finished)):
            row_exponents = exponents[low:high]
            integers = composed.matrix.others_scaled(low, high, row_exponents)

            def visit(
                segment: Segment,
                places: Postings,
                a: int,
                b: int,
                integers: np.ndarray = integers,
                row_exponents: np.ndarray = row_exponents,
            ) -> np.ndarray:
                offsets = np.zeros(steps, np.int64)
                means = _means(job, segment)
                kernels.prefix_means(
                    segment.windows, *places, integers, row_exponents, inverse, scale, a, b, means, offsets
                )
                return offsets

            for offsets in visit_postings(
                job, job.segments(), nothing, low, high, of_next=1, task=visit, advance=advance
            ):
                by_offset += offsets
            finished[units] = 1
            job.scratch.save(progress_file, saved)
    from_means = np.zeros(steps, np.int64)
    largest = 0.0
    for segment in job.segments():
        means = _means(job, segment)
        largest = max(largest, kernels.mean_offsets(segment.lengths, means, inverse, scale, from_means))
    total = by_offset[::-1] - from_means[::-1].cumsum()[::-1]
    return np.ldexp(total.astype(np.float64), -exponent), largest


def count_attention(job: Job, bigrams: Bigrams, head: Head, composed: Composed, exponents: np.ndarray) -> None:
    """Fill attention_sum."""
    vocabulary, steps = job.plan.vocabulary, job.plan.window
    inverse = 1.0 / np.arange(1, steps + 1)
    scales = np.ldexp(1.0, exponents)
    target = open_matrix(job, "attention_sum", ("query", "key"), "attention")
    with progress("attention", job.plan.pairs, "pairs", job.show) as advance:
        share = job.plan.pairs / max(1, bigrams.positions)
        if not job.scratch.done("attention head"):
            dense = np.empty((vocabulary, len(head.tokens)))
            for slot, token in enumerate(head.tokens):
                dense[:, slot] = composed.matrix.rows(int(token), int(token) + 1)[0]
            head_scales = scales[head.tokens]

            def fill_strip(segment: Segment, strip: np.ndarray) -> None:
                kernels.attention_head(
                    segment.windows,
                    segment.lengths,
                    dense,
                    _means(job, segment),
                    inverse,
                    head_scales,
                    head.slots,
                    strip,
                )

            job.scratch.save("attention-head", head_sums(job, head, fill_strip, wide=False)[0])
            job.scratch.finish("attention head", [0])
        advance(share * int(bigrams.token_count[head.tokens].sum()))
        strip = job.scratch.load("attention-head")
        buffer = Buffer()
        for units, low, high in job.missing_blocks(job.scratch.done("attention")):
            rows = buffer.zeros((high - low, vocabulary), "int64")
            values = composed.matrix.rows(low, high)
            block_scales = scales[low:high]

            def fill(
                segment: Segment,
                places: Postings,
                a: int,
                b: int,
                rows: np.ndarray = rows,
                values: np.ndarray = values,
                block_scales: np.ndarray = block_scales,
            ) -> None:
                kernels.attention_tail(
                    segment.windows,
                    segment.lengths,
                    *places,
                    values,
                    _means(job, segment),
                    inverse,
                    block_scales,
                    a,
                    b,
                    rows,
                )

            for _ in visit_postings(job, job.segments(), head.skip, low, high, of_next=0, task=fill, advance=advance):
                pass
            insert_head(rows, strip, head, low, high)

            def write(span: tuple[int, int], rows: np.ndarray = rows, low: int = low) -> None:
                target.write(span[0], rows[span[0] - low : span[1] - low])

            job.workers.map(write, job.unit_ranges(low, high))
            job.scratch.finish("attention", units)


def _means(job: Job, segment: Segment) -> Float64[np.ndarray, "window position"]:
    """Map the prefix means of a segment: pages go when the map does, so a large corpus does not fill the memory."""
    shape = (len(segment.windows), job.plan.window)
    offset = segment.start * job.plan.window * 8
    return np.asarray(np.memmap(job.scratch.path("means"), np.float64, "r+", offset, shape))
