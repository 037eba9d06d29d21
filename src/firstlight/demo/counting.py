"""The first part: the embedded stories, counted, and what a few tokens are associated with."""

from pathlib import Path

from firstlight.corpus import build_corpus
from firstlight.demo.part import Part, Size, Stages
from firstlight.report.page import Section, Table
from firstlight.statistics import Basis, count
from firstlight.statistics.engine import Clock

SHOWN: tuple[tuple[Basis, str], ...] = (
    ("bigram", "little"),
    ("bigram", "birds"),
    ("interchangeability", "happy"),
    ("interchangeability", "red"),
    ("context", "fish"),
    ("context", "nest"),
    ("attention", "she"),
    ("attention", "rain"),
)


def counting(out: Path, size: Size, workers: int | None, seed: int) -> Part:
    """Build the embedded corpus, count it, and rank what a few tokens are associated with.

    Arguments:
        out: folder of the demonstration.
        size: how much.
        workers: threads; all cores when None.
        seed: of the stories.
    """
    stages, clock = Stages(), Clock()
    with stages.stage("corpus"):
        corpus = build_corpus([f"stories:{size.stories}"], out / "corpus", seed=seed, progress=True)
    stats = count(corpus, out / "statistics", workers=workers, progress=True, clock=clock)
    with stages.stage("associations"):
        rows = [[basis, token, ", ".join(name for name, _ in stats.top(token, basis, k=7))] for basis, token in SHOWN]
    table = Table(["basis", "token", "associated with (lift)"], rows)
    told = f"{size.stories:,} stories of the embedded grammar, {len(corpus.vocabulary):,} words, T = {corpus.window}"
    seconds = {"corpus": stages.seconds["corpus"], **clock.seconds, "associations": stages.seconds["associations"]}
    return Part(
        sections=[Section("What goes with what", [told], [], [table])],
        shown=[(told, table)],
        seconds=seconds,
        places={"corpus": str(corpus.path), "statistics": stats.path},
    )
