"""The stabiliser ladder of the theory model: what each group has after attention has been trained at L = 2."""

import math
from typing import Any

from firstlight.report.page import Table
from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.budget import Budget, theory
from firstlight.reproduce.tracking.concentration import not_learnt
from firstlight.reproduce.tracking.material import At, Theory, run_of, runs_for
from firstlight.reproduce.tracking.rungs import look_into, rung, steps_told
from firstlight.reproduce.tracking.spread import spread


def theory_ladder(place: Place, budget: Budget) -> tuple[Table, list[dict[str, Any]], str]:
    """Return the table of the theory model, its numbers, and a sentence."""
    groups = list(budget.theory_ladder)
    trainings = {group: [theory(budget, group, seed, "2") for seed in budget.seeds] for group in groups}
    runs_for(place, [each for found in trainings.values() for each in found])
    # Stages: W, then Q at L = 2.
    models = {group: [At(each, stage=2) for each in found] for group, found in trainings.items()}
    found = look_into(place, budget, [model for each in models.values() for model in each])
    cells, numbers = [], []
    for group in groups:
        facts, some = rung(group), [found[model] for model in models[group]]
        settings = trainings[group][0].settings
        appeared = [_appeared(place, each) for each in trainings[group]]
        missing = [not_learnt(place, each) for each in trainings[group]]
        cells.append([
            group, facts.stabiliser, facts.pairs, f"{settings.ffn_rate:g}",
            steps_told(appeared), f"{max(missing)}",
            *(spread([getattr(each, name) for each in some], (0, math.inf)).cell(digits)
              for name, digits in (("nine_tenths", 0), ("half", 0), ("epsilon", 3), ("borne", 2))),
        ])  # fmt: skip
        numbers += [
            {"group": group, "seed": seed, "features appeared after": step, "pairs not learnt": lacking,
             "L50": each.half, "L90": each.nine_tenths, "epsilon": each.epsilon, "borne": each.borne, "rows": each.rows,
             "dilution": each.dilution}
            for seed, each, step, lacking in zip(budget.seeds, some, appeared, missing, strict=True)
        ]  # fmt: skip
    header = [
        "group",
        "stabiliser",
        "pairs",
        "rate of W",
        "all features after",
        "pairs not learnt",
        "L90",
        "L50",
        "ε",
        "borne",
    ]
    low, high = groups[0], groups[-1]
    ends = {group: [found[model] for model in models[group]] for group in (low, high)}
    told = ", ".join(
        f"{group} ε = {spread([x.epsilon for x in some]).mean:.3f} and bears {spread([x.borne for x in some]).mean:.2f}"
        for group, some in ends.items()
    )
    return Table(header, cells, "lrrrrrrrrr"), numbers, f"In the theory model {told}."


def _appeared(place: Place, training: Theory) -> int | None:
    """Return the updates of W after which the last feature had appeared, or None if one never did."""
    run = run_of(place, training)
    steps = run.load(run.manifest["stages"][0]["ends"])["appeared.step"]
    return int(steps.max()) if int(steps.min()) >= 0 else None
