"""Blocks of keys for large vocabularies: what segments add is kept as the entries that are not zero."""

from collections.abc import Callable, Iterator

import numpy as np

from firstlight.statistics import sparse_kernels
from firstlight.statistics.job import Head, Job
from firstlight.statistics.matrices import SparseMatrix, SparseRows, joined, part_of
from firstlight.statistics.segments import Segment


def slots_of_strip(head: Head, segment: Segment) -> np.ndarray:
    """Return the slots of the head tokens for the first segment, and none for the others: the strip is of all."""
    return head.slots if segment.start == 0 else np.full_like(head.slots, -1)


def sum_block(job: Job, visit: Callable[[list[Segment]], Iterator[SparseRows]]) -> list[SparseRows]:
    """Add up what a visit of each segment yields; return pieces of consecutive keys."""
    total: list[SparseRows] = []
    for segment in job.segments():
        found = list(visit([segment]))
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
