"""Full-batch gradient descent on the model of Definition 3.1, dense and float64, nothing shared with the package."""

from collections.abc import Iterator

import numpy as np
import torch


def dense_loss(weights: dict[str, torch.Tensor], windows: np.ndarray, vocabulary: int) -> torch.Tensor:
    """Return the mean cross-entropy over all positions, with one-hot vectors and the formulas as they stand."""
    tokens = torch.as_tensor(windows.astype(np.int64))
    hidden = torch.nn.functional.one_hot(tokens[:, :-1], vocabulary).double()
    steps = hidden.shape[1]
    offset = torch.arange(steps)[:, None] - torch.arange(steps)[None, :]
    layers = (len(weights) - 1) // 3
    for layer in range(layers):
        w, v, p = (weights[f"layers.{layer}.{letter}"] for letter in "WVP")
        scores = hidden @ w @ hidden.mT + p[offset.clamp(min=0)]
        attention = torch.softmax(scores.masked_fill(offset < 0, -torch.inf), dim=-1)
        hidden = hidden + attention @ hidden @ v
    logits = hidden @ weights["W_O"]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def zero_weights(vocabulary: int, steps: int, layers: int) -> dict[str, torch.Tensor]:
    weights = {"W_O": torch.zeros(vocabulary, vocabulary, dtype=torch.float64)}
    for layer in range(layers):
        for letter in "WV":
            weights[f"layers.{layer}.{letter}"] = torch.zeros(vocabulary, vocabulary, dtype=torch.float64)
        weights[f"layers.{layer}.P"] = torch.zeros(steps, dtype=torch.float64)
    return weights


def descend(
    windows: np.ndarray, vocabulary: int, layers: int, lr: float, steps: int
) -> Iterator[tuple[int, float, dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Yield (step, loss, weights, gradients) for the start and after each step of descent from zero."""
    weights = zero_weights(vocabulary, windows.shape[1] - 1, layers)
    for step in range(steps + 1):
        for tensor in weights.values():
            tensor.requires_grad_(True)
        loss = dense_loss(weights, windows, vocabulary)
        gradients = dict(zip(weights, torch.autograd.grad(loss, list(weights.values())), strict=True))
        yield (
            step,
            float(loss.detach()),
            {name: tensor.detach().numpy().copy() for name, tensor in weights.items()},
            {name: tensor.numpy() for name, tensor in gradients.items()},
        )
        weights = {name: tensor.detach() - lr * gradients[name] for name, tensor in weights.items()}
