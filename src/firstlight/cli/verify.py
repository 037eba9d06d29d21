"""`firstlight verify` and `firstlight ablate`: trained weights beside their prediction."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.output import Json, print_json
from firstlight.errors import FirstlightError
from firstlight.report.progress import progress, say
from firstlight.report.tables import format_table

if TYPE_CHECKING:
    from firstlight.report.page import Table
    from firstlight.runs import Run
    from firstlight.statistics import Statistics
    from firstlight.theory.report import Findings

Stats = Annotated[str, typer.Option(help="Statistics of the corpus the run was trained on.")]
Corpus = Annotated[Path | None, typer.Option(help="Where that corpus is now. [where it was at training]")]
Out = Annotated[Path | None, typer.Option(help="Where to write. [RUN/verify]")]
Plots = Annotated[bool, typer.Option(help="Draw PNG files and a page; needs the extra [plots].")]
Interactive = Annotated[bool, typer.Option(help="Figures on the page that zoom and tell values, for 5 MB more.")]


def verify(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs that differ in their seed alone.")],
    stats: Stats,
    order: Annotated[str, typer.Option(help="Of W_O: leading, second or flow.")] = "leading",
    checkpoints: Annotated[str | None, typer.Option(help="Steps, such as 0,1,2,4. [all]")] = None,
    truncation: Annotated[
        bool, typer.Option("--truncation", help="Measure what leading terms of gradients neglect: a pass a checkpoint.")
    ] = False,
    closed_form: Annotated[
        bool, typer.Option("--closed-form", help="Losses of predicted and trained model: two passes a checkpoint.")
    ] = False,
    windows: Annotated[int | None, typer.Option(help="Windows --closed-form measures on. [all]")] = None,
    other_corpus: Annotated[
        bool, typer.Option("--other-corpus", help="Allow statistics of another corpus, such as the first batch.")
    ] = False,
    corpus: Corpus = None,
    out: Out = None,
    plots: Plots = True,
    interactive: Interactive = False,
    every_row: Annotated[bool, typer.Option("--rows", help="Print a row for each checkpoint and weight.")] = False,
    as_json: Json = False,
) -> None:
    """Compare every weight at every checkpoint with its prediction: cosine, error, deviation, bound."""
    from firstlight.runs import open_run
    from firstlight.statistics import open_statistics
    from firstlight.theory import verify as verify_run
    from firstlight.theory.report import Findings, write_findings
    from firstlight.theory.spread import check_alike, seed_matters
    from firstlight.theory.trained import caveats, corpus_of

    opened, source, steps = [open_run(run) for run in runs], open_statistics(stats), _steps(checkpoints)
    check_alike(opened)
    notes = caveats(opened[0], source)
    if len(runs) > 1 and not seed_matters(opened[0]):
        notes.append("from zero and full batch, the seed decides nothing: these runs are equal")
    text = corpus_of(opened[0], corpus) if truncation or closed_form else None
    chosen = _windows(text, windows) if closed_form else None
    measured = opened if seed_matters(opened[0]) else opened[:1]
    found = [
        verify_run(
            run, source, order=order, checkpoints=steps, same_corpus=not other_corpus, show_progress=True  # type: ignore[arg-type]
        )
        for run in opened
    ]  # fmt: skip
    findings = Findings(
        runs=[str(run) for run in runs],
        settings={"statistics": stats, "order": order, **opened[0].settings},
        verifications=found,
        truncation=[_truncated(run, source, text, steps) for run in measured] if truncation else [],
        closed_form=[_closed_form(run, source, text, steps, order, chosen) for run in measured] if closed_form else [],
        notes=notes,
    )
    files = write_findings(out or runs[0] / "verify", findings, plots, interactive)
    if as_json:
        print_json({**findings.document(), "files": [str(path) for path in files]})
        return
    _print(findings, every_row)
    print(f"\nwritten: {', '.join(path.name for path in files)} in {files[0].parent}")


def ablate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs that differ in their seed alone.")],
    stats: Stats,
    checkpoint: Annotated[int | None, typer.Option(help="Step of the checkpoint. [the last]")] = None,
    seeds: Annotated[int, typer.Option(min=0, help="Random directions for each weight.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="The first of their seeds.")] = 0,
    windows: Annotated[int | None, typer.Option(help="Windows to measure on, at equal distances. [all]")] = None,
    corpus: Corpus = None,
    out: Out = None,
    plots: Plots = True,
    interactive: Interactive = False,
    as_json: Json = False,
) -> None:
    """Remove each weight's projection on its leading term: loss and KL, beside random directions of the same norm."""
    from firstlight.runs import open_run
    from firstlight.statistics import open_statistics
    from firstlight.theory.ablation import ablate as ablate_run
    from firstlight.theory.passes import spread_windows
    from firstlight.theory.report import ablation_document, ablation_note, flat, write_ablation
    from firstlight.theory.spread import check_alike, seed_matters
    from firstlight.theory.tables import ablation_table
    from firstlight.theory.trained import chosen_checkpoints, corpus_of

    opened, source = [open_run(run) for run in runs], open_statistics(stats)
    check_alike(opened)
    text = corpus_of(opened[0], corpus)
    step = chosen_checkpoints(opened[0], None if checkpoint is None else [checkpoint])[-1]
    rows = {
        str(run.path): ablate_run(
            run, source, text, step=step, seeds=seeds, seed=seed, windows=windows, show_progress=True
        )
        for run in (opened if seed_matters(opened[0]) else opened[:1])
    }
    settings = {
        "runs": list(rows),
        "statistics": stats,
        "step": step,
        "s_eta": step * float(opened[0].settings["lr"]),
        "windows": len(spread_windows(text, windows)),
        "corpus_windows": len(text.windows),
        "seeds": seeds,
        "seed": seed,
    }
    files = write_ablation(out or runs[0] / "verify", settings, rows, plots, interactive)
    if as_json:
        print_json({**ablation_document(settings, rows), "files": [str(path) for path in files]})
        return
    print(f"{ablation_note(settings)}\n")
    _print_table(ablation_table(flat(list(rows.values()))))
    print(f"\nwritten: {', '.join(path.name for path in files)} in {files[0].parent}")


