"""Beyond the paper: positions, a causal convolution, and irrelevant clauses: accuracy and attention against length."""

from collections.abc import Sequence

from firstlight.report.page import Table
from firstlight.report.plots import Axis, Mark, line_plot
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.budget import BUDGETS, Budget, positioned
from firstlight.reproduce.tracking.figure1a import settings_of
from firstlight.reproduce.tracking.lengths import ALL_RIGHT, length_plot, length_rows, length_table
from firstlight.reproduce.tracking.material import At, measured
from firstlight.reproduce.tracking.measure import Irrelevant, Lengths, among_irrelevant, attention
from firstlight.reproduce.tracking.spread import BAND, Curve, curve

GOOD = 0.9


def reproduce(place: Place) -> Outcome:
    """Train the practical model with each kind of position and measure it at all lengths and among clauses."""
    budget = BUDGETS[place.scale]
    names = list(budget.positions)
    models = {name: [At(positioned(budget, budget.simple, seed, name)) for seed in budget.seeds] for name in names}
    every = [model for found in models.values() for model in found]
    rows = length_rows(place, budget, every)
    lookers = {model: Lengths(model.training, lengths=budget.lengths, count=budget.count) for model in every}
    looked = measured(place, "attention-rows", attention, list(lookers.values()))
    rotting = {
        model: Irrelevant(model.training, length=budget.practical.length, count=budget.count, clauses=budget.irrelevant)
        for model in every
    }
    rotted = measured(place, "irrelevant", among_irrelevant, list(rotting.values()))
    right = {name: curve(name, [rows[model] for model in found], "length", "rollout") for name, found in models.items()}
    mass = {
        name: curve(name, [_over_heads(looked[lookers[model]]) for model in found], "length", "mass")
        for name, found in models.items()
    }
    among = {name: [rotted[rotting[model]] for model in found] for name, found in models.items()}
    still = {name: curve(name, found, "irrelevant", "rollout") for name, found in among.items()}
    kept = {name: curve(name, found, "irrelevant", _mass_of) for name, found in among.items()}
    clauses = Axis("irrelevant clauses")
    return Outcome(
        name="tracking/positions",
        title="Positions and irrelevant clauses",
        claim="No experiment. The discussion says that positions hinder going beyond the training length, that mixing "
        "neighbouring clauses locally helps, and that irrelevant clauses draw attention away and so cost accuracy "
        "(context rot).",
        verdict=_verdict(budget, right, mass, still, kept),
        differences=[
            BAND,
            "Attention is the share on the next predicate and on the answer itself together, a mean over heads, "
            "answers and sentences.",
            "Irrelevant clauses are a chain of other variables without any answer, put between the predicates; the "
            f"sentences have L = {budget.practical.length}, as in training.",
            "Learned positions beyond those of training sentences keep their random initial values. A convolution "
            "reads so many clauses that a query sees the last answers as well; the block has no other positions then.",
        ],
        settings=settings_of(place, budget, **{
            "action": budget.simple, "steps beyond": 0, "positions": ", ".join(names), "convolution": "see positions",
            "irrelevant": ", ".join(map(str, budget.irrelevant)),
        }),
        tables={
            "Share of sentences with all values right, against length": length_table("positions", _curves(right)),
            "Attention on the two right clauses, against length": length_table("positions", _curves(mass)),
            f"All values right at L = {budget.practical.length}, against irrelevant clauses": _table(still),
            "Attention on the two right clauses, against irrelevant clauses": _table(kept),
        },
        figures={
            "accuracy": length_plot(
                "Accuracy against length", _curves(right), [Mark(budget.practical.length, "trained")]
            ),
            "attention": length_plot("Attention against length", _curves(mass), y="attention on the right clauses"),
            "irrelevant-accuracy": line_plot(
                "Accuracy among irrelevant clauses", clauses, Axis(ALL_RIGHT, between=(-0.02, 1.02)),
                [each.line(number) for number, each in enumerate(still.values())],
            ),
            "irrelevant-attention": line_plot(
                "Attention among irrelevant clauses", clauses,
                Axis("attention on the right clauses", between=(-0.02, 1.02)),
                [each.line(number) for number, each in enumerate(kept.values())],
            ),
        },
        numbers={
            what: [each.as_json() for each in found.values()]
            for what, found in (
                ("accuracy", right), ("attention", mass), ("irrelevant accuracy", still), ("irrelevant attention", kept)
            )
        },
    )  # fmt: skip


def _curves(found: dict[str, Curve]) -> list[Curve]:
    return list(found.values())


def _over_heads(rows: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    by_length: dict[float, list[float]] = {}
    for row in rows:
        by_length.setdefault(row["length"], []).append(row["predicate"] + row["answer"])
    return [{"length": length, "mass": sum(heads) / len(heads)} for length, heads in by_length.items()]


def _mass_of(row: dict[str, Sequence[float]]) -> float:
    return sum(a + b for a, b in zip(row["predicate"], row["answer"], strict=True)) / len(row["predicate"])


def _table(found: dict[str, Curve]) -> Table:
    places = [f"{x:g}" for x in next(iter(found.values())).x]
    cells = [[name, *each.cells()] for name, each in found.items()]
    return Table(["positions", *places], cells, "l" + "r" * len(places))


def _verdict(
    budget: Budget, right: dict[str, Curve], mass: dict[str, Curve], still: dict[str, Curve], kept: dict[str, Curve]
) -> str:
    length, most = budget.practical.length, budget.irrelevant[-1]
    carried = {name: max((x for x in each.x if each.mean(x) >= GOOD), default=None) for name, each in right.items()}
    told = ", ".join(f"{name} {'nowhere' if x is None else f'L = {x:g}'}" for name, x in carried.items())
    behind = [
        name for name in right if name not in ("none", "convolution") and (carried[name] or 0) < (carried["none"] or 0)
    ]
    others = [name for name in right if name not in ("none", "convolution")]
    local = right["convolution"].mean(budget.lengths[-1]) - right["none"].mean(budget.lengths[-1])
    first, last = still["none"].mean(budget.irrelevant[0]), still["none"].mean(most)
    drawn = kept["none"].mean(budget.irrelevant[0]) - kept["none"].mean(most)
    holds = [len(behind) == len(others), local > 0, drawn > 0 and last < first]
    word = "Reproduced" if all(holds) else "Partly" if any(holds) else "Not reproduced"
    return (
        f"{word}: {GOOD:.0%} of sentences come out right as far as: {told}. Positions hinder: {len(behind)} of "
        f"{len(others)} kinds do not reach as far as none. The convolution changes accuracy at L = "
        f"{budget.lengths[-1]} by {local:+.2f}. Without positions, {most} irrelevant clauses take {drawn:.2f} of the "
        f"attention at L = {length} and accuracy goes from {first:.2f} to {last:.2f}. (`Reproduced` means that all "
        "positions hinder, the convolution helps, and clauses cost attention and accuracy; `partly` some of this.)"
    )
