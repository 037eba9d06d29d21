"""V x V matrices while they are filled, a unit of keys at a time: in memory, as Zarr chunks, or sparse in scratch.

All are written and read as rows by key. With a large vocabulary most pairs of tokens meet in no window, and a matrix is
kept as the entries that are not zero, key by key: a tenth of the bytes to move, or less.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import zarr

from firstlight.statistics import kernels, layout
from firstlight.statistics.scratch import Scratch

SparseRows = tuple[np.ndarray, np.ndarray, np.ndarray]


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

    def write(self, low: int, rows: np.ndarray) -> None:
        """Write the rows of one unit of keys, the first of them `low`."""
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

    def write(self, low: int, rows: np.ndarray) -> None:
        """Copy rows in."""
        self.values[low : low + len(rows)] = rows

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
            part = self.values[:, start : min(start + 64, high)].T
            within = slice(start - low, start - low + len(part))
            integers[within] = np.rint(np.ldexp(part, exponents[within, None]))
        return integers


@dataclass(frozen=True)
class ZarrMatrix:
    """A dense array of the store, other x key."""

    array: zarr.Array[Any]

    def write(self, low: int, rows: np.ndarray) -> None:
        """Write rows as columns, some chunks at a time."""
        layout.write_columns(self.array, low, rows)

    def rows(self, low: int, high: int) -> np.ndarray:
        """Read columns as rows."""
        return np.ascontiguousarray(np.asarray(self.array[:, low:high]).T)


@dataclass(frozen=True)
class SparseMatrix:
    """A matrix in scratch files, three for each unit of keys: where rows start, the other tokens, and the entries.

    Attributes:
        scratch: where the files are.
        name: what they are called.
        unit: keys of a unit.
        size: V.
        dtype: of the entries.
        buffer: the memory of dense rows.
    """

    scratch: Scratch
    name: str
    unit: int
    size: int
    dtype: str
    buffer: "Buffer" = field(default_factory=lambda: Buffer())

    def write(self, low: int, rows: np.ndarray) -> None:
        """Keep the entries of a unit that are not zero."""
        self.write_sparse(low, kernels.nonzeros(rows))

    def write_sparse(self, low: int, parts: SparseRows) -> None:
        """Write a unit that is sparse already."""
        for part, values in zip(("starts", "others", "entries"), parts, strict=True):
            self.scratch.save(self._file(low, part), values)

    def rows(self, low: int, high: int) -> np.ndarray:
        """Return dense rows; the range may be part of a unit or several."""
        result = self.buffer.zeros((high - low, self.size), self.dtype)
        for first, sparse in self._units(low, high):
            kernels.fill_rows(*sparse, first, low, high, result)
        return result

    def others_scaled(self, low: int, high: int, exponents: np.ndarray) -> np.ndarray:
        """Return columns as rows of integers, picked from every unit."""
        scales = np.ldexp(1.0, exponents)
        result = self.buffer.zeros((high - low, self.size), "int64")
        for first, sparse in self._units(0, self.size):
            kernels.pick_scaled(*sparse, first, low, high, scales, result)
        return result

    def largest_of_others(self) -> np.ndarray:
        """Return the largest |entry| of each column."""
        result = np.zeros(self.size)
        for _, (_, others, entries) in self._units(0, self.size):
            kernels.largest_by(others, entries, result)
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
            starts, others, entries = (self.scratch.map(self._file(first, p)) for p in ("starts", "others", "entries"))
            yield first, (starts, others, entries)

    def _file(self, low: int, part: str) -> str:
        return f"{self.name}-{low // self.unit}-{part}"
