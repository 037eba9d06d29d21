"""The attention-only transformer of Def. 3.1, token ids in: what it predicts, and its loss.

    h^0 = X,  h^l = h^(l-1) + softmax(mask(h^(l-1) W^l h^(l-1)T + DM(P^l))) h^(l-1) V^l,  logits = h^L W_O

The one-hot X is never formed: with h = X + R, a product X M is the rows of M that the tokens name, and a product with
X^T picks columns. R is zero before the first layer, which is therefore nothing but such reading.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional

from firstlight.reference.parameters import shape_of

Ids = Int64[Tensor, "window position"]


@dataclass(frozen=True)
class Batch:
    """Windows to predict.

    Attributes:
        inputs: x, the tokens read.
        targets: y, the token after each.
        valid: which positions are data; the others are padding after the end of a short window.
    """

    inputs: Ids
    targets: Ids
    valid: Bool[Tensor, "window position"]

    @property
    def positions(self) -> int:
        """How many positions are data."""
        return int(self.valid.sum())


def batch_of(windows: np.ndarray, lengths: np.ndarray, device: torch.device | str = "cpu") -> Batch:
    """Turn rows of T+1 token ids into a batch.

    Arguments:
        windows: token ids, with anything after the end of a short window.
        lengths: how many tokens of each row are data.
        device: where to put them.
    """
    tokens = torch.from_numpy(np.asarray(windows, np.int64))
    last = torch.from_numpy(np.asarray(lengths, np.int64))[:, None] - 1
    places = torch.arange(tokens.shape[1] - 1)
    # A padded id may be anything, also no token; 0 always is one.
    tokens = torch.where(torch.arange(tokens.shape[1]) <= last, tokens, 0)
    return Batch(tokens[:, :-1].to(device), tokens[:, 1:].to(device), (places < last).to(device))


def hidden(
    parameters: Mapping[str, Tensor], inputs: Ids
) -> tuple[Float[Tensor, "window position token"], list[Tensor]]:
    """Return R = h^L - X, and the attention of each layer (window, query, key)."""
    T = inputs.shape[1]
    size = len(parameters["W_O"])
    R = torch.zeros((*inputs.shape, size), dtype=parameters["W_O"].dtype, device=inputs.device)
    attentions = []
    for layer in range(shape_of(parameters).layers):
        W, V, P = (parameters[f"layers.{layer}.{weight}"] for weight in "WVP")
        u = W[inputs]  # (window, query, token): h W, here X W
        if layer:
            u = u + R @ W
        scores = u.gather(2, inputs[:, None, :].expand(-1, T, -1))  # (window, query, key): u X^T
        if layer:
            scores = scores + u @ R.mT
        attention = causal_softmax(scores + offsets_of(P, T))
        values = V[inputs]
        if layer:
            values = values + R @ V
        R = R + attention @ values
        attentions.append(attention)
    return R, attentions


def logits(parameters: Mapping[str, Tensor], inputs: Ids) -> Float[Tensor, "window position token"]:
    """Return the logits of all positions; autograd may run through them."""
    R, _ = hidden(parameters, inputs)
    return parameters["W_O"][inputs] + R @ parameters["W_O"]


def summed_loss(parameters: Mapping[str, Tensor], batch: Batch) -> Float[Tensor, ""]:
    """Return the sum of the cross-entropy over the positions of a batch; divide by `batch.positions` for the mean."""
    chosen = batch.valid
    return functional.cross_entropy(logits(parameters, batch.inputs)[chosen], batch.targets[chosen], reduction="sum")


def mean_loss(
    parameters: Mapping[str, Tensor], windows: np.ndarray, lengths: np.ndarray, chunk: int | None = None
) -> float:
    """Return the mean cross-entropy over all positions of some windows, without the logits of all at once.

    Arguments:
        parameters: the weights.
        windows: rows of T+1 token ids.
        lengths: how many tokens of each row are data.
        chunk: windows at a time; as many as make logits of 64 MiB when None.
    """
    total, positions = 0.0, 0
    with torch.no_grad():
        for batch in chunks_of(windows, lengths, chunk or windows_at_a_time(parameters), parameters["W_O"].device):
            total += float(summed_loss(parameters, batch))
            positions += batch.positions
    return total / positions


def windows_at_a_time(parameters: Mapping[str, Tensor]) -> int:
    """Return how many windows have logits of 64 MiB together, and one if one has more."""
    W_O = parameters["W_O"]
    return max(1, 2**26 // (shape_of(parameters).window * len(W_O) * W_O.element_size()))


def chunks_of(
    windows: np.ndarray, lengths: np.ndarray, chunk: int, device: torch.device | str = "cpu"
) -> Iterator[Batch]:
    """Yield batches of so many windows, in order."""
    for start in range(0, len(windows), chunk):
        yield batch_of(windows[start : start + chunk], lengths[start : start + chunk], device)


def offsets_of(P: Float[Tensor, " offset"], T: int) -> Float[Tensor, "query key"]:
    """Return DM(P): P_m at every place where the key is m before the query; what lies after it is masked anyway."""
    places = torch.arange(T, device=P.device)
    return P[(places[:, None] - places).clamp(min=0)]


def causal_softmax(scores: Float[Tensor, "window query key"]) -> Float[Tensor, "window query key"]:
    """Return the softmax over the keys at or before each query."""
    T = scores.shape[-1]
    after = torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(after, float("-inf")).softmax(-1)
