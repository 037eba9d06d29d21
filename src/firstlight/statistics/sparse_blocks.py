"""Blocks of keys for large vocabularies: what segments add is kept as the entries that are not zero."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from firstlight.statistics import row_kernels, sparse_kernels
from firstlight.statistics.job import Head, Job
from firstlight.statistics.matrices import SparseMatrix, SparseRows, joined, part_of
from firstlight.statistics.postings import Postings
from firstlight.statistics.segments import Segment

# Given keys [a, b) of a block and arrays for their other tokens and their entries; returns where each key starts.
Fill = Callable[[int, int, np.ndarray, np.ndarray], np.ndarray]


def slots_of_strip(head: Head, segment: Segment) -> np.ndarray:
    """Return the slots of the head tokens for the first segment, and none for the others: the strip is of all."""
    return head.slots if segment.start == 0 else np.full_like(head.slots, -1)


def filled_units(
    job: Job, segment: Segment, places: Postings, slots: np.ndarray, first: int, low: int, high: int, fill: Fill
) -> list[SparseRows]:
    """Fill keys [low, high) of a block whose first token is `first`, cut where units end.

    A unit that one task has filled is kept where it was written. The arrays have room for all that could come; pages
    that are not written take no memory, and those that are come in large pieces, as NumPy asks for them.
    """
    edges = {low, high, *(edge - first for edge in range(0, job.plan.vocabulary, job.plan.unit))}
    pieces = []
    for a, b in pairwise(sorted(edge for edge in edges if low <= edge <= high)):
        room = row_kernels.room_for(segment.lengths, *places, slots, first, a, b, job.plan.vocabulary)
        others, entries = np.empty(room, np.int32), np.empty(room, np.int64)
        starts = fill(a, b, others, entries)
        pieces.append((starts, others[: starts[-1]], entries[: starts[-1]]))
    return pieces


def sum_block(job: Job, visit: Callable[[list[Segment]], Iterator[list[SparseRows]]]) -> list[SparseRows]:
    """Add up what a visit of each segment yields; return pieces of consecutive keys."""
    total: list[SparseRows] = []
    for segment in job.segments():
        found = [piece for pieces in visit([segment]) for piece in pieces]
        total = [sparse_kernels.merged(*joined(total), *joined(found))] if total else found
    if not total:
        raise AssertionError("a corpus without segments")
    return total


def finish_block(
    job: Job, stage: str, units: list[int], low: int, total: list[SparseRows], target: SparseMatrix
) -> None:
    """Write a block of keys from `low` on unit by unit, and record the units that are on disk."""
    spans = job.unit_ranges(low, low + sum(len(starts) - 1 for starts, _, _ in total))

    def write(span: tuple[int, int]) -> bool:
        return target.write_sparse(span[0], part_of(total, span[0] - low, span[1] - low))

    kept = job.workers.map(write, spans)
    job.scratch.finish(stage, [unit for unit, is_kept in zip(units, kept, strict=True) if is_kept])
