"""The reference model as one would write it: one-hots, dense products, autograd, all windows at once."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional


def loss(parameters: dict[str, Tensor], tokens: Int64[Tensor, "window place"]) -> Float[Tensor, ""]:
    """Return the mean cross-entropy of some windows of T+1 tokens."""
    W_O = parameters["W_O"]
    x, y = tokens[:, :-1], tokens[:, 1:]
    T = x.shape[1]
    h = functional.one_hot(x, len(W_O)).to(W_O.dtype)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    offsets = (torch.arange(T)[:, None] - torch.arange(T)).clamp(min=0)
    for layer in range(len(parameters) // 3):
        W, V, P = (parameters[f"layers.{layer}.{weight}"] for weight in "WVP")
        scores = h @ W @ h.mT + P[offsets]
        attention = scores.masked_fill(future, float("-inf")).softmax(-1)
        h = h + attention @ h @ V
    logits = h @ W_O
    return functional.cross_entropy(logits.flatten(0, 1), y.flatten())


def step(parameters: dict[str, Tensor], tokens: Int64[Tensor, "window place"], lr: float) -> float:
    """Do one step of gradient descent in place, leave the gradients in `.grad`, and return the loss before it."""
    for weight in parameters.values():
        weight.requires_grad_().grad = None
    value = loss(parameters, tokens)
    value.backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for weight in parameters.values():
            assert weight.grad is not None
            weight -= lr * weight.grad
    return float(value.detach())
