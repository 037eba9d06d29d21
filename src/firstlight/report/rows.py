"""What was measured, as rows: over runs that differ in their seed alone, and as a Parquet file."""

import io
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from firstlight.files import write_atomically

Row = TypeVar("Row")
Place = TypeVar("Place", bound=Hashable)


@dataclass(frozen=True)
class Range:
    """The least, the middle and the largest value, None where no run has one."""

    low: float | None
    middle: float | None
    high: float | None


def range_of(values: Sequence[float | None]) -> Range:
    """Return the range of those values that are there."""
    known = [value for value in values if value is not None]
    return Range(min(known), median(known), max(known)) if known else Range(None, None, None)


def grouped(rows: Iterable[Row], place: Callable[[Row], Place]) -> dict[Place, list[Row]]:
    """Put the rows of one place together, in the order in which places first come; they are of different seeds."""
    groups: dict[Place, list[Row]] = {}
    for row in rows:
        groups.setdefault(place(row), []).append(row)
    return groups


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as Parquet; a range becomes three columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [
        {
            (name if part is None else f"{name}_{part}"): inner
            for name, value in row.items()
            for part, inner in (value.items() if isinstance(value, dict) else [(None, value)])
        }
        for row in rows
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(flat), buffer)
    write_atomically(path, buffer.getvalue())
