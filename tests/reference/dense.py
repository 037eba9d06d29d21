"""The model of Def. 3.1 as it reads: one-hots, float64, one window at a time; everything is held against it."""

import numpy as np
import torch

from firstlight.reference.parameters import Parameters, Shape, gaussian_parameters

VOCABULARY, STEPS, WINDOWS = 25, 8, 30


def draw_windows(seed: int = 0, count: int = WINDOWS) -> np.ndarray:
    """Draw windows with few frequent tokens, so that tokens repeat in a window."""
    weights = 1 / np.arange(1, VOCABULARY + 1)
    return np.random.default_rng(seed).choice(VOCABULARY, (count, STEPS + 1), p=weights / weights.sum())


def draw_lengths(seed: int = 0, count: int = WINDOWS) -> np.ndarray:
    """Draw lengths from 2 tokens (one position) to a full window."""
    return np.random.default_rng(seed).integers(2, STEPS + 2, count)


def random_parameters(layers: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Parameters:
    """Return weights large enough that every path through the model counts, and the attention is far from uniform."""
    return gaussian_parameters(Shape(VOCABULARY, STEPS, layers), 0.2 * VOCABULARY, 0.0, seed, dtype)


def dense_loss(parameters: Parameters, windows: np.ndarray, lengths: np.ndarray) -> torch.Tensor:
    """Return the mean loss as Def. 3.1 reads, window by window and with one-hots."""
    total, positions = torch.zeros((), dtype=torch.float64), 0
    layers = (len(parameters) - 1) // 3
    for row, length in zip(windows, lengths, strict=True):
        x, y = torch.from_numpy(row[: length - 1]), torch.from_numpy(row[1:length])
        T = len(x)
        h = torch.eye(len(parameters["W_O"]), dtype=torch.float64)[x]
        allowed = torch.tensor([[key <= query for key in range(T)] for query in range(T)])
        for layer in range(layers):
            W, V, P = (parameters[f"layers.{layer}.{weight}"] for weight in "WVP")
            bias = torch.stack([torch.stack([P[abs(query - key)] for key in range(T)]) for query in range(T)])
            scores = torch.where(allowed, h @ W @ h.T + bias, -torch.inf)
            h = h + torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ h @ V
        F = h @ parameters["W_O"]
        total = total + (F.logsumexp(-1) - F[torch.arange(T), y]).sum()
        positions += T
    return total / positions


def dense_gradients(parameters: Parameters, windows: np.ndarray, lengths: np.ndarray) -> tuple[float, Parameters]:
    """Return the mean loss and its gradient by autograd through `dense_loss`."""
    leaves = {name: weight.double().clone().requires_grad_() for name, weight in parameters.items()}
    loss = dense_loss(leaves, windows, lengths)
    gradients = torch.autograd.grad(loss, list(leaves.values()))
    return loss.item(), dict(zip(leaves, gradients, strict=True))


def largest_difference(ours: Parameters, expected: Parameters) -> float:
    """Return the largest relative Frobenius error of all weights."""
    assert set(ours) == set(expected)
    return max(
        float((ours[name].double() - expected[name]).norm() / expected[name].norm().clamp(min=1e-300))
        for name in expected
    )
