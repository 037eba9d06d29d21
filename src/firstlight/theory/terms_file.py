"""Predicted weights as a safetensors file, streamed: header first, then tensors block by block.

The library's own writer wants every tensor in memory. The format is simple: the length of the header (8 bytes, little
endian), the header as JSON with the place of each tensor, the tensors one after the other.
"""

import json
import shutil
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from firstlight.errors import FirstlightError
from firstlight.theory.agreement import Comparison
from firstlight.theory.leading import LeadingTerms, check_range, rounded
from firstlight.theory.terms import Kind, kind_of

_DTYPES = {"float32": "F32", "float64": "F64"}
_COPY_BYTES = 2**24


def write_terms(terms: LeadingTerms, path: Path, metadata: Mapping[str, str]) -> dict[str, float]:
    """Write predicted weights and return their norms; the file appears when it is whole.

    Arguments:
        terms: the weights.
        path: ends in .safetensors.
        metadata: kept in the header.
    """
    if path.suffix != ".safetensors":
        raise FirstlightError(f"--to {path}: expected a name that ends in .safetensors")
    path.parent.mkdir(parents=True, exist_ok=True)
    header, places = _header(terms, metadata)
    needed = len(header) + max(stop for _, stop in places.values())
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise FirstlightError(f"{path}: takes {needed:,} bytes, {free:,} are free")
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb+") as file:
            file.write(header)
            norms = _write_tensors(terms, file, len(header), places)
        temporary.replace(path)
        return norms
    finally:
        temporary.unlink(missing_ok=True)


def _header(terms: LeadingTerms, metadata: Mapping[str, str]) -> tuple[bytes, dict[str, tuple[int, int]]]:
    places, stop = {}, 0
    for name in terms:
        start, stop = stop, stop + prod(terms.shape(name)) * np.dtype(terms.dtype).itemsize
        places[name] = (start, stop)
    tensors = {
        name: {"dtype": _DTYPES[terms.dtype], "shape": list(terms.shape(name)), "data_offsets": list(place)}
        for name, place in places.items()
    }
    text = json.dumps({"__metadata__": dict(metadata), **tensors}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, places


def _write_tensors(
    terms: LeadingTerms, file: BinaryIO, base: int, places: dict[str, tuple[int, int]]
) -> dict[str, float]:
    written: dict[Kind, str] = {}
    norms: dict[str, float] = {}
    for name, (start, stop) in places.items():
        first = written.setdefault(kind_of(name), name)
        if first != name:
            # Every layer has the same prediction: copied, not computed again.
            _copy(file, base + places[first][0], base + start, stop - start)
            norms[name] = norms[first]
            continue
        comparison, largest = Comparison(), 0.0
        for _, block in terms.blocks(name):
            largest = max(largest, float(np.abs(block).max()))
            comparison.add(block, block)
            file.write(np.ascontiguousarray(rounded(block, terms.dtype)).tobytes())
        check_range(terms, name, largest)
        norms[name] = comparison.result().norm
    return norms


def _copy(file: BinaryIO, source: int, target: int, size: int) -> None:
    for offset in range(0, size, _COPY_BYTES):
        file.seek(source + offset)
        part = file.read(min(_COPY_BYTES, size - offset))
        file.seek(target + offset)
        file.write(part)
