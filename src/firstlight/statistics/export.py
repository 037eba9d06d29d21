"""Export as `.npz`: dense float64 arrays under the names of the paper, written row block by row block."""

import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from firstlight.errors import FirstlightError
from firstlight.statistics.basis import ROWS_AT_ONCE, rows_of

if TYPE_CHECKING:
    from firstlight.statistics.statistics import Basis, Statistics

MATRICES: dict[str, "Basis"] = {"B": "bigram", "Sigma": "interchangeability", "Phi": "context", "Q": "attention"}


def export_npz(stats: "Statistics", path: Path) -> list[str]:
    """Write alpha, B, Sigma, Phi, Q, Delta and vocab, and return these names; the file appears when it is whole.

    A store merged without its corpora has no Q and Delta, and the file then has none either.
    """
    if path.suffix != ".npz":
        raise FirstlightError(f"--to {path}: expected a name that ends in .npz")
    temporary = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch()
    except OSError as error:
        raise FirstlightError(f"--to {path}: cannot be written: {error.strerror}") from None
    try:
        names = _write(stats, temporary)
        temporary.replace(path)
        return names
    finally:
        temporary.unlink(missing_ok=True)


def _write(stats: "Statistics", path: Path) -> list[str]:
    size = len(stats.vocabulary)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        _write_array(archive, "alpha", stats.alpha)
        for name, basis in MATRICES.items():
            if basis == "attention" and not stats.facts["has_attention"]:
                continue
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                _write_header(file, (size, size), np.dtype(np.float64))
                for start in range(0, size, ROWS_AT_ONCE):
                    part = np.arange(start, min(start + ROWS_AT_ONCE, size))
                    file.write(np.ascontiguousarray(rows_of(stats, basis, part)).tobytes())
        if stats.facts["has_attention"]:
            _write_array(archive, "Delta", stats.position)
        _write_array(archive, "vocab", np.array(stats.vocabulary))
        return [name.removesuffix(".npy") for name in archive.namelist()]


def _write_array(archive: zipfile.ZipFile, name: str, values: np.ndarray) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        _write_header(file, values.shape, values.dtype)
        file.write(np.ascontiguousarray(values).tobytes())


def _write_header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype) -> None:
    npy.write_array_header_1_0(file, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
