"""V x V matrices while they are filled, a unit of keys at a time: in memory, as Zarr chunks, or sparse.

All are written and read as rows by key. With a large vocabulary most pairs of tokens meet in no window, and a matrix is
kept as the entries that are not zero, key by key: a tenth of the bytes to move, or less. Such units stay in memory
while there is room, and otherwise lie in scratch files.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import zarr

from firstlight.statistics import layout, sparse_kernels
from firstlight.statistics.scratch import Scratch

SparseRows = tuple[np.ndarray, np.ndarray, np.ndarray]
PARTS = ("starts", "others", "entries")

# What was finished within this many seconds from the start may be lost to a kill; all that comes later is on disk.
HELD_SECONDS = 60.0


class Room:
    """The memory that finished sparse units may take."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._until = time.monotonic() + HELD_SECONDS
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Whether there is room for so many bytes, which are then taken."""
        with self._lock:
            if size > self._left or time.monotonic() > self._until:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """Return bytes that were taken."""
        with self._lock:
            self._left += size


class Buffer:
    """Memory that blocks of rows take in turn: asking the system for gigabytes anew each time takes seconds."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def zeros(self, shape: tuple[int, int], dtype: str) -> np.ndarray:
        """Return rows of zeros in the memory of the last ones."""
        needed = shape[0] * shape[1] * np.dtype(dtype).itemsize
        if needed > len(self._bytes):
            self._bytes = np.empty(needed, np.uint8)
        rows = self._bytes[:needed].view(dtype).reshape(shape)
        rows[:] = 0
        return rows


class Matrix(Protocol):
    """A matrix that is filled and read by key."""

    def write(self, low: int, rows: np.ndarray) -> bool:
        """Write the rows of one unit of keys, the first of them `low`; return whether they outlive a kill."""
        ...

    def rows(self, low: int, high: int) -> np.ndarray:
        """Return the rows of keys [low, high): key x other; they are valid until the next call."""
        ...


class ByOther(Matrix, Protocol):
    """A matrix that is also read by the other token, in integers: the composed matrix."""

    def largest_of_others(self) -> np.ndarray:
        """Return the largest |entry| of each column."""
        ...

    def others_scaled(self, low: int, high: int, exponents: np.ndarray) -> np.ndarray:
        """Return columns [low, high) as rows, other x key, times 2**exponents and rounded to integers."""
        ...


@dataclass(frozen=True)
class WholeMatrix:
    """A matrix in memory, key x other."""

    values: np.ndarray

    def write(self, low: int, rows: np.ndarray) -> bool:
        """Copy rows in."""
        self.values[low : low + len(rows)] = rows
        return False

    def rows(self, low: int, high: int) -> np.ndarray:
        """Return rows, not copied."""
        return self.values[low:high]

    def largest_of_others(self) -> np.ndarray:
        """Return the largest |entry| of each column."""
        largest: np.ndarray = np.maximum(self.values.max(axis=0), -self.values.min(axis=0))
        return largest

    def others_scaled(self, low: int, high: int, exponents: np.ndarray) -> np.ndarray:
        """Return columns as rows of integers; a few at a time, to keep the copies small."""
        integers = np.empty((high - low, len(self.values)), np.int64)
        for start in range(low, high, 64):
            within = slice(start - low, min(start + 64, high) - low)
            part = self.values[:, start : min(start + 64, high)] * np.ldexp(1.0, exponents[within])
            integers[within] = np.rint(part, out=part).T
        return integers


@dataclass(frozen=True)
class ZarrMatrix:
    """A dense array of the store, other x key."""

    array: zarr.Array[Any]

    def write(self, low: int, rows: np.ndarray) -> bool:
        """Write rows as columns, some chunks at a time."""
        layout.write_columns(self.array, low, rows)
        return True

    def rows(self, low: int, high: int) -> np.ndarray:
        """Read columns as rows."""
        return np.ascontiguousarray(np.asarray(self.array[:, low:high]).T)


