"""The Zarr layout of a statistics store: names, chunks, codecs, and what each array means.

Everything that was accumulated is stored as it was accumulated, in integers, so that stores can be merged without loss
and read by any Zarr client; the attributes of each array say how to turn it into the quantity of the theory.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from firstlight.errors import FirstlightError
from firstlight.statistics import sparse_kernels

FORMAT = "firstlight statistics"
FORMAT_VERSION = 1

MEANINGS = {
    "vocabulary": "the tokens as a JSON list in UTF-8; every token axis is in this order",
    "token_count": "occurrences of each token as x_t; alpha = token_count / positions",
    "next_count": "occurrences of each token as y_t",
    "bigram_indptr": "bigram counts as a sparse matrix in compressed rows, current x next: where each row starts",
    "bigram_indices": "the next token of each entry",
    "bigram_count": "its count; bigram = count / positions - alpha[current] / V",
    "context_sum": "sum of (1/t) #(prefix token in x_1..x_t) over positions with y_t = next, times 2**bits; "
    "context = (context_sum / 2**bits - context_column_sum / V) / positions",
    "context_carry": "what context_sum cannot hold: the sum is context_carry * 2**62 + context_sum; absent when zero",
    "context_column_sum": "column sums of context_sum / 2**bits",
    "attention_sum": "sum of (1/t) (g[t, j] - mean of g[t, .]) over x_t = query and x_j = key; "
    "attention = attention_sum / 2**attention_exponent[key] / positions",
    "attention_exponent": "the scale of each column of attention_sum",
    "position": "the position statistic by offset, float64",
}


SPARSE = "entries of key k are start[k] .. start[k + 1]: entry[i] stands in row other[i] of column k; the rest is zero"
# Entries of a chunk of a sparse matrix.
SPARSE_CHUNK = 2**20
SparseRows = tuple[np.ndarray, np.ndarray, np.ndarray]

# Up to this size most pairs of tokens meet in some window, in a corpus worth counting, and matrices are stored dense.
DENSE_VOCABULARY = 8192
# Chunks compressed at once.
CHUNKS_AT_ONCE = 4


def chunk_side(vocabulary: int) -> int:
    """Return the side of the square chunks of V x V arrays: large V gets large chunks, to keep files few."""
    return min(vocabulary, 512 if vocabulary <= DENSE_VOCABULARY else 1024)


def create(
    group: zarr.Group, name: str, shape: tuple[int, ...], dtype: str, axes: tuple[str, ...], **facts: Any
) -> zarr.Array[Any]:
    """Create an array: compressed, with a checksum of every chunk, zeros not stored."""
    side = chunk_side(shape[0]) if len(shape) == 2 else max(1, min(shape[0], SPARSE_CHUNK))
    return group.create_array(
        name,
        shape=shape,
        dtype=dtype,
        chunks=tuple(min(side, length) or 1 for length in shape),
        compressors=[BloscCodec(cname="lz4", clevel=1, shuffle="shuffle"), Crc32cCodec()],
        dimension_names=axes,
        attributes={"meaning": MEANINGS[name], **facts} if name in MEANINGS else facts,
        overwrite=True,
    )


def save(group: zarr.Group, name: str, values: np.ndarray, axes: tuple[str, ...], **facts: Any) -> None:
    """Create an array and write all of it."""
    create(group, name, values.shape, values.dtype.str.lstrip("<|"), axes, **facts)[...] = values


def save_vocabulary(group: zarr.Group, tokens: tuple[str, ...]) -> None:
    """Write the tokens as bytes, which every Zarr client can read: strings are not in the standard yet."""
    save(group, "vocabulary", np.frombuffer(json.dumps(tokens, ensure_ascii=False).encode(), np.uint8), ("byte",))


def load_vocabulary(group: zarr.Group) -> tuple[str, ...]:
    """Read the tokens."""
    return tuple(json.loads(bytes(read(group, "vocabulary"))))


def save_sparse(group: zarr.Group, name: str, size: int, dtype: str, units: Iterable[SparseRows], entries: int) -> None:
    """Write a matrix as three arrays in a group: where the entries of each key start, their other token, themselves."""
    inside = group.create_group(name, overwrite=True, attributes={"meaning": MEANINGS[name], "sparse": SPARSE})
    starts = np.zeros(size + 1, np.int64)
    other_token = _growing(inside, "other", "int32", entries)
    entry = _growing(inside, "entry", dtype, entries)
    key = at = 0
    for unit_starts, others, values in units:
        starts[key + 1 : key + len(unit_starts)] = at + unit_starts[1:]
        for start in range(0, len(others), 4 * SPARSE_CHUNK):
            stop = min(start + 4 * SPARSE_CHUNK, len(others))
            other_token[at + start : at + stop] = others[start:stop]
            entry[at + start : at + stop] = values[start:stop]
        key += len(unit_starts) - 1
        at += len(others)
    save(inside, "start", starts, ("key",))


def _growing(group: zarr.Group, name: str, dtype: str, length: int) -> zarr.Array[Any]:
    return group.create_array(
        name,
        shape=(length,),
        dtype=dtype,
        chunks=(min(SPARSE_CHUNK, max(1, length)),),
        compressors=[BloscCodec(cname="lz4", clevel=1, shuffle="shuffle"), Crc32cCodec()],
        dimension_names=("entry",),
        overwrite=True,
    )


def is_sparse(group: zarr.Group, name: str) -> bool:
    """Whether a matrix of the store is kept as its entries that are not zero."""
    return isinstance(group[name], zarr.Group)


def sparse_units(group: zarr.Group, name: str, low: int, high: int, unit: int) -> Iterator[tuple[int, SparseRows]]:
    """Read keys [low, high) of a sparse matrix, `unit` of them at a time, each with its first key."""
    inside = group[name]
    assert isinstance(inside, zarr.Group)
    starts = read(inside, "start")
    for first in range(low, high, unit):
        stop = min(first + unit, high)
        part = slice(int(starts[first]), int(starts[stop]))
        yield (
            first,
            (starts[first : stop + 1] - starts[first], read(inside, "other", part), read(inside, "entry", part)),
        )


def read_columns(group: zarr.Group, name: str, low: int, high: int) -> np.ndarray:
    """Read columns [low, high) of a matrix of the store, dense."""
    if not is_sparse(group, name):
        return read(group, name, slice(None), slice(low, high))
    size = len(read(group, "next_count"))
    rows = np.zeros((high - low, size), np.int64)
    for first, sparse in sparse_units(group, name, low, high, chunk_side(size)):
        sparse_kernels.fill_rows(*sparse, first, low, high, rows)
    return rows.T


def write_columns(array: zarr.Array[Any], low: int, rows: np.ndarray) -> None:
    """Write columns [low, low + len(rows)) of a V x V array, given as rows: turned a few chunks at a time."""
    step = CHUNKS_AT_ONCE * array.chunks[0]
    for start in range(0, array.shape[0], step):
        stop = min(start + step, array.shape[0])
        array[start:stop, low : low + len(rows)] = rows[:, start:stop].T


def matrix(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """Return an array of a group by name."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise FirstlightError(f"{describe(group)}: {name} is not an array; the store is damaged, build it again")
    return array


