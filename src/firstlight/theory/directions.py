"""The directions of the leading terms, from statistics: whole while they fit, in blocks of rows when they do not."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from firstlight.errors import FirstlightError
from firstlight.files import format_bytes
from firstlight.theory.terms import Kind

if TYPE_CHECKING:
    from firstlight.statistics import Statistics

# Directions are kept between uses when three of them take no more than this share of the memory that is free.
HELD_SHARE = 0.25
BLOCK_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of a corpus; the position has one row.

    Attributes:
        stats: the statistics.
    """

    stats: "Statistics"
    _held: dict[Kind, Float64[np.ndarray, "row column"]] = field(default_factory=dict, repr=False)

    def shape(self, kind: Kind) -> tuple[int, int]:
        """Return rows and columns."""
        size = len(self.stats.vocabulary)
        return (1, self.stats.window) if kind == "position" else (size, size)

    def whole(self, kind: Kind) -> Float64[np.ndarray, "row column"]:
        """Return a direction, computed once."""
        if kind not in self._held:
            rows, columns = self.shape(kind)
            needed, free = 8 * rows * columns, _free_bytes()
            if needed > free:
                raise FirstlightError(
                    f"{self.stats.path}: the {kind} term as one array of {rows:,} x {columns:,} takes "
                    f"{format_bytes(needed)}, {format_bytes(free)} are free; read it with blocks()"
                )
            direction = np.empty((rows, columns))
            for part in self._ranges(kind):
                direction[part] = self._computed(kind, part)
            self._held[kind] = direction
        return self._held[kind]

    def blocks(self, kind: Kind) -> Iterator[tuple[slice, Float64[np.ndarray, "row column"]]]:
        """Yield ranges of rows and the rows; of a large vocabulary they are computed again each time."""
        if 3 * 8 * len(self.stats.vocabulary) ** 2 <= HELD_SHARE * _free_bytes():
            self.whole(kind)
        for part in self._ranges(kind):
            yield part, self._held[kind][part] if kind in self._held else self._computed(kind, part)

    def _ranges(self, kind: Kind) -> Iterator[slice]:
        rows, columns = self.shape(kind)
        step = max(1, BLOCK_BYTES // (8 * columns))
        for low in range(0, rows, step):
            yield slice(low, min(low + step, rows))

    def _computed(self, kind: Kind, part: slice) -> Float64[np.ndarray, "row column"]:
        stats, tokens = self.stats, np.arange(part.start, part.stop)
        if kind == "position":
            return stats.position[None, :]
        if kind == "output":
            return stats.rows("bigram", tokens)
        if kind == "attention":
            return stats.rows("attention", tokens)
        # Columns of Phi sum to 0, so the centring of B drops out of B Phi and the sparse counts are all of it.
        through = stats.bigrams.counts @ stats.columns("context", tokens)
        through /= stats.positions
        return np.ascontiguousarray(through.T)


def _free_bytes() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
