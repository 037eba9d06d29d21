"""The first half of the second pass: the mean of g over every prefix, and the position sums."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float64

from firstlight.report.progress import progress
from firstlight.statistics import fixed_point, kernels, row_kernels
from firstlight.statistics.composition_pass import Composed
from firstlight.statistics.job import Job, visit_postings
from firstlight.statistics.matrices import SparseMatrix, joined
from firstlight.statistics.postings import Postings
from firstlight.statistics.segments import Segment, even_ranges, windows_by_length
from firstlight.statistics.vectors import WIDTH

# Dense rows of the composed matrix are read anew for every segment, the tokens of a segment for every row: with this
# many tokens in a segment (4 MB) those stay in a cache shared by cores, and segments are few.
SEGMENT_TOKENS = 2_000_000

# Visits the postings of next tokens [a, b) of a block in a segment: writes their means, returns their offset sums.
Visit = Callable[[Segment, Postings, int, int], np.ndarray]


def average_prefixes(job: Job, composed: Composed) -> tuple[Float64[np.ndarray, " offset"], float]:
    """Compute the mean of g over each prefix, into scratch; return the position sums and the largest |mean|."""
    steps, windows = job.plan.window, job.plan.windows
    inverse = 1.0 / np.arange(1, steps + 1)
    by_length = np.sum([windows_by_length(corpus) for corpus in job.corpora], axis=0)
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
    open_block = _sparse_block if job.plan.sparse else _dense_block
    with progress("prefix means", job.plan.pairs, "pairs", job.show) as advance:
        for units, low, high in job.missing_blocks(np.flatnonzero(finished)):
            visit = open_block(job, composed, exponents[low:high], inverse, scale, low, high)
            # One map for all threads: a page that each of them maps anew takes longer than what is written to it.
            whole = job.segments(None if job.plan.sparse else SEGMENT_TOKENS)
            pieces = (replace(segment, means=means_of(job, segment)) for segment in whole)
            for offsets in visit_postings(job, pieces, nothing, low, high, of_next=1, task=visit, advance=advance):
                by_offset += offsets[:steps]
            finished[units] = 1
            job.scratch.save(progress_file, saved)
    from_means = np.zeros(steps, np.int64)
    largest = 0.0
    for segment in job.segments():
        means = means_of(job, segment)
        largest = max(largest, kernels.mean_offsets(segment.lengths, means, inverse, scale, from_means))
    total = by_offset[::-1] - from_means[::-1].cumsum()[::-1]
    return np.ldexp(total.astype(np.float64), -exponent), largest


def with_means(job: Job, pieces: Iterable[Segment]) -> Iterator[Segment]:
    """Yield segments with their means: copies, which loops go through faster than through the small pages of a map."""
    for segment in pieces:
        yield replace(segment, means=np.array(means_of(job, segment)))


def _dense_block(
    job: Job, composed: Composed, exponents: np.ndarray, inverse: np.ndarray, scale: float, low: int, high: int
) -> Visit:
    """Prepare next tokens [low, high) as dense rows of integers."""
    rows = composed.matrix.others_scaled(low, high, exponents)

    def visit(segment: Segment, places: Postings, a: int, b: int) -> np.ndarray:
        offsets = np.zeros(job.plan.window + WIDTH, np.int64)
        kernels.prefix_means(segment.windows, *places, rows, exponents, inverse, scale, a, b, segment.means, offsets)
        return offsets

    return visit


def _sparse_block(
    job: Job, composed: Composed, exponents: np.ndarray, inverse: np.ndarray, scale: float, low: int, high: int
) -> Visit:
    """Prepare next tokens [low, high) as sparse rows of integers."""
    matrix = composed.matrix
    assert isinstance(matrix, SparseMatrix)
    ranges = even_ranges(high - low, job.workers.count)
    turn = partial(_turned, matrix, low, exponents)
    rows = joined(job.workers.map(turn, [a for a, _ in ranges], [b for _, b in ranges]))

    def visit(segment: Segment, places: Postings, a: int, b: int) -> np.ndarray:
        offsets = np.zeros(job.plan.window + WIDTH, np.int64)
        row_kernels.prefix_means_rows(
            segment.windows,
            *places,
            *rows,
            exponents,
            inverse,
            scale,
            a,
            b,
            job.plan.vocabulary,
            segment.means,
            offsets,
        )
        return offsets

    return visit


def _turned(
    matrix: SparseMatrix, low: int, exponents: np.ndarray, a: int, b: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.turned(low + a, low + b, exponents[a:b])


def means_of(job: Job, segment: Segment) -> Float64[np.ndarray, "window position"]:
    """Map the prefix means of a segment: pages go when the map does, so a large corpus does not fill the memory."""
    shape = (len(segment.windows), job.plan.window)
    offset = segment.start * job.plan.window * 8
    return np.asarray(np.memmap(job.scratch.path("means"), np.float64, "r+", offset, shape))
