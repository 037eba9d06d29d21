"""How attention on one kind of clause falls with the place of an answer and with length: figures 6 and 7."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from firstlight.report.page import Table
from firstlight.report.plots import Axis, line_plot
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.attention import RESIDUAL, SENTENCES, VARIANTS, looks, map_plot, trained
from firstlight.reproduce.tracking.budget import BUDGETS, Budget
from firstlight.reproduce.tracking.figure1a import setting_notes, settings_of
from firstlight.reproduce.tracking.spread import BAND, Curve, curve, difference, spread

FALLS = 0.05


@dataclass(frozen=True)
class Claim:
    """What one of the two figures says.

    Attributes:
        name: of the reproduction.
        title: of the figure.
        column: the clauses looked at.
        steep: whether it is the simply transitive or the symmetric group whose attention falls.
        text: the paper's words, in short.
    """

    name: str
    title: str
    column: Literal["predicate", "answer"]
    steep: Literal["simple", "symmetric"]
    text: str


def decay(place: Place, claim: Claim) -> Outcome:
    """Measure attention on the diagonal at longer lengths, by the place of the answer."""
    budget = BUDGETS[place.scale]
    steep, flat = _groups(budget, claim)
    lengths = budget.looked_at
    found = {length: looks(place, trained(budget), length) for length in lengths}
    curves = {
        (group, variant, length): _curve(f"{group}, L = {length}", seeds, claim.column, length)
        for length in lengths
        for (group, variant), seeds in found[length].items()
    }
    falls = {key: [_fall(values) for values in each.seeds] for key, each in curves.items()}
    word, told = _verdict(claim, steep, flat, lengths, curves, falls)
    cells = [
        [group, variant, length, spread([sum(v) / len(v) for v in each.seeds], (0, 1)).cell(),
         spread([v[0] for v in each.seeds]).cell(), spread([v[-1] for v in each.seeds]).cell(),
         spread(falls[group, variant, length]).cell()]
        for (group, variant, length), each in sorted(curves.items())
    ]  # fmt: skip
    what = "the next predicate" if claim.column == "predicate" else "the answer itself"
    figures = {
        f"by-place-{variant.replace(' ', '-')}": line_plot(
            f"Attention on {what}, {variant}",
            Axis("place of the answer, of L", between=(0, 1.02)),
            Axis("attention", between=(0, 1.02)),
            [
                curves[group, variant, length].line(colour, dash)
                for colour, group in enumerate((budget.simple, budget.symmetric))
                for dash, length in enumerate(lengths)
            ],
        )
        for variant in VARIANTS
    }
    figures |= {
        f"map-{group}-{length}-{variant.replace(' ', '-')}": map_plot(
            f"{group}, L = {length}, {variant}: attention", seeds, range(length)
        )
        for length in lengths[-1:]
        for (group, variant), seeds in found[length].items()
        if variant == "without residual"
    }
    return Outcome(
        name=claim.name,
        title=claim.title,
        claim=claim.text,
        verdict=f"{word}: {told}",
        differences=[
            RESIDUAL,
            f"The fall is the mean over the first quarter of the answers less that over the last. {BAND} Every seed is "
            f"a mean over heads and {SENTENCES} sentences.",
            "In one layer without positions a later place differs from an earlier one in one thing: more answers stand "
            "before it. A fall with the place is dilution by those.",
            *setting_notes(place),
        ],
        settings=settings_of(place, budget, residual="both", lengths=", ".join(map(str, lengths))),
        tables={
            f"Attention on {what}": Table(
                ["group", "model", "L", "mean", "first answer", "last answer", "fall"], cells, "llrrrrr"
            )
        },
        figures=figures,
        numbers=[
            {"group": group, "model": variant, "length": length, **each.as_json()}
            for (group, variant, length), each in curves.items()
        ],
    )


def _groups(budget: Budget, claim: Claim) -> tuple[str, str]:
    both = (budget.simple, budget.symmetric)
    return both if claim.steep == "simple" else both[::-1]


def _curve(name: str, seeds: list[dict[str, list[float]]], column: str, length: int) -> Curve:
    rows = [[{"x": (place + 1) / length, "y": value} for place, value in enumerate(each[column])] for each in seeds]
    return curve(name, rows, "x", "y")


def _fall(values: Sequence[float]) -> float:
    quarter = max(1, len(values) // 4)
    return sum(values[:quarter]) / quarter - sum(values[-quarter:]) / quarter


def _verdict(
    claim: Claim,
    steep: str,
    flat: str,
    lengths: tuple[int, ...],
    curves: dict[tuple[str, str, int], Curve],
    falls: dict[tuple[str, str, int], list[float]],
) -> tuple[str, str]:
    last = lengths[-1]
    parts, told = {}, []
    for variant in VARIANTS:
        steeper, flatter = spread(falls[steep, variant, last]), spread(falls[flat, variant, last])
        apart = difference(falls[steep, variant, last], falls[flat, variant, last])
        parts[variant] = [
            steeper.mean >= FALLS, flatter.mean < FALLS, apart.low > 0,
            *(_mean(curves[each, variant, lengths[0]]) > _mean(curves[each, variant, last]) for each in (steep, flat)),
        ]  # fmt: skip
        told.append(
            f"{variant} {steep} falls by {steeper.cell()} and {flat} by {flatter.cell()} "
            f"(difference {apart.mean:+.2f}, {apart.low:+.2f} to {apart.high:+.2f})"
        )
    holds = [part for each in parts.values() for part in each[:3]]
    whole = [all(each) for each in parts.values()]
    word = "Reproduced" if all(whole) else "Partly" if any(whole) or sum(holds) >= 4 else "Not reproduced"
    shrinks = all(part for each in parts.values() for part in each[3:])
    return word, (
        f"over the answers of L = {last}, attention on "
        f"{'the next predicate' if claim.column == 'predicate' else 'itself'} {'; '.join(told)}. It is lower at L = "
        f"{last} than at {lengths[0]} for both groups and both models: {'yes' if shrinks else 'no'}. (`Reproduced` "
        f"means that in both models {steep} falls by {FALLS:g} or more, {flat} by less, the two differ beyond the "
        "spread of seeds, and both shrink with length; `partly` in one model, or four of the six about the fall.)"
    )


def _mean(each: Curve) -> float:
    return sum(sum(values) / len(values) for values in each.seeds) / len(each.seeds)
