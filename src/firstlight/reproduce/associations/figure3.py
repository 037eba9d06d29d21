"""Figure 3: the context graph of a token, with the scores of the tokens that come before it."""

from firstlight.errors import FirstlightError
from firstlight.report.page import Table
from firstlight.report.plots import star_plot
from firstlight.reproduce.associations.figure5 import TEXTS
from firstlight.reproduce.associations.material import corpus_for, settings_of, statistics_for
from firstlight.reproduce.associations.published import PUBLISHED
from firstlight.reproduce.outcome import Outcome, Place

TOKEN, SHOWN = "fish", 10


def reproduce(place: Place) -> Outcome:
    """Draw the tokens with the largest lift before `fish`, and say where those of the paper stand."""
    text = TEXTS[place.scale]
    corpus = corpus_for(place, text)
    stats = statistics_for(place, corpus)
    if TOKEN not in stats.tokens.known:
        raise FirstlightError(f"{place.corpus_name}: {TOKEN!r} is not in its vocabulary; expected stories with fish")
    lifts = stats.top(TOKEN, "context", k=len(stats.vocabulary))
    row = stats.context[stats.tokens.id_of(TOKEN)]
    entries = {name: float(row[stats.tokens.id_of(name)]) for name, _ in lifts}
    order = [name for name, _ in lifts]
    published = [name for name in PUBLISHED["context"][TOKEN] if name != TOKEN]
    found = {name: order.index(name) + 1 for name in published if name in entries}
    settings = ("pond", "lake", "water", "sea", "boat", "catch")
    early = [name for name in settings if found.get(name, SHOWN * 10) <= len(order) // 20]
    have = [name for name in settings if name in found]
    word = "Reproduced" if have and len(early) == len(have) else "Partly" if early else "Not reproduced"
    return Outcome(
        name="associations/figure3",
        title=f"Figure 3: the context of {TOKEN}",
        claim="Tokens such as pond, lake and water have large context scores for fish (the scores on the arrows of the "
        "figure are not told in the text).",
        verdict=f"{word}: {len(early)} of the {len(have)} places and doings among the paper's tokens that are in this "
        f"vocabulary ({', '.join(have) or 'none'}) are in the first twentieth of {len(order):,} tokens by lift"
        + (f"; ranks: {', '.join(f'{name} {rank}' for name, rank in found.items())}." if found else "."),
        differences=[
            f"Counted on {len(corpus.windows):,} windows of {text.window} positions of {place.corpus_name}.",
            "Arrows carry lift: how many times larger the uncentred score is than the margins give. "
            "The raw entries are in the table.",
        ],
        settings={**settings_of(place, corpus, text), "token": TOKEN, "tokens seen at least": 30},
        tables={
            "Largest lift": Table(
                ["token", "lift", "entry of the context matrix"],
                [[name, f"{lift:.1f}", f"{entries[name]:.3e}"] for name, lift in lifts[:SHOWN]], "lrr",
            ),
            "The paper's tokens": Table(
                ["token", "score in the paper", "rank by lift", "lift", "entry of the context matrix"],
                [[name, "large", found[name], f"{dict(lifts)[name]:.1f}", f"{entries[name]:.3e}"] if name in found
                 else [name, "large", "not in this vocabulary, or too rare", "-", "-"] for name in published], "llrrr",
            ),
        },
        figures={"context": star_plot(f"What comes before {TOKEN}: lift", TOKEN, dict(lifts[:SHOWN]))},
        numbers=[{"token": name, "lift": lift, "entry": entries[name]} for name, lift in lifts[:100]],
    )  # fmt: skip
