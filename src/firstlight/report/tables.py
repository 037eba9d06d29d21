"""The one table printer."""

import unicodedata
from collections.abc import Sequence
from typing import Any


def format_table(header: Sequence[str], rows: Sequence[Sequence[Any]], right: str = "") -> str:
    """Lay rows out in columns of plain text, as wide as their longest cell.

    Arguments:
        header: the names of the columns.
        rows: the cells; floats are written with four significant digits.
        right: one letter a column, `r` to align it right, anything else left; shorter strings are filled with `l`.
    """
    cells = [[format_cell(value) for value in row] for row in rows]
    widths = [max([_columns(name), *(_columns(row[i]) for row in cells)]) for i, name in enumerate(header)]
    sides = right.ljust(len(header), "l")

    def line(values: Sequence[str]) -> str:
        padded = (
            " " * (width - _columns(value)) + value if side == "r" else value + " " * (width - _columns(value))
            for value, width, side in zip(values, widths, sides, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *(line(row) for row in cells)])


def format_cell(value: Any) -> str:
    """Write one value as tables have it."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
