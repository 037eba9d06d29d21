"""Attention of the practical model, with and without residual connections: what figures 2, 5, 6 and 7 share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from firstlight.report.plots import heat_map
from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.budget import Budget, continued
from firstlight.reproduce.tracking.material import Training, measured
from firstlight.reproduce.tracking.measure import Looks, attention_map

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# The paper's figure averages this many sentences.
SENTENCES = 100
VARIANTS = {"with residual": True, "without residual": False}
RESIDUAL = (
    "With residual connections the last answer reaches the feed-forward part by itself, and attention need not look at "
    "it: the second diagonal of the paper needs a model without them. The paper does not say which it has; both are "
    "trained here, in the same way."
)
Key = tuple[str, str]


def trained(budget: Budget) -> dict[Key, list[Training]]:
    """Return the trainings of all seeds by group and variant."""
    return {
        (group, variant): [continued(budget, group, seed, residual=residual) for seed in budget.seeds]
        for group in (budget.simple, budget.symmetric)
        for variant, residual in VARIANTS.items()
    }


def looks(
    place: Place,
    trainings: Mapping[Key, Sequence[Training]],
    length: int,
    order: tuple[int, ...] | None = None,
) -> dict[Key, list[dict[str, Any]]]:
    """Return what attention looks at, for each seed of each kind of training."""
    items = {
        key: [Looks(each, length=length, count=SENTENCES, order=order) for each in found]
        for key, found in trainings.items()
    }
    rows = measured(place, "attention", attention_map, [item for found in items.values() for item in found])
    return {key: [rows[item] for item in found] for key, found in items.items()}


def map_plot(title: str, found: Sequence[dict[str, Any]], order: Sequence[int]) -> "Figure":
    """Draw the attention of answers on predicates and answers, a mean over seeds.

    Arguments:
        title: of the plot.
        found: of each seed.
        order: which predicate stands at each place.
    """
    length = len(order)
    mean = np.mean([each["map"] for each in found], axis=0)
    columns = [*(f"predicate {place + 1}" for place in order), *(f"answer {place}" for place in range(length))]
    rows = [f"answer {place}" for place in range(length)]
    return heat_map(title, rows, columns, mean.tolist(), "attention")


def settings_note(trainings: Mapping[Key, Sequence[Training]]) -> str:
    """Say what was trained."""
    groups = " and ".join(dict.fromkeys(group for group, _ in trainings))
    return f"{groups}, each with and without residual connections, otherwise the same model and training"
