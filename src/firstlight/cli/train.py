"""`firstlight train`: the reference model, trained on a corpus."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.output import Json, print_json
from firstlight.corpus import open_corpus
from firstlight.errors import Diverged
from firstlight.files import format_bytes
from firstlight.report.progress import say
from firstlight.report.tables import format_table

if TYPE_CHECKING:
    from firstlight.runs import Run


def train(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder of the corpus.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    layers: Annotated[int, typer.Option(help="Layers.")] = 3,
    lr: Annotated[float, typer.Option(help="Learning rate.")] = 0.005,
    epochs: Annotated[int | None, typer.Option(help="How often each window is seen. [100]")] = None,
    steps: Annotated[int | None, typer.Option(help="Updates, instead of --epochs.")] = None,
    batch_size: Annotated[str, typer.Option(help="Windows an update, or full for all of them.")] = "2048",
    init: Annotated[str, typer.Option(help="zero or gaussian.")] = "zero",
    init_scale: Annotated[
        float | None, typer.Option(help="v of the Gaussian, of variance v^2 / V^(2 + 2 xi). [lr^2 / T^2]")
    ] = None,
    init_exponent: Annotated[float | None, typer.Option(help="xi of the Gaussian. [0]")] = None,
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
    seed: Annotated[int, typer.Option(help="Seed of the Gaussian and of the order of windows.")] = 0,
    checkpoint_every: Annotated[
        int, typer.Option(help="Keep weights at 0, 1, 2, 4, ..., 512, at multiples of this, and at the end.")
    ] = 1000,
    limit_windows: Annotated[int | None, typer.Option(help="Train on the first windows alone.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    memory: Annotated[str, typer.Option(help="What a process may hold, such as 8GiB.")] = "8GiB",
    threads: Annotated[int | None, typer.Option(help="Threads of a process. [as PyTorch chooses]")] = None,
    stats: Annotated[str | None, typer.Option(help="Statistics of the corpus, whose checksum is to be kept.")] = None,
    as_json: Json = False,
) -> None:
    """Train the reference transformer; a training that was killed goes on with the same command.

    Several processes train together under torchrun.
    """
    from firstlight.reference.training import train as train_run

    statistics = None
    if stats is not None:
        from firstlight.statistics import open_statistics

        statistics = open_statistics(stats)
    try:
        run = train_run(
            open_corpus(corpus),
            out,
            layers=layers,
            lr=lr,
            epochs=epochs,
            steps=steps,
            batch_size=batch_size,
            init=init,
            init_scale=init_scale,
            init_exponent=init_exponent,
            dtype=dtype,
            seed=seed,
            checkpoint_every=checkpoint_every,
            limit_windows=limit_windows,
            device=device,
            memory=memory,
            threads=threads,
            statistics=statistics,
            show=True,
        )
    except Diverged as error:
        if _writes():
            say(f"firstlight: {error}")
        raise typer.Exit(1) from None
    if not _writes():
        return
    if as_json:
        print_json(_facts(run))
    else:
        print(_table(run))


def _writes() -> bool:
    """Whether this is the process that prints, of those that torchrun started."""
    return os.environ.get("RANK", "0") == "0"


def _facts(run: "Run") -> dict[str, Any]:
    metrics = run.metrics()
    rows = [{name: column[place].item() for name, column in metrics.items()} for place in range(len(metrics["step"]))]
    return {"path": str(run.path), **run.manifest, "checkpoints": list(run.checkpoints), "rows": rows}


def _table(run: "Run") -> str:
    metrics = run.metrics()
    at = {int(step): place for place, step in enumerate(metrics["step"])}
    rows = [
        [
            step,
            f"{metrics['s_eta'][place]:.4g}",
            f"{metrics['epoch'][place]:.4g}",
            f"{metrics['loss'][place]:.6f}",
            f"{metrics['seconds'][place]:.3g}",
            f"{metrics['tokens_per_second'][place]:,.0f}",
            format_bytes(float(metrics["peak_bytes"][place])),
        ]
        for step, place in at.items()
        if step in run.checkpoints
    ]
    header = ["checkpoint", "s*eta", "epoch", "loss", "seconds", "tokens/s", "peak memory"]
    return f"{format_table(header, rows, 'rrrrrrr')}\n\n{len(run.checkpoints)} checkpoints in {run.path}"
