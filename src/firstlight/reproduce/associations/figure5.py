"""Figure 5: the tokens most associated with a token under each basis function."""

import math
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from firstlight.report.page import Table
from firstlight.report.plots import Axis, Bars, bar_plot
from firstlight.reproduce.associations.material import Text, corpus_for, settings_of, statistics_for
from firstlight.reproduce.associations.published import PUBLISHED
from firstlight.reproduce.outcome import Outcome, Place, Scale
from firstlight.statistics import Basis, Statistics

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TEXTS: dict[Scale, Text] = {
    "smoke": Text(vocabulary=3000, oov="unk", window=64, windows=None, stories=2000),
    "laptop": Text(vocabulary=3000, oov="unk", window=64, windows=None, stories=20_000),
    "paper": Text(),
}
# The paper selects from the largest 30 entries of a row.
SELECTED_FROM = 30
SHOWN = 9


@dataclass(frozen=True)
class Rank:
    """Where a token of the paper stands, from 1; None if it is not there to be ranked.

    Attributes:
        basis: the basis function.
        token: the token whose row is ranked.
        published: the token of the paper.
        raw: its place by raw entry.
        lift: its place by lift.
    """

    basis: Basis
    token: str
    published: str
    raw: int | None
    lift: int | None


def reproduce(place: Place) -> Outcome:
    """Rank all tokens by raw entry, and say where the paper's stand; show the ranking by lift beside it."""
    text = TEXTS[place.scale]
    corpus = corpus_for(place, text)
    stats = statistics_for(place, corpus)
    ranks = [
        Rank(basis, token, other, _rank(stats, basis, token, other, "raw"), _rank(stats, basis, token, other, "lift"))
        for basis, tokens in PUBLISHED.items()
        for token, others in tokens.items()
        for other in others
    ]
    return Outcome(
        name="associations/figure5",
        title="Figure 5: tokens under each basis function",
        claim="Tokens selected by hand from the 30 largest entries of a token's row, such as red → ball, car, dress; "
        "happy ~ sad, excited, scared; fish ← pond, lake, water.",
        verdict=_verdict(ranks),
        differences=[
            f"Counted on {len(corpus.windows):,} windows of {text.window} positions of {place.corpus_name}, "
            f"{len(corpus.vocabulary):,} words; the paper has 65,536 windows of 200.",
            "Raw entries rank frequent tokens first, which is why a selection by hand was needed. Lift divides by what "
            "the margins give (for interchangeability it is a cosine), and needs none; tokens seen fewer than 30 "
            "times, and the token itself, are left out of it.",
        ],
        settings=settings_of(place, corpus, text),
        tables={
            "The paper's tokens, and their rank by raw entry and by lift": _published_table(ranks),
            "First by lift, nothing selected": _lift_table(stats),
        },
        figures={"published": _figure(ranks)},
        numbers=[asdict(rank) for rank in ranks],
    )


def _rank(stats: Statistics, basis: Basis, token: str, other: str, score: Literal["raw", "lift"]) -> int | None:
    """Return the place of a token in the order of a score, from 1; None if one of the two is not there to be ranked."""
    if not {token, other} <= stats.tokens.known:
        return None
    found = [name for name, _ in stats.top(token, basis, k=len(stats.vocabulary), score=score, min_count=30)]
    return found.index(other) + 1 if other in found else None


def _verdict(ranks: list[Rank]) -> str:
    known = [rank.raw for rank in ranks if rank.raw is not None]
    if not known:
        return "Not reproduced: none of the paper's tokens is in this vocabulary."
    within = sum(rank <= SELECTED_FROM for rank in known)
    word = "Reproduced" if within >= 0.9 * len(known) else "Partly" if within >= 0.5 * len(known) else "Not reproduced"
    lifts = [rank.lift for rank in ranks if rank.lift is not None]
    return (
        f"{word}: {within} of the {len(known)} published tokens that are in this vocabulary are among the "
        f"{SELECTED_FROM} largest raw entries (middle rank {median(known):g}; by lift {median(lifts):g}); "
        f"{len(ranks) - len(known)} are not in it or too rare. (`Reproduced` means nine tenths, `partly` half.)"
    )


def _published_table(ranks: list[Rank]) -> Table:
    cells = []
    for basis, tokens in PUBLISHED.items():
        for token in tokens:
            own = [rank for rank in ranks if rank.basis == basis and rank.token == token]
            told = ", ".join(f"{rank.published} {rank.raw or '-'}/{rank.lift or '-'}" for rank in own)
            cells.append([basis, token, told])
    return Table(["basis", "token", "published token raw/lift"], cells)


def _figure(ranks: list[Rank]) -> "Figure":
    """Draw how many of the paper's tokens are among the first by raw entry, and by lift."""
    rows = [(basis, token) for basis, tokens in PUBLISHED.items() for token in tokens]

    def among_first(score: Literal["raw", "lift"]) -> list[float]:
        return [
            sum(
                (getattr(rank, score) or math.inf) <= SELECTED_FROM for rank in ranks if (rank.basis, rank.token) == row
            )
            for row in rows
        ]

    return bar_plot(
        f"The paper's tokens among the first {SELECTED_FROM}, of 9",
        [f"{token}<br>{basis}" for basis, token in rows],
        Axis("tokens", between=(0, 9)),
        [Bars("raw entry", among_first("raw")), Bars("lift", among_first("lift"), colour=1)],
    )


def _lift_table(stats: Statistics) -> Table:
    cells = []
    wanted: list[tuple[Basis, str]] = [(basis, token) for basis, tokens in PUBLISHED.items() for token in tokens]
    for basis, token in [*wanted, ("attention", "she"), ("attention", "fish")]:
        if token in stats.tokens.known:
            found = [name for name, _ in stats.top(token, basis, k=SHOWN)]
            cells.append([basis, token, ", ".join(found)])
    return Table(["basis", "token", "first by lift"], cells)
