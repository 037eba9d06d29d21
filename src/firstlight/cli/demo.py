"""`firstlight demo`: the main job on embedded material, with the wall time of each stage and one page to read."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Where to put what it makes.")] = Path("demo-output"),
    stories: Annotated[int, typer.Option(help="How many stories of the embedded grammar are counted.")] = 20_000,
    workers: Annotated[int | None, typer.Option(help="Threads of the counting. [all cores]")] = None,
    seed: Annotated[int, typer.Option(help="Of the stories, and of the state tracking.")] = 0,
) -> None:
    """Count stories, predict and train a small model, let one learn to track states; end with a page."""
    from firstlight.demo.part import Size
    from firstlight.demo.whole import demonstrate

    for text in demonstrate(out, Size(stories=stories), workers, seed):
        print(text, flush=True)
