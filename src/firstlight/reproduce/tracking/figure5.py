"""Figure 5: attention after the predicates have been permuted: an identity without positions, a test with them."""

import numpy as np

from firstlight.report.page import Table
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.attention import RESIDUAL, SENTENCES, Key, looks, map_plot, trained
from firstlight.reproduce.tracking.budget import BUDGETS, positioned
from firstlight.reproduce.tracking.figure1a import setting_notes, settings_of
from firstlight.reproduce.tracking.material import Training
from firstlight.reproduce.tracking.spread import spread

SAME = 1e-3


def reproduce(place: Place) -> Outcome:
    """Permute the predicates of the same sentences and see whether attention goes with them."""
    budget = BUDGETS[place.scale]
    length = budget.practical.length
    order = permutation(length)
    plain = trained(budget)
    placed: dict[Key, list[Training]] = {
        (budget.simple, name): [positioned(budget, budget.simple, seed, name) for seed in budget.seeds]
        for name in budget.positions
        if name != "none"
    }
    everything = {**plain, **placed}
    straight, mixed = looks(place, everything, length), looks(place, everything, length, order)
    moved = {
        key: max(
            float(np.abs(np.subtract(a["predicate"], b["predicate"])).max())
            for a, b in zip(straight[key], mixed[key], strict=True)
        )
        for key in everything
    }
    largest = max(moved[key] for key in plain)
    word = "Reproduced" if largest <= SAME else "Not reproduced"
    lost = {key: spread([each["rollout"] for each in mixed[key]], (0, 1)) for key in everything}
    kept = {key: spread([each["rollout"] for each in straight[key]], (0, 1)) for key in everything}
    told = ", ".join(f"{name} {kept[group, name].mean:.2f} to {lost[group, name].mean:.2f}" for group, name in placed)
    return Outcome(
        name="tracking/figure5",
        title="Figure 5: attention on permuted predicates",
        claim="With the predicates permuted, attention follows the shared variable, not the place.",
        verdict=f"{word}: the share of attention on the right predicate changes by at most {largest:.1g} for any "
        f"answer, seed and model (`Reproduced` means at most {SAME:g}). It cannot be otherwise: one layer without "
        "positions sees a set of predicates, so this is an identity and no evidence of what was learnt. Where "
        f"positions make it a test, sentences with all values right go by permuting from {told}.",
        differences=[
            "The same permutation in all sentences, and the same sentences in order and permuted.",
            f"Means over heads, over {SENTENCES} sentences, and over seeds. {RESIDUAL}",
            "Models with positions are those of tracking/positions, trained on predicates in order alone.",
            *setting_notes(place),
        ],
        settings=settings_of(
            place, budget, **{"residual": "both", "predicates stand as": ", ".join(str(each + 1) for each in order)}
        ),
        tables={
            "In order and permuted": Table(
                ["group", "model", "right in order", "right permuted", "on the right predicate, in order", "permuted"],
                [
                    [group, name, kept[group, name].cell(), lost[group, name].cell(),
                     spread([float(np.mean(each["predicate"])) for each in straight[group, name]], (0, 1)).cell(),
                     spread([float(np.mean(each["predicate"])) for each in mixed[group, name]], (0, 1)).cell()]
                    for group, name in everything
                ],
                "llrrrr",
            )
        },
        figures={
            f"{group}-{name.replace(' ', '-')}": map_plot(f"{group}, {name}: attention, permuted", found, order)
            for (group, name), found in mixed.items()
            if (group, name) in plain
        },
        numbers=[
            {"group": group, "model": name, "permuted": permuted, "seed": seed, **each}
            for permuted, found in ((False, straight), (True, mixed))
            for (group, name), seeds in found.items()
            for seed, each in zip(budget.seeds, seeds, strict=True)
        ],
    )  # fmt: skip


def permutation(length: int) -> tuple[int, ...]:
    """Return an order in which no predicate stands where it stood."""
    rng = np.random.default_rng(0)
    while True:
        order = rng.permutation(length)
        if (order != np.arange(length)).all():
            return tuple(order.tolist())
