"""The losses (6a), (6b) and the accuracy of Def. 3.6, estimated on sentences."""

import numpy as np
from jaxtyping import Float64

from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.model import TheoryModel


def clause_loss(model: TheoryModel, sentences: Sentences) -> float:
    """Return Loss^L: minus the log-probability of the next clause, summed over all answers (6a)."""
    return float(-model.log_probabilities(sentences).sum((1, 2)).mean())


def token_loss(model: TheoryModel, sentences: Sentences, slot: int) -> Float64[np.ndarray, "answer"]:
    """Return Loss_i^{L,L'} of one slot, counted from 0, for each answer L' = 1..L (6b)."""
    return np.asarray(-model.log_probabilities(sentences, slots=(slot,))[:, :, 0].mean(0))


def accuracy(model: TheoryModel, sentences: Sentences) -> float:
    """Return ACC_L (Def. 3.6): the probability of the whole next answer, teacher-forced, averaged over answers."""
    return float(model.teacher_forced(sentences).clause.mean())
