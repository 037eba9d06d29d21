"""What irrelevant clauses do to a model: how far it follows and where it looks, as they grow in number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from firstlight.tracking.language.interleaved import interleaved
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.measures.shares import Share, all_values, final_value
from firstlight.tracking.practical.model import PracticalModel


@dataclass(frozen=True)
class RotRow:
    """A model on sentences of one length with so many irrelevant clauses.

    Attributes:
        length: L.
        irrelevant: predicates about other variables, between the sentence's own.
        rollout: share of sentences of which all values come out right.
        final: share of sentences whose last value does.
        value_probability: of the right next value after right answers, a mean over sentences and answers.
        clause_probability: of the whole right next clause, a mean over them: ACC_L.
        predicate: attention on the right predicate, of each head, a mean over them.
        answer: attention on the query's own clause, of each head.
    """

    length: int
    irrelevant: int
    rollout: Share
    final: Share
    value_probability: float
    clause_probability: float
    predicate: tuple[float, ...]
    answer: tuple[float, ...]


def context_rot(
    model: PracticalModel, length: int, irrelevant: Sequence[int], *, count: int = 200, seed: int = 0
) -> Iterator[RotRow]:
    """Yield a row for each number of irrelevant clauses; the sentences are the same in all.

    Arguments:
        model: what to measure.
        length: L.
        irrelevant: how many clauses are put in.
        count: sentences.
        seed: of sentences and clauses.
    """
    variables = model.settings.variables
    rng = np.random.default_rng([seed, length])
    sentences = draw(model.action, variables=variables, length=length, count=count, rng=rng)
    for number in irrelevant:
        rng = np.random.default_rng([seed, length, number])
        mixed = interleaved(sentences, number, variables=variables, rng=rng)
        written, forced, looks = model.rollout(mixed), model.teacher_forced(mixed), model.attention(mixed)
        yield RotRow(
            length=length,
            irrelevant=number,
            rollout=all_values(mixed, written),
            final=final_value(mixed, written),
            value_probability=float(forced.value.mean()),
            clause_probability=float(forced.clause.mean()),
            predicate=tuple(looks.predicate.mean((1, 2)).tolist()),
            answer=tuple(looks.answer.mean((1, 2)).tolist()),
        )
