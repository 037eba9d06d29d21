"""Beyond the paper: the stabiliser ladder, transitive groups at equal n, and partners with as many pairs to learn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from firstlight.report.page import Table
from firstlight.report.plots import Axis, Line, Mark, line_plot
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.budget import BUDGETS, Budget, continued
from firstlight.reproduce.tracking.figure1a import settings_of
from firstlight.reproduce.tracking.ladder_theory import theory_ladder
from firstlight.reproduce.tracking.lengths import length_plot
from firstlight.reproduce.tracking.material import At, runs_for
from firstlight.reproduce.tracking.rungs import (
    BORNE,
    LEARNT,
    SMOOTHED,
    Found,
    Rung,
    learnt_at,
    look_into,
    model_with_loss,
    rung,
    smoothed,
    steps_told,
    trainings,
    whole_history,
)
from firstlight.reproduce.tracking.spread import BAND, Curve, Spread, curve, spread

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True)
class Matched:
    """All groups, matched in one way.

    Attributes:
        how: in words.
        found: of each group, what was measured of each seed that could be matched.
        told: of each group and seed, which updates that is after.
    """

    how: str
    found: Mapping[str, list[Found]]
    told: list[dict[str, Any]]


def reproduce(place: Place) -> Outcome:
    """Train all rungs and partners alike, and compare them after equal steps and at equal loss."""
    budget = BUDGETS[place.scale]
    rungs = _rungs(budget)
    runs_for(place, trainings(budget, list(rungs)))
    histories = {(g, seed): whole_history(place, budget, g, seed) for g in rungs for seed in budget.seeds}
    learnt = {key: learnt_at(history) for key, history in histories.items()}
    able = [key for key, step in learnt.items() if step is not None] or list(histories)
    level = max(float(smoothed(histories[key]).min()) for key in able)
    steps = budget.practical.steps + budget.more
    by_steps = _matched(
        place, budget, f"after {steps:,} steps", {(g, s): At(continued(budget, g, s)) for g, s in histories}
    )
    by_loss = _matched(
        place, budget, f"when the loss has fallen to {level:.3f}",
        {key: model_with_loss(budget, *key, histories[key], level) for key in able},
    )  # fmt: skip
    first = {group: [learnt[group, seed] for seed in budget.seeds] for group in rungs}
    theory_table, theory_numbers, theory_told = theory_ladder(place, budget)
    word, told = _verdict(budget, rungs, first, by_steps, by_loss)
    length = budget.looked_at[-1]
    return Outcome(
        name="tracking/ladder",
        title="The stabiliser ladder: does the stabiliser matter, or the number of pairs to learn?",
        claim="The paper compares C6 with S5 and gives the cause as distractors: the larger the stabiliser, the more "
        "elements send y to the same value, the less attention is concentrated and the shorter the model carries.",
        verdict=f"{word}: {told} {theory_told}",
        differences=[
            "For a transitive action n^2 times the stabiliser is the number of pairs (g, y), because the order of the "
            "group is n times the stabiliser. At equal n the two are one number and no ladder can tell them apart. So "
            "some rungs have a partner: a simply transitive action, of stabiliser 1, with about as many pairs. It has "
            "more values n.",
            "The share of elements that send y to a given value is 1/n for every transitive action, whatever its "
            "stabiliser: with uniform actions no rung has more distractors than another.",
            f"Learnt: {LEARNT:.0%} of sentences of the training length come out right. Equal loss: the lowest loss "
            f"(averaged over {SMOOTHED} updates) that every training that learnt reaches, and the first checkpoint "
            "after it.",
            "L50 and L90 are the lengths at which 50 % and 90 % of sentences come out right, between those measured; "
            f"{budget.lengths[-1]} may stand for more. ε is attention on neither of the right clauses at L = {length}. "
            f"Borne is the largest ε that can be imposed there with {BORNE:.0%} of next clauses right: the attention "
            "on the right clauses stays in the proportion it has, the rest is spread evenly.",
            BAND,
        ],
        settings=settings_of(
            place, budget, groups=", ".join(rungs), partners=", ".join(f"{a}: {b}" for a, b in budget.partners.items())
        ),
        tables={
            **{f"The practical model {each.how}": _table(rungs, first, each) for each in (by_steps, by_loss)},
            "A rung beside its partner, with about as many pairs": _partner_table(budget, rungs, by_steps, by_loss),
            "The theory model, Algorithm 2 at the settings that work for each group": theory_table,
        },
        figures=_figures(budget, rungs, first, by_steps, by_loss),
        numbers={
            "rungs": [asdict(each) for each in rungs.values()],
            "learnt after": [{"group": g, "seed": s, "steps": step} for (g, s), step in learnt.items()],
            "loss level": level,
            "matched": [
                {"how": each.how, "models": each.told,
                 "found": {group: [asdict(one) for one in found] for group, found in each.found.items()}}
                for each in (by_steps, by_loss)
            ],
            "theory": theory_numbers,
        },
    )  # fmt: skip


def _rungs(budget: Budget) -> dict[str, Rung]:
    names = [name for ladder in budget.ladders for name in ladder] + list(budget.partners.values())
    return {name: rung(name) for name in dict.fromkeys(names)}


def _matched(place: Place, budget: Budget, how: str, models: Mapping[tuple[str, int], At]) -> Matched:
    found = look_into(place, budget, list(models.values()))
    by_group: dict[str, list[Found]] = {}
    for (group, _), model in models.items():
        by_group.setdefault(group, []).append(found[model])
    told = [{"group": group, "seed": seed, "model": str(model)} for (group, seed), model in models.items()]
    return Matched(how, by_group, told)


def _table(rungs: Mapping[str, Rung], first: Mapping[str, list[int | None]], matched: Matched) -> Table:
    cells = []
    for group, facts in rungs.items():
        found = matched.found.get(group, [])
        measures = (
            [spread([getattr(each, name) for each in found], (0, math.inf)).cell(digits) for name, digits in _COLUMNS]
            if found
            else ["-"] * len(_COLUMNS)
        )
        cells.append(
            [group, facts.degree, facts.stabiliser, facts.pairs, f"{len(found)}", steps_told(first[group]), *measures]
        )
    header = ["group", "n", "stabiliser", "pairs", "seeds", "steps to learn", "L90", "L50", "ε", "borne"]
    return Table(header, cells, "lrrrrrrrrr")


_COLUMNS = (("nine_tenths", 0), ("half", 0), ("epsilon", 3), ("borne", 2))


def _log(found: Sequence[Found], name: str) -> list[float]:
    return [math.log2(max(getattr(each, name), 1.0)) for each in found]


def _apart(first: Sequence[float], second: Sequence[float]) -> Spread:
    """Return the difference of means of two groups whose seeds have nothing in common, with Welch's interval."""
    from scipy import stats

    mean = float(np.mean(first) - np.mean(second))
    if min(len(first), len(second)) < 2:
        return Spread(mean, -math.inf, math.inf, mean, mean, 1)
    parts = [float(np.var(each, ddof=1)) / len(each) for each in (first, second)]
    error = math.sqrt(sum(parts))
    if error == 0:
        return Spread(mean, mean, mean, mean, mean, len(first))
    free = sum(parts) ** 2 / sum(part**2 / (len(each) - 1) for part, each in zip(parts, (first, second), strict=True))
    half = float(stats.t.ppf(0.975, free)) * error
    return Spread(mean, mean - half, mean + half, mean, mean, len(first))


