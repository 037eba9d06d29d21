"""Figure 1a: accuracy against length of models trained at a short length, a simply transitive and a symmetric group."""

from dataclasses import asdict
from typing import Any

from firstlight.report.plots import Mark
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.budget import BUDGETS, Budget, base, continued
from firstlight.reproduce.tracking.lengths import length_plot, length_rows, length_table, numbers
from firstlight.reproduce.tracking.material import At
from firstlight.reproduce.tracking.spread import BAND, Curve, Spread, curve, difference

NEAR_PERFECT, LIMITED = 0.9, 0.5


def reproduce(place: Place) -> Outcome:
    """Train both groups at the short length and measure several checkpoints at all lengths."""
    budget = BUDGETS[place.scale]
    steps = checkpoints(budget)
    models = {(group, step): models_at(budget, group, step) for group in _groups(budget) for step in steps}
    rows = length_rows(place, budget, [each for found in models.values() for each in found])
    curves = {
        key: curve(f"{key[0]}, {key[1]:,} steps", [rows[each] for each in found], "length", "rollout")
        for key, found in models.items()
    }
    word, told = _verdict(budget, curves)
    last = [curves[group, step] for step in (steps[0], steps[-1]) for group in _groups(budget)]
    return Outcome(
        name="tracking/figure1a",
        title="Figure 1a: accuracy against length after training at a short length",
        claim="Trained at L = 5, the simply transitive C6 is near perfect up to L = 160; S5 carries over to longer "
        "sentences by a constant factor only.",
        verdict=f"{word}: {told}",
        differences=[BAND, *setting_notes(place), CHECKPOINTS],
        settings=settings_of(place, budget),
        tables={"Share of sentences with all values right": length_table("model", list(curves.values()))},
        figures={
            "accuracy": length_plot("Accuracy against length", last, [Mark(budget.practical.length, "trained")]),
            "checkpoints": length_plot("The same at every checkpoint", list(curves.values())),
        },
        numbers={"curves": [each.as_json() for each in curves.values()], "rows": numbers(rows)},
    )


CHECKPOINTS = (
    "Checkpoints of one training differ a good deal at long lengths, so several are shown, and none is chosen. All of "
    "them are one uninterrupted training."
)


def checkpoints(budget: Budget) -> list[int]:
    """Return the updates after which models are measured: at the end of the base, and on its continuation."""
    every = budget.shown_every
    return [budget.practical.steps + beyond for beyond in range(0, budget.more + 1, every)]


def models_at(budget: Budget, group: str, steps: int) -> list[At]:
    """Return the models of all seeds after so many updates."""
    beyond = steps - budget.practical.steps
    if beyond in (0, budget.more):
        return [At((continued if beyond else base)(budget, group, seed)) for seed in budget.seeds]
    return [At(continued(budget, group, seed), beyond) for seed in budget.seeds]


def settings_of(place: Place, budget: Budget, **others: Any) -> dict[str, Any]:
    """Return everything that decides the numbers."""
    facts: dict[str, Any] = {"scale": place.scale, **asdict(budget.practical), "seed": "see seeds"}
    facts |= {"seeds": ", ".join(map(str, budget.seeds)), "steps": budget.practical.steps, "steps beyond": budget.more}
    return {**facts, "sentences of each length": budget.count, "seed of measured sentences": 0, **others}


def setting_notes(place: Place) -> list[str]:
    """Say in what the practical model differs from the paper's."""
    if place.scale == "paper":
        return [
            "The paper trains for 300 epochs at rate 1e-4 and does not say how many sentences an epoch has: here it "
            "has 100 batches of 128, all of them new. Widths, embeddings and norms are not published either."
        ]
    return [
        "The paper trains for 300 epochs of unknown size at rate 1e-4; here it is Adam at the rate below, every "
        "sentence new. Widths, embeddings and norms are not published; those used are below."
    ]


def _groups(budget: Budget) -> tuple[str, str]:
    return budget.simple, budget.symmetric


def _verdict(budget: Budget, curves: dict[tuple[str, int], Curve]) -> tuple[str, str]:
    simple, symmetric = _groups(budget)
    far, twice, steps = budget.lengths[-1], budget.lengths[1], checkpoints(budget)
    holds, apart = [], []
    for step in steps:
        limited = curves[symmetric, step].mean(far) <= LIMITED and curves[symmetric, step].mean(twice) >= NEAR_PERFECT
        holds.append(curves[simple, step].mean(far) >= NEAR_PERFECT and limited)
        apart.append(difference(curves[simple, step].at(far), curves[symmetric, step].at(far)))
    ahead = [gap.low > 0 for gap in apart]
    word = "Reproduced" if all(holds) else "Partly" if any(holds) or all(ahead) else "Not reproduced"
    told = "; ".join(
        f"after {step:,} steps {simple} has {curves[simple, step].mean(far):.2f} at L = {far} and {symmetric} "
        f"{curves[symmetric, step].mean(far):.2f} (difference {_interval(gap)})"
        for step, gap in zip(steps, apart, strict=True)
    )
    return word, (
        f"{told}. The claim as it stands (at L = {far} {simple} at least {NEAR_PERFECT:g}, {symmetric} at most "
        f"{LIMITED:g} though at least {NEAR_PERFECT:g} at L = {twice}) holds at {sum(holds)} of {len(steps)} "
        f"checkpoints, and {simple} is ahead beyond the spread of seeds at {sum(ahead)}. (`Reproduced` means at all "
        "checkpoints, `partly` at some, or ahead at all.)"
    )


def _interval(gap: Spread) -> str:
    return f"{gap.mean:+.2f}, {gap.low:+.2f} to {gap.high:+.2f}"
