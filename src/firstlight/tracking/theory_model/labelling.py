"""Sentences labelled by a model: the bootstrapped distribution of Def. 5.1."""

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.attention import Context, context_of
from firstlight.tracking.theory_model.model import TheoryModel


def true_examples(
    model: TheoryModel, sentences: Sentences, queries: tuple[int, ...]
) -> tuple[Context, Int64[Tensor, "sentence query"]]:
    """Return the contexts of some answers, and the value tokens that truly follow."""
    values = sentences.values[:, [query + 1 for query in queries]] + model.shape.tokens.first_value
    return context_of(model.shape, sentences, queries, model.device), torch.from_numpy(values).to(model.device)


def own_examples(
    teacher: TheoryModel, sentences: Sentences, queries: tuple[int, ...]
) -> tuple[Context, Int64[Tensor, "sentence query"]]:
    """Return the contexts of some answers, and the value tokens that follow, all as the teacher writes them greedily.

    Answer 0 is given. Sentences in which the teacher writes a clause that is no answer are left out.
    """
    shape, last = teacher.shape, max(queries) + 1
    written = teacher.write(sentences, last)
    whole = np.flatnonzero(written.values[:, last - 1] >= 0)
    own = np.stack([written.variables + shape.first_fourth, written.values + shape.first_value], axis=2)
    answers = np.concatenate([shape.answers(sentences)[:, :1], own[:, : last - 1]], axis=1)[whole]
    values = written.values[whole][:, list(queries)] + shape.tokens.first_value
    predicates, read, targets = (
        torch.from_numpy(np.ascontiguousarray(each)).to(teacher.device)
        for each in (shape.predicates(sentences)[whole], answers, values)
    )
    return Context(predicates, read, queries), targets