@dataclass(frozen=True)
class SparseMatrix:
    """A matrix by units of keys, three arrays each: where rows start, the other tokens (ascending), and the entries.

    Attributes:
        scratch: where units lie that memory has no room for.
        name: what their files are called.
        unit: keys of a unit.
        size: V.
        dtype: of the entries.
        room: what units may take of the memory.
        held: the units in memory, by their first key.
        buffer: the memory of dense rows.
    """

    scratch: Scratch
    name: str
    unit: int
    size: int
    dtype: str
    room: Room
    held: dict[int, SparseRows] = field(default_factory=dict)
    buffer: "Buffer" = field(default_factory=lambda: Buffer())

    def write(self, low: int, rows: np.ndarray) -> bool:
        """Keep the entries of a unit that are not zero."""
        return self.write_sparse(low, sparse_kernels.nonzeros(rows))

    def write_sparse(self, low: int, parts: SparseRows) -> bool:
        """Write a unit that is sparse already; return whether it is on disk, and so outlives a kill."""
        if self.room.take(sum(part.nbytes for part in parts)):
            self.held[low] = parts
            return False
        for part, values in zip(PARTS, parts, strict=True):
            self.scratch.save(self._file(low, part), values)
        return True

    def release(self) -> None:
        """Forget the units in memory."""
        for parts in self.held.values():
            self.room.give_back(sum(part.nbytes for part in parts))
        self.held.clear()

    def rows(self, low: int, high: int) -> np.ndarray:
        """Return dense rows; the range may be part of a unit or several."""
        result = self.buffer.zeros((high - low, self.size), self.dtype)
        for first, sparse in self._units(low, high):
            sparse_kernels.fill_rows(*sparse, first, low, high, result)
        return result

    def sparse_rows(self, low: int, high: int) -> SparseRows:
        """Return whole units of keys [low, high) as one."""
        return joined([sparse for _, sparse in self._units(low, high)])

    def turned(self, low: int, high: int, exponents: np.ndarray) -> SparseRows:
        """Return columns [low, high) as sparse rows of integers: entries times 2**exponents, rounded."""
        counts = np.zeros(high - low, np.int64)
        for _, (starts, others, _) in self._units(0, self.size):
            sparse_kernels.count_others(starts, others, low, high, counts)
        starts_turned = np.concatenate([[0], counts.cumsum()])
        keys, integers = np.empty(starts_turned[-1], np.int32), np.empty(starts_turned[-1], np.int64)
        fill, scales = starts_turned[:-1].copy(), np.ldexp(1.0, exponents)
        for first, sparse in self._units(0, self.size):
            sparse_kernels.turn_scaled(*sparse, first, low, high, scales, fill, keys, integers)
        return starts_turned, keys, integers

    def others_scaled(self, low: int, high: int, exponents: np.ndarray) -> np.ndarray:
        """Return columns as dense rows of integers."""
        result = self.buffer.zeros((high - low, self.size), "int64")
        sparse_kernels.fill_rows(*self.turned(low, high, exponents), 0, 0, high - low, result)
        return result

    def largest_of_others(self) -> np.ndarray:
        """Return the largest |entry| of each column."""
        result = np.zeros(self.size)
        for _, (_, others, entries) in self._units(0, self.size):
            sparse_kernels.largest_by(others, entries, result)
        return result

    def units(self) -> Iterator[SparseRows]:
        """Yield the units in order."""
        for _, sparse in self._units(0, self.size):
            yield sparse

    def unit_at(self, low: int) -> SparseRows:
        """Return the unit that starts at a key."""
        return next(self._units(low, low + 1))[1]

    def _units(self, low: int, high: int) -> Iterator[tuple[int, SparseRows]]:
        for first in range(low // self.unit * self.unit, high, self.unit):
            if first in self.held:
                yield first, self.held[first]
            else:
                starts, others, entries = (self.scratch.map(self._file(first, part)) for part in PARTS)
                yield first, (starts, others, entries)

    def _file(self, low: int, part: str) -> str:
        return f"{self.name}-{low // self.unit}-{part}"


def joined(pieces: list[SparseRows]) -> SparseRows:
    """Return pieces of consecutive keys as one."""
    if len(pieces) == 1:
        return pieces[0]
    ends = np.cumsum([0, *(piece[0][-1] for piece in pieces)])
    starts = [piece[0][1:] + end for piece, end in zip(pieces, ends[:-1], strict=True)]
    return (
        np.concatenate([np.zeros(1, np.int64), *starts]),
        np.concatenate([piece[1] for piece in pieces]),
        np.concatenate([piece[2] for piece in pieces]),
    )


def part_of(pieces: list[SparseRows], low: int, high: int) -> SparseRows:
    """Return keys [low, high) of pieces of consecutive keys: a piece as it is, or a copy that holds no other keys."""
    found, first = [], 0
    for starts, others, entries in pieces:
        if (first, first + len(starts) - 1) == (low, high):
            return starts, others, entries
        a, b = max(low - first, 0), min(high - first, len(starts) - 1)
        if a < b:
            within = slice(starts[a], starts[b])
            found.append((starts[a : b + 1] - starts[a], others[within], entries[within]))
        first += len(starts) - 1
    if len(found) > 1:
        return joined(found)
    return found[0][0], found[0][1].copy(), found[0][2].copy()
