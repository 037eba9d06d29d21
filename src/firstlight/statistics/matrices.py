"""V x V matrices while they are filled, a unit of keys at a time: whole in memory, as Zarr chunks, or sparse in scratch.

All are written and read as rows by key. With a large vocabulary most pairs of tokens meet in no window, and a matrix is
kept as the entries that are not zero, key by key: a tenth of the bytes to move, or less.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import zarr

from firstlight.statistics import kernels, layout
from firstlight.statistics.scratch import Scratch

SparseRows = tuple[np.ndarray, np.ndarray, np.ndarray]


class Matrix(Protocol):
    """A matrix that is filled and read by key."""

    def write(self, low: int, rows: np.ndarray) -> None:
        """Write the rows of one unit of keys, the first of them `low`."""
        ...

    def rows(self, low: int, high: int) -> np.ndarray:
        """Return the rows of keys [low, high): key x other."""
        ...

    def others(self, low: int, high: int) -> np.ndarray:
        """Return the columns [low, high) as rows: other x key."""
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

    def others(self, low: int, high: int) -> np.ndarray:
        """Return columns as rows."""
        return np.ascontiguousarray(self.values[:, low:high].T)


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

    def others(self, low: int, high: int) -> np.ndarray:
        """Read rows of the array."""
        return np.asarray(self.array[low:high])


@dataclass(frozen=True)
class SparseMatrix:
    """A matrix in scratch files, three for each unit of keys: where rows start, the other tokens, and the entries.

    Attributes:
        scratch: where the files are.
        name: what they are called.
        unit: keys of a unit.
        size: V.
        dtype: of the entries.
    """

    scratch: Scratch
    name: str
    unit: int
    size: int
    dtype: str

    def write(self, low: int, rows: np.ndarray) -> None:
        """Keep the entries of a unit that are not zero."""
        parts = kernels.nonzeros(rows)
        for part, values in zip(("starts", "others", "entries"), parts, strict=True):
            self.scratch.save(self._file(low, part), values)

    def rows(self, low: int, high: int) -> np.ndarray:
        """Return dense rows; the range may be part of a unit or several."""
        result = np.zeros((high - low, self.size), self.dtype)
        for first, sparse in self._units(low, high):
            kernels.fill_rows(*sparse, first, low, high, result)
        return result

    def others(self, low: int, high: int) -> np.ndarray:
        """Return dense columns as rows, picked from every unit."""
        result = np.zeros((high - low, self.size), self.dtype)
        for first, sparse in self._units(0, self.size):
            kernels.pick_others(*sparse, first, low, high, result)
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

    def _units(self, low: int, high: int) -> Iterator[tuple[int, SparseRows]]:
        for first in range(low // self.unit * self.unit, high, self.unit):
            starts, others, entries = (self.scratch.map(self._file(first, p)) for p in ("starts", "others", "entries"))
            yield first, (starts, others, entries)

    def _file(self, low: int, part: str) -> str:
        return f"{self.name}-{low // self.unit}-{part}"
