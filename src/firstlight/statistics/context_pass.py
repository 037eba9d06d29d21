"""The passes that add over corpora: bigrams and context."""

from functools import partial

import numpy as np
from jaxtyping import Float64

from firstlight.report.progress import Advance, progress
from firstlight.statistics import fixed_point, kernels, row_kernels
from firstlight.statistics.bigrams import Bigrams, add, count_segment, no_bigrams
from firstlight.statistics.job import (
    Head,
    Job,
    head_sums,
    insert_head,
    open_matrix,
    spans,
    visit_postings,
)
from firstlight.statistics.marks import no_marks
from firstlight.statistics.matrices import Buffer, Matrix, SparseMatrix, SparseRows
from firstlight.statistics.postings import Postings
from firstlight.statistics.segments import Segment
from firstlight.statistics.sparse_blocks import filled_units, finish_block, slots_of_strip, sum_block


def count_bigrams(job: Job) -> Bigrams:
    """Count the bigrams of all segments."""
    total = no_bigrams(job.plan.vocabulary)
    with progress("bigrams", job.plan.positions, "tokens", job.show) as advance:
        for segment in job.segments():
            total = add(total, count_segment(segment, job.plan.vocabulary, job.workers))
            advance(int(segment.lengths.sum()) - len(segment.lengths))
    return total


def count_context(job: Job, bigrams: Bigrams, head: Head) -> None:
    """Fill context_sum, with context_carry if some sums need it, and their column sums."""
    weights = fixed_point.context_weights(job.plan.window)
    wide = needs_carry(job, bigrams)
    target, carry_target = open_context(job, wide)
    with progress("context", job.plan.pairs, "pairs", job.show) as advance:
        share = job.plan.pairs / max(1, bigrams.positions)

        def fill_strip(segment: Segment, strip: np.ndarray) -> None:
            kernels.context_head(segment.windows, segment.lengths, weights, head.slots, strip)

        if not job.scratch.done("context head"):
            strip, strip_carry = head_sums(job, head, fill_strip, wide)
            job.scratch.save("context-head", strip)
            if strip_carry is not None:
                job.scratch.save("context-head-carry", strip_carry)
            job.scratch.finish("context head", [0])
        advance(share * int(bigrams.token_count[head.tokens].sum()))
        strip = job.scratch.load("context-head")
        if isinstance(target, SparseMatrix) and not wide:
            _fill_sparse(job, head, strip, target, advance)
        else:
            strip_carry = job.scratch.load("context-head-carry") if wide else None
            _fill_dense(job, head, strip, strip_carry, target, carry_target, advance)


def _fill_dense(
    job: Job,
    head: Head,
    strip: np.ndarray,
    strip_carry: np.ndarray | None,
    target: Matrix,
    carry_target: Matrix | None,
    advance: Advance,
) -> None:
    """Fill blocks of dense rows, with what they cannot hold moved to a carry."""
    vocabulary, wide = job.plan.vocabulary, carry_target is not None
    bits, weights = fixed_point.context_bits(job.plan.window), fixed_point.context_weights(job.plan.window)
    buffer = Buffer()
    for units, low, high in job.missing_blocks(job.scratch.done("context")):
        rows = buffer.zeros((high - low, vocabulary), "int64")
        carry = np.zeros((high - low, vocabulary), np.int32) if wide else None

        def fill(segment: Segment, places: Postings, a: int, b: int, rows: np.ndarray = rows) -> None:
            kernels.context_tail(segment.windows, segment.lengths, *places, weights, a, b, rows)

        for span in spans(job, wide):
            for _ in visit_postings(job, span, head.skip, low, high, of_next=0, task=fill, advance=advance):
                pass
            if carry is not None:
                fixed_point.move_carry(rows, carry)
        insert_head(rows, strip, head, low, high)
        if carry is not None and strip_carry is not None:
            insert_head(carry, strip_carry, head, low, high)

        def write(
            unit: int,
            span: tuple[int, int],
            rows: np.ndarray = rows,
            carry: np.ndarray | None = carry,
            low: int = low,
        ) -> bool:
            part, part_carry = rows[span[0] - low : span[1] - low], None
            kept = target.write(span[0], part)
            if carry is not None and carry_target is not None:
                part_carry = carry[span[0] - low : span[1] - low]
                kept = carry_target.write(span[0], part_carry) and kept
            job.scratch.save(f"context-column-sum-{unit}", fixed_point.row_sums(part, part_carry, bits))
            return kept

        kept = job.workers.map(write, units, job.unit_ranges(low, high))
        job.scratch.finish("context", [unit for unit, is_kept in zip(units, kept, strict=True) if is_kept])


def _fill_sparse(job: Job, head: Head, strip: np.ndarray, target: SparseMatrix, advance: Advance) -> None:
    """Fill blocks of sparse rows."""
    bits, weights = fixed_point.context_bits(job.plan.window), fixed_point.context_weights(job.plan.window)
    for units, low, high in job.missing_blocks(job.scratch.done("context")):

        def fill(segment: Segment, places: Postings, a: int, b: int, low: int = low) -> list[SparseRows]:
            slots, marks = slots_of_strip(head, segment), no_marks(job.plan.vocabulary)
            given = (segment.windows, segment.lengths, *places, weights, slots, strip, marks, low)
            rows = partial(row_kernels.context_rows, *given)
            return filled_units(job, segment, places, slots, low, a, b, rows)

        visit = partial(visit_postings, job, skip=head.skip, low=low, high=high, of_next=0, task=fill, advance=advance)
        total = sum_block(job, visit)
        sums = np.concatenate(
            job.workers.map(lambda piece: fixed_point.sparse_row_sums(piece[0], piece[2], bits), total)
        )
        for unit, (a, b) in zip(units, job.unit_ranges(low, high), strict=True):
            job.scratch.save(f"context-column-sum-{unit}", sums[a - low : b - low])
        finish_block(job, "context", units, low, total, target)


def needs_carry(job: Job, bigrams: Bigrams) -> bool:
    """Whether a context sum could reach 2**62."""
    return int(bigrams.next_count.max()) > fixed_point.most_before_carry(job.plan.window)


def open_context(job: Job, wide: bool) -> tuple[Matrix, Matrix | None]:
    """Open the arrays of the context sums."""
    axes = ("next", "prefix")
    return (
        open_matrix(job, "context_sum", axes, "context"),
        open_matrix(job, "context_carry", axes, "context", "int32") if wide else None,
    )


def context_column_sum(job: Job) -> Float64[np.ndarray, " prefix"]:
    """Return the column sums of the context sums, not in fixed point."""
    return np.concatenate(job.scratch.load_units("context-column-sum", job.plan.units))
