"""Beyond the paper: the theory where the true statistics are known, and a corpus on which it fails."""

from dataclasses import asdict

from firstlight.reproduce.outcome import Outcome, Place
from firstlight.theory.controlled import LAPTOP, SMOKE, Controlled, controlled
from firstlight.theory.controlled_report import COPIES, STORIES, comparison_table, controlled_figures, loss_table
from firstlight.theory.tables import spread_text


def reproduce(place: Place) -> Outcome:
    """Run both controlled experiments."""
    scale = SMOKE if place.scale == "smoke" else LAPTOP
    found = controlled(place.folder / "work" / f"controlled-{place.scale}", scale)
    return Outcome(
        name="associations/controlled",
        title="Stories whose truth is known, and copies that break the theory",
        claim="Nothing: the paper has no corpus whose true statistics are known.",
        verdict=_verdict(found),
        differences=[STORIES, COPIES],
        settings={"scale": place.scale, **asdict(scale)},
        tables={
            "Stories: cosines at the end": comparison_table(found.last("stories")),
            "Copies: cosines at the end": comparison_table(found.last("copies")),
            "Losses at the end": loss_table(found.losses),
        },
        figures=controlled_figures(found),
        numbers=asdict(found),
    )


def _verdict(found: Controlled) -> str:
    most = max(found.scale.counts)
    copies = [row for row in found.losses if row.corpus == "copies"]
    end = [row for row in copies if row.step == max(row.step for row in copies)]

    def told(corpus: str, windows: int, kind: str, what: str) -> str:
        rows = [row for row in found.last(corpus) if (row.windows, row.kind) == (windows, kind)]
        return spread_text([getattr(row, what) for row in rows])

    def losses(what: str) -> str:
        return spread_text([getattr(row, what) for row in end], "{:.3f}".format)

    return (
        f"On {most:,} stories the trained output has cosine {told('stories', most, 'output', 'trained_true')} with the "
        f"TRUE leading term, the trained value {told('stories', most, 'value', 'trained_true')}. On copies the terms "
        f"counted on two samples have cosine {told('copies', found.scale.copies, 'output', 'counted_other')} (output) "
        f"and {told('copies', found.scale.copies, 'attention', 'counted_other')} (attention): one sample says "
        f"little of the next. The closed form ends at {losses('closed_form')} nats, the trained model at "
        f"{losses('trained')}, equal probabilities at {losses('uniform')}. The middle of "
        f"{len(found.scale.seeds)} seeds, in brackets their range."
    )
