"""`firstlight stats`: count a corpus, look at associations, export, merge."""

from pathlib import Path
from typing import Annotated, Any

import typer

from firstlight.cli.output import Json, print_json
from firstlight.corpus import open_corpus
from firstlight.errors import FirstlightError
from firstlight.report.progress import say
from firstlight.report.tables import format_table

app = typer.Typer(help="Count exact corpus statistics and read associations from them.")

Out = Annotated[str, typer.Option(help="Folder of the store, or an fsspec URL such as s3://bucket/stats.")]
Workers = Annotated[int | None, typer.Option(help="Threads. [all cores]")]
Memory = Annotated[str, typer.Option(help="What the process may hold, such as 8GiB.")]

_SHOWN = ("bigram", "interchangeability", "context", "attention")


@app.command()
def build(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder of a corpus.")],
    out: Out,
    engine: Annotated[str, typer.Option(help="local: threads of this process.")] = "local",
    workers: Workers = None,
    memory: Memory = "8GiB",
    as_json: Json = False,
) -> None:
    """Count alpha, bigram, context, attention and position; a count that was killed goes on with the same command."""
    from firstlight.statistics import count
    from firstlight.statistics.engine import Clock

    if engine != "local":
        raise FirstlightError(f"--engine {engine}: expected local")
    clock = Clock()
    stats = count(open_corpus(corpus), out, workers=workers, memory=memory, progress=True, clock=clock)
    _report(stats, clock, as_json)


@app.command()
def merge(
    stores: Annotated[list[str], typer.Argument(metavar="STATS...", help="Stores of one vocabulary and window.")],
    out: Out,
    workers: Workers = None,
    memory: Memory = "8GiB",
    as_json: Json = False,
) -> None:
    """Merge stores: the same bits as counting their corpora at once."""
    from firstlight.statistics import merge as merge_stores
    from firstlight.statistics.engine import Clock

    clock = Clock()
    stats = merge_stores(stores, out, workers=workers, memory=memory, progress=True, clock=clock)
    _report(stats, clock, as_json)


@app.command()
def show(
    path: Annotated[str, typer.Argument(metavar="STATS", help="Folder or URL of a store.")],
    token: Annotated[str | None, typer.Argument(help="A token; without one the store is described.")] = None,
    basis: Annotated[
        str | None, typer.Option(help="bigram, interchangeability, context, attention or composed. [the first four]")
    ] = None,
    number: Annotated[int, typer.Option("-k", help="How many associations.")] = 10,
    score: Annotated[
        str, typer.Option(help="lift: over what the margins give (or a cosine), for reading; raw: the entry.")
    ] = "lift",
    direction: Annotated[str, typer.Option(help="out: the token's row; in: its column.")] = "out",
    min_count: Annotated[int, typer.Option(help="Leave out tokens that occur less often.")] = 30,
    verify: Annotated[bool, typer.Option("--verify", help="Read every chunk and check its checksum first.")] = False,
    as_json: Json = False,
) -> None:
    """Show the tokens most associated with a token, or describe the store."""
    from firstlight.statistics import open_statistics

    stats = open_statistics(path)
    if verify:
        stats.verify()
        say(f"{path}: all chunks match their checksums")
    if token is None:
        print_json(_facts(stats)) if as_json else print(_describe(stats))
        return
    shown = [basis] if basis else [name for name in _SHOWN if name != "attention" or stats.facts["has_attention"]]
    found = {name: stats.top(token, name, number, score, direction, min_count) for name in shown}  # type: ignore[arg-type]
    own = stats.vocabulary[stats.tokens.id_of(token)]
    if as_json:
        choices = {"token": own, "score": score, "direction": direction, "min_count": min_count}
        lists = {name: [{"token": t, "score": s} for t, s in pairs] for name, pairs in found.items()}
        print_json({**choices, "associations": lists})
        return
    count = int(stats.token_count[stats.tokens.id_of(token)])
    times = f"{count:,} time{'' if count == 1 else 's'}"
    print(f"{own!r} ({times}), {score}, {direction}, tokens seen at least {min_count:,} times\n")
    if not any(found.values()):
        print(f"no other token is seen at least {min_count:,} times; a smaller --min-count shows some")
        return
    lines = [[cell for name in shown for cell in _cell(found[name], rank)] for rank in range(number)]
    header = [title for name in shown for title in (name, score)]
    print(format_table(header, [line for line in lines if any(line)], "lr" * len(shown)))


@app.command()
def export(
    path: Annotated[str, typer.Argument(metavar="STATS", help="Folder or URL of a store.")],
    to: Annotated[Path, typer.Option(help="The .npz to write.")],
    as_json: Json = False,
) -> None:
    """Write alpha, B, Sigma, Phi, Q, Delta (float64) and vocab as .npz; Q and Delta if the store has them."""
    from firstlight.statistics import open_statistics

    stats = open_statistics(path)
    arrays = stats.export(to)
    if as_json:
        facts = {"path": str(to), "bytes": to.stat().st_size, "vocabulary_size": len(stats.vocabulary)}
        print_json({**facts, "arrays": arrays})
        return
    print(f"{to}: {', '.join(arrays[:-1])} and {arrays[-1]} of {len(stats.vocabulary):,} tokens")
    if not stats.facts["has_attention"]:
        say(f"{to}: without Q and Delta, which {path} has not: it was merged without {stats.facts['missing_corpus']}")


def _cell(pairs: list[tuple[str, float]], rank: int) -> tuple[str, str]:
    if rank >= len(pairs):
        return "", ""
    token, score = pairs[rank]
    return token if token.isprintable() and token.strip() == token else repr(token), f"{score:.3g}"


def _facts(stats: Any) -> dict[str, Any]:
    return {"path": stats.path, **stats.facts, "bigrams": int(stats.bigrams.counts.nnz)}


def _describe(stats: Any) -> str:
    facts = stats.facts
    rows = [
        ["windows", f"{facts['windows']:,}, T = {facts['window']}"],
        ["positions", facts["positions"]],
        ["vocabulary", facts["vocabulary_size"]],
        ["distinct bigrams", int(stats.bigrams.counts.nnz)],
        ["attention, position", "yes" if facts["has_attention"] else f"left out: {facts['missing_corpus']}"],
        ["corpora", ", ".join(_near(member["path"]) for member in facts["corpora"])],
    ]
    return format_table(["statistics", stats.path], rows)


def _near(path: str) -> str:
    """Return a path as one would type it from here."""
    inside = Path(path).is_relative_to(Path.cwd())
    return str(Path(path).relative_to(Path.cwd())) if inside else path


def _report(stats: Any, clock: Any, as_json: bool) -> None:
    if as_json:
        print_json({**_facts(stats), "seconds": clock.seconds})
        return
    print(_describe(stats))
    if clock.seconds:
        print()
        print(
            format_table(["stage", "seconds"], [[name, f"{value:.2f}"] for name, value in clock.seconds.items()], "lr")
        )
