"""What queries of short sentences see, in the words that the theory model and the practical model have in common.

Both give every clause a score and something it offers, add up what is offered in shares that are the softmax of the
scores, and answer with what a feed-forward network makes of the sum.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from firstlight.errors import FirstlightError
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import answer_clauses, predicate_clauses
from firstlight.tracking.practical.model import PracticalModel
from firstlight.tracking.theory_model.feed_forward import clipped, raw_logits
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.shape import VALUE_SLOT, VARIABLE_SLOT

Margins = Callable[[Float[Tensor, "query head channel"]], Float[Tensor, " query"]]


@dataclass(frozen=True, eq=False)
class Clauses:
    """Clauses as queries see them.

    Attributes:
        scores: of each query on each clause.
        offered: what the clauses have for a head; of every query its own clauses, or the same ones for all.
    """

    scores: Float[Tensor, "query head clause"]
    offered: Float[Tensor, "#query head clause channel"]


@dataclass(frozen=True, eq=False)
class Look:
    """What the answers at one place of sentences see.

    Attributes:
        own: the clauses of the query's sentence: all predicates, then the answers up to the query.
        predicates: those of other sentences.
        answers: those of other sentences.
        margins: by how much the logit of the right token is above all others, in the slot where it is least, given what
            a query reads.
    """

    own: Clauses
    predicates: Clauses
    answers: Clauses
    margins: Margins


def look_of(model: object, sentences: Sentences, place: int, others: Sentences) -> Look:
    """Return what answer `place` of each sentence sees there, and would see in other sentences."""
    if isinstance(model, TheoryModel):
        return _theory(model, sentences, place, others)
    if isinstance(model, PracticalModel):
        return _practical(model, sentences, place, others)
    raise FirstlightError(f"{type(model).__name__}: expected a theory model or a practical model")


@torch.no_grad()
def _theory(model: TheoryModel, sentences: Sentences, place: int, others: Sentences) -> Look:
    shape, device = model.shape, model.device
    answers = shape.answers(sentences)
    asking = torch.from_numpy(answers[:, place] - shape.first_fourth).to(device)
    # What a query asks for in each input. With Q in its two blocks alone the rest of it is zero.
    wanted = model.weights.Q[asking].sum(1).double()

    def offered(clauses: np.ndarray) -> Tensor:
        tokens = torch.from_numpy(np.ascontiguousarray(clauses)).to(device)
        empty = torch.zeros(*tokens.shape[:2], shape.inputs, dtype=torch.float64, device=device)
        return empty.scatter_(2, tokens, 1.0)

    def of_others(clauses: np.ndarray) -> Clauses:
        each = offered(clauses.reshape(1, -1, clauses.shape[2]))
        return Clauses((wanted @ each[0].T)[:, None], each[:, None])

    seen = torch.cat([offered(shape.predicates(sentences)), offered(answers[:, : place + 1])], dim=1)
    own = Clauses((seen @ wanted[:, :, None])[:, None, :, 0], seen[:, None])
    targets = torch.from_numpy(shape.targets(sentences)[:, place + 1]).to(device)

    @torch.no_grad()
    def margins(read: Tensor) -> Tensor:
        attended = read[:, 0].to(model.weights.W.dtype)
        found = [
            _margin(clipped(raw_logits(model.weights.W[slot], attended, shape), shape), targets[:, slot])
            for slot in (VARIABLE_SLOT, VALUE_SLOT)
        ]
        return torch.minimum(*found)

    return Look(own, of_others(shape.predicates(others)), of_others(shape.answers(others)), margins)


@torch.no_grad()
def _practical(model: PracticalModel, sentences: Sentences, place: int, others: Sentences) -> Look:
    block, settings = model.block, model.settings
    if settings.positions != "none" or settings.convolution:
        what = f"positions {settings.positions}" if settings.positions != "none" else "a convolution"
        raise FirstlightError(f"a practical model with {what}: expected one to which the order of clauses is nothing")
    device = block.parameters["embedding"].device

    def clauses(some: Sentences) -> tuple[Tensor, Tensor]:
        both = predicate_clauses(some, block.tokens), answer_clauses(some, block.tokens)
        predicates, answers = (torch.from_numpy(each).to(device) for each in both)
        return predicates, answers

    predicates, answers = clauses(sentences)
    entry = block.enter(predicates, answers[:, : place + 1])
    query = entry.queries[:, :, place].double()
    own = Clauses(torch.einsum("qhc,qhkc->qhk", query, entry.keys.double()), entry.values.double())

    strange = block.enter(*clauses(others))

    def of_others(part: slice) -> Clauses:
        keys, values = (each[:, :, part].transpose(0, 1).flatten(1, 2) for each in (strange.keys, strange.values))
        return Clauses(torch.einsum("qhc,hkc->qhk", query, keys.double()), values.double()[None])

    targets = answers[:, place + 1, list(settings.read_out_slots)]

    @torch.no_grad()
    def margins(read: Tensor) -> Tensor:
        shares = torch.ones_like(read[..., :1, None])
        brought = block.attend(read[:, :, None].to(entry.values.dtype), shares.to(entry.values.dtype))
        logits = block.read_out(block.respond(entry.stream[:, place : place + 1], brought))[:, 0]
        found = [_margin(logits[:, slot], targets[:, slot]) for slot in range(targets.shape[1])]
        return torch.stack(found).amin(0)

    length = others.length
    return Look(own, of_others(slice(None, length)), of_others(slice(length, None)), margins)


def _margin(logits: Float[Tensor, "query token"], right: Tensor) -> Float[Tensor, " query"]:
    own = logits.gather(1, right[:, None])[:, 0]
    return (own - logits.scatter(1, right[:, None], float("-inf")).amax(1)).double()
