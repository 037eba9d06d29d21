"""The Zarr layout of a statistics store: names, chunks, codecs, and what each array means.

Everything that was accumulated is stored as it was accumulated, in integers, so that stores can be merged without loss
and read by any Zarr client; the attributes of each array say how to turn it into the quantity of the theory.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from firstlight.errors import FirstlightError

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


# Up to this size most pairs of tokens meet in some window, in a corpus worth counting.
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
    side = chunk_side(shape[0]) if len(shape) == 2 else max(1, shape[0])
    # Bytes of dense integers compress when shuffled; a mostly empty array does so, and much faster, as it is.
    dense = shape[0] <= DENSE_VOCABULARY or len(shape) == 1
    return group.create_array(
        name,
        shape=shape,
        dtype=dtype,
        chunks=tuple(min(side, length) or 1 for length in shape),
        compressors=[BloscCodec(cname="lz4", clevel=1, shuffle="shuffle" if dense else "noshuffle"), Crc32cCodec()],
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


def read_context(group: zarr.Group, *selection: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Read a part of the context sums: the low part, and the carry if the store has one."""
    carry = read(group, "context_carry", *selection) if "context_carry" in group else None
    return read(group, "context_sum", *selection), carry


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
