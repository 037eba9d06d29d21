"""How far features are from the shapes that Theorems B.1 and C.1 prove, in units of the ceiling B.

For each (j, y) the neuron r of value j with the largest mean composite over Fiber_{j,y} is the one that has learnt it.
A distance of 0 is the shape in the limit of large d.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from firstlight.tracking.theory_model.features import Features, fibres_of


@dataclass(frozen=True)
class Distance:
    """How far one statement is from being true.

    Attributes:
        statement: its number in the paper and what it says.
        mean: of the distances over all features it speaks of, in units of B.
        worst: the largest.
        count: how many there are.
    """

    statement: str
    mean: float
    worst: float
    count: int


@dataclass(frozen=True, eq=False)
class Learnt:
    """The features of the neuron that has learnt Fiber_{j,y} and y, in units of B.

    Attributes:
        right_elements: V(g) for g in the fibre.
        right_value: V(y).
        wrong_elements: V(g') for all other elements.
        wrong_values: V(y') for all other values.
        elsewhere: composites of the fibre and y in the other neurons of j.
    """

    right_elements: Float64[np.ndarray, "element"]
    right_value: float
    wrong_elements: Float64[np.ndarray, "element"]
    wrong_values: Float64[np.ndarray, "value"]
    elsewhere: Float64[np.ndarray, "feature"]


def learnt_features(features: Features, ceiling: float) -> list[Learnt]:
    """Return the features of the neuron of each (j, y) whose fibre is not empty."""
    inside, neurons = fibres_of(features.action), features.fibres.argmax(1)
    found = []
    for j, y in np.argwhere(inside.any(0)):
        r, fibre = neurons[j, y], inside[:, j, y]
        element, value = features.element[j] / ceiling, features.value[j] / ceiling
        others = np.arange(len(element)) != r
        elsewhere = (element[others][:, fibre] + value[others, y][:, None]) / 2
        found.append(
            Learnt(element[r, fibre], value[r, y], element[r, ~fibre], np.delete(value[r], y), elsewhere.ravel())
        )
    return found


def simply_transitive_shape(features: Features, ceiling: float) -> list[Distance]:
    """Return the distances from Theorem B.1 and (17a-c): right features reach B, wrong ones -B, so mixtures cancel."""
    found = learnt_features(features, ceiling)
    return [
        _distance("B.1 A: V(φ) = B", found, lambda n: (n.right_elements + n.right_value) / 2 - 1),
        _distance("B.1 E: V(g) = V(y)", found, lambda n: n.right_elements - n.right_value),
        _distance("17a: V(g) = B", found, lambda n: n.right_elements - 1),
        _distance("17a: V(y) = B", found, lambda n: np.array([n.right_value - 1])),
        _distance("17b: V(g') = -B", found, lambda n: n.wrong_elements + 1),
        _distance("17b: V(y') = -B", found, lambda n: n.wrong_values + 1),
        *_cancellation("17c, B.1 B", found),
        _distance("B.1 C: V(g', y') <= -B", found, lambda n: np.maximum(_sums(n) / 2 + 1, 0)),
        _distance("B.1 D: V(φ) is small in the other neurons", found, lambda n: n.elsewhere),
    ]


def symmetric_shape(features: Features, ceiling: float) -> list[Distance]:
    """Return the distances from Theorem C.1 and (18a-c): elements of the fibre weigh n times as much as the value."""
    found = learnt_features(features, ceiling)
    share = 2 / features.action.degree
    return [
        _distance("C.1 A: V(φ) = B", found, lambda n: (n.right_elements + n.right_value) / 2 - 1),
        _distance("C.1 C: V(g) = n V(y)", found, lambda n: n.right_elements - 2 / share * n.right_value),
        _distance("18a: V(g) = 2B", found, lambda n: n.right_elements - 2),
        _distance("18a: V(y) = 2B/n", found, lambda n: np.array([n.right_value - share])),
        _distance("18b: V(g') = -2B/n", found, lambda n: n.wrong_elements + share),
        _distance("18b: V(y') = -2B", found, lambda n: n.wrong_values + 2),
        *_cancellation("18c, C.1 B", found),
        _distance("C.1 D: V(φ) is small in the other neurons", found, lambda n: n.elsewhere),
    ]


def imbalance(features: Features, ceiling: float) -> float:
    """Return the mean of V(g) over the mean of V(y) where they have been learnt: 1 in B.1, of the order of n in C.1."""
    found = learnt_features(features, ceiling)
    elements = np.mean([n.right_elements.mean() for n in found])
    return float(elements / np.mean([n.right_value for n in found]))


def _cancellation(number: str, found: list[Learnt]) -> list[Distance]:
    return [
        _distance(f"{number}: V(g') + V(y) = 0", found, lambda n: n.wrong_elements + n.right_value),
        _distance(
            f"{number}: V(g) + V(y') = 0",
            found,
            lambda n: (n.right_elements[:, None] + n.wrong_values[None, :]).ravel(),
        ),
    ]


def _sums(n: Learnt) -> Float64[np.ndarray, "feature"]:
    return np.asarray((n.wrong_elements[:, None] + n.wrong_values[None, :]).ravel())


def _distance(
    statement: str, found: list[Learnt], away: Callable[[Learnt], Float64[np.ndarray, "feature"]]
) -> Distance:
    every = np.abs(np.concatenate([away(each) for each in found]))
    if not len(every):
        return Distance(statement, 0.0, 0.0, 0)
    return Distance(statement, float(every.mean()), float(every.max()), len(every))
