"""`firstlight demo`: the main job on the embedded corpus, with the wall time of each stage."""

import time
from pathlib import Path
from typing import Annotated

import typer

from firstlight.corpus import build_corpus
from firstlight.report.tables import format_table

_SHOWN = (
    ("bigram", "little"),
    ("bigram", "birds"),
    ("interchangeability", "happy"),
    ("interchangeability", "red"),
    ("context", "fish"),
    ("context", "nest"),
    ("attention", "she"),
    ("attention", "rain"),
)


def demo(
    out: Annotated[Path, typer.Option(help="Where to put what it makes.")] = Path("demo-output"),
    stories: Annotated[int, typer.Option(help="How many stories of the embedded grammar.")] = 20_000,
    workers: Annotated[int | None, typer.Option(help="Threads. [all cores]")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the stories.")] = 0,
) -> None:
    """Build the embedded corpus, count it, and print what a few tokens are associated with."""
    from firstlight.statistics import count
    from firstlight.statistics.engine import Clock

    start = time.perf_counter()
    corpus = build_corpus([f"stories:{stories}"], out / "corpus", seed=seed, progress=True)
    seconds = {"corpus": time.perf_counter() - start}
    clock = Clock()
    stats = count(corpus, out / "statistics", workers=workers, progress=True, clock=clock)
    start = time.perf_counter()
    rows = [
        [basis, token, ", ".join(name for name, _ in stats.top(token, basis, k=7))]  # type: ignore[arg-type]
        for basis, token in _SHOWN
    ]
    seconds |= clock.seconds | {"associations": time.perf_counter() - start}
    print(f"{corpus.manifest['windows']:,} windows of {corpus.window + 1} tokens, {len(corpus.vocabulary):,} words\n")
    print(format_table(["basis", "token", "associated with (lift)"], rows))
    print()
    print(format_table(["stage", "seconds"], [[name, f"{value:.2f}"] for name, value in seconds.items()], "lr"))
    print(f"\ncorpus: {corpus.path}    statistics: {stats.path}")
