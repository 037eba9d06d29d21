"""Figure 1b: self-training of the symmetric group on its own longer answers, beside two controls."""

from typing import Any

from firstlight.report.plots import Mark
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.budget import BUDGETS, Budget, continued, restarted, self_trained
from firstlight.reproduce.tracking.figure1a import setting_notes, settings_of
from firstlight.reproduce.tracking.lengths import length_plot, length_rows, length_table, numbers
from firstlight.reproduce.tracking.material import At, run_of
from firstlight.reproduce.tracking.spread import BAND, Curve, curve, difference, spread

NEAR_PERFECT, SAME = 0.9, 0.05


def reproduce(place: Place) -> Outcome:
    """Train the base, the stages and the controls of all seeds."""
    budget = BUDGETS[place.scale]
    simple, symmetric = budget.simple, budget.symmetric
    models: dict[str, list[At]] = {f"trained at L = {budget.practical.length}": []}
    models |= {f"self-trained to L = {length}": [] for length in budget.stages}
    for seed in budget.seeds:
        for found, training in zip(models.values(), self_trained(budget, symmetric, seed), strict=True):
            found.append(At(training))
    stages = list(models)
    models["control: restarted"] = [At(restarted(budget, symmetric, seed)) for seed in budget.seeds]
    models["control: continued"] = [At(continued(budget, symmetric, seed)) for seed in budget.seeds]
    models[f"{simple}, continued"] = [At(continued(budget, simple, seed)) for seed in budget.seeds]
    rows = length_rows(place, budget, [each for found in models.values() for each in found])
    curves = {name: curve(name, [rows[each] for each in found], "length", "rollout") for name, found in models.items()}
    word, told = _verdict(budget, curves, stages)
    marks = [Mark(length, f"L = {length}") for length in (budget.practical.length, *budget.stages)]
    labels = _labels(place, budget)
    return Outcome(
        name="tracking/figure1b",
        title="Figure 1b: self-training on longer and longer answers of its own",
        claim="Trained on its own greedy answers at L = 10, 20 and 40, S5 moves to the right stage by stage, solves at "
        "least twice the length it was trained at, and ends at nearly perfect accuracy at L = 160, as C6 does.",
        verdict=f"{word}: {told}",
        differences=[
            BAND,
            *setting_notes(place),
            "The paper has no control. `Continued` is as many updates at the short length in one uninterrupted "
            "training; `restarted` begins with a new state of Adam as often as the stages do. What self-training gains "
            "is the difference from the controls, not from the base.",
            f"Labels that the model wrote were right in all values for {labels['least']:.1%} of sentences in the worst "
            f"stage and seed, {labels['mean']:.1%} on average.",
        ],
        settings=settings_of(
            place, budget, stages=", ".join(map(str, budget.stages)), **{"Adam at a stage": "a new state"}
        ),
        tables={f"{symmetric}: share of sentences with all values right": length_table("model", list(curves.values()))},
        figures={"accuracy": length_plot(f"Self-training of {symmetric}", list(curves.values()), marks)},
        numbers={"curves": [each.as_json() for each in curves.values()], "labels": labels, "rows": numbers(rows)},
    )


def _labels(place: Place, budget: Budget) -> dict[str, Any]:
    """Return how many of the sentences that models labelled for their own training were labelled rightly."""
    found = []
    for seed in budget.seeds:
        for training in self_trained(budget, budget.symmetric, seed)[1:]:
            right = run_of(place, training).metrics()["labels_right"]
            found.append({"seed": seed, "length": training.settings.length, "right": float(right.mean())})
    shares = [each["right"] for each in found]
    return {"least": min(shares), "mean": sum(shares) / len(shares), "stages": found}


def _verdict(budget: Budget, curves: dict[str, Curve], stages: list[str]) -> tuple[str, str]:
    far = budget.lengths[-1]
    trained_at = (budget.practical.length, *budget.stages)
    last, first = curves[stages[-1]], curves[stages[0]]
    doubled = [
        curves[name].mean(2 * length) >= NEAR_PERFECT
        for name, length in zip(stages, trained_at, strict=True)
        if 2 * length in budget.lengths
    ]
    gain = difference(last.at(far), first.at(far))
    solved = last.mean(far) >= NEAR_PERFECT
    matches = last.mean(far) >= curves[f"{budget.simple}, continued"].mean(far) - SAME
    controls = {name: difference(last.at(far), curves[name].at(far)) for name in curves if name.startswith("control")}
    beyond = all(each.low > 0 for each in controls.values())
    holds = [all(doubled), solved, matches, beyond]
    word = "Reproduced" if all(holds) else "Partly" if gain.low > 0 or solved else "Not reproduced"
    told = ", ".join(f"{gap.mean:+.2f} ({gap.low:+.2f} to {gap.high:+.2f}) on the {name.removeprefix('control: ')} one"
                     for name, gap in controls.items())  # fmt: skip
    end = spread(last.at(far), (0, 1))
    return word, (
        f"at L = {far} {budget.symmetric} goes from {first.mean(far):.2f} to {end.cell()} by self-training, "
        f"{budget.simple} after as many updates has {curves[f'{budget.simple}, continued'].mean(far):.2f}. Beside its "
        f"controls that is {told}. Each stage solves twice its length ({NEAR_PERFECT:g} or more): "
        f"{_yes(all(doubled))}; nearly perfect at L = {far}: {_yes(solved)}; not behind {budget.simple} by more than "
        f"{SAME:g}: {_yes(matches)}; ahead of both controls beyond the spread of seeds: {_yes(beyond)}. (`Reproduced` "
        "means all four, `partly` that self-training gains beyond the spread of seeds, or ends nearly perfect.)"
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"
