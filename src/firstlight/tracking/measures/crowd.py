"""Queries of short sentences among strangers: what they would read in a sentence of any length, without drawing one.

In one layer without positions a query reads a mean over clauses. In a long sentence almost all of them are *strangers*:
clauses about variables that neither the query nor its neighbours name. So a short sentence is taken as it is, and the
strangers that a longer one would have are added as so many times their mean, and a fluctuation as large as theirs, both
from the clauses of other short sentences. Without strangers this is the model itself. Nothing is rolled out.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from firstlight.errors import FirstlightError
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.look import Clauses, Margins, look_of
from firstlight.tracking.measures.measured import SentenceModel

# A query at answer 1 of three actions has all neighbours a query can have: the predicate that made its variable, the
# one it has to follow, the one after that, and an answer before its own.
SHORT, QUERY = 3, 1
POOL = 2048  # clauses of each kind that means are over
DRAWN = 16  # clauses that a fluctuation is made of


@dataclass(frozen=True, eq=False)
class Part:
    """What some clauses add to a query's attention before it is divided by its sum.

    Attributes:
        weight: the sum of the exponentials of their scores.
        content: what they offer, in these weights.
    """

    weight: Float[Tensor, "query head"]
    content: Float[Tensor, "query head channel"]

    def times(self, factor: float) -> "Part":
        """Return the part multiplied by a number."""
        return Part(self.weight * factor, self.content * factor)

    def plus(self, other: "Part") -> "Part":
        """Return both parts together."""
        return Part(self.weight + other.weight, self.content + other.content)


@dataclass(frozen=True, eq=False)
class Strangers:
    """One kind of strangers: predicates, or answers.

    Attributes:
        mean: the part of one of them, on average.
        fluctuation: what n of them differ from n means by, divided by √n.
    """

    mean: Part
    fluctuation: Part


@dataclass(frozen=True, eq=False)
class Crowd:
    """Queries, and all that is needed to know what they read in longer sentences.

    Attributes:
        own: the part of all clauses of the short sentence.
        right: of it, the weight of the predicate to follow and of the query's own clause.
        predicates: that are strangers.
        answers: that are strangers.
        margins: as in `Look`.
    """

    own: Part
    right: Float[Tensor, "query head"]
    predicates: Strangers
    answers: Strangers
    margins: Margins

    def read(self, length: int, place: int, sign: float = 0.0) -> Float[Tensor, "query head channel"]:
        """Return what the queries would read as answer `place` of sentences of a length.

        Arguments:
            length: L, at least that of the short sentences.
            place: of the query; it sees answers 0..place.
            sign: of the fluctuation, 1 or -1; 0 leaves it out.
        """
        part = self._part(length, place, sign)
        return part.content / part.weight[..., None]

    def epsilon(self, length: int, place: int) -> Float[Tensor, "query head"]:
        """Return the share of attention that would go neither to the predicate to follow nor to the query's clause."""
        return 1 - self.right / self._part(length, place, 0.0).weight

    def _part(self, length: int, place: int, sign: float) -> Part:
        part = self.own
        counts = max(0, length - SHORT), max(0, place - QUERY)
        for kind, count in zip((self.predicates, self.answers), counts, strict=True):
            part = part.plus(kind.mean.times(count)).plus(kind.fluctuation.times(sign * count**0.5))
        # Strangers never take a negative share, even where a fluctuation is larger than their mean.
        return Part(torch.maximum(part.weight, self.own.weight), part.content)


def crowd_of(model: SentenceModel, *, queries: int = 1024, seed: int = 0, part: int = 0) -> Crowd:
    """Draw short sentences and look at them.

    Arguments:
        model: a theory model, or a practical one without positions.
        queries: how many, each in a sentence of its own.
        seed: of all sentences.
        part: a number for each of several crowds of one seed, whose sentences differ.
    """
    if model.variables < SHORT + DRAWN:
        raise FirstlightError(
            f"{model.variables} variables: expected at least {SHORT + DRAWN}, so that sentences have strangers"
        )
    sentences, others = (
        _drawn(model, count, seed, part, stream) for stream, count in enumerate((queries, -(-POOL // SHORT)))
    )
    look = look_of(model, sentences, QUERY, others)
    weights = look.own.scores.exp()
    content = torch.einsum("qhk,qhkc->qhc", weights, look.own.offered)
    made = np.stack([others.variables[:, 1:], others.variables[:, :-1]], axis=2).reshape(-1, 2)
    return Crowd(
        own=Part(weights.sum(2), content),
        right=weights[:, :, QUERY] + weights[:, :, SHORT + QUERY],
        predicates=_strangers(look.predicates, _acquainted(sentences, made, model.variables), seed),
        answers=_strangers(
            look.answers, _acquainted(sentences, others.variables.reshape(-1, 1), model.variables), seed
        ),
        margins=look.margins,
    )


def _drawn(model: SentenceModel, count: int, seed: int, part: int, stream: int) -> Sentences:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SHORT, part, stream)))
    return draw(model.action, variables=model.variables, length=SHORT, count=count, rng=rng)


def _acquainted(
    sentences: Sentences, named: Int64[np.ndarray, "clause name"], variables: int
) -> Bool[Tensor, "query clause"]:
    """Return which clauses name a variable of a sentence, and so are no strangers to it."""
    known = np.zeros((len(sentences), variables), bool)
    np.put_along_axis(known, sentences.variables, True, axis=1)
    return torch.from_numpy(known[:, named].any(2))


def _strangers(clauses: Clauses, acquainted: Bool[Tensor, "query clause"], seed: int) -> Strangers:
    weights = clauses.scores.exp().masked_fill(acquainted[:, None].to(clauses.scores.device), 0.0)

    def summed(weights: Float[Tensor, "query head clause"]) -> Part:
        return Part(weights.sum(2), torch.einsum("qhs,hsc->qhc", weights, clauses.offered[0]))

    mean = summed(weights / (~acquainted).sum(1).to(weights)[:, None, None])
    # A few strangers of each query, made so heavy that their sum varies as much as that of √n of them.
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(acquainted.shape, generator=generator).masked_fill(acquainted, -1.0)
    chosen = torch.zeros(acquainted.shape).scatter_(1, order.topk(DRAWN, 1).indices, 1.0).to(weights)
    drawn = summed(weights * chosen[:, None])
    return Strangers(mean, drawn.plus(mean.times(-DRAWN)).times(DRAWN**-0.5))
