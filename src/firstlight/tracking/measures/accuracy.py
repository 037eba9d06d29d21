"""How often a model is right, with the interval that so many sentences allow."""

import math
from dataclasses import dataclass

import numpy as np

from firstlight.tracking.language.interleaved import Interleaved
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.measured import Rollout

DEVIATIONS = 1.959963984540054  # that leave 2.5% on either side of a normal distribution


@dataclass(frozen=True)
class Share:
    """A share of independent trials.

    Attributes:
        right: how many succeeded.
        of: how many there were.
    """

    right: int
    of: int

    @property
    def value(self) -> float:
        """The share."""
        return self.right / self.of

    @property
    def low(self) -> float:
        """Lower end of the 95% interval of Wilson."""
        return max(0.0, self._centre - self._half)

    @property
    def high(self) -> float:
        """Upper end."""
        return min(1.0, self._centre + self._half)

    @property
    def _centre(self) -> float:
        return (self.value + DEVIATIONS**2 / (2 * self.of)) / (1 + DEVIATIONS**2 / self.of)

    @property
    def _half(self) -> float:
        variance = self.value * (1 - self.value) / self.of + DEVIATIONS**2 / (4 * self.of**2)
        return DEVIATIONS * math.sqrt(variance) / (1 + DEVIATIONS**2 / self.of)


def all_values(sentences: Sentences | Interleaved, written: Rollout) -> Share:
    """Return the share of sentences of which every value came out right."""
    return _share((written.values == _plain(sentences).values[:, 1:]).all(1))


def final_value(sentences: Sentences | Interleaved, written: Rollout) -> Share:
    """Return the share of sentences whose last value came out right, whatever came before."""
    return _share(written.values[:, -1] == _plain(sentences).values[:, -1])


def _plain(sentences: Sentences | Interleaved) -> Sentences:
    return sentences.sentences if isinstance(sentences, Interleaved) else sentences


def _share(right: np.ndarray) -> Share:
    return Share(int(right.sum()), len(right))
