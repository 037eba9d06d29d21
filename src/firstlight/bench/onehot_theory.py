"""The theory model as one would write it: one-hots of 5d numbers, dense W and Q, autograd."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional

from firstlight.tracking.theory_model.shape import Shape


def embedded(clauses: Int64[Tensor, "sentence clause slot"], shape: Shape, dtype: torch.dtype) -> Tensor:
    """Return clauses as vectors of 5d numbers; blank is zero."""
    hot = functional.one_hot(clauses, shape.size).to(dtype)
    hot[..., shape.tokens.blank] = 0
    return hot.flatten(-2)


def attended(Q: Float[Tensor, "asking asked"], Z: Float[Tensor, "sentence clause number"]) -> Tensor:
    """Return what the last clause of each context attends to, as 5d numbers."""
    scores = (Z @ (Z[:, -1] @ Q)[:, :, None])[:, :, 0]
    return (scores.softmax(1)[:, None, :] @ Z)[:, 0]


def logits(W: Float[Tensor, "row number"], seen: Tensor, shape: Shape) -> Float[Tensor, "query slot token"]:
    """Return clipped logits of as many slots as W has rows for."""
    x = seen @ W.T + shape.bias
    q, radius = shape.power, shape.radius
    t = x.clamp(0, radius)
    neurons = t**q / (q * radius ** (q - 1)) + (x - radius).clamp(min=0)
    return neurons.reshape(len(seen), -1, shape.size, shape.neurons).sum(3).clamp(max=shape.ceiling)


def loss(logits: Float[Tensor, "query slot token"], targets: Int64[Tensor, "query slot"]) -> Tensor:
    """Return the loss summed over slots, averaged over queries."""
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / len(logits)
