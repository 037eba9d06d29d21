"""Figure 2: where answers look, on sentences of the training length: two diagonals."""

from firstlight.report.page import Table
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.attention import RESIDUAL, SENTENCES, VARIANTS, looks, map_plot, trained
from firstlight.reproduce.tracking.budget import BUDGETS
from firstlight.reproduce.tracking.figure1a import setting_notes, settings_of
from firstlight.reproduce.tracking.spread import Spread, spread

SEEN, ELSEWHERE = 0.2, 0.2


def reproduce(place: Place) -> Outcome:
    """Draw the attention of models of both groups, with and without residual connections."""
    budget = BUDGETS[place.scale]
    length = budget.practical.length
    found = looks(place, trained(budget), length)
    masses = {
        key: {
            column: spread([sum(each[column]) / length for each in seeds], (0, 1)) for column in ("predicate", "answer")
        }
        for key, seeds in found.items()
    }
    both = {key: _diagonals(mass) for key, mass in masses.items()}
    variants = {v: all(both[group, v] for group in (budget.simple, budget.symmetric)) for v in VARIANTS}
    word = "Reproduced" if all(variants.values()) else "Partly" if any(both.values()) else "Not reproduced"
    told = "; ".join(
        f"{group} {variant} {mass['predicate'].mean:.2f} on the predicate and {mass['answer'].mean:.2f} on the answer"
        for (group, variant), mass in masses.items()
    )
    cells = [
        [group, variant, mass["predicate"].cell(), mass["answer"].cell(),
         spread([each["rollout"] for each in found[group, variant]], (0, 1)).cell()]
        for (group, variant), mass in masses.items()
    ]  # fmt: skip
    return Outcome(
        name="tracking/figure2",
        title="Figure 2: attention at the training length",
        claim="For both groups attention lies on two diagonals: an answer looks at the predicate of the next answer "
        "and at itself.",
        verdict=f"{word}: {told}. Both diagonals are there (each at least {SEEN:g}, at most {ELSEWHERE:g} elsewhere) "
        f"in {sum(both.values())} of {len(both)} kinds of model. (`Reproduced` means in all, `partly` in some.)",
        differences=[
            RESIDUAL,
            f"Means over heads, over {SENTENCES} sentences, and over seeds.",
            *setting_notes(place),
        ],
        settings=settings_of(place, budget, **{"residual": "both", "length looked at": length}),
        tables={
            "Share of attention, mean over answers and heads": Table(
                ["group", "model", "on the next predicate", "on the answer itself", "all values right"], cells, "llrrr"
            )
        },
        figures={
            f"{group}-{variant.replace(' ', '-')}": map_plot(f"{group}, {variant}: attention", seeds, range(length))
            for (group, variant), seeds in found.items()
        },
        numbers=[
            {"group": group, "model": variant, "seed": seed, **each}
            for (group, variant), seeds in found.items()
            for seed, each in zip(budget.seeds, seeds, strict=True)
        ],
    )


def _diagonals(mass: dict[str, Spread]) -> bool:
    predicate, answer = mass["predicate"].mean, mass["answer"].mean
    return min(predicate, answer) >= SEEN and 1 - predicate - answer <= ELSEWHERE
