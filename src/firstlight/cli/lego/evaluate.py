"""`firstlight lego eval` and `firstlight lego attention`: how far trained models carry, and where they look."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.lego.options import integers
from firstlight.cli.output import Json, print_json
from firstlight.errors import FirstlightError
from firstlight.report.tables import format_table

if TYPE_CHECKING:
    from firstlight.tracking.measures.findings import Findings, Kind

LENGTHS = (5, 10, 20, 40, 80, 160)

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs; those of different seeds are put together.")]
Lengths = Annotated[
    str | None, typer.Option(help="L of each row, separated by commas. [5,10,20,40,80,160 as far as there are]")
]
Count = Annotated[int, typer.Option(min=1, help="Sentences of each length.")]
Step = Annotated[int | None, typer.Option(help="Updates after which the model is measured. [the last checkpoint]")]
Seed = Annotated[int, typer.Option(min=0, help="Of the sentences.")]
Out = Annotated[Path | None, typer.Option(help="Folder for rows, a plot and a page. [nothing is written]")]
Plots = Annotated[bool, typer.Option(help="Draw the plot and the page; needs the extra [plots].")]
Interactive = Annotated[bool, typer.Option(help="Figures on the page that zoom and tell values, for 5 MB more.")]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")]


def evaluate(
    runs: Runs,
    lengths: Lengths = None,
    count: Count = 200,
    step: Step = None,
    seed: Seed = 0,
    theorems: Annotated[
        bool, typer.Option("--theorems", help="Print Theorems 4.1, 5.1, B.1, C.1 beside each run of the theory model.")
    ] = False,
    failure: Annotated[
        bool, typer.Option("--failure", help="Lengths at which roll-outs fail: predicted without any, and measured.")
    ] = False,
    out: Out = None,
    plots: Plots = True,
    interactive: Interactive = False,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Measure accuracy against length: roll-outs with intervals, last value, and teacher-forced probabilities."""
    from firstlight.tracking.measures.findings import ACCURACY

    findings = _measured(ACCURACY, runs, lengths, count, step, seed, device)
    stated = _stated(runs, step, seed) if theorems else {}
    failures = _failures(runs, step, count, seed, device) if failure else []
    files = _write(findings, out, plots, interactive)
    if as_json:
        from dataclasses import asdict

        told = {run: [_known(asdict(each)) for each in found] for run, found in stated.items()}
        parts = ({"theorems": told} if theorems else {}) | ({"failure": _known(failures)} if failure else {})
        print_json(findings.document() | parts | files)
        return
    _print(findings, files)
    if failure:
        _print_failures(failures)
    for run, found in stated.items():
        print("\n" + "\n\n".join([*([run] if len(stated) > 1 else []), *map(_statement, found)]))


