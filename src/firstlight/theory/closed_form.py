"""The closed-form model as a language model (Eq. 12 and 13): the reference model with predicted weights.

    logits = (softmax(mask(X Q X^T + DM(Delta))) X Phi^T B^T + X) B     for one layer, each term times its growth

Beside it stand models that need no training either: equal probabilities, unigrams and bigrams of the same corpus.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from firstlight.report.progress import Advance
from firstlight.theory.leading import LeadingTerms
from firstlight.theory.passes import mean_loss

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.statistics import Statistics


@dataclass(frozen=True)
class Baselines:
    """Mean cross-entropies, in nats, of models that only count; on the corpus they were counted on.

    Attributes:
        uniform: every token with probability 1/V.
        unigram: next tokens by their frequency.
        bigram: next tokens by their frequency after the current one.
    """

    uniform: float
    unigram: float
    bigram: float


def baselines(stats: "Statistics") -> Baselines:
    """Return the losses of counting models, exactly, from the counts alone."""
    positions = stats.positions
    following = stats.bigrams.next_count[stats.bigrams.next_count > 0] / positions
    counts = stats.bigrams.counts.tocsr()
    current = np.repeat(stats.token_count, np.diff(counts.indptr))
    bigram = -float((counts.data / positions) @ np.log(counts.data / current))
    return Baselines(math.log(len(stats.vocabulary)), -float(following @ np.log(following)), bigram)


def closed_form_loss(terms: LeadingTerms, corpus: "Corpus", windows: np.ndarray, advance: Advance) -> float:
    """Return the mean cross-entropy of the reference model with predicted weights.

    Arguments:
        terms: the weights.
        corpus: what it reads.
        windows: which windows of it.
        advance: told of windows read.
    """
    return mean_loss({name: torch.from_numpy(tensor) for name, tensor in terms.items()}, corpus, windows, advance)