def _signed(gap: Spread, digits: int = 2) -> str:
    return f"{gap.mean:+.{digits}f} ({gap.low:+.{digits}f} to {gap.high:+.{digits}f})"


def _partner_table(budget: Budget, rungs: Mapping[str, Rung], *matched: Matched) -> Table:
    cells = []
    for group, partner in budget.partners.items():
        pairs = f"{rungs[group].pairs} and {rungs[partner].pairs}"
        for each in matched:
            one, other = each.found.get(group, []), each.found.get(partner, [])
            if not one or not other:
                cells.append([f"{group} - {partner}", pairs, each.how, "not learnt", "", "", ""])
                continue
            gaps = [
                _apart(_log(one, "half"), _log(other, "half")),
                _apart(_log(one, "nine_tenths"), _log(other, "nine_tenths")),
            ]
            gaps += [
                _apart([getattr(x, name) for x in one], [getattr(x, name) for x in other])
                for name in ("epsilon", "borne")
            ]
            cells.append([f"{group} - {partner}", pairs, each.how, *(_signed(gap) for gap in gaps)])
    return Table(["difference", "pairs", "compared", "log2 L50", "log2 L90", "ε", "borne"], cells, "lllrrrr")


def _verdict(
    budget: Budget,
    rungs: Mapping[str, Rung],
    first: Mapping[str, list[int | None]],
    *matched: Matched,
) -> tuple[str, str]:
    low, high = budget.ladders[0][0], budget.ladders[0][-1]
    holds, told = [], []
    for each in matched:
        bottom, top = each.found.get(low, []), each.found.get(high, [])
        if not bottom or not top:
            holds.append([False, False, False])
            told.append(f"{each.how}, {low} and {high} cannot be compared, for one was not learnt")
            continue
        shorter = _apart(_log(top, "half"), _log(bottom, "half"))
        wider = _apart([x.epsilon for x in top], [x.epsilon for x in bottom])
        beside = [
            _apart(_log(each.found[group], "half"), _log(each.found[partner], "half"))
            for group, partner in budget.partners.items()
            if each.found.get(group) and each.found.get(partner)
        ]
        worse = sum(gap.high < 0 for gap in beside)
        better = sum(gap.low > 0 for gap in beside)
        holds.append([shorter.high < 0, wider.low > 0, worse > len(beside) / 2])
        told.append(
            f"{each.how}, {high} has log2 L50 {_signed(shorter)} and ε {_signed(wider, 3)} beside {low}; beside "
            f"partners with as many pairs, {worse} of {len(beside)} rungs carry shorter beyond the spread of seeds and "
            f"{better} longer"
        )
    word = (
        "Reproduced"
        if all(all(each) for each in holds)
        else "Partly"
        if any(any(each) for each in holds)
        else "Not reproduced"
    )
    steps = ", ".join(f"{group} {steps_told(first[group])}" for group in rungs)
    return word, (
        f"{'; '.join(told)}. Steps to learn: {steps}. (`Reproduced` means that after equal steps and at equal loss the "
        f"largest stabiliser carries shorter and has a larger ε than the smallest, and most rungs carry shorter than "
        f"partners with as many pairs; `partly` some of the six.)"
    )


