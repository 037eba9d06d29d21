"""The second pass: what depends on the composed matrix of the whole, attention and position."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from firstlight.report.progress import progress
from firstlight.statistics import fixed_point, kernels
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.compose import Composer, block_width, composed_columns
from firstlight.statistics.context_pass import open_context
from firstlight.statistics.job import Head, Job, Postings, head_sums, insert_head, open_matrix, visit_postings
from firstlight.statistics.matrices import Matrix, SparseMatrix, WholeMatrix
from firstlight.statistics.segments import Segment


@dataclass(frozen=True)
class Composed:
    """The composed matrix where it is needed, key x next, with zeros where no window has the pair.

    Attributes:
        matrix: the matrix, in memory or in scratch.
        column_max: the largest |entry| of each key.
    """

    matrix: Matrix
    column_max: Float64[np.ndarray, " key"]


def compose(job: Job, source: Composer, column_sum: Float64[np.ndarray, " prefix"]) -> Composed:
    """Compute the composed matrix of the context sums, unit by unit."""
    vocabulary, in_memory = job.plan.vocabulary, job.plan.composed_in_memory
    matrix: Matrix = SparseMatrix(job.scratch, "composed", job.plan.unit, vocabulary, "float64")
    done = job.scratch.done("composed")
    if in_memory:
        # What is in memory does not outlive a kill: it is computed again.
        matrix, done = WholeMatrix(np.empty((vocabulary, vocabulary))), []
    sums, carries = open_context(job, job.scratch.has("context_carry"))
    bits = fixed_point.context_bits(job.plan.window)
    largest = np.zeros(vocabulary)
    width = block_width(vocabulary)
    with progress("composition", vocabulary, "columns", job.show) as advance:
        for unit, (low, high) in enumerate(job.unit_ranges(0, vocabulary)):
            if unit in done:
                largest[low:high] = job.scratch.load(f"column-max-{unit}")
                advance(high - low)
                continue
            carry = None if carries is None else carries.rows(low, high)
            context = fixed_point.as_float(sums.rows(low, high), carry, bits)

            def columns(a: int, context: np.ndarray = context, low: int = low) -> None:
                part = context[a : a + width]
                values = composed_columns(source, part.T, column_sum[low + a : low + a + len(part)])
                # Pairs that no window has are never read; as zeros they need no room, and they keep scales the same
                # whether the matrix is held in memory or not.
                part[:] = np.where(part != 0, values.T, 0.0)

            job.workers.map(columns, range(0, high - low, width))
            largest[low:high] = np.abs(context).max(axis=1)
            matrix.write(low, context)
            if not in_memory:
                job.scratch.save(f"column-max-{unit}", largest[low:high])
                job.scratch.finish("composed", [unit])
            advance(high - low)
    return Composed(matrix, largest)


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
    with progress("prefix means", job.plan.pairs, "pairs", job.show) as advance:
        share = job.plan.pairs / max(1, bigrams.positions)
        for units, low, high in job.missing_blocks(np.flatnonzero(finished)):
            rows = composed.matrix.others(low, high)
            row_exponents = fixed_point.row_exponents(rows, steps)
            integers = _scaled_integers(rows, row_exponents)
            del rows

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

            for offsets in visit_postings(job, job.segments(), nothing, low, high, of_next=1, task=visit):
                by_offset += offsets
            finished[units] = 1
            job.scratch.save(progress_file, saved)
            advance(share * int(bigrams.next_count[low:high].sum()))
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
        for units, low, high in job.missing_blocks(job.scratch.done("attention")):
            rows = np.zeros((high - low, vocabulary), np.int64)
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

            for _ in visit_postings(job, job.segments(), head.skip, low, high, of_next=0, task=fill):
                pass
            insert_head(rows, strip, head, low, high)
            for start, stop in job.unit_ranges(low, high):
                target.write(start, rows[start - low : stop - low])
            job.scratch.finish("attention", units)
            advance(share * int(bigrams.token_count[low:high][head.skip[low:high] == 0].sum()))


def _scaled_integers(
    rows: Float64[np.ndarray, "next prefix"], exponents: np.ndarray
) -> Int64[np.ndarray, "next prefix"]:
    """Return rows times 2**exponents as integers, a few rows at a time to keep the copies small."""
    integers = np.empty(rows.shape, np.int64)
    for start in range(0, len(rows), 64):
        part = slice(start, start + 64)
        integers[part] = np.rint(np.ldexp(rows[part], exponents[part, None]))
    return integers


def _means(job: Job, segment: Segment) -> Float64[np.ndarray, "window position"]:
    """Map the prefix means of a segment: pages go when the map does, so a large corpus does not fill the memory."""
    shape = (len(segment.windows), job.plan.window)
    offset = segment.start * job.plan.window * 8
    return np.asarray(np.memmap(job.scratch.path("means"), np.float64, "r+", offset, shape))
