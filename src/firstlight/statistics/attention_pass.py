"""The second half of the second pass: the attention sums, from the composed matrix and the prefix means."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from firstlight.report.progress import Advance, progress
from firstlight.statistics import kernels, row_kernels
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.composition_pass import Composed
from firstlight.statistics.job import Head, Job, head_sums, insert_head, open_matrix, visit_postings
from firstlight.statistics.marks import no_marks
from firstlight.statistics.matrices import Buffer, Matrix, SparseMatrix, SparseRows
from firstlight.statistics.means_pass import means_of, with_means
from firstlight.statistics.postings import Postings
from firstlight.statistics.segments import Segment
from firstlight.statistics.sparse_blocks import filled_units, finish_block, slots_of_strip, sum_block

# As for the means; there are two rows to each key here, and longer stretches of tokens pay.
SEGMENT_TOKENS = 2_000_000


def count_attention(job: Job, bigrams: Bigrams, head: Head, composed: Composed, exponents: np.ndarray) -> None:
    """Fill attention_sum.

    Arguments:
        job: the count.
        bigrams: of the corpus.
        head: the tokens whose columns are dense strips.
        composed: the composed matrix.
        exponents: the scale of each key.
    """
    scales = np.ldexp(1.0, exponents)
    target = open_matrix(job, "attention_sum", ("query", "key"), "attention")
    with progress("attention", job.plan.pairs, "pairs", job.show) as advance:
        if not job.scratch.done("attention head"):
            job.scratch.save("attention-head", _head_strip(job, head, composed, scales))
            job.scratch.finish("attention head", [0])
        advance(job.plan.pairs / max(1, bigrams.positions) * int(bigrams.token_count[head.tokens].sum()))
        strip = job.scratch.load("attention-head")
        if isinstance(target, SparseMatrix):
            _fill_sparse(job, head, strip, composed, scales, target, advance)
        else:
            _fill_dense(job, head, strip, composed, scales, target, advance)


def _inverse(job: Job) -> np.ndarray:
    return 1.0 / np.arange(1, job.plan.window + 1)


def _head_strip(job: Job, head: Head, composed: Composed, scales: np.ndarray) -> np.ndarray:
    dense = np.empty((job.plan.vocabulary, len(head.tokens)))
    for slot, token in enumerate(head.tokens):
        dense[:, slot] = composed.matrix.rows(int(token), int(token) + 1)[0]
    head_scales, inverse = scales[head.tokens], _inverse(job)

    def fill(segment: Segment, strip: np.ndarray) -> None:
        means = means_of(job, segment)
        kernels.attention_head(segment.windows, segment.lengths, dense, means, inverse, head_scales, head.slots, strip)

    return head_sums(job, head, fill, wide=False)[0]


def _fill_dense(
    job: Job,
    head: Head,
    strip: np.ndarray,
    composed: Composed,
    scales: np.ndarray,
    target: Matrix,
    advance: Advance,
) -> None:
    buffer, inverse = Buffer(), _inverse(job)
    for units, low, high in job.missing_blocks(job.scratch.done("attention")):
        rows = buffer.zeros((high - low, job.plan.vocabulary), "int64")
        values, block_scales = composed.matrix.rows(low, high), scales[low:high]

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
                segment.windows, segment.lengths, *places, values, segment.means, inverse, block_scales, a, b, rows
            )

        pieces = with_means(job, job.segments(SEGMENT_TOKENS))
        for _ in visit_postings(job, pieces, head.skip, low, high, of_next=0, task=fill, advance=advance):
            pass
        insert_head(rows, strip, head, low, high)

        def write(span: tuple[int, int], rows: np.ndarray = rows, low: int = low) -> None:
            target.write(span[0], rows[span[0] - low : span[1] - low])

        job.workers.map(write, job.unit_ranges(low, high))
        job.scratch.finish("attention", units)


def _fill_sparse(
    job: Job,
    head: Head,
    strip: np.ndarray,
    composed: Composed,
    scales: np.ndarray,
    target: SparseMatrix,
    advance: Advance,
) -> None:
    inverse, matrix = _inverse(job), composed.matrix
    assert isinstance(matrix, SparseMatrix)
    # With a carry what is left in a context sum could be zero, and its place missing.
    complete = not job.has_matrix("context_carry")
    for units, low, high in job.missing_blocks(job.scratch.done("attention")):
        values, block_scales = matrix.sparse_rows(low, high), scales[low:high]

        def fill(
            segment: Segment,
            places: Postings,
            a: int,
            b: int,
            values: SparseRows = values,
            block_scales: np.ndarray = block_scales,
            low: int = low,
        ) -> list[SparseRows]:
            slots, marks = slots_of_strip(head, segment), no_marks(job.plan.vocabulary)
            tokens, lengths, means = segment.windows, segment.lengths, segment.means
            of_keys: tuple[Any, ...] = (means, inverse, block_scales, slots, strip, marks, complete, low)
            rows = partial(row_kernels.attention_rows, tokens, lengths, *places, *values, *of_keys)
            return filled_units(job, segment, places, slots, low, a, b, rows)

        def visit(
            pieces: list[Segment], low: int = low, high: int = high, task: Callable[..., list[SparseRows]] = fill
        ) -> Iterator[list[SparseRows]]:
            return visit_postings(
                job, with_means(job, pieces), head.skip, low, high, of_next=0, task=task, advance=advance
            )

        finish_block(job, "attention", units, low, sum_block(job, visit), target)
