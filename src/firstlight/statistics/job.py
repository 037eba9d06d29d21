"""A count in progress: what every pass works with, and how passes go through the corpora.

A pass goes through the vocabulary in blocks of columns and through the corpora in segments, adds integers, and writes
what is finished unit by unit. The order of blocks, segments and threads is free: integer sums do not depend on it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from jaxtyping import Int32, Int64

from firstlight.corpus.corpus import Corpus
from firstlight.report.progress import Advance
from firstlight.statistics import fixed_point, layout, token_kernels
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.matrices import Matrix, Room, SparseMatrix, ZarrMatrix
from firstlight.statistics.plan import Plan
from firstlight.statistics.postings import Postings, postings
from firstlight.statistics.scratch import Scratch
from firstlight.statistics.segments import Segment, Workers, balanced_ranges, even_ranges, segments

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
        room: the memory of finished sparse units.
        unit_cells: the most entries each unit can have.
        matrices: the sparse matrices that passes have begun, by name.
    """

    corpora: Sequence[Corpus]
    plan: Plan
    scratch: Scratch
    workers: Workers
    show: bool
    room: Room
    unit_cells: Int64[np.ndarray, " unit"]
    matrices: dict[str, SparseMatrix] = field(default_factory=dict)

    def segments(self, tokens: int | None = None) -> Iterator[Segment]:
        """Yield the windows of all corpora, piece by piece; pieces of at most so many tokens, if told."""
        rows = self.plan.segment_rows
        return segments(self.corpora, rows if tokens is None else max(1, min(rows, tokens // (self.plan.window + 1))))

    def sparse_matrix(self, name: str, dtype: str) -> SparseMatrix:
        """Return a sparse matrix of the units of the plan; every pass that asks for a name gets the same one."""
        if name not in self.matrices:
            made = SparseMatrix(self.scratch, name, self.plan.unit, self.plan.vocabulary, dtype, self.room)
            self.matrices[name] = made
        return self.matrices[name]

    def has_matrix(self, name: str) -> bool:
        """Whether a matrix has been begun: in memory, in the store, or in scratch files."""
        return self.scratch.has(name) or (name in self.matrices and bool(self.matrices[name].held))

    def missing_blocks(self, done: Collection[int]) -> Iterator[tuple[list[int], int, int]]:
        """Yield runs of unfinished units with their range of columns, no larger than the plan allows."""
        block: list[int] = []
        cells = 0
        for unit in (unit for unit in range(self.plan.units) if unit not in done):
            if block and (unit != block[-1] + 1 or cells + int(self.unit_cells[unit]) > self.plan.block_cells):
                yield self._block(block)
                block, cells = [], 0
            block.append(unit)
            cells += int(self.unit_cells[unit])
        if block:
            yield self._block(block)

    def _block(self, units: list[int]) -> tuple[list[int], int, int]:
        return units, units[0] * self.plan.unit, min((units[-1] + 1) * self.plan.unit, self.plan.vocabulary)

    def unit_ranges(self, low: int, high: int) -> list[tuple[int, int]]:
        """Cut a block of columns into its units."""
        return [(start, min(start + self.plan.unit, high)) for start in range(low, high, self.plan.unit)]


def most_cells(plan: Plan, bigrams: Bigrams | None) -> Int64[np.ndarray, " unit"]:
    """Return the most entries each unit can have: V for a key, or no more than the key has pairs.

    Arguments:
        plan: of the count.
        bigrams: None where blocks are dense, and every entry takes its room.
    """
    cells = np.full(plan.vocabulary, plan.vocabulary, np.int64)
    if bigrams is not None:
        cells = np.minimum(cells, np.maximum(bigrams.token_count, bigrams.next_count) * plan.window)
    return np.add.reduceat(cells, np.arange(0, plan.vocabulary, plan.unit))


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
        places = postings(segment, skip, low, high, of_next, job.workers)
        ranges = balanced_ranges(places[0], job.workers.count * TASKS_PER_WORKER)
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
    # Few enough windows that one segment alone needs no carry.
    tokens = max(1, most // job.plan.window) * (job.plan.window + 1)
    span: list[Segment] = []
    seen = np.zeros(job.plan.vocabulary, np.int64)
    for segment in job.segments(tokens):
        ignored, following = np.zeros_like(seen), np.zeros_like(seen)
        token_kernels.count_tokens(segment.windows, segment.lengths, ignored, following)
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
    if job.plan.sparse:
        return job.sparse_matrix(name, dtype)
    if job.scratch.done(stage):
        return ZarrMatrix(layout.matrix(job.scratch.group, name))
    return ZarrMatrix(layout.create(job.scratch.group, name, (size, size), dtype, axes))