def read_context(group: zarr.Group, low: int, high: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Read columns of the context sums: the low part, and the carry if the store has one."""
    carry = read_columns(group, "context_carry", low, high) if "context_carry" in group else None
    return read_columns(group, "context_sum", low, high), carry


def read(group: zarr.Group, name: str, *selection: Any) -> np.ndarray:
    """Read an array or a part of it; a chunk that does not match its checksum is an error that names the array."""
    with damage_named(f"{describe(group)}: array {name}"):
        return np.asarray(matrix(group, name)[selection or ...])


@contextlib.contextmanager
def damage_named(what: str) -> Iterator[None]:
    """Turn what Zarr raises on a missing or damaged file into one line that names it."""
    try:
        yield
    except KeyError:
        raise FirstlightError(f"{what}: missing; the store is damaged, build it again") from None
    except (ValueError, RuntimeError, OSError) as error:
        raise FirstlightError(f"{what}: damaged: {' '.join(str(error).split())}") from None


def describe(group: zarr.Group) -> str:
    """Name a store as its user did: a path, or a URL."""
    store = str(group.store)
    return str(Path(store.removeprefix("file://"))) if store.startswith("file://") else store


def attributes(group: zarr.Group) -> dict[str, Any]:
    """Return the facts of a store, or raise an error that says why it is not one."""
    facts = dict(group.attrs)
    if facts.get("format") != FORMAT:
        raise FirstlightError(f"{describe(group)}: a Zarr group, but not of firstlight statistics")
    if facts.get("format_version") != FORMAT_VERSION:
        raise FirstlightError(
            f"{describe(group)}: format {facts['format_version']}, expected {FORMAT_VERSION}; build it again"
        )
    return facts
