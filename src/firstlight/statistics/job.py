"""A count in progress: what every pass works with, and how passes go through the corpora.

A pass goes through the vocabulary in blocks of columns and through the corpora in segments, adds integers, and writes
what is finished unit by unit. The order of blocks, segments and threads is free: integer sums do not depend on it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TypeVar

import numpy as np
from jaxtyping import Int32, Int64

from firstlight.corpus.corpus import Corpus
from firstlight.report.progress import Advance
from firstlight.statistics import fixed_point, kernels, layout
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.matrices import Matrix, SparseMatrix, ZarrMatrix
from firstlight.statistics.plan import Plan
from firstlight.statistics.scratch import Scratch
from firstlight.statistics.segments import Segment, Workers, balanced_ranges, even_ranges, segments

Postings = tuple[np.ndarray, np.ndarray, np.ndarray]
Result = TypeVar("Result")

# Postings of a block are cut into this many tasks for each worker, so that none waits long for the last one.
TASKS_PER_WORKER = 8


@dataclass(frozen=True)
class Job:
    """What every pass works with.

    Attributes:
        corpora: what is counted.
        plan: how.
        scratch: where.
        workers: by whom.
        show: whether progress is shown.
    """

    corpora: Sequence[Corpus]
    plan: Plan
    scratch: Scratch
    workers: Workers
    show: bool

    def segments(self) -> Iterator[Segment]:
        """Yield the windows of all corpora, piece by piece."""
        return segments(self.corpora, self.plan.segment_rows)

    def missing_blocks(self, done: Collection[int]) -> Iterator[tuple[list[int], int, int]]:
        """Yield runs of unfinished units with their range of columns, no longer than the plan allows."""
        missing = [unit for unit in range(self.plan.units) if unit not in done]
        for _, run in groupby(enumerate(missing), lambda pair: pair[1] - pair[0]):
            units = [unit for _, unit in run]
            for at in range(0, len(units), self.plan.block_units):
                block = units[at : at + self.plan.block_units]
                low = block[0] * self.plan.unit
                yield block, low, min((block[-1] + 1) * self.plan.unit, self.plan.vocabulary)

    def unit_ranges(self, low: int, high: int) -> list[tuple[int, int]]:
        """Cut a block of columns into its units."""
        return [(start, min(start + self.plan.unit, high)) for start in range(low, high, self.plan.unit)]


@dataclass(frozen=True)
class Head:
    """The most frequent tokens, whose columns are dense strips.

    Attributes:
        tokens: their ids, most frequent first.
        slots: for each token of the vocabulary its place among them, or -1.
        skip: 1 for them, 0 for the others.
    """

    tokens: Int64[np.ndarray, " head"]
    slots: np.ndarray
    skip: np.ndarray


def choose_head(bigrams: Bigrams, size: int) -> Head:
    """Return the `size` most frequent tokens, ties by id."""
    tokens = np.argsort(-bigrams.token_count, kind="stable")[:size].astype(np.int64)
    slots = np.full(len(bigrams.token_count), -1, np.int32)
    slots[tokens] = np.arange(size)
    return Head(tokens, slots, (slots >= 0).astype(np.uint8))


def visit_postings(
    job: Job,
    pieces: Iterable[Segment],
    skip: np.ndarray,
    low: int,
    high: int,
    of_next: int,
    task: Callable[[Segment, Postings, int, int], Result],
    advance: Advance,
) -> Iterator[Result]:
    """Run a task on the postings of tokens [low, high) of segments, cut between the workers.

    Each posting stands for its part of the pairs, by which the progress advances.
    """
    share = job.plan.pairs / max(1, job.plan.positions)
    for segment in pieces:
        places = kernels.postings(segment.windows, segment.lengths, skip, low, high, of_next)
        ranges = balanced_ranges(places[0], job.workers.count * TASKS_PER_WORKER) if len(places[1]) else []
        starts, stops = [a for a, _ in ranges], [b for _, b in ranges]
        yield from job.workers.map(partial(task, segment, places), starts, stops)
        advance(share * len(places[1]))


def head_sums(
    job: Job, head: Head, add_to: Callable[[Segment, np.ndarray], None], wide: bool
) -> tuple[Int64[np.ndarray, "row head"], Int32[np.ndarray, "row head"] | None]:
    """Add up the dense strips: each worker fills one of its own from a part of each segment."""
    shape = (job.plan.vocabulary, len(head.tokens))
    strips = [np.zeros(shape, np.int64) for _ in range(job.workers.count)]
    total, carry = np.zeros(shape, np.int64), np.zeros(shape, np.int32) if wide else None
    for span in spans(job, wide):
        for segment in span:
            ranges = even_ranges(len(segment.windows), job.workers.count)
            parts = [Segment(segment.start + a, segment.windows[a:b], segment.lengths[a:b]) for a, b in ranges]
            job.workers.map(add_to, parts, strips[: len(parts)])
        for strip in strips:
            total += strip
            strip[:] = 0
        if carry is not None:
            fixed_point.move_carry(total, carry)
    return total, carry


def spans(job: Job, wide: bool) -> Iterator[Iterable[Segment]]:
    """Yield runs of segments within which no context sum can reach 2**62 from below 2**62: one when none ever can."""
    if not wide:
        yield job.segments()
        return
    most = fixed_point.most_before_carry(job.plan.window)
    span: list[Segment] = []
    seen = np.zeros(job.plan.vocabulary, np.int64)
    for segment in job.segments():
        ignored, following = np.zeros_like(seen), np.zeros_like(seen)
        kernels.count_tokens(segment.windows, segment.lengths, ignored, following)
        if span and int((seen + following).max()) > most:
            yield span
            span, seen = [], np.zeros_like(seen)
        span.append(segment)
        seen += following
    yield span


def insert_head(rows: np.ndarray, strip: np.ndarray, head: Head, low: int, high: int) -> None:
    """Copy the columns of head tokens into a block of rows by key."""
    for slot, token in enumerate(head.tokens):
        if low <= token < high:
            rows[token - low] = strip[:, slot]


def open_matrix(job: Job, name: str, axes: tuple[str, ...], stage: str, dtype: str = "int64") -> Matrix:
    """Open a matrix of the store that a stage has begun to fill, or create it."""
    size = job.plan.vocabulary
    if size > layout.DENSE_VOCABULARY:
        return SparseMatrix(job.scratch, name, job.plan.unit, size, dtype)
    if job.scratch.done(stage):
        return ZarrMatrix(layout.matrix(job.scratch.group, name))
    return ZarrMatrix(layout.create(job.scratch.group, name, (size, size), dtype, axes))
