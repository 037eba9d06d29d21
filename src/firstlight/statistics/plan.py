"""The plan: how many pairs, how much memory, which blocks, how long; made and printed before any work."""

import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from firstlight.corpus.corpus import Corpus
from firstlight.errors import FirstlightError
from firstlight.files import format_bytes
from firstlight.report.progress import short_number
from firstlight.statistics.compose import block_width
from firstlight.statistics.fixed_point import most_before_carry
from firstlight.statistics.layout import chunk_side
from firstlight.statistics.segments import SEGMENT_BYTES, rows_per_segment

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
        block_units: units done at once.
        composed_in_memory: whether the composed matrix is held, or kept in scratch beside the store.
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
    block_units: int
    composed_in_memory: bool
    segment_rows: int
    needed: int
    seconds: float

    @property
    def units(self) -> int:
        """How many units cover the vocabulary."""
        return -(-self.vocabulary // self.unit)

    def describe(self) -> str:
        """Return the plan in two lines for people."""
        blocks = -(-self.units // self.block_units)
        where = "in memory" if self.composed_in_memory else "on disk"
        return (
            f"plan: {short_number(self.pairs)} pairs twice over ({self.windows:,} windows, T = {self.window}, "
            f"V = {self.vocabulary:,}), {self.workers} worker{'s' if self.workers > 1 else ''}, "
            f"about {self.seconds:.0f} s\n"
            f"plan: {format_bytes(self.needed)} of {format_bytes(self.memory)} memory, {blocks} "
            f"block{'s' if blocks > 1 else ''} of {min(self.block_units * self.unit, self.vocabulary):,} columns, "
            f"composed matrix {where}"
        )


def make_plan(volume: Volume, workers: int, memory: int, seconds_per_scatter: float) -> Plan:
    """Fit the work into the memory: as many columns at once as there is room for.

    Arguments:
        volume: what will be counted.
        workers: threads.
        memory: bytes the process may hold.
        seconds_per_scatter: the measured speed of this machine.
    """
    vocabulary, positions = volume.vocabulary, volume.positions
    head, unit = min(HEAD_TOKENS, vocabulary), chunk_side(vocabulary)
    cells = 8 * vocabulary  # one column of float64 or int64
    bigrams = min(positions, vocabulary**2)
    fixed = (
        _resident()
        + 48 * 2**20  # compiled code and the buffers of the store
        + 4 * SEGMENT_BYTES
        + 60 * bigrams  # sparse counts, their transpose, and the copies while they are added up
        + (workers + 2) * head * cells
        + workers * 3 * block_width(vocabulary) * cells
    )
    least = fixed + BLOCK_COPIES * unit * cells
    if least > memory:
        raise FirstlightError(
            f"--memory {format_bytes(memory)} is too little for V = {vocabulary:,}: "
            f"at least {format_bytes(least)} is needed"
        )
    whole = vocabulary * cells
    in_memory = least + whole + 2 * unit * cells <= memory
    room = memory - fixed - (whole if in_memory else 0)
    units = -(-vocabulary // unit)
    block_units = max(1, min(units, room // (BLOCK_COPIES * unit * cells)))
    width = min(block_units * unit, vocabulary)
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
        block_units=block_units,
        composed_in_memory=in_memory,
        segment_rows=_segment_rows(volume),
        needed=fixed + BLOCK_COPIES * width * cells + (whole if in_memory else 0),
        seconds=scatters * seconds_per_scatter / workers,
    )


def _segment_rows(volume: Volume) -> int:
    """Return how many windows are read at once: few enough that one segment alone needs no carry."""
    safe = most_before_carry(volume.window) // volume.window
    return max(1, min(rows_per_segment(volume.window, volume.itemsize), safe))


def _pairs(corpus: Corpus) -> int:
    """Count the (prefix, next) pairs of windows with n tokens: 1 + 2 + ... + (n - 1)."""
    lengths, counts = np.unique(corpus.lengths, return_counts=True)
    return sum(int(count) * (int(n) * (int(n) - 1) // 2) for n, count in zip(lengths, counts, strict=True))


def _resident() -> int:
    """Return the bytes of memory this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
