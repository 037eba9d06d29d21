"""How far attention of the theory model is concentrated, and what the theorems' reproductions share."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from firstlight.report.page import Table
from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.budget import Budget
from firstlight.reproduce.tracking.material import At, Theory, measured, model_at, run_of
from firstlight.reproduce.tracking.measure import FORCED, Lengths, attention
from firstlight.reproduce.tracking.spread import Curve, curve, spread
from firstlight.tracking.language.names import action_named
from firstlight.tracking.theory_model.concentration import entries_of
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.statements import statements

ACC = "teacher_forced"
STATED = 10  # sentences of each length for the theorems as they are stated; means over all steps of each
CONDITIONS = (
    "The theorem is about d, n and m that grow together, to a rate of 1/poly(d) and times with hidden constants; here "
    "they are fixed (see the settings), so it can be illustrated and not tested. Q grows with the logarithm of the "
    "updates without an end: every number about attention depends on when training stops, which was fixed beforehand."
)


def attention_curves(
    place: Place, models: dict[str, Sequence[At]], lengths: tuple[int, ...], count: int, column: str
) -> dict[str, Curve]:
    """Return a curve over lengths of a column of the rows of attention, for each name."""
    items = {
        each: Lengths(each.training, each.step, each.stage, lengths=lengths, count=count)
        for found in models.values()
        for each in found
    }
    rows = measured(place, "attention-rows", attention, list(items.values()))
    return {
        name: curve(name, [rows[items[each]] for each in found], "length", column) for name, found in models.items()
    }


def not_learnt(place: Place, training: Theory) -> int:
    """Return how many pairs (g, y) the feed-forward network had not learnt when it was done."""
    return len(run_of(place, training).manifest["combinations"]["missing"])


def diagonals(place: Place, item: At) -> dict[str, float]:
    """Return the means of the diagonals of both blocks of Q, and of what is off them."""
    model = model_at(place, item)
    assert isinstance(model, TheoryModel)
    found: dict[str, float] = {}
    for name, block in (("Q43", model.Q43), ("Q44", model.Q44)):
        entries = entries_of(block)
        found |= {name: entries.diagonal, f"{name} off": entries.elsewhere}
    return found


def stated(place: Place, item: At) -> list[dict[str, Any]]:
    """Return the theorems beside a training; what has no value, as an exponent of nothing solved, is None."""
    found = [
        {**asdict(each), "applies": each.applies} for each in statements(run_of(place, item.training), count=STATED)
    ]
    for measure in (measure for each in found for measure in each["measured"]):
        measure["value"] = measure["value"] if math.isfinite(measure["value"]) else None
    return found


def condition_table(found: Sequence[list[dict[str, Any]]], theorem: str) -> Table:
    """Return what a theorem asks for, and what the trainings of each group have.

    Arguments:
        found: of one training of each group.
        theorem: such as `Theorem 4.1`.
    """
    cells = [
        [condition["text"], condition["found"], "yes" if condition["holds"] else "no"]
        for statements_of_one in found
        for statement in statements_of_one
        if statement["theorem"] == theorem
        for condition in statement["conditions"]
    ]
    return Table(["the theorem asks for", "here", "holds, constants taken as 1"], cells)


def shape_table(found: Sequence[list[dict[str, Any]]], theorem: str) -> Table:
    """Return what a theorem says of the features of W, and what was measured over the seeds of one group."""
    by_claim: dict[str, list[float]] = {}
    for statements_of_one in found:
        for statement in statements_of_one:
            for measure in statement["measured"] if statement["theorem"] == theorem else ():
                if measure["value"] is not None:
                    by_claim.setdefault(measure["claim"], []).append(measure["value"])
    cells = [[claim, spread(values).cell()] for claim, values in by_claim.items()]
    return Table(["the theorem says", "distance in units of B, or the ratio"], cells, "lr")


def theory_settings(place: Place, budget: Budget, trainings: Sequence[Theory]) -> dict[str, Any]:
    """Return everything that decides the numbers."""
    first = {training.group: training for training in reversed(trainings)}
    facts: dict[str, Any] = {"scale": place.scale, "seeds": ", ".join(map(str, budget.seeds))}
    settings = {group: training.settings for group, training in first.items()}
    for name in next(iter(settings.values())).__dataclass_fields__:
        if name != "seed":
            values = {group: getattr(each, name) for group, each in settings.items()}
            same = len(set(values.values())) == 1
            told = next(iter(values.values())) if same else ", ".join(f"{g}: {v}" for g, v in values.items())
            facts[name] = told
    sizes = {group: each.shape(action_named(group)).size for group, each in settings.items()}
    facts["d"] = ", ".join(f"{group}: {size}" for group, size in sizes.items())
    return {
        **facts,
        "sentences of each length": budget.count,
        "of these with probabilities": FORCED,
        "seed of measured sentences": 0,
    }
