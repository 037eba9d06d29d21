"""Beyond the paper: the length at which roll-outs fail, predicted from attention and margins before any roll-out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from firstlight.report.page import Table
from firstlight.report.plots import Axis, Line, line_plot
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.budget import BUDGETS, Budget, base, continued, theory
from firstlight.reproduce.tracking.figure1a import settings_of
from firstlight.reproduce.tracking.material import At, measured
from firstlight.reproduce.tracking.measure import Failing, failure
from firstlight.tracking.measures.goodness import Case, Goodness, goodness

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

GOOD, SOME = 0.8, 0.5
KINDS = ("practical", "theory")
Row = dict[str, Any]


def reproduce(place: Place) -> Outcome:
    """Predict and measure the failure length of models of both kinds, over groups and seeds."""
    budget = BUDGETS[place.scale]
    models = {kind: _models(budget, kind) for kind in KINDS}
    items = {
        model: Failing(model.training, model.step, model.stage, count=budget.count)
        for found in models.values()
        for model in found
    }
    found = measured(place, "failure", failure, list(items.values()))
    rows: list[Row] = [
        {"kind": kind, "group": model.training.group, "seed": model.training.seed, "model": str(model), **row}
        for kind, some in models.items()
        for model in some
        for row in found[items[model]]
    ]
    shares = sorted({row["share"] for row in rows}, reverse=True)
    longest = budget.practical.variables - 1
    quality = {
        (kind, share): goodness(_cases(_some(rows, kind, share)), longest=longest) for kind in KINDS for share in shares
    }
    return Outcome(
        name="tracking/failure",
        title="The length at which roll-outs fail, predicted before any roll-out",
        claim="Nothing like it. The paper's explanation, that attention is diluted until the feed-forward network "
        "fails, would let the length be computed from attention and margins.",
        verdict=_verdict(quality),
        differences=[
            "A prediction reads sentences of three actions only: what attention gives to strangers of longer sentences "
            "is added up, and the margins of the feed-forward network say how often a step fails then. Nothing is "
            "fitted to roll-outs.",
            "R² is of logarithms of lengths, 1 less the squared errors over their squares around the mean: below 0 the "
            "mean of all would have been better. Models that fail nowhere up to the longest sentence there is, or "
            "already at the shortest, have no length to compare; for those the table says how often the prediction is "
            "on the same side.",
            "Beside it, two simpler predictions, each fitted on the other groups and judged on the one left out: a "
            "line through log ε, and the mean length.",
        ],
        settings=settings_of(
            place, budget,
            models="practical: all groups after the continuation, two after the base; theory: after L = 2",
        ),
        tables={
            "How good the predictions are": _quality_table(quality),
            "By group: predicted and measured lengths at which half come out right": _group_table(rows, min(shares)),
        },
        figures={
            f"{kind}-{share:g}": _figure(kind, share, _some(rows, kind, share), longest)
            for kind in KINDS
            for share in shares
        },
        numbers={"rows": rows, "goodness": [{"kind": k, "share": s, **asdict(q)} for (k, s), q in quality.items()]},
    )  # fmt: skip


def _models(budget: Budget, kind: str) -> list[At]:
    ladder = [group for each in budget.ladders for group in each]
    if kind == "practical":
        groups = dict.fromkeys([*ladder, budget.simple])
        ends = [At(continued(budget, group, seed)) for group in groups for seed in budget.seeds]
        # Earlier models of two groups, which fail sooner.
        return ends + [At(base(budget, g, seed)) for g in (budget.simple, budget.symmetric) for seed in budget.seeds]
    first = [At(theory(budget, g, seed)) for g in (budget.simple, budget.other_simple) for seed in budget.seeds]
    return first + [
        At(theory(budget, group, seed, "2"), stage=2)
        for group in budget.theory_ladder
        if group != budget.simple
        for seed in budget.seeds
    ]


def _some(rows: Sequence[Row], kind: str, share: float) -> list[Row]:
    return [row for row in rows if row["kind"] == kind and row["share"] == share]


def _length(value: float | None) -> float:
    """Return a length; none stands for more than there is."""
    return math.inf if value is None else value


def _cases(rows: Sequence[Row]) -> list[Case]:
    return [Case(row["group"], _length(row["predicted"]), _length(row["measured"]), row["epsilon"]) for row in rows]


def _verdict(quality: Mapping[tuple[str, float], Goodness]) -> str:
    known = {key: each.r_squared for key, each in quality.items() if each.r_squared is not None}
    word = (
        "Reproduced" if known and len(known) == len(quality) and min(known.values()) >= GOOD
        else "Partly" if known and max(known.values()) >= SOME
        else "Not reproduced"
    )  # fmt: skip
    told = "; ".join(
        f"{kind} model at {share:.0%}: R² {_number(each.r_squared)} over {each.known} models, typical factor "
        f"{_number(each.error)}, too long by {_number(each.bias)}"
        for (kind, share), each in quality.items()
    )
    return (
        f"{word}: {told}. (`Reproduced`, for a prediction of ours, means R² of {GOOD:g} or more for both models and "
        f"all shares, `partly` {SOME:g} for one.)"
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _quality_table(quality: Mapping[tuple[str, float], Goodness]) -> Table:
    header = [
        "model", "share right", "models", "with a length", "R²", "typical factor", "too long by",
        "R² of a line in log ε", "R² of the mean", "same side",
    ]  # fmt: skip
    cells = [
        [kind, f"{share:.0%}", each.cases, each.known,
         *map(_number, (each.r_squared, each.error, each.bias, each.epsilon_alone, each.others_mean, each.agree))]
        for (kind, share), each in quality.items()
    ]  # fmt: skip
    return Table(header, cells, "lrrrrrrrrr")


def _group_table(rows: Sequence[Row], share: float) -> Table:
    cells = []
    for kind in KINDS:
        own = _some(rows, kind, share)
        for group in dict.fromkeys(row["group"] for row in own):
            some = [row for row in own if row["group"] == group]
            cells.append(
                [kind, group, *(_between([_length(row[name]) for row in some]) for name in ("predicted", "measured"))]
            )
    return Table(["model", "group", "predicted", "measured"], cells, "llrr")


def _between(values: Sequence[float]) -> str:
    low, high = (("beyond" if math.isinf(each) else f"{each:.0f}") for each in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _figure(kind: str, share: float, rows: Sequence[Row], longest: int) -> "Figure":
    """Draw predicted against measured lengths; what is beyond the longest sentence lies on the edge."""
    shortest, edge = 1.0, 2.0 * longest

    def shown(value: float | None) -> float:
        return min(max(_length(value), shortest), edge)

    lines = [Line("equal", [shortest, edge], [shortest, edge], colour="#888888", pale=True)]
    for number, group in enumerate(dict.fromkeys(row["group"] for row in rows)):
        points = [(shown(row["measured"]), shown(row["predicted"])) for row in rows if row["group"] == group]
        middle = [math.exp(sum(math.log(point[axis]) for point in points) / len(points)) for axis in (0, 1)]
        lines.append(Line(group, middle[:1], middle[1:], colour=number, points=points))
    ends = (shortest * 0.9, edge * 1.1)
    return line_plot(
        f"{kind.capitalize()} model: length at which {share:.0%} come out right",
        Axis("measured by roll-outs", log=True, between=ends), Axis("predicted", log=True, between=ends), lines,
    )  # fmt: skip
