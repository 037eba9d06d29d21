"""The plan: how many pairs, how much memory, which blocks, how long; made and printed before any work."""

import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight.corpus.corpus import Corpus
from firstlight.errors import FirstlightError
from firstlight.files import format_bytes
from firstlight.report.progress import short_number
from firstlight.statistics import layout
from firstlight.statistics.compose import block_width
from firstlight.statistics.segments import SEGMENT_BYTES, rows_per_segment, segment_bytes, windows_by_length

# Tokens whose columns are a dense strip: few, since the strip is updated at every position.
HEAD_TOKENS = 64
# What a pair takes over both passes, in plain scatter-adds of the same machine (see docs/benchmarks.md).
SCATTERS_PER_PAIR = 12.0
# Multiply-adds of the composed matrix take this many scatter-adds each.
SCATTERS_PER_PRODUCT = 0.9
# And handling a cell of the V x V matrices, zero or not.
SCATTERS_PER_CELL = 40.0
# V x block arrays alive at once: what is read, what is filled, and copies being turned, compressed and written.
BLOCK_COPIES = 4
# The same for sparse blocks, whose entries take 12 bytes, not 8: pieces, the block they make, its units, what is read.
SPARSE_COPIES = 5
# How much of the free memory a sparse block may take; the rest holds finished units.
BLOCK_SHARE = 0.4
# Segments are this part of the memory at most: tokens, postings, means, and bigrams being counted.
SEGMENT_SHARE = 1 / 32


@dataclass(frozen=True)
class Volume:
    """How much there is to count.

    Attributes:
        vocabulary: V.
        window: T.
        windows: N.
        positions: positions with a next token.
        pairs: (prefix token, next token) pairs.
        itemsize: bytes of a stored token id.
    """

    vocabulary: int
    window: int
    windows: int
    positions: int
    pairs: int
    itemsize: int


def volume_of(corpora: Sequence[Corpus]) -> Volume:
    """Add up corpora of one vocabulary and window."""
    return Volume(
        vocabulary=len(corpora[0].vocabulary),
        window=corpora[0].window,
        windows=sum(int(corpus.manifest["windows"]) for corpus in corpora),
        positions=sum(corpus.positions for corpus in corpora),
        pairs=sum(_pairs(corpus) for corpus in corpora),
        itemsize=max(corpus.windows.dtype.itemsize for corpus in corpora),
    )


