"""A rung of the stabiliser ladder: when it learnt, how far it carries, where it looks, what dilution it bears."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.budget import Budget, base, continued
from firstlight.reproduce.tracking.lengths import length_rows
from firstlight.reproduce.tracking.material import At, Practical, measured, run_of
from firstlight.reproduce.tracking.measure import Imposed, Lengths, attention, imposed_dilution
from firstlight.reproduce.tracking.spread import spread
from firstlight.tracking.language.facts import facts_of
from firstlight.tracking.language.names import action_named

LEARNT, SMOOTHED = 0.9, 50
SHARES = tuple(round(0.05 * step, 2) for step in range(20))
BORNE = 0.9


@dataclass(frozen=True)
class Rung:
    """What decides an action's place on the ladder.

    Attributes:
        name: of the action.
        degree: n.
        order: of the group.
        stabiliser: elements that leave a value where it is: order / degree, for the action is transitive.
        pairs: (g, y) to learn: order times degree.
    """

    name: str
    degree: int
    order: int
    stabiliser: int
    pairs: int


@dataclass(frozen=True)
class Found:
    """What was measured of one model.

    Attributes:
        rows: of accuracy.
        half: the length at which half of the sentences come out right, between those measured.
        nine_tenths: the same of nine tenths.
        epsilon: attention on neither of the right clauses, a mean over heads, at `looked_at`.
        borne: the largest imposed ε with nine tenths of next clauses right.
        dilution: how often the next clause is right against imposed ε.
    """

    rows: list[dict[str, Any]]
    half: float
    nine_tenths: float
    epsilon: float
    borne: float
    dilution: list[dict[str, float]]


def rung(name: str) -> Rung:
    """Return the facts of a transitive action."""
    facts = facts_of(action_named(name))
    return Rung(name, facts.degree, facts.order, facts.stabilisers[0], facts.order * facts.degree)


def whole_history(place: Place, budget: Budget, group: str, seed: int) -> dict[str, np.ndarray]:
    """Return loss and accuracy of a training and its continuation, by updates."""
    first, second = (run_of(place, each(budget, group, seed)).metrics() for each in (base, continued))
    steps = np.concatenate([first["step"], second["step"] + budget.practical.steps])
    joined = {name: np.concatenate([first[name], second[name]]) for name in ("loss", "accuracy")}
    return {"step": steps, **joined}


def learnt_at(history: Mapping[str, np.ndarray]) -> int | None:
    """Return the first updates after which nine tenths of sentences of the training length came out right."""
    right = np.flatnonzero(history["accuracy"] >= LEARNT)
    return int(history["step"][right[0]]) if len(right) else None


def steps_told(found: Sequence[int | None]) -> str:
    """Write after how many updates seeds had learnt, and how many never did."""
    known = [float(step) for step in found if step is not None]
    missing = len(found) - len(known)
    told = spread(known, (0, math.inf)).cell(0) if known else "-"
    return f"{told}, {missing} never" if missing else told


def smoothed(history: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the loss averaged over the last updates; before there are enough of them it is infinite."""
    window = min(SMOOTHED, len(history["loss"]))
    means = np.convolve(history["loss"], np.full(window, 1 / window), mode="valid")
    return np.concatenate([np.full(window - 1, math.inf), means])


def model_with_loss(budget: Budget, group: str, seed: int, history: Mapping[str, np.ndarray], level: float) -> At:
    """Return the first checkpoint after the averaged loss has fallen to a level, which it must have."""
    step = int(history["step"][np.flatnonzero(smoothed(history) <= level)[0]]) + 1
    every = budget.practical.checkpoint_every
    updates = min(-(-step // every) * every, budget.practical.steps + budget.more)
    if updates <= budget.practical.steps:
        return At(base(budget, group, seed), updates)
    return At(continued(budget, group, seed), updates - budget.practical.steps)


def look_into(place: Place, budget: Budget, models: Sequence[At]) -> dict[At, Found]:
    """Measure models."""
    length = budget.looked_at[-1]
    rows = length_rows(place, budget, models)
    looks = {
        each: Lengths(each.training, each.step, each.stage, lengths=(length,), count=budget.count) for each in models
    }
    looked = measured(place, "attention-rows", attention, list(looks.values()))
    imposed = {
        each: Imposed(each.training, each.step, each.stage, length=length, count=budget.count, shares=SHARES)
        for each in models
    }
    bearing = measured(place, "imposed", imposed_dilution, list(imposed.values()))
    found = {}
    for each in models:
        lengths, right = [row["length"] for row in rows[each]], [row["rollout"] for row in rows[each]]
        dilution = bearing[imposed[each]]
        found[each] = Found(
            rows=rows[each],
            half=reach(lengths, right, 0.5),
            nine_tenths=reach(lengths, right, 0.9),
            epsilon=float(np.mean([row["epsilon"] for row in looked[looks[each]]])),
            borne=_borne(dilution),
            dilution=dilution,
        )
    return found


def reach(lengths: Sequence[float], right: Sequence[float], level: float) -> float:
    """Return the length up to which a share is at least a level, between the measured ones on a logarithmic scale.

    It is the first crossing. Where the share never falls so low it is the last length; where it begins lower, 1.
    """
    if right[0] < level:
        return 1.0
    for (shorter, above), (longer, below) in pairwise(zip(lengths, right, strict=True)):
        if below < level:
            part = (above - level) / (above - below)
            return float(shorter * (longer / shorter) ** part)
    return float(lengths[-1])


def _borne(dilution: Sequence[Mapping[str, float]]) -> float:
    """Return the largest imposed ε at which the next clause is right often enough, between those measured."""
    if dilution[0]["right"] < BORNE:
        return 0.0
    for before, after in pairwise(dilution):
        if after["right"] < BORNE:
            part = (before["right"] - BORNE) / (before["right"] - after["right"])
            return before["epsilon"] + part * (after["epsilon"] - before["epsilon"])
    return dilution[-1]["epsilon"]


def trainings(budget: Budget, groups: Sequence[str]) -> list[Practical]:
    """Return the trainings of all groups and seeds."""
    return [continued(budget, group, seed) for group in groups for seed in budget.seeds]
