"""The model of Def. 3.5 as the paper writes it: one-hots of 5d numbers, dense W and Q, autograd, float64."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS, answer_clauses, predicate_clauses
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.parameters import in_words
from firstlight.tracking.theory_model.shape import Shape


def dense_weights(model: TheoryModel) -> tuple[Tensor, Tensor]:
    """Return W as slot x token x neuron x 5d and Q as 5d x 5d, zero where no sentence reaches."""
    shape, d = model.shape, model.shape.size
    columns = input_columns(shape)
    W = torch.zeros(SLOTS, d, shape.neurons, SLOTS * d, dtype=torch.float64)
    W[..., columns] = in_words(model.weights.W, shape).double().permute(0, 3, 2, 1)
    Q = torch.zeros(SLOTS * d, SLOTS * d, dtype=torch.float64)
    Q[query_rows(shape)[:, None], columns[None, :]] = model.weights.Q.double()
    return W, Q


def input_columns(shape: Shape) -> Tensor:
    """Return where in 5d numbers each input stands."""
    tokens, d = shape.tokens, shape.size
    variables, elements, values = (
        torch.arange(tokens.variables),
        tokens.first_element + torch.arange(tokens.elements),
        tokens.first_value + torch.arange(tokens.values),
    )
    return torch.cat([variables, d + elements, 2 * d + variables, 3 * d + variables, 4 * d + values])


def query_rows(shape: Shape) -> Tensor:
    """Return where in 5d numbers each row of Q stands."""
    return input_columns(shape)[shape.first_fourth :]


def embedded(clauses: Tensor, shape: Shape) -> Tensor:
    """Return clauses as vectors of 5d numbers; blank is zero."""
    hot = functional.one_hot(clauses, shape.size).double()
    hot[..., shape.tokens.blank] = 0
    return hot.flatten(-2)


def srelu(x: Tensor, shape: Shape) -> Tensor:
    """Def. 3.4 as it is written, case by case; below zero the leak of Assumption B.2."""
    q, rho, leak, floor = shape.power, shape.radius, shape.leak, shape.ceiling
    bent = torch.where(x > rho, x - rho * (1 - 1 / q), x.clamp(min=0) ** q / (q * rho ** (q - 1)))
    if leak == 0:
        return torch.where(x > 0, bent, torch.zeros_like(x))
    straight = leak * x + leak**2 / 2
    lowest = torch.full_like(x, -leak * floor + leak**2 / 2)
    below = torch.where(x > -leak, -(x**2) / 2, torch.where(x > -floor, straight, lowest))
    return torch.where(x > 0, bent, below)


def logits(W: Tensor, Q: Tensor, Z: Tensor, shape: Shape) -> tuple[Tensor, Tensor]:
    """Return clipped logits after the last clause of Z, and its attention."""
    attention = torch.einsum("na,ab,nkb->nk", Z[:, -1], Q, Z).softmax(1)
    attended = torch.einsum("nk,nka->na", attention, Z)
    x = torch.einsum("ijra,na->nijr", W, attended) + math.log(shape.size) / math.sqrt(shape.size)
    return srelu(x, shape).sum(3).clamp(max=shape.clip * math.log(shape.size)), attention


def losses(W: Tensor, Q: Tensor, sentences: Sentences, shape: Shape, last: int) -> tuple[Tensor, Tensor]:
    """Return -log p of each slot of answer `last`, a number a sentence, and the attention before it."""
    predicates = torch.from_numpy(predicate_clauses(sentences, shape.tokens))
    answers = torch.from_numpy(answer_clauses(sentences, shape.tokens))
    Z = torch.cat([embedded(predicates, shape), embedded(answers[:, :last], shape)], dim=1)
    out, attention = logits(W, Q, Z, shape)
    right = out.log_softmax(2).gather(2, answers[:, last, :, None])[..., 0]
    return -right, attention
