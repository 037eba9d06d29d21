"""How attention is spread: what Q holds on and off its diagonals, and models in which it is imposed."""

import math
from dataclasses import dataclass

import torch

from firstlight.errors import FirstlightError
from firstlight.tracking.theory_model.model import TheoryModel


@dataclass(frozen=True)
class Entries:
    """The entries of one block of Q between variables.

    Attributes:
        diagonal: mean of the entries by which a variable asks for itself.
        diagonal_deviation: their standard deviation.
        elsewhere: mean of all others.
        elsewhere_deviation: their standard deviation.
        elsewhere_largest: the largest of them in size.
    """

    diagonal: float
    diagonal_deviation: float
    elsewhere: float
    elsewhere_deviation: float
    elsewhere_largest: float


def entries_of(block: torch.Tensor) -> Entries:
    """Describe a block: `model.Q43`, which asks for predicates, or `model.Q44`, which asks for answers."""
    own = block.diagonal().double()
    others = block.double()[~torch.eye(len(block), dtype=torch.bool, device=block.device)]
    return Entries(
        diagonal=float(own.mean()),
        diagonal_deviation=float(own.std(correction=0)),
        elsewhere=float(others.mean()),
        elsewhere_deviation=float(others.std(correction=0)),
        elsewhere_largest=float(others.abs().max()),
    )


def with_imposed_diagonals(model: TheoryModel, predicate: float, answer: float | None = None) -> TheoryModel:
    """Return a model with the same feed-forward network, whose Q has two constant diagonals and nothing else.

    With both at q, a query that sees n clauses besides the two it needs has ε = n / (n + 2 e^q) and no gap.

    Arguments:
        model: with the feed-forward network.
        predicate: the diagonal of block (4,3).
        answer: the diagonal of block (4,4); the same when None.
    """
    imposed = model.with_attention(torch.zeros_like(model.weights.Q))
    imposed.Q43.fill_diagonal_(predicate)
    imposed.Q44.fill_diagonal_(predicate if answer is None else answer)
    return imposed


def imposed_epsilon(q: float, others: int) -> float:
    """Return ε where both diagonals are q, all else is 0, and so many other clauses are seen."""
    return others / (others + 2 * math.exp(q))


def diagonal_for(epsilon: float, others: int) -> float:
    """Return the q of both diagonals with which a query that sees so many other clauses has a given ε."""
    if not 0 < epsilon < 1 or others < 1:
        raise FirstlightError(
            f"epsilon {epsilon} with {others} other clauses: expected 0 < epsilon < 1 and others >= 1"
        )
    return math.log(others * (1 - epsilon) / (2 * epsilon))