def _steps(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part.removeprefix("step")) for part in text.split(",")]
    except ValueError:
        raise FirstlightError(f"--checkpoints {text!r}: expected steps separated by commas, such as 0,1,2,4") from None


def _truncated(run: "Run", stats: "Statistics", corpus: Any, steps: list[int] | None) -> Any:
    from firstlight.theory.trained import chosen_checkpoints
    from firstlight.theory.truncation import truncation

    chosen = chosen_checkpoints(run, steps)
    say(f"truncation: {len(chosen):,} passes over {len(corpus.windows):,} windows, in float64")
    return truncation(run, stats, corpus, checkpoints=chosen, show_progress=True)


def _windows(corpus: Any, count: int | None) -> Any:
    from firstlight.theory.passes import spread_windows

    return spread_windows(corpus, count)


def _closed_form(
    run: "Run", stats: "Statistics", corpus: Any, steps: list[int] | None, order: str, windows: Any
) -> list[dict[str, Any]]:
    from firstlight.theory.closed_form import compare_losses
    from firstlight.theory.trained import chosen_checkpoints

    chosen = chosen_checkpoints(run, steps)
    with progress("losses", 2 * len(chosen) * len(windows), "windows") as advance:
        return compare_losses(run, stats, corpus, chosen, windows, order, advance)  # type: ignore[arg-type]


def _print(findings: "Findings", every_row: bool) -> None:
    from firstlight.theory.bounds import statement
    from firstlight.theory.report import closed_form_table, flat
    from firstlight.theory.spread import spread
    from firstlight.theory.tables import (
        bound_table,
        checkpoint_table,
        horizon_notes,
        horizon_table,
        row_table,
        truncation_table,
    )

    first = findings.verifications[0]
    together = spread([found.rows for found in findings.verifications])
    if every_row:
        for run, found in zip(findings.runs, findings.verifications, strict=True):
            _print_table(row_table(found.rows), f"{run}\n" if len(findings.runs) > 1 else "")
    else:
        seeds = f", the middle of {len(findings.runs)} seeds" if len(findings.runs) > 1 else ""
        _print_table(checkpoint_table(together), f"cosine of each weight and its prediction{seeds}\n")
    print()
    horizons = [found.horizons for found in findings.verifications]
    seeds = ", least to largest" if len(horizons) > 1 else ""
    _print_table(horizon_table(horizons), f"s*lr of the last checkpoint with a cosine above{seeds}\n")
    for note in horizon_notes(horizons):
        print(note)
    print()
    _print_table(bound_table(together, first.theorem))
    if findings.truncation:
        print()
        _print_table(truncation_table(flat(findings.truncation)), "what the leading term of each gradient neglects\n")
    if findings.closed_form:
        print()
        _print_table(closed_form_table(flat(findings.closed_form)), "losses in nats\n")
    print()
    print("\n".join([*statement(first.theorem), *(f"note: {note}" for note in findings.notes)]))


def _print_table(table: "Table", title: str = "") -> None:
    if title:
        print(title)
    print(format_table(table.header, table.rows, table.right))
