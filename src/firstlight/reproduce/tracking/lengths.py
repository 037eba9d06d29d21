"""Accuracy against length: what every figure that shows it shares."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firstlight.report.page import Table
from firstlight.report.plots import Axis, Mark, line_plot
from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.budget import Budget
from firstlight.reproduce.tracking.material import At, Training, measured
from firstlight.reproduce.tracking.measure import Lengths, accuracy
from firstlight.reproduce.tracking.spread import Curve, curve

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ALL_RIGHT = "sentences with all values right"


def length_curves(
    place: Place, budget: Budget, wanted: dict[str, Sequence[At]], column: str = "rollout"
) -> dict[str, Curve]:
    """Measure models and return a curve over lengths of each name.

    Arguments:
        place: of the reproduction.
        budget: lengths and sentences.
        wanted: models that differ in their seed alone, by the name of their curve.
        column: of the rows of accuracy.
    """
    rows = length_rows(place, budget, [model for models in wanted.values() for model in models])
    return {name: curve(name, [rows[model] for model in models], "length", column) for name, models in wanted.items()}


def length_rows(place: Place, budget: Budget, models: Sequence[At]) -> dict[At, list[dict[str, Any]]]:
    """Return the rows of accuracy of models."""
    items = {
        model: Lengths(model.training, model.step, model.stage, lengths=budget.lengths, count=budget.count)
        for model in models
    }
    found = measured(place, "accuracy", accuracy, list(items.values()))
    return {model: found[item] for model, item in items.items()}


def length_plot(title: str, curves: Sequence[Curve], marks: Sequence[Mark] = (), y: str = ALL_RIGHT) -> "Figure":
    """Draw curves against length."""
    lines = [each.line(colour=number, dash=number // 7) for number, each in enumerate(curves)]
    return line_plot(title, Axis("length L", log=True), Axis(y, between=(-0.02, 1.02)), lines, marks)


def length_table(first: str, curves: Sequence[Curve], digits: int = 2) -> Table:
    """Return a row for each curve."""
    lengths = [f"{length:g}" for length in curves[0].x]
    return Table(
        [first, *(f"L = {length}" for length in lengths)], [[each.name, *each.cells(digits)] for each in curves],
        "l" + "r" * len(lengths),
    )  # fmt: skip


def numbers(rows: dict[At, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return every row with what it is of."""
    return [{**described(model), **row} for model, found in rows.items() for row in found]


def described(model: At) -> dict[str, Any]:
    """Return which model it is, in words that JSON holds."""
    training: Training = model.training
    return {"model": str(model), "group": training.group, "seed": training.seed}
