"""Rows on disk: arrays that grow in a file, shards of windows, and reading them back memory-mapped."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64, Integer
from numpy.typing import DTypeLike, NDArray

from firstlight.errors import FirstlightError

SHARD_TOKENS = 2**28


class GrowingArray:
    """An array in a .npy file that rows are appended to; the header learns how many when it is closed."""

    def __init__(self, path: Path, dtype: DTypeLike, columns: tuple[int, ...], rows: int = 0) -> None:
        """Open the file, and keep its first `rows` rows if it is there."""
        self.dtype = np.dtype(dtype)
        self.columns = columns
        self.rows = rows
        header = self._header()
        end = len(header) + rows * self._row_bytes()
        if rows and (not path.is_file() or path.stat().st_size < end):
            raise FirstlightError(f"{path}: shorter than the journal says; remove {path.parent} and build again")
        self._file = path.open("r+b" if rows else "w+b")
        if not rows:
            self._file.write(header)
        # Whatever was written after the last entry in the journal is written again.
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows after the last one."""
        self._file.write(np.ascontiguousarray(rows, dtype=self.dtype).tobytes())
        self.rows += len(rows)

    def flush(self) -> None:
        """Return when all rows are on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def release(self) -> None:
        """Close the file as it is."""
        self._file.close()

    def close(self) -> None:
        """Write the header with the number of rows and close the file."""
        header = self._header()
        self._file.seek(0)
        self._file.write(header)
        self.flush()
        self._file.close()

    def _row_bytes(self) -> int:
        return self.dtype.itemsize * int(np.prod(self.columns, dtype=np.int64))

    def _header(self) -> bytes:
        # NumPy pads the header for the growth of the first axis, so its length does not depend on the number of rows.
        written = io.BytesIO()
        shape = (self.rows, *self.columns)
        np.lib.format.write_array_header_1_0(
            written, {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        )
        return written.getvalue()


class WindowWriter:
    """Writes windows, their lengths and their origins into a folder, starting a new shard when one is full."""

    def __init__(self, folder: Path, window: int, dtype: DTypeLike, shard_tokens: int, rows: int = 0) -> None:
        """Continue after the first `rows` windows of the folder, or start at the first."""
        self._folder = folder
        self.window = window
        self.dtype = np.dtype(dtype)
        self._width = window + 1
        self._shard_rows = max(1, shard_tokens // self._width)
        # A shard that is just full is opened again: its header may not be written yet.
        self._full = max(rows - 1, 0) // self._shard_rows
        for path in folder.glob("tokens-*.npy"):
            if path.name > shard_name(self._full):
                path.unlink()
        self._lengths = GrowingArray(folder / "lengths.npy", np.int32, (), rows)
        self._origins = GrowingArray(folder / "origins.npy", np.int64, (4,), rows)
        self._tokens = self._open_shard(rows - self._full * self._shard_rows)

    @property
    def rows(self) -> int:
        """The windows written so far."""
        return self._lengths.rows

    def append(
        self,
        tokens: Integer[np.ndarray, "row place"],
        lengths: Int32[np.ndarray, " row"],
        origins: Int64[np.ndarray, "row 4"],
    ) -> None:
        """Write windows with their lengths and origins."""
        self._lengths.append(lengths)
        self._origins.append(origins)
        while len(tokens):
            space = self._shard_rows - self._tokens.rows
            if not space:
                self._tokens.close()
                self._full += 1
                self._tokens, space = self._open_shard(0), self._shard_rows
            self._tokens.append(tokens[:space])
            tokens = tokens[space:]

    def __enter__(self) -> "WindowWriter":
        return self

    def __exit__(self, *error: object) -> None:
        for array in (self._tokens, self._lengths, self._origins):
            array.release()

    def flush(self) -> None:
        """Return when all windows are on the disk."""
        for array in (self._tokens, self._lengths, self._origins):
            array.flush()

    def close(self) -> list[str]:
        """Complete and close all files and return the names of the shards."""
        for array in (self._tokens, self._lengths, self._origins):
            array.close()
        return [shard_name(number) for number in range(self._full + 1)]

    def _open_shard(self, rows: int) -> GrowingArray:
        return GrowingArray(self._folder / shard_name(self._full), self.dtype, (self._width,), rows)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"tokens-{number:05d}.npy"


class ShardedWindows:
    """The windows of several shards as one read-only array of N x (T+1) integers that stays on disk."""

    ndim = 2

    def __init__(self, shards: list[NDArray[Any]]) -> None:
        self._shards = shards
        self._ends = np.cumsum([len(shard) for shard in shards])
        self.shape: tuple[int, int] = (int(self._ends[-1]), shards[0].shape[1])
        self.dtype = shards[0].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for shard in self._shards:
            yield from shard

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("windows in several shards cannot become one array without a copy")
        return np.concatenate(self._shards).astype(dtype or self.dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        rows, *rest = key if isinstance(key, tuple) else (key,)
        if len(rest) > 1:
            raise IndexError(f"windows have 2 axes, and {len(rest) + 1} indices were given")
        if isinstance(rows, slice):
            return self._slice(rows, tuple(rest))
        wanted = np.asarray(rows)
        if wanted.dtype == np.bool_:
            if wanted.shape != (len(self),):
                raise IndexError(f"a mask of shape {wanted.shape} does not fit {len(self)} windows")
            wanted = np.flatnonzero(wanted)
        if wanted.size and not np.issubdtype(wanted.dtype, np.integer):
            raise IndexError(f"windows are indexed by integers, slices or masks, not by {wanted.dtype}")
        wanted = wanted.astype(np.int64)
        if wanted.size and (wanted.min() < -len(self) or wanted.max() >= len(self)):
            raise IndexError(f"a window among {wanted.min()}..{wanted.max()} is out of range for {len(self)} windows")
        wanted = np.where(wanted < 0, wanted + len(self), wanted)
        if not rest or isinstance(rest[0], slice):
            return self._gather(wanted, rest[0] if rest else slice(None))
        # As in NumPy, rows and columns that are both arrays are read in pairs.
        wanted, columns = np.broadcast_arrays(wanted, np.asarray(rest[0]))
        return self._gather(wanted, columns)

    def _slice(self, rows: slice, rest: tuple[Any, ...]) -> NDArray[Any]:
        start, stop, step = rows.indices(len(self))
        if step < 0:
            return np.asarray(self._gather(np.arange(start, stop, step), slice(None))[(slice(None), *rest)])
        pieces, first = [], 0
        for shard in self._shards:
            begin = start if start >= first else first + (start - first) % step
            pieces.append(shard[(slice(max(begin - first, 0), max(stop - first, 0), step), *rest)])
            first += len(shard)
        return np.concatenate(pieces)

    def _gather(self, rows: NDArray[np.int64], columns: Any) -> Any:
        flat = rows.reshape(-1)
        owner = np.searchsorted(self._ends, flat, side="right")
        paired = not isinstance(columns, slice)
        width = () if paired else (len(range(self.shape[1])[columns]),)
        out = np.empty((flat.size, *width), self.dtype)
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            local = flat[mine] - (self._ends[number] - len(self._shards[number]))
            out[mine] = self._shards[number][local, columns.reshape(-1)[mine] if paired else columns]
        return out.reshape((*rows.shape, *width))[()]
