"""Beyond the paper: the theory where the true statistics are known, and a corpus on which it fails."""

from dataclasses import asdict

from firstlight.reproduce.outcome import Outcome, Place
from firstlight.theory.controlled import LAPTOP, SMOKE, Controlled, controlled
from firstlight.theory.controlled_report import COPIES, STORIES, comparison_table, controlled_figures, loss_table
from firstlight.theory.tables import cosine_text


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
    stories = {row.kind: row for row in found.last("stories") if row.windows == max(found.scale.counts)}
    copies = {row.kind: row for row in found.last("copies")}
    loss = [row for row in found.losses if row.corpus == "copies"][-1]

    def told(value: float | None) -> str:
        return "unknown" if value is None else cosine_text(value)

    return (
        f"On {max(found.scale.counts):,} stories the trained output has cosine {told(stories['output'].trained_true)} "
        f"with the TRUE leading term and the trained value {told(stories['value'].trained_true)}. "
        f"On copies the terms counted on two samples have cosine {told(copies['output'].counted_other)} (output) and "
        f"{told(copies['attention'].counted_other)} (attention): there is nothing to predict from. The closed form "
        f"ends at {loss.closed_form:.3f} nats, the trained model at {loss.trained:.3f}, equal probabilities at "
        f"{loss.uniform:.3f}."
    )