def attention(
    runs: Runs,
    lengths: Lengths = None,
    count: Count = 200,
    step: Step = None,
    seed: Seed = 0,
    out: Out = None,
    plots: Plots = True,
    interactive: Interactive = False,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Measure where answers look against length: at the right predicate, at themselves, elsewhere."""
    from firstlight.tracking.measures.findings import ATTENTION

    findings = _measured(ATTENTION, runs, lengths, count, step, seed, device)
    files = _write(findings, out, plots, interactive)
    if as_json:
        print_json(findings.document() | files)
    else:
        _print(findings, files)


def lengths_within(text: str | None, variables: int) -> list[int]:
    """Return the lengths that were asked for, none twice; when none were, those that there are sentences of.

    Arguments:
        text: what was asked for.
        variables: |X|; a length that is not below it is an error.
    """
    from firstlight.tracking.language.sampling import check_length

    if text is None:
        return [length for length in LENGTHS if length < variables] or [variables - 1]
    asked = list(dict.fromkeys(integers("--lengths", text, "5,10,20")))
    for length in asked:
        check_length(length, variables)
    return asked


def _measured(
    kind: "Kind", runs: list[Path], lengths: str | None, count: int, step: int | None, seed: int, device: str
) -> "Findings":
    from firstlight.tracking.measures.findings import measured
    from firstlight.tracking.measures.subjects import subjects_of

    subjects = subjects_of(runs, step)
    asked = lengths_within(lengths, min(int(subject.run.settings["variables"]) for subject in subjects))
    return measured(kind, subjects, asked, count=count, seed=seed, device=device, show=True)


def _write(findings: "Findings", out: Path | None, plots: bool, interactive: bool) -> dict[str, Any]:
    from firstlight.tracking.measures.findings import write_findings

    if out is None:
        return {}
    return {"files": [str(path) for path in write_findings(out, findings, plots, interactive)]}


def _print(findings: "Findings", files: dict[str, Any]) -> None:
    print(f"{findings.settings['count']:,} sentences of each length, seed {findings.settings['seed']}")
    for table in findings.tables():
        print()
        print(format_table(table.header, table.rows, table.right))
    for note in findings.notes:
        print(f"\nnote: {note}")
    for path in files.get("files", ()):
        print(f"written: {path}")


def _stated(runs: list[Path], step: int | None, seed: int) -> dict[str, Any]:
    from firstlight.runs import open_run
    from firstlight.tracking.measures.loading import THEORY
    from firstlight.tracking.theory_model.statements import statements

    if step is not None:
        raise FirstlightError("--theorems with --step: they are about a training as it ended; expected no --step")
    found = {}
    for path in runs:
        run = open_run(path)
        if run.manifest["kind"] != THEORY or not run.finished:
            what = f"kind {run.manifest['kind']!r}, status {run.manifest['status']}"
            raise FirstlightError(f"{path}: --theorems with a run of {what}; expected a finished one of {THEORY!r}")
        found[str(path)] = statements(run, seed=seed)
    return found


def _failures(runs: list[Path], step: int | None, count: int, seed: int, device: str) -> list[dict[str, Any]]:
    """Return for each run and share the predicted length and the measured one; infinite where it is not reached."""
    from firstlight.tracking.measures.failure import failure_measured, failure_prediction
    from firstlight.tracking.measures.loading import load_model

    rows = []
    for run in runs:
        model = load_model(run, step, device)
        predicted = failure_prediction(model, seed=seed)
        found = failure_measured(model, count=count, seed=seed, show=True)
        for share, length in predicted.lengths.items():
            seen = {"measured": found[share].length, "low": found[share].low, "high": found[share].high}
            longest = model.variables - 1
            rows.append({"run": str(run), "share": share, "predicted": length, **seen, "longest": longest})
    return rows


def _print_failures(rows: list[dict[str, Any]]) -> None:
    cells = []
    for row in rows:
        longest = row["longest"]
        shown = [f"over {longest:,}" if row[name] > longest else f"{row[name]:.3g}" for name in ("measured", "high")]
        predicted = "over 65,536" if row["predicted"] == math.inf else f"{row['predicted']:.3g}"
        cells.append([row["run"], f"{row['share']:.0%}", predicted, shown[0], f"{row['low']:.3g} to {shown[1]}"])
    print("\nlengths at which so many roll-outs are right: predicted from sentences of three actions, and measured\n")
    print(format_table(["run", "right", "predicted", "measured", "certainly (95 %) between"], cells, "lrrrl"))


def _statement(statement: Any) -> str:
    applies = "all conditions hold here" if statement.applies else "not all conditions hold here"
    conditions = [["condition", each.text, each.found, "yes" if each.holds else "NO"] for each in statement.conditions]
    claims = [["claim", each.claim, each.found, ""] for each in statement.measured]
    table = format_table(["", statement.theorem, "here", "holds"], [*conditions, *claims], "llll")
    return f"{statement.theorem}: {statement.says} ({applies})\n{table}"


def _known(value: Any) -> Any:
    """Return what JSON can say: what is not a number is null."""
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
