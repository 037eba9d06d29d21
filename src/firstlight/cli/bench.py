"""`firstlight bench`: each benchmark beside its baselines in the same run, printed as ratios."""

from typing import Annotated

import typer

from firstlight.cli.output import Json, print_json
from firstlight.errors import FirstlightError

_NAMES = ("bigrams", "statistics", "training", "tracking")


def bench(
    name: Annotated[str | None, typer.Argument(help="bigrams, statistics, training or tracking. [all]")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads, for ours and for the plain loops. [all cores]")] = None,
    text: Annotated[str | None, typer.Option(help="A source of text for V = 3,000. [the embedded stories]")] = None,
    windows: Annotated[int, typer.Option(help="Windows at V = 3,000, overlapping where the text is short.")] = 40_000,
    subword_text: Annotated[str | None, typer.Option(help="A source of text for V = 50,304. [Zipf draws]")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="The tokenizer.json to read it with.")] = None,
    large_windows: Annotated[int, typer.Option(help="Windows at V = 50,304; 0 leaves that part out.")] = 2_000,
    training_memory: Annotated[str, typer.Option(help="What the plain model of training may hold.")] = "12GiB",
    as_json: Json = False,
) -> None:
    """Run benchmarks; the baselines need the extra [dev]."""
    from firstlight.bench.bigrams import bench_bigrams
    from firstlight.bench.rows import as_json as document
    from firstlight.bench.rows import as_table, machine
    from firstlight.bench.statistics import bench_statistics
    from firstlight.bench.tracking_language import bench_language
    from firstlight.bench.tracking_practical import bench_practical
    from firstlight.bench.tracking_theory import bench_theory
    from firstlight.bench.training import bench_training
    from firstlight.statistics.engine import check_workers

    if name is not None and name not in _NAMES:
        raise FirstlightError(f"bench {name!r}: expected one of {', '.join(_NAMES)}")
    threads = check_workers(workers)
    rows = []
    if name in (None, "bigrams"):
        rows += bench_bigrams(threads, text)
    if name in (None, "statistics"):
        rows += bench_statistics(threads, text, windows, subword_text, tokenizer, large_windows)
    if name in (None, "training"):
        rows += bench_training(threads, text, training_memory)
    if name in (None, "tracking"):
        rows += bench_language() + bench_theory(threads) + bench_practical(threads)
    if as_json:
        print_json(document(rows))
        return
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    print(as_table(rows))
