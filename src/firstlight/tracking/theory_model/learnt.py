"""Whether the feed-forward network has learnt every pair (g, y), which a training of W that failed does not show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64, Int64

from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.features import features_of
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.shape import VALUE_SLOT

_CONTEXTS = 4  # sentences of each pair, with variables of their own


@dataclass(frozen=True, eq=False)
class Combinations:
    """What was found for the right pairs φ = (g, y), each predicting j = g(y).

    Attributes:
        feature: V(φ), the largest over neurons of j.
        probability: of the true value after one step, teacher-forced, the lowest over some choices of variables.
    """

    feature: Float64[np.ndarray, "element value"]
    probability: Float64[np.ndarray, "element value"]

    @property
    def missing(self) -> Int64[np.ndarray, "pair 2"]:
        """The pairs (g, y) without a positive feature, or whose value gets less than half of the probability."""
        return np.argwhere((self.feature <= 0) | (self.probability < 0.5))

    @property
    def complete(self) -> bool:
        """Whether none is missing."""
        return not len(self.missing)

    def describe(self) -> str:
        """Say in words what is missing."""
        pairs = self.missing
        some = ", ".join(f"({g}, {y})" for g, y in pairs[:5].tolist()) + (", ..." if len(pairs) > 5 else "")
        return f"{len(pairs):,} of {self.feature.size:,} pairs (g, y) are not learnt: {some}"

    def as_json(self) -> dict[str, Any]:
        """Return what the manifest says."""
        return {
            "pairs": self.feature.size,
            "positive": int((self.feature > 0).sum()),
            "lowest_feature": float(self.feature.min()),
            "lowest_probability": float(self.probability.min()),
            "missing": self.missing.tolist(),
        }


def combinations(model: TheoryModel) -> Combinations:
    """Return features and probabilities of all pairs."""
    action, variables = model.action, model.shape.tokens.variables
    g, y = (np.repeat(index, _CONTEXTS) for index in np.indices(action.images.shape))
    rng = np.random.default_rng(0)
    before = rng.integers(variables, size=len(g))
    after = (before + rng.integers(1, variables, size=len(g))) % variables
    values = np.stack([y, action.images[g, y]], axis=1)
    sentences = Sentences(action, np.stack([before, after], axis=1), g[:, None], values)
    # Attention as when W was trained: even.
    even = model.with_attention(torch.zeros_like(model.weights.Q))
    chances = np.exp(even.log_probabilities(sentences, slots=(VALUE_SLOT,))[:, 0, 0])
    feature = features_of(model.weights.W, model.shape, action).right
    return Combinations(feature, chances.reshape(*action.images.shape, _CONTEXTS).min(2))
