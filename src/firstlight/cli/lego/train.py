"""`firstlight lego train`: the theory model by Algorithm 1, or the practical model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.lego.evaluate import LENGTHS, Device
from firstlight.cli.lego.language import Name
from firstlight.cli.lego.options import check_model, practical_settings, theory_settings, with_settings
from firstlight.cli.output import Json, print_json
from firstlight.errors import Diverged, FirstlightError
from firstlight.report.progress import say
from firstlight.report.tables import format_cell, format_table

if TYPE_CHECKING:
    from firstlight.runs import Run

Model = Annotated[
    str, typer.Option(help="theory (Def. 3.5, with what worked for the action) or practical (section 7).")
]
Threads = Annotated[int | None, typer.Option(help="Threads of PyTorch. [as it chooses]")]


@with_settings
def train(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    model: Model = "theory",
    steps: Annotated[
        int | None, typer.Option(help="Updates; with --model theory, of each of its two stages. [as worked]")
    ] = None,
    device: Device = "cpu",
    threads: Threads = None,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Train a model to follow an action; a training that was killed goes on with the same command."""
    check_model(model)
    from firstlight.tracking.language.names import action_named

    if model == "theory" and settings["length"] is not None:
        raise FirstlightError("--length with --model theory: Algorithm 1 trains at L = 1 and 2; expected none")
    action = action_named(name)
    try:
        if model == "theory":
            from firstlight.tracking.theory_model.settings import settings_for
            from firstlight.tracking.theory_model.training import train_theory

            chosen = theory_settings(settings_for(action), steps, settings)
            run = train_theory(action, out, chosen, device=device, threads=threads, show=True)
        else:
            from firstlight.tracking.practical.training import train_practical

            run = train_practical(
                action, out, practical_settings(steps, settings), device=device, threads=threads, show=True
            )
    except Diverged as error:
        say(f"firstlight: {error}")
        raise typer.Exit(1) from None
    if as_json:
        print_json(facts(run))
        return
    print(metrics_table(run))
    print(f"\n{len(run.checkpoints)} checkpoints in {run.path}")
    for line in notes(run):
        print(line)
    lengths = ",".join(str(each) for each in LENGTHS if each < run.settings["variables"])
    print(f"how far it carries: firstlight lego eval {run.path} --lengths {lengths}")


def facts(run: "Run") -> dict[str, Any]:
    """Return what `--json` prints of a run; what was not measured at a step is null."""
    metrics = run.metrics()
    rows = [
        {name: _known(column[place].item()) for name, column in metrics.items()}
        for place in range(len(metrics["step"]))
    ]
    return {"path": str(run.path), **run.manifest, "checkpoints": list(run.checkpoints), "rows": rows}


def metrics_table(run: "Run") -> str:
    """Return the metrics at checkpoints, of those columns that have a value there."""
    metrics = run.metrics()
    at = [place for place, step in enumerate(metrics["step"].tolist()) if step in run.checkpoints]
    names = [name for name in metrics if any(metrics[name][place] == metrics[name][place] for place in at)]
    rows = [[_cell(metrics[name][place].item()) for name in names] for place in at]
    return format_table([name.replace("_", " ") for name in names], rows, "r" * len(names))


def notes(run: "Run") -> list[str]:
    """Return what a training found out about itself that its user has to know."""
    found = run.manifest.get("combinations")
    if found is None or not found["missing"]:
        return []
    return [
        f"note: {len(found['missing']):,} of {found['pairs']:,} pairs (g, y) were not learnt in stage 1; "
        "another --seed, --ffn-rate or more --ffn-steps may help"
    ]


def _known(value: Any) -> Any:
    return value if value == value else None


def _cell(value: Any) -> str:
    return format_cell(value) if value == value else ""
