"""The gradient as Lemmas D.1 (one layer) and D.7 (any depth) write it: for reading, and to check faster ways against.

For one window, with F the logits, A^l the attention, h^l the states and R = Y - softmax(F), the lemmas give

    G^L = R W_O^T
    S^l = J(A^l) (G^l V^lT h^(l-1)T),  J the Jacobian of the softmax, row by row
    G^(l-1) = G^l + A^lT G^l V^lT + S^l h^(l-1) W^lT + S^lT h^(l-1) W^l

and minus the gradient of the summed loss is, summed over windows,

    by W_O  h^LT R,   by V^l  h^(l-1)T A^lT G^l,   by W^l  h^(l-1)T S^l h^(l-1),   by P^l_m  the sum of S^l at offset m.
"""

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional

from firstlight.reference.model import causal_softmax, offsets_of
from firstlight.reference.parameters import Parameters, shape_of

Attention = Float[Tensor, "query key"]
States = Float[Tensor, "position token"]


def analytic_gradients(parameters: Mapping[str, Tensor], windows: np.ndarray, lengths: np.ndarray) -> Parameters:
    """Return the gradient of the mean loss over all positions of some windows.

    Arguments:
        parameters: the weights; float64 is meant.
        windows: rows of T+1 token ids.
        lengths: how many tokens of each row are data.
    """
    total = {name: torch.zeros_like(weight) for name, weight in parameters.items()}
    positions = int(np.sum(lengths)) - len(lengths)
    for row, length in zip(windows, lengths, strict=True):
        tokens = torch.from_numpy(np.asarray(row[:length], np.int64)).to(parameters["W_O"].device)
        for name, ascent in window_ascent(parameters, tokens[:-1], tokens[1:]).items():
            total[name] -= ascent / positions
    return total


def window_ascent(
    parameters: Mapping[str, Tensor], x: Int64[Tensor, " position"], y: Int64[Tensor, " position"]
) -> Parameters:
    """Return minus the gradient of the summed loss of one window, as the lemmas write it.

    Arguments:
        parameters: the weights.
        x: the tokens read.
        y: the token after each.
    """
    layers = shape_of(parameters).layers
    W_O = parameters["W_O"]
    h, A = states(parameters, x)
    R = functional.one_hot(y, len(W_O)).to(W_O) - (h[layers] @ W_O).softmax(-1)
    ascent = {"W_O": h[layers].T @ R}
    G = R @ W_O.T
    for layer in reversed(range(layers)):
        W, V, P = (parameters[f"layers.{layer}.{weight}"] for weight in "WVP")
        S = softmax_jacobian(A[layer], G @ V.T @ h[layer].T)
        ascent[f"layers.{layer}.W"] = h[layer].T @ S @ h[layer]
        ascent[f"layers.{layer}.V"] = h[layer].T @ A[layer].T @ G
        ascent[f"layers.{layer}.P"] = sums_by_offset(S, len(P))
        G = G + A[layer].T @ G @ V.T + S @ h[layer] @ W.T + S.T @ h[layer] @ W
    return ascent


def states(parameters: Mapping[str, Tensor], x: Int64[Tensor, " position"]) -> tuple[list[States], list[Attention]]:
    """Return h^0, ..., h^L and the attention of each layer, for one window."""
    W_O = parameters["W_O"]
    h, A = [functional.one_hot(x, len(W_O)).to(W_O)], []
    for layer in range(shape_of(parameters).layers):
        W, V, P = (parameters[f"layers.{layer}.{weight}"] for weight in "WVP")
        A.append(causal_softmax(h[-1] @ W @ h[-1].T + offsets_of(P, len(x))))
        h.append(h[-1] + A[-1] @ h[-1] @ V)
    return h, A


def softmax_jacobian(A: Attention, direction: Attention) -> Attention:
    """Return how the attention moves when its scores move in a direction: A (g - <A, g>) in each row."""
    return A * (direction - (A * direction).sum(-1, keepdim=True))


def sums_by_offset(S: Attention, offsets: int) -> Float[Tensor, " offset"]:
    """Return for each m the sum of S[t, t - m] over t, zero where the window is too short to have that offset."""
    sums = S.new_zeros(offsets)
    for offset in range(len(S)):
        sums[offset] = S.diagonal(-offset).sum()
    return sums
