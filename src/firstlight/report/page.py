"""A report as one HTML file that needs nothing else: it opens from a folder, without a network."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.files import write_atomically
from firstlight.report.images import draw, plotly_script
from firstlight.report.plots import fragment
from firstlight.report.tables import format_cell
from firstlight.version import __version__

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_STYLE = """
body { font: 16px/1.5 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: #222; max-width: 960px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; font-size: 0.85em; margin: 1em 0; display: block; overflow-x: auto; }
th, td { padding: 0.2em 0.7em; text-align: left; border-bottom: 1px solid #eee; white-space: nowrap; }
th { border-bottom: 1px solid #888; } .r { text-align: right; font-variant-numeric: tabular-nums; }
img { max-width: 100%; } footer { margin-top: 3em; color: #777; font-size: 0.8em; }
"""  # noqa: E501 - a rule of the style sheet is read as a line


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        header: the names of the columns.
        rows: the cells.
        right: one letter a column, as in `format_table`.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    right: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a report: a heading, then paragraphs, figures and tables.

    Attributes:
        title: the heading.
        text: paragraphs.
        figures: of `report.plots`.
        tables: tables.
    """

    title: str
    text: Sequence[str] = ()
    figures: Sequence["Figure"] = ()
    tables: Sequence[Table] = ()


def write_page(path: Path, title: str, sections: Sequence[Section], interactive: bool = False) -> None:
    """Write a report.

    Arguments:
        path: the .html file.
        title: its heading.
        sections: its parts.
        interactive: figures that zoom and tell values, for 5 MB of script; else they are drawings (SVG).
    """
    if interactive:
        # The script once, however many figures.
        script = f"<script>{plotly_script().read_text(encoding='utf-8')}</script>"
        count = sum(len(section.figures) for section in sections)
        names = iter(f"figure-{number}" for number in range(count))
        shown = [[fragment(figure, next(names)) for figure in section.figures] for section in sections]
    else:
        script = ""
        drawn = iter(draw([figure for section in sections for figure in section.figures], "svg"))
        shown = [[_image(next(drawn), figure) for figure in section.figures] for section in sections]
    body = "\n".join(_section(section, figures) for section, figures in zip(sections, shown, strict=True))
    write_atomically(
        path,
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n{script}\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n{body}\n"
        f"<footer>firstlight {__version__}</footer>\n</body>\n</html>\n",
    )


def _section(section: Section, figures: Sequence[str]) -> str:
    paragraphs = [f"<p>{html.escape(text)}</p>" for text in section.text]
    tables = [_table(table) for table in section.tables]
    return "\n".join([f"<h2>{html.escape(section.title)}</h2>", *paragraphs, *figures, *tables])


def _table(table: Table) -> str:
    classes = [' class="r"' if side == "r" else "" for side in table.right.ljust(len(table.header), "l")]

    def line(tag: str, cells: Sequence[Any]) -> str:
        parts = (
            f"<{tag}{kind}>{html.escape(format_cell(cell))}</{tag}>" for cell, kind in zip(cells, classes, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    return "\n".join(["<table>", line("th", table.header), *(line("td", row) for row in table.rows), "</table>"])


def _image(svg: bytes, figure: "Figure") -> str:
    # As an image, not inline: the names inside two drawings could be the same.
    title = html.escape(str(figure.layout.title.text), quote=True)
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'
