"""`firstlight reproduce`: tables and figures of the papers, made again, ours beside theirs."""

import time
from pathlib import Path
from typing import Annotated

import typer

from firstlight.cli.output import Json, print_json
from firstlight.errors import FirstlightError
from firstlight.report.progress import say
from firstlight.report.tables import format_table

# Beside a checkout, where continuous integration and the documentation have real stories.
NEAR = Path("../shared/data/tinystories/stories.txt")


def reproduce(
    name: Annotated[str, typer.Argument(help="A name that `reproduce list` prints, all of a paper, or all.")],
    scale: Annotated[str, typer.Option(help="smoke (seconds), laptop (minutes) or paper.")] = "smoke",
    out: Annotated[Path, typer.Option(help="Folder of reports and what they need.")] = Path("reproductions"),
    text: Annotated[
        str | None,
        typer.Option(help=f"A source of stories, or `embedded`. [laptop, paper: {NEAR} if it is there]"),
    ] = None,
    device: Annotated[str, typer.Option(help="Of training: cpu, cuda or cuda:N.")] = "cpu",
    memory: Annotated[str, typer.Option(help="What the process may hold.")] = "8GiB",
    as_json: Json = False,
) -> None:
    """Make a table or figure again and write a report: what the paper has, what we have, and where they differ."""
    from firstlight.reproduce.catalogue import chosen, described, function_of
    from firstlight.reproduce.outcome import SCALES, Place, write_outcome

    if name == "list":
        rows = [list(row) for row in described()]
        print_json([{"name": each, "shows": shows} for each, shows in rows]) if as_json else print(
            format_table(["name", "shows"], rows)
        )
        return
    names = chosen(name)
    if scale not in SCALES:
        raise FirstlightError(f"--scale {scale}: expected {', '.join(SCALES)}")
    place = Place(out, scale, _source(scale, text), device, memory, show=True)
    found = []
    for each in names:
        # State tracking draws its own sentences; the other paper reads text.
        say(f"{each}, {scale}" + (f", on {place.corpus_name}" if each.startswith("associations/") else ""))
        start = time.perf_counter()
        outcome = function_of(each)(place)
        report = write_outcome(outcome, place)
        found.append({
            "name": each, "scale": scale, "claim": outcome.claim, "verdict": outcome.verdict,
            "report": str(report), "seconds": time.perf_counter() - start,
        })  # fmt: skip
        if not as_json:
            print(f"{outcome.title}\n  the paper: {outcome.claim}\n  here: {outcome.verdict}")
            for title, table in outcome.tables.items():
                print(f"\n{title}\n{format_table(table.header, table.rows, table.right)}")
            print(f"\n{report} ({time.perf_counter() - start:.0f} s)\n")
    if as_json:
        print_json(found)


def _source(scale: str, text: str | None) -> str | None:
    """Return the source of stories; None is the embedded grammar, which `smoke` always takes unless told."""
    if text == "embedded" or (text is None and (scale == "smoke" or not NEAR.exists())):
        return None
    return str(NEAR) if text is None else text
