"""How often a model is right, with the interval that so many sentences allow."""

from dataclasses import dataclass

import numpy as np

from firstlight.tracking.language.interleaved import Interleaved
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.accuracy import wilson
from firstlight.tracking.measures.measured import Rollout


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
        return wilson(self.right, self.of)[0]

    @property
    def high(self) -> float:
        """Upper end."""
        return wilson(self.right, self.of)[1]


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
