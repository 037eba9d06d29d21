"""Tables with a column of texts: Parquet files, and data sets of the Hugging Face hub or a local folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from firstlight.corpus.documents import NO_TEXT, PART_BYTES, Document, decoded, in_parts
from firstlight.corpus.hub import quiet_hub
from firstlight.errors import FirstlightError

_ROWS = 4096  # the most rows read at once; fewer where rows are long


def parquet_documents(path: Path, name: str, column: str) -> Iterator[Document]:
    """Yield the texts in a column of a Parquet file, a few megabytes of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        # Buffered and not pre-loaded: whole row groups are never held.
        with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            _check_column(name, column, file.schema_arrow.names)
            kind = file.schema_arrow.field(column).type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            if not any(is_kind(kind) for is_kind in _text_kinds(pa.types)):
                raise FirstlightError(f"{name}: column {column!r} holds {kind}, expected strings")
            for batch in file.iter_batches(batch_size=_batch_rows(file.metadata), columns=[column]):
                # As bytes: a string that is not UTF-8 is then excluded by itself, not an error of its batch.
                for value in batch.column(0).cast(kind).cast(pa.large_binary()):
                    data = value.as_py()
                    yield from _parquet_document(data, row)
                    row += 1
    except (pa.ArrowException, OSError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise FirstlightError(
            f"{name}: damaged or cut short after {row:,} documents ({reason}); expected a complete Parquet file"
        ) from None


def _parquet_document(data: bytes | None, row: int) -> Iterator[Document]:
    if data is None:
        yield Document(row, "", NO_TEXT)
        return
    document = decoded(data, row)
    if document.excluded:
        yield document
    else:
        yield from in_parts(document.text, row)


def _text_kinds(types: Any) -> list[Callable[[Any], bool]]:
    strings = [types.is_string, types.is_large_string, types.is_string_view]
    return [*strings, types.is_binary, types.is_large_binary, types.is_binary_view]


def _batch_rows(metadata: Any) -> int:
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    row_bytes = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1.0)
    return int(min(max(PART_BYTES / max(row_bytes, 1.0), 1), _ROWS))


def _check_column(name: str, column: str, present: list[str]) -> None:
    if column not in present:
        raise FirstlightError(
            f"{name}: no column {column!r}, it has {', '.join(present)}; name the one with the text (--text-column)"
        )


def hub_documents(dataset: str, name: str, column: str) -> Iterator[Document]:
    """Yield the texts of a data set `DATASET[:CONFIG][:SPLIT]`, streamed from the hub or read from a local folder."""
    try:
        import datasets
    except ImportError:
        raise FirstlightError(f"{name}: needs the data set loader: pip install 'firstlight[hf]'") from None
    row = 0
    try:
        with quiet_hub():
            path, config, split = _parse(dataset, datasets)
            table = datasets.load_dataset(path, config, split=split, streaming=True)
        for record in table:
            if row == 0:
                _check_column(name, column, list(record))
            text = record[column]
            if isinstance(text, str):
                yield from in_parts(text, row)
            else:
                yield Document(row, "", NO_TEXT)
            row += 1
    except FirstlightError:
        raise
    except Exception as error:  # the loader raises dozens of types: offline, unknown, gated, damaged, ...
        reason = " ".join(str(error).split())[:300]
        raise FirstlightError(
            f"{name}: could not be read after {row:,} rows: {type(error).__name__}: {reason}"
        ) from None


def _parse(dataset: str, datasets: Any) -> tuple[str, str | None, str]:
    path, *names = dataset.split(":")
    # A data set is called after its folder, and `.` is no name.
    path = str(Path(path).resolve()) if Path(path).is_dir() else path
    if len(names) > 2:
        raise FirstlightError(f"hf:{dataset}: expected hf:DATASET[:CONFIG][:SPLIT]")
    if len(names) == 2:
        return path, names[0] or None, names[1] or "train"
    if not names:
        return path, None, "train"
    # One name alone is a configuration if the data set has one of that name, otherwise a split.
    if names[0] in datasets.get_dataset_config_names(path):
        return path, names[0], "train"
    return path, None, names[0]