@dataclass(frozen=True)
class Plan:
    """What will be done and what it takes.

    Attributes:
        vocabulary: V.
        window: T.
        windows: N.
        positions: positions with a next token.
        pairs: (prefix token, next token) pairs, each processed twice.
        workers: threads.
        memory: the limit in bytes.
        head: how many tokens are treated densely.
        unit: columns of a chunk of the store, the smallest piece that is finished or not.
        block_cells: entries of units done at once.
        sparse: whether matrices are kept as the entries that are not zero.
        composed_in_memory: whether the composed matrix is held, or kept in scratch beside the store.
        held: bytes that finished sparse units may take before they go to scratch.
        segment_rows: windows read at once.
        needed: the memory the plan takes at its peak, in bytes.
        seconds: the time it should take, from the scatter speed of this machine.
    """

    vocabulary: int
    window: int
    windows: int
    positions: int
    pairs: int
    workers: int
    memory: int
    head: int
    unit: int
    block_cells: int
    sparse: bool
    composed_in_memory: bool
    held: int
    segment_rows: int
    needed: int
    seconds: float

    @property
    def units(self) -> int:
        """How many units cover the vocabulary."""
        return -(-self.vocabulary // self.unit)

    def describe(self) -> str:
        """Return the plan in two lines for people."""
        return (
            f"plan: {short_number(self.pairs)} pairs twice over ({self.windows:,} windows, T = {self.window}, "
            f"V = {self.vocabulary:,}), {self.workers} worker{'s' if self.workers > 1 else ''}, "
            f"about {self.seconds:.0f} s\n"
            f"plan: {format_bytes(self.needed)} of {format_bytes(self.memory)} memory, {self._blocks()}"
        )

    def _blocks(self) -> str:
        if self.sparse:
            size = short_number(self.block_cells)
            return f"sparse blocks of at most {size} entries, {format_bytes(self.held)} for finished ones"
        columns = min(self.block_cells // self.vocabulary, self.vocabulary)
        blocks = -(-self.vocabulary // columns)
        where = "in memory" if self.composed_in_memory else "on disk"
        return f"{blocks} block{'s' if blocks > 1 else ''} of {columns:,} columns, composed matrix {where}"


def make_plan(volume: Volume, workers: int, memory: int, seconds_per_scatter: float) -> Plan:
    """Fit the work into the memory: as many columns at once as there is room for.

    Arguments:
        volume: what will be counted.
        workers: threads.
        memory: bytes the process may hold.
        seconds_per_scatter: the measured speed of this machine.
    """
    vocabulary, positions = volume.vocabulary, volume.positions
    head, unit = min(HEAD_TOKENS, vocabulary), layout.chunk_side(vocabulary)
    cells = 8 * vocabulary  # one column of float64 or int64
    sparse = vocabulary > layout.DENSE_VOCABULARY
    copies = SPARSE_COPIES if sparse else BLOCK_COPIES
    resident = _resident()
    fixed = resident + _fixed(volume, workers, memory)
    least = fixed + copies * unit * cells
    if least > memory:
        enough = least
        # More memory takes larger segments, so what is enough is a little more than what was too little.
        while (needed := resident + _fixed(volume, workers, enough) + copies * unit * cells) > enough:
            enough = needed
        raise FirstlightError(
            f"--memory {format_bytes(memory)} is too little for V = {vocabulary:,} and {short_number(workers)} "
            f"worker{'s' if workers > 1 else ''}: at least {format_bytes(1.02 * enough)} is needed"
        )
    segment_rows = _segment_rows(volume, memory)
    whole = vocabulary * cells
    in_memory = not sparse and least + whole + 2 * unit * cells <= memory
    room = memory - fixed - (whole if in_memory else 0)
    block_bytes = int(BLOCK_SHARE * room) if sparse else min(room, copies * vocabulary * cells)
    fitting = block_bytes // (copies * cells)
    block_cells = (vocabulary if fitting >= vocabulary else max(unit, fitting // unit * unit)) * vocabulary
    held = room - 8 * copies * block_cells if sparse else 0
    products = 2 * min(positions, vocabulary**2 // 4) * vocabulary
    scatters = SCATTERS_PER_PAIR * volume.pairs + SCATTERS_PER_PRODUCT * products + SCATTERS_PER_CELL * vocabulary**2
    return Plan(
        vocabulary=vocabulary,
        window=volume.window,
        windows=volume.windows,
        positions=positions,
        pairs=volume.pairs,
        workers=workers,
        memory=memory,
        head=head,
        unit=unit,
        block_cells=block_cells,
        sparse=sparse,
        composed_in_memory=in_memory,
        held=held,
        segment_rows=segment_rows,
        needed=memory if sparse else fixed + 8 * copies * block_cells + (whole if in_memory else 0),
        seconds=scatters * seconds_per_scatter / workers,
    )


def _fixed(volume: Volume, workers: int, memory: int) -> int:
    """Return the bytes that are taken beside those the process has now, whatever the blocks."""
    vocabulary = volume.vocabulary
    cells = 8 * vocabulary
    return (
        48 * 2**20  # compiled code and the buffers of the store
        + 3 * segment_bytes(_segment_rows(volume, memory), volume.window, volume.itemsize)
        + 60 * min(volume.positions, vocabulary**2)  # sparse counts, their transpose, and copies being added up
        + (workers + 2) * min(HEAD_TOKENS, vocabulary) * cells
        + workers * 3 * block_width(vocabulary) * cells
    )


def _segment_rows(volume: Volume, memory: int) -> int:
    """Return how many windows are read at once."""
    size = min(SEGMENT_BYTES, int(SEGMENT_SHARE * memory))
    return max(1, min(volume.windows, rows_per_segment(volume.window, volume.itemsize, size)))


def _pairs(corpus: Corpus) -> int:
    """Count the (prefix, next) pairs of windows with n tokens: 1 + 2 + ... + (n - 1)."""
    return sum(count * (n * (n - 1) // 2) for n, count in enumerate(windows_by_length(corpus).tolist()))


def _resident() -> int:
    """Return the bytes of memory this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
