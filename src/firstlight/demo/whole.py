"""The demonstration from beginning to end."""

from collections.abc import Iterator
from pathlib import Path

from firstlight.demo.counting import counting
from firstlight.demo.part import Part, Size
from firstlight.demo.predicting import predicting
from firstlight.demo.tracking import tracking
from firstlight.report.page import Section, Table, write_page
from firstlight.report.tables import format_table

TITLE = "firstlight: what is learnt first, and how far it carries"


def demonstrate(out: Path, size: Size, workers: int | None, seed: int) -> Iterator[str]:
    """Do every part, yielding what the terminal shows as soon as it is known, and write the page.

    Arguments:
        out: folder of all that is made.
        size: how much.
        workers: threads of the counting; all cores when None.
        seed: of stories, chains and the model that follows them.
    """
    parts = []
    for part in _parts(out, size, workers, seed):
        parts.append(part)
        for told, table in part.shown:
            yield f"{told}\n\n{format_table(table.header, table.rows, table.right)}\n"
    times = [[name, f"{seconds:.2f}"] for part in parts for name, seconds in part.seconds.items()]
    wall = Table(["stage", "seconds"], times, "lr")
    sections = [section for part in parts for section in part.sections]
    write_page(out / "report.html", TITLE, [*sections, Section("Wall time", tables=[wall])])
    yield f"{format_table(wall.header, wall.rows, wall.right)}\n"
    places = {name: place for part in parts for name, place in part.places.items()}
    yield "\n".join(f"{name}: {place}" for name, place in {**places, "report": out / "report.html"}.items())


def _parts(out: Path, size: Size, workers: int | None, seed: int) -> Iterator[Part]:
    yield counting(out, size, workers, seed)
    yield predicting(out, size, seed)
    yield tracking(out, size, seed)
