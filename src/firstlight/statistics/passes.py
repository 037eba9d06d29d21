"""The passes of a count: bigrams, context, composition, prefix means, attention.

Each goes through the vocabulary in blocks of columns and through the corpora in segments, adds integers, and writes what
is finished unit by unit. The order of blocks, segments and threads is free: integer sums do not depend on it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import zarr
from jaxtyping import Float64, Int32, Int64

from firstlight.corpus.corpus import Corpus
from firstlight.report.progress import progress
from firstlight.statistics import fixed_point, kernels, layout
from firstlight.statistics.bigrams import Bigrams, add, count_segment, no_bigrams
from firstlight.statistics.compose import Composer, block_width, composed_columns
from firstlight.statistics.plan import Plan
from firstlight.statistics.scratch import Scratch
from firstlight.statistics.segments import Segment, Workers, balanced_ranges, even_ranges, segments

Postings = tuple[np.ndarray, np.ndarray, np.ndarray]
Matrix = zarr.Array[Any]
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
    vocabulary = job.plan.vocabulary
    bits = fixed_point.context_bits(job.plan.window)
    weights = fixed_point.context_weights(job.plan.window)
    wide = needs_carry(job, bigrams)
    target, carry_target = open_context(job, wide)
    with progress("context", job.plan.pairs, "pairs", job.show) as advance:
        share = job.plan.pairs / max(1, bigrams.positions)

        def fill_strip(segment: Segment, strip: np.ndarray) -> None:
            kernels.context_head(segment.windows, segment.lengths, weights, head.slots, strip)

        if not job.scratch.done("context head"):
            strip, strip_carry = _head_sums(job, head, fill_strip, wide)
            job.scratch.save("context-head", strip)
            if strip_carry is not None:
                job.scratch.save("context-head-carry", strip_carry)
            job.scratch.finish("context head", [0])
        advance(share * int(bigrams.token_count[head.tokens].sum()))
        strip = job.scratch.load("context-head")
        strip_carry = job.scratch.load("context-head-carry") if wide else None
        for units, low, high in job.missing_blocks(job.scratch.done("context")):
            rows = np.zeros((high - low, vocabulary), np.int64)
            carry = np.zeros((high - low, vocabulary), np.int32) if wide else None

            def fill(segment: Segment, places: Postings, a: int, b: int, rows: np.ndarray = rows) -> None:
                kernels.context_tail(segment.windows, segment.lengths, *places, weights, a, b, rows)

            for spans in _spans(job, wide):
                for _ in _visit_postings(job, spans, head.skip, low, high, of_next=0, task=fill):
                    pass
                if carry is not None:
                    fixed_point.move_carry(rows, carry)
            _insert_head(rows, strip, head, low, high)
            if carry is not None:
                _insert_head(carry, strip_carry, head, low, high)
            for unit, (start, stop) in zip(units, job.unit_ranges(low, high), strict=True):
                part, part_carry = rows[start - low : stop - low], None
                layout.write_columns(target, start, part)
                if carry is not None and carry_target is not None:
                    part_carry = carry[start - low : stop - low]
                    layout.write_columns(carry_target, start, part_carry)
                sums = fixed_point.column_sums(part.T, None if part_carry is None else part_carry.T, bits)
                job.scratch.save(f"context-column-sum-{unit}", sums)
            job.scratch.finish("context", units)
            advance(share * int(bigrams.token_count[low:high][head.skip[low:high] == 0].sum()))


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


def _spans(job: Job, wide: bool) -> Iterator[Iterable[Segment]]:
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


def context_column_sum(job: Job) -> Float64[np.ndarray, " prefix"]:
    """Return the column sums of the context sums, not in fixed point."""
    return np.concatenate(job.scratch.load_units("context-column-sum", job.plan.units))


@dataclass(frozen=True)
class Composed:
    """The composed matrix where it is needed, key x next, with zeros where no window has the pair.

    Attributes:
        by_key: the matrix, in memory or in scratch.
        column_max: the largest |entry| of each key.
    """

    by_key: np.ndarray | Matrix
    column_max: Float64[np.ndarray, " key"]


def compose(job: Job, source: Composer, column_sum: Float64[np.ndarray, " prefix"]) -> Composed:
    """Compute the composed matrix of the context sums in the store, unit by unit."""
    vocabulary, in_memory = job.plan.vocabulary, job.plan.composed_in_memory
    if in_memory:
        by_key: np.ndarray | Matrix = np.empty((vocabulary, vocabulary))
        missing = list(range(job.plan.units))
    else:
        done = job.scratch.done("composed")
        folder = job.scratch.path("composed")
        if done:
            by_key = layout.matrix(zarr.open_group(folder, mode="r+"), "composed")
        else:
            group = zarr.create_group(folder, overwrite=True)
            by_key = layout.create(group, "composed", (vocabulary, vocabulary), "float64", ("key", "next"))
        missing = [unit for unit in range(job.plan.units) if unit not in done]
    largest = np.zeros(vocabulary)
    width = block_width(vocabulary)
    with progress("composition", vocabulary, "columns", job.show) as advance:
        for unit in range(job.plan.units):
            low, high = unit * job.plan.unit, min((unit + 1) * job.plan.unit, vocabulary)
            if unit not in missing:
                largest[low:high] = job.scratch.load(f"column-max-{unit}")
                advance(high - low)
                continue
            context = fixed_point.as_float(
                *layout.read_context(job.scratch.group, slice(None), slice(low, high)),
                fixed_point.context_bits(job.plan.window),
            )
            rows = by_key[low:high] if isinstance(by_key, np.ndarray) else np.empty((high - low, vocabulary))

            def columns(a: int, context: np.ndarray = context, rows: np.ndarray = rows, low: int = low) -> None:
                part = context[:, a : a + width]
                values = composed_columns(source, part, column_sum[low + a : low + a + part.shape[1]])
                # Pairs that no window has are never read; as zeros they compress, and they keep scales the same
                # whether the matrix is held in memory or not.
                rows[a : a + width] = np.where(part != 0, values, 0.0).T

            job.workers.map(columns, range(0, high - low, width))
            largest[low:high] = np.abs(rows).max(axis=1)
            if not in_memory:
                by_key[low:high] = rows
                job.scratch.save(f"column-max-{unit}", largest[low:high])
                job.scratch.finish("composed", [unit])
            advance(high - low)
    return Composed(by_key, largest)


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
            rows = np.ascontiguousarray(composed.by_key[:, low:high].T)
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

            for offsets in _visit_postings(job, job.segments(), nothing, low, high, of_next=1, task=visit):
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
                dense[:, slot] = composed.by_key[int(token)]
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

            job.scratch.save("attention-head", _head_sums(job, head, fill_strip, wide=False)[0])
            job.scratch.finish("attention head", [0])
        advance(share * int(bigrams.token_count[head.tokens].sum()))
        strip = job.scratch.load("attention-head")
        for units, low, high in job.missing_blocks(job.scratch.done("attention")):
            rows = np.zeros((high - low, vocabulary), np.int64)
            values = np.ascontiguousarray(composed.by_key[low:high])
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

            for _ in _visit_postings(job, job.segments(), head.skip, low, high, of_next=0, task=fill):
                pass
            _insert_head(rows, strip, head, low, high)
            for start, stop in job.unit_ranges(low, high):
                layout.write_columns(target, start, rows[start - low : stop - low])
            job.scratch.finish("attention", units)
            advance(share * int(bigrams.token_count[low:high][head.skip[low:high] == 0].sum()))


def _visit_postings(
    job: Job,
    pieces: Iterable[Segment],
    skip: np.ndarray,
    low: int,
    high: int,
    of_next: int,
    task: Callable[[Segment, Postings, int, int], Result],
) -> Iterator[Result]:
    """Run a task on the postings of tokens [low, high) of segments, cut between the workers."""
    for segment in pieces:
        places = kernels.postings(segment.windows, segment.lengths, skip, low, high, of_next)
        ranges = balanced_ranges(places[0], job.workers.count * TASKS_PER_WORKER) if len(places[1]) else []
        starts, stops = [a for a, _ in ranges], [b for _, b in ranges]
        yield from job.workers.map(partial(task, segment, places), starts, stops)


def _scaled_integers(
    rows: Float64[np.ndarray, "next prefix"], exponents: np.ndarray
) -> Int64[np.ndarray, "next prefix"]:
    """Return rows times 2**exponents as integers, a few rows at a time to keep the copies small."""
    integers = np.empty(rows.shape, np.int64)
    for start in range(0, len(rows), 64):
        part = slice(start, start + 64)
        integers[part] = np.rint(np.ldexp(rows[part], exponents[part, None]))
    return integers


def _head_sums(
    job: Job, head: Head, add_to: Callable[[Segment, np.ndarray], None], wide: bool
) -> tuple[Int64[np.ndarray, "row head"], Int32[np.ndarray, "row head"] | None]:
    """Add up the dense strips: each worker fills one of its own from a part of each segment."""
    shape = (job.plan.vocabulary, len(head.tokens))
    strips = [np.zeros(shape, np.int64) for _ in range(job.workers.count)]
    total, carry = np.zeros(shape, np.int64), np.zeros(shape, np.int32) if wide else None
    for span in _spans(job, wide):
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


def _insert_head(rows: np.ndarray, strip: np.ndarray, head: Head, low: int, high: int) -> None:
    """Copy the columns of head tokens into a block of rows by key."""
    for slot, token in enumerate(head.tokens):
        if low <= token < high:
            rows[token - low] = strip[:, slot]


def _means(job: Job, segment: Segment) -> Float64[np.ndarray, "window position"]:
    """Map the prefix means of a segment: pages of the map go when it does, so a large corpus does not fill the memory."""
    shape = (len(segment.windows), job.plan.window)
    offset = segment.start * job.plan.window * 8
    return np.asarray(np.memmap(job.scratch.path("means"), np.float64, "r+", offset, shape))


def open_matrix(job: Job, name: str, axes: tuple[str, ...], stage: str, dtype: str = "int64") -> Matrix:
    """Open an array of the store that a stage has begun to fill, or create it."""
    if job.scratch.done(stage):
        return layout.matrix(job.scratch.group, name)
    return layout.create(job.scratch.group, name, (job.plan.vocabulary, job.plan.vocabulary), dtype, axes)
