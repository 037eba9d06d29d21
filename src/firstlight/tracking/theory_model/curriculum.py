"""The order in which features are to be learnt (Defs. B.3, C.4), and how far the order seen agrees with it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from scipy.stats import spearmanr

from firstlight.tracking.theory_model.emergence import Emergence
from firstlight.tracking.theory_model.features import Features


@dataclass(frozen=True, eq=False)
class Curriculum:
    """Σ*: features in the order in which they are to be learnt.

    Attributes:
        to: j of each feature.
        value: y of each: the feature is the mean composite over Fiber_{j,y} and y.
        neuron: r, in which it is to be learnt.
        initial: the feature in the initial weights, which falls along the order.
    """

    to: Int64[np.ndarray, "feature"]
    value: Int64[np.ndarray, "feature"]
    neuron: Int64[np.ndarray, "feature"]
    initial: Float64[np.ndarray, "feature"]

    def __len__(self) -> int:
        return len(self.to)


def curriculum_of(features: Features) -> Curriculum:
    """Return Σ* from the features of the initial weights.

    The largest feature left is taken, with its neuron and its (j, y): no other feature of this neuron, and no other
    neuron of j for this y, can be taken after it. A neuron more than values there is stays free; with fewer
    neurons than values some features have no place.
    """
    left = features.fibres.copy()
    found = []
    for _ in range(left.shape[0] * min(left.shape[1], left.shape[2])):
        j, r, y = np.unravel_index(left.argmax(), left.shape)
        if left[j, r, y] == -np.inf:
            break
        found.append((j, y, r, left[j, r, y]))
        left[j, r, :] = left[j, :, y] = -np.inf
    to, value, neuron, initial = zip(*found, strict=True)
    return Curriculum(np.array(to), np.array(value), np.array(neuron), np.array(initial))


@dataclass(frozen=True, eq=False)
class Agreement:
    """Σ* against what a training did.

    Attributes:
        features: how many Σ* has.
        appeared: how many of them were seen to appear.
        same_neuron: share of those that appeared in the neuron Σ* says.
        chance: the share expected if neurons were drawn: 1/m.
        rank_correlation: Spearman's, of the place in Σ* and the step of appearance, over those that appeared; NaN if
            fewer than three did, or all at once.
        predicted: the place in Σ* of each feature that appeared.
        seen: the step at which it did.
    """

    features: int
    appeared: int
    same_neuron: float
    chance: float
    rank_correlation: float
    predicted: Int64[np.ndarray, "feature"]
    seen: Int64[np.ndarray, "feature"]


def agreement(curriculum: Curriculum, emergence: Emergence, neurons: int) -> Agreement:
    """Compare the order predicted from the initial weights with the order seen."""
    steps = emergence.step[curriculum.to, curriculum.value]
    there = np.flatnonzero(steps >= 0)
    where = emergence.neuron[curriculum.to, curriculum.value]
    seen = steps[there]
    comparable = len(there) > 2 and len(np.unique(seen)) > 1
    return Agreement(
        features=len(curriculum),
        appeared=len(there),
        same_neuron=float(np.mean(where[there] == curriculum.neuron[there])) if len(there) else float("nan"),
        chance=1 / neurons,
        rank_correlation=float(spearmanr(there, seen).statistic) if comparable else float("nan"),
        predicted=there,
        seen=seen,
    )
