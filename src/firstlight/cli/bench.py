"""`firstlight bench`: each benchmark beside its baselines in the same run, printed as ratios."""

from typing import Annotated

import typer

from firstlight.cli.output import Json


def bench(
    name: Annotated[str | None, typer.Argument(help="Which benchmark. [all]")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads, for ours and for the baselines. [all cores]")] = None,
    as_json: Json = False,
) -> None:
    """Run benchmarks."""
    raise NotImplementedError
