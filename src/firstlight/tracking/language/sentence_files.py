"""Sentences as Parquet: a row a sentence, and in the metadata what is needed to read them."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences

_METADATA = b"firstlight"
_COLUMNS = ("variables", "elements", "values")


def write_sentences(path: Path, batches: Iterable[Sentences], settings: dict[str, Any]) -> int:
    """Write sentences batch by batch, so that the file is whole or absent; return how many there are.

    Arguments:
        path: of the file.
        batches: sentences of one action and length, at least one batch.
        settings: how they were drawn, kept in the metadata beside name and images of the action.
    """
    temporary = path.with_name(path.name + ".tmp")
    count = 0
    writer = None
    try:
        for batch in batches:
            table = _table(batch)
            if writer is None:
                schema = table.schema.with_metadata({_METADATA: json.dumps(_document(batch.action, settings))})
                writer = pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True)
            writer.write_table(table)
            count += len(batch)
        if writer is None:
            raise FirstlightError(f"{path}: no sentences to write; expected a count of at least 1")
    except BaseException:
        if writer is not None:
            writer.close()
        temporary.unlink(missing_ok=True)
        raise
    writer.close()
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
    return count


def read_sentences(path: Path) -> Iterator[Sentences]:
    """Read a file of sentences back, a row group at a time."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            action = _action(file.schema_arrow.metadata or {}, path)
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=list(_COLUMNS))
                yield Sentences(action, *(_array(table.column(name)) for name in _COLUMNS))
    except FileNotFoundError:
        raise FirstlightError(f"{path}: not found") from None
    except (pa.ArrowException, OSError) as error:
        raise FirstlightError(f"{path}: damaged: {' '.join(str(error).split())}") from None


def _table(sentences: Sentences) -> pa.Table:
    arrays = (sentences.variables, sentences.elements, sentences.values)
    return pa.table([_lists(rows) for rows in arrays], names=list(_COLUMNS))


def _lists(rows: np.ndarray) -> pa.Array:
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return pa.ListArray.from_arrays(offsets, pa.array(rows.reshape(-1).astype(np.int32)))


def _array(column: Any) -> np.ndarray:
    flat = column.combine_chunks().flatten().to_numpy().astype(np.int64)
    return np.asarray(flat.reshape(len(column), -1))


def _document(action: Action, settings: dict[str, Any]) -> dict[str, Any]:
    return {"action": action.name, "images": action.images.tolist(), **settings}


def _action(metadata: dict[bytes, bytes], path: Path) -> Action:
    if _METADATA not in metadata:
        raise FirstlightError(f"{path}: no file of sentences; expected one that `firstlight lego sample --out` wrote")
    document = json.loads(metadata[_METADATA])
    return Action(document["action"], np.array(document["images"], np.int64))
