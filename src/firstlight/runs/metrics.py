"""The metrics of a run: a Parquet table with one row for each recorded step."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from firstlight.errors import FirstlightError
from firstlight.files import write_atomically

Row = dict[str, int | float]


def write_metrics(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows atomically."""
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer, write_page_checksum=True)
    write_atomically(path, buffer.getvalue())


def read_rows(path: Path) -> list[Row]:
    """Read the rows."""
    return list(_table(path).to_pylist())


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """Read the columns as arrays, with NaN where a row has no value."""
    table = _table(path)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _table(path: Path) -> Any:
    try:
        return pq.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise FirstlightError(f"{path}: not found; no step has been recorded") from None
    except (pa.ArrowException, OSError) as error:
        raise FirstlightError(f"{path}: damaged: {' '.join(str(error).split())}") from None