def _figures(
    budget: Budget, rungs: Mapping[str, Rung], first: Mapping[str, list[int | None]], *matched: Matched
) -> dict[str, "Figure"]:
    figures: dict[str, Figure] = {}
    ladder = [name for each in budget.ladders for name in each]
    for name, each in zip(("steps", "loss"), matched, strict=True):
        for number, some in enumerate((ladder, list(budget.partners.values()))):
            curves = [_accuracy(group, each.found[group]) for group in some if group in each.found]
            if curves:
                what = "Rungs" if number == 0 else "Partners"
                figures[f"{what.lower()}-equal-{name}"] = length_plot(
                    f"{what} {each.how}", curves, [Mark(budget.practical.length, "trained")]
                )
        figures[f"dilution-equal-{name}"] = line_plot(
            f"Next clause under imposed dilution, {each.how}", Axis("imposed ε"),
            Axis("next clauses right", between=(-0.02, 1.02)),
            [_diluted(g, found).line(i % 7, i // 7) for i, (g, found) in enumerate(each.found.items())],
        )  # fmt: skip
    pairs = Axis("pairs (g, y) to learn", log=True)
    marks = [Mark(rungs[group].pairs, group) for group in budget.ladders[0]]
    known = {
        g: [(float(rungs[g].pairs), float(step)) for step in steps if step is not None] for g, steps in first.items()
    }
    if any(known.values()):
        lines = _against_pairs(budget, rungs, known)
        figures["steps-to-learn"] = line_plot("Steps to learn", pairs, Axis("steps", log=True), lines, marks)
    halves = {g: [(float(rungs[g].pairs), each.half) for each in found] for g, found in matched[0].found.items()}
    figures["length-against-pairs"] = line_plot(
        f"L50 {matched[0].how}", pairs, Axis("L50", log=True), _against_pairs(budget, rungs, halves), marks
    )
    return figures


def _accuracy(group: str, found: Sequence[Found]) -> Curve:
    return curve(group, [each.rows for each in found], "length", "rollout")


def _diluted(group: str, found: Sequence[Found]) -> Curve:
    return curve(group, [each.dilution for each in found], "epsilon", "right")


def _against_pairs(
    budget: Budget, rungs: Mapping[str, Rung], points: Mapping[str, list[tuple[float, float]]]
) -> list[Line]:
    """Draw rungs of each degree as a line, and simply transitive partners as another."""
    lines = []
    kinds = [(f"n = {rungs[ladder[0]].degree}", list(ladder)) for ladder in budget.ladders]
    kinds.append(("stabiliser 1", list(dict.fromkeys(g for g in rungs if rungs[g].stabiliser == 1))))
    for number, (name, groups) in enumerate(kinds):
        some = sorted((group for group in groups if points.get(group)), key=lambda group: rungs[group].pairs)
        means = [float(np.mean([height for _, height in points[group]])) for group in some]
        dots = [point for group in some for point in points[group]]
        lines.append(Line(name, [float(rungs[g].pairs) for g in some], means, colour=number, points=dots))
    return lines
