"""Attention of query clauses by gathers from Q: clauses are inputs, and no vector of 5d numbers is ever formed."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.shape import Shape


@dataclass(frozen=True, eq=False)
class Context:
    """Clauses that queries look at, and the queries, which are answers among them.

    Attributes:
        predicates: inputs of all predicates.
        answers: inputs of the answers up to the last that any query sees.
        queries: which answers ask; each sees all predicates, and the answers up to itself.
    """

    predicates: Int64[Tensor, "sentence clause 3"]
    answers: Int64[Tensor, "sentence place 2"]
    queries: tuple[int, ...]

    @property
    def clauses(self) -> int:
        """How many clauses there are."""
        return self.predicates.shape[1] + self.answers.shape[1]

    def visible(self) -> Bool[Tensor, "query clause"]:
        """Return which clauses each query sees."""
        places = torch.arange(self.clauses, device=self.predicates.device) - self.predicates.shape[1]
        return places <= torch.tensor(self.queries, device=places.device)[:, None]


def context_of(shape: Shape, sentences: Sentences, queries: tuple[int, ...], device: torch.device) -> Context:
    """Return the context of some answers of sentences."""
    visible = np.ascontiguousarray(shape.answers(sentences)[:, : max(queries) + 1])
    predicates = torch.from_numpy(shape.predicates(sentences))
    return Context(predicates.to(device), torch.from_numpy(visible).to(device), queries)


@dataclass(frozen=True)
class Reach:
    """Which entries of Q a score adds up.

    Attributes:
        shape: of the model.
        restricted: the blocks (4,3) and (4,4) alone: a clause has one token that the query's variable can ask for.
    """

    shape: Shape
    restricted: bool

    def entries(self, context: Context) -> tuple[Int64[Tensor, "..."], Int64[Tensor, "..."]]:
        """Return where the scores on predicates and on answers stand in Q: `[sentence, query, clause, pair]`."""
        asking = context.answers[:, list(context.queries)] - self.shape.first_fourth
        if self.restricted:
            asking, predicates, answers = asking[..., :1], context.predicates[..., 2:], context.answers[..., :1]
        else:
            predicates, answers = context.predicates, context.answers
        rows = asking[:, :, None, :, None] * self.shape.inputs
        return (rows + predicates[:, None, :, None, :]).flatten(3), (rows + answers[:, None, :, None, :]).flatten(3)


def attend(Q: Float[Tensor, "query input"], context: Context, reach: Reach) -> Float[Tensor, "sentence query clause"]:
    """Return the attention of each query on each clause, predicates first."""
    flat = Q.reshape(-1)
    parts = [flat[where].sum(-1) for where in reach.entries(context)]
    scores = torch.cat(parts, dim=2)
    return scores.masked_fill(~context.visible(), float("-inf")).softmax(2)


def attention_gradient(
    attention: Float[Tensor, "sentence query clause"],
    slope: Float[Tensor, "sentence query clause"],
    context: Context,
    reach: Reach,
) -> Float[Tensor, "query input"]:
    """Return the gradient by Q from the gradient by attention."""
    scores = attention * (slope - (attention * slope).sum(2, keepdim=True))
    gradient = torch.zeros(reach.shape.queries * reach.shape.inputs, dtype=attention.dtype, device=attention.device)
    predicates, answers = reach.entries(context)
    split = predicates.shape[2]
    for where, part in ((predicates, scores[:, :, :split]), (answers, scores[:, :, split:])):
        gradient.index_add_(0, where.reshape(-1), part[..., None].expand(where.shape).reshape(-1))
    return gradient.reshape(reach.shape.queries, reach.shape.inputs)


def attended_inputs(
    attention: Float[Tensor, "sentence query clause"], context: Context, inputs: int
) -> Float[Tensor, "sentence query input"]:
    """Return the attention that each input gets: the clauses' attention, added up by their tokens."""
    out = torch.zeros(*attention.shape[:2], inputs, dtype=attention.dtype, device=attention.device)
    split = context.predicates.shape[1]
    for clauses, part in ((context.predicates, attention[:, :, :split]), (context.answers, attention[:, :, split:])):
        for token in range(clauses.shape[2]):
            where = clauses[:, None, :, token].expand(part.shape)
            out.scatter_add_(2, where, part)
    return out
