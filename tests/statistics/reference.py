"""An independent dense float64 reference: the definitions with one-hot matrices, nothing shared with the package."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reference:
    alpha: np.ndarray
    bigram: np.ndarray
    interchangeability: np.ndarray
    context: np.ndarray
    composed: np.ndarray
    attention: np.ndarray
    position: np.ndarray


def dense_reference(windows: list[list[int]], vocabulary: int, steps: int) -> Reference:
    """Compute every basis function from the definitions; windows may be of different lengths."""
    one_hot = np.eye(vocabulary)
    positions = sum(len(window) - 1 for window in windows)
    alpha = np.zeros(vocabulary)
    bigram = np.zeros((vocabulary, vocabulary))
    context = np.zeros((vocabulary, vocabulary))
    for window in windows:
        x, y = one_hot[window[:-1]], one_hot[window[1:]]
        uniform = np.tril(np.ones((len(x), len(x)))) / np.arange(1, len(x) + 1)[:, None]
        alpha += x.sum(axis=0) / positions
        bigram += x.T @ (y - 1 / vocabulary) / positions
        context += (x.T @ uniform.T @ (y - 1 / vocabulary)).T / positions
    sigma = bigram.T @ bigram
    composed = sigma @ context
    attention = np.zeros((vocabulary, vocabulary))
    position = np.zeros(steps)
    for window in windows:
        x, y = one_hot[window[:-1]], one_hot[window[1:]]
        g = (y - 1 / vocabulary) @ composed @ x.T
        q = np.zeros_like(g)
        for t in range(len(x)):
            q[t, : t + 1] = (g[t, : t + 1] - g[t, : t + 1].mean()) / (t + 1)
        attention += x.T @ q @ x / positions
        for m in range(len(x)):
            position[m] += np.trace(q, offset=-m) / positions
    return Reference(alpha, bigram, sigma, context, composed, attention, position)
