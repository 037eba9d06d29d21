"""The practical model as one would write it down first: one-hots, every clause a query, logits everywhere."""

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812  # as PyTorch's own documentation calls it
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.tracking.practical.settings import Settings


def plain_logits(
    settings: Settings, weights: Mapping[str, Tensor], clauses: Int64[Tensor, "sentence clause slot"]
) -> Float[Tensor, "sentence clause read token"]:
    """Return the logits after every clause, of all slots that are read out."""
    known = len(weights["embedding"])
    # Blank, the last token, has a zero row.
    one_hots = F.one_hot(clauses, known + 1)[..., :known].to(weights["embedding"].dtype)
    stream = (one_hots @ weights["embedding"]).flatten(2)
    count, length, width = stream.shape
    if settings.positions == "sinusoidal":
        stream = stream + _sinusoids(length, width).to(stream.dtype)
    if settings.positions == "learned":
        stream = stream + weights["positions"][:length]
    if settings.convolution:
        kernel = weights["convolution"].flip(0).T[:, None]
        padded = F.pad(stream.transpose(1, 2), (settings.convolution - 1, 0))
        stream = stream + F.conv1d(padded, kernel, groups=width).transpose(1, 2)
    read = _norm(settings, weights, "attention", stream) @ weights["attention.query_key_value"].T
    queries, keys, values = read.view(count, length, 3, settings.heads, -1).permute(2, 0, 3, 1, 4)
    if settings.positions == "rope":
        queries, keys = _rotated(queries), _rotated(keys)
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    place = torch.arange(length)
    if settings.positions == "alibi":
        for head in range(settings.heads):
            slope = 2 ** (-8 * (head + 1) / settings.heads)
            scores[:, head] = scores[:, head] - slope * (place[:, None] - place).to(scores.dtype)
    scores = scores.masked_fill(place[:, None] < place, -math.inf)
    brought = (scores.softmax(-1) @ values).transpose(1, 2).reshape(count, length, width)
    brought = brought @ weights["attention.output"].T
    stream = stream + brought if settings.residual else brought
    hidden = _norm(settings, weights, "feed_forward", stream) @ weights["feed_forward.hidden"].T
    hidden = torch.relu(hidden + weights["feed_forward.hidden.bias"])
    written = hidden @ weights["feed_forward.output"].T + weights["feed_forward.output.bias"]
    stream = stream + written if settings.residual else written
    logits = _norm(settings, weights, "read_out", stream) @ weights["read_out"].T + weights["read_out.bias"]
    return logits.view(count, length, -1, known + 1)


def plain_loss(
    settings: Settings,
    weights: Mapping[str, Tensor],
    predicates: Int64[Tensor, "sentence predicate slot"],
    answers: Int64[Tensor, "sentence place slot"],
) -> Float[Tensor, ""]:
    """Return the next-clause loss of answers 1..: a mean over them of the weighted sum over slots."""
    logits = plain_logits(settings, weights, torch.cat([predicates, answers[:, :-1]], 1))[:, predicates.shape[1] :]
    loss = logits.new_zeros(())
    for read, slot in enumerate(settings.read_out_slots):
        targets = answers[:, 1:, slot].flatten()
        loss = loss + settings.slot_weights[slot] * F.cross_entropy(logits[:, :, read].flatten(0, 1), targets)
    return loss


@torch.no_grad()
def plain_rollout(
    settings: Settings,
    weights: Mapping[str, Tensor],
    predicates: Int64[Tensor, "sentence predicate slot"],
    first: Int64[Tensor, "sentence slot"],
    count: int,
) -> Int64[Tensor, "sentence answer slot"]:
    """Return so many answers after the first, each by reading everything again."""
    clauses = torch.cat([predicates, first[:, None]], 1)
    blank = len(weights["embedding"])
    for _ in range(count):
        answer = torch.full_like(first, blank)
        answer[:, list(settings.read_out_slots)] = plain_logits(settings, weights, clauses)[:, -1].argmax(-1)
        clauses = torch.cat([clauses, answer[:, None]], 1)
    return clauses[:, predicates.shape[1] + 1 :]


def _norm(settings: Settings, weights: Mapping[str, Tensor], name: str, stream: Tensor) -> Tensor:
    if not settings.layer_norm:
        return stream
    mean = stream.mean(-1, keepdim=True)
    variance = ((stream - mean) ** 2).mean(-1, keepdim=True)
    scaled = (stream - mean) / torch.sqrt(variance + 1e-5)
    return scaled * weights[f"{name}.norm.scale"] + weights[f"{name}.norm.shift"]


def _sinusoids(length: int, width: int) -> Tensor:
    table = torch.zeros(length, width, dtype=torch.float64)
    for position in range(length):
        for channel in range(width):
            angle = position / 10_000 ** (2 * (channel // 2) / width)
            table[position, channel] = math.cos(angle) if channel % 2 else math.sin(angle)
    return table


def _rotated(vectors: Tensor) -> Tensor:
    """Multiply channel i + i' channel (i + half) by exp(i' position / 10,000^(i / half))."""
    half = vectors.shape[-1] // 2
    angle = torch.arange(vectors.shape[-2])[:, None] / 10_000 ** (torch.arange(half, dtype=torch.float64) / half)
    turned = torch.complex(vectors[..., :half].double(), vectors[..., half:].double()) * torch.exp(1j * angle)
    return torch.cat([turned.real, turned.imag], -1).to(vectors.dtype)
