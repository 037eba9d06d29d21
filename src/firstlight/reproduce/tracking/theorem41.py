"""Theorem 4.1: Algorithm 1 on simply transitive actions, from two steps to long chains."""

import math

from firstlight.report.page import Table
from firstlight.report.plots import Mark
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.budget import BUDGETS, theory
from firstlight.reproduce.tracking.concentration import (
    ACC,
    CONDITIONS,
    attention_curves,
    condition_table,
    diagonals,
    not_learnt,
    shape_table,
    stated,
    theory_settings,
)
from firstlight.reproduce.tracking.lengths import length_plot, length_rows, length_table, numbers
from firstlight.reproduce.tracking.material import At, measured
from firstlight.reproduce.tracking.spread import BAND, Curve, curve, spread
from firstlight.tracking.language.names import action_named

SOLVED, ROLLED, NEAR, EVEN = 0.95, 0.99, 0.02, 0.05
TRAINED = 2


def reproduce(place: Place) -> Outcome:
    """Do Algorithm 1 and measure accuracy at all lengths and attention at the lengths the theorem speaks of."""
    budget = BUDGETS[place.scale]
    groups = (budget.simple, budget.other_simple)
    trainings = {group: [theory(budget, group, seed) for seed in budget.seeds] for group in groups}
    models = {group: [At(training) for training in found] for group, found in trainings.items()}
    every = [model for found in models.values() for model in found]
    rows = length_rows(place, budget, every)
    forced = {g: curve(f"{g}, teacher-forced", [rows[m] for m in found], "length", ACC) for g, found in models.items()}
    rolled = {g: curve(f"{g}, roll-out", [rows[m] for m in found], "length", "rollout") for g, found in models.items()}
    value = {
        g: curve(f"{g}, value alone", [rows[m] for m in found], "length", "value_probability")
        for g, found in models.items()
    }
    epsilon = attention_curves(place, dict(models), (TRAINED,), budget.count, "epsilon")
    gap = attention_curves(place, dict(models), (TRAINED,), budget.count, "gap")
    of_q = measured(place, "diagonals", diagonals, every)
    beside = measured(place, "statements", stated, every)
    missing = {group: [not_learnt(place, training) for training in found] for group, found in trainings.items()}
    short, far = _lengths(budget.lengths)
    word, told = _verdict(groups, forced, rolled, epsilon, gap, short, far)
    every_training = [training for found in trainings.values() for training in found]
    curves: list[Curve] = [each for group in groups for each in (forced[group], value[group], rolled[group])]
    cells = []
    for group in groups:
        size = trainings[group][0].settings.shape(action_named(group)).size
        power = [-math.log(each) / math.log(size) for each in epsilon[group].at(TRAINED)]
        blocks = {name: spread([of_q[model][name] for model in models[group]]) for name in of_q[models[group][0]]}
        cells.append([
            group, f"{max(missing[group])}", epsilon[group].spreads[0].cell(4),
            gap[group].spreads[0].cell(3), spread(power).cell(), *(blocks[name].cell() for name in blocks),
        ])  # fmt: skip
    return Outcome(
        name="tracking/theorem41",
        title="Theorem 4.1: simply transitive actions, from chains of two to long ones",
        claim="After Algorithm 1 (the feed-forward network on one step, then attention on two) a simply transitive "
        "action is solved, ACC_L at least 1 - 1/poly(d), for all L up to order d^c for a constant c between 0 and 1, "
        "and attention on the two right clauses is at least 1 - O(d^-c) at L = 1 and 2.",
        verdict=f"{word}: {told}",
        differences=[
            CONDITIONS,
            "Assumption 4.1 calls every simply transitive action cyclic. It is not: any group acts so on itself. "
            f"{budget.other_simple}, which is not cyclic, is trained as well; the proof uses no more than that each "
            "pair of values has one element.",
            "ACC_L is the probability of the whole right clause after right ones (Def. 3.6). A greedy roll-out asks "
            "for the most likely token only and can be perfect where ACC_L is not.",
            BAND,
        ],
        settings=theory_settings(place, budget, every_training),
        tables={
            "Against length": length_table("action, measure", curves),
            f"Attention after training at L = {TRAINED}": Table(
                ["action", "pairs not learnt", "ε", "gap", "-ln ε / ln d",
                 "Q43 diagonal", "off it", "Q44 diagonal", "off it"], cells, "lrrrrrrrr",
            ),
            f"Conditions, {budget.simple}": condition_table([beside[models[budget.simple][0]]], "Theorem 4.1"),
            f"Features of W (Theorem B.1), {budget.simple}": shape_table(
                [beside[model] for model in models[budget.simple]], "Theorem B.1"
            ),
        },
        figures={
            "accuracy": length_plot(
                "Accuracy against length after Algorithm 1", curves, [Mark(TRAINED, "trained")], "share, probability"
            )
        },
        numbers={
            "curves": [each.as_json() for each in curves],
            "attention": [each.as_json() for found in (epsilon, gap) for each in found.values()],
            "Q": [{"model": str(model), **of_q[model]} for model in every],
            "pairs not learnt": missing,
            "statements": [{"model": str(model), "theorems": beside[model]} for model in every],
            "rows": numbers(rows),
        },
    )  # fmt: skip


def _lengths(lengths: tuple[int, ...]) -> tuple[int, int]:
    """Return ten times the training length and forty times, or what comes next to them."""
    return tuple(min(lengths, key=lambda length: abs(length - times * TRAINED)) for times in (10, 40))  # type: ignore[return-value]


def _verdict(
    groups: tuple[str, str],
    forced: dict[str, Curve],
    rolled: dict[str, Curve],
    epsilon: dict[str, Curve],
    gap: dict[str, Curve],
    short: int,
    far: int,
) -> tuple[str, str]:
    holds: dict[str, list[bool]] = {}
    told = []
    for group in groups:
        acc, out = forced[group], rolled[group]
        holds[group] = [
            min(acc.at(short)) >= SOLVED,
            min(out.at(far)) >= ROLLED,
            max(epsilon[group].at(TRAINED)) <= NEAR,
            max(gap[group].at(TRAINED)) <= EVEN,
        ]
        told.append(
            f"{group} has ACC {acc.mean(short):.2f} at L = {short}, {acc.mean(far):.2f} at {far} and "
            f"{acc.mean(max(acc.x)):.2f} at {max(acc.x):g}, roll-outs {out.mean(far):.2f} at {far} and "
            f"{out.mean(max(out.x)):.2f} at {max(out.x):g}, ε = {epsilon[group].mean(TRAINED):.4f} and a gap of "
            f"{gap[group].mean(TRAINED):.3f} at L = {TRAINED}"
        )
    first = holds[groups[0]]
    word = "Reproduced" if all(first) else "Partly" if any(first) else "Not reproduced"
    names = (
        f"ACC >= {SOLVED:g} at L = {short}",
        f"roll-out >= {ROLLED:g} at {far}",
        f"ε <= {NEAR:g}",
        f"gap <= {EVEN:g}",
    )
    failed = [
        f"{group}: {name}" for group in groups for name, fine in zip(names, holds[group], strict=True) if not fine
    ]
    return word, (
        f"{'; '.join(told)}. In every seed {', '.join(names)}: "
        f"{'all hold' if not failed else 'not ' + '; not '.join(failed)}. (`Reproduced` means that all four hold for "
        f"{groups[0]}, `partly` that one does.)"
    )
