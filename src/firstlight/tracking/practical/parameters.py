"""The weights of the practical model: their names, shapes and initial values, in one vector."""

import math
from collections.abc import Iterable, Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from firstlight.errors import FirstlightError
from firstlight.tracking.language.tokens import Tokens
from firstlight.tracking.practical.settings import Settings

Parameters = dict[str, Tensor]


def shapes(settings: Settings, tokens: Tokens) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight: of a matrix, outputs by inputs."""
    clause, hidden = settings.clause_width, settings.width * settings.clause_width
    found: dict[str, tuple[int, ...]] = {"embedding": (tokens.size - 1, settings.embedding)}
    if settings.layer_norm:
        for name in ("attention", "feed_forward", "read_out"):
            found[f"{name}.norm.scale"] = (clause,)
            found[f"{name}.norm.shift"] = (clause,)
    found["attention.query_key_value"] = (3 * clause, clause)
    found["attention.output"] = (clause, clause)
    found["feed_forward.hidden"] = (hidden, clause)
    found["feed_forward.hidden.bias"] = (hidden,)
    found["feed_forward.output"] = (clause, hidden)
    found["feed_forward.output.bias"] = (clause,)
    found["read_out"] = (len(settings.read_out_slots) * tokens.size, clause)
    found["read_out.bias"] = (len(settings.read_out_slots) * tokens.size,)
    # Last, so that the others are drawn as they are without them.
    if settings.positions == "learned":
        found["positions"] = (settings.position_rows, clause)
    if settings.convolution:
        found["convolution"] = (settings.convolution, clause)
    return found


def initial(settings: Settings, tokens: Tokens) -> Parameters:
    """Draw the initial weights, in float64, so that the type only rounds them.

    Matrices and biases are uniform within 1/sqrt(inputs), as PyTorch's linear layers are.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    drawn: Parameters = {}
    for name, shape in shapes(settings, tokens).items():
        if name.endswith(".scale"):
            values = torch.ones(shape, dtype=torch.float64)
        elif name.endswith(".shift"):
            values = torch.zeros(shape, dtype=torch.float64)
        elif name in ("embedding", "positions"):
            std = settings.embedding_std if name == "embedding" else settings.position_std
            values = std * torch.randn(shape, generator=generator, dtype=torch.float64)
        else:
            bound = 1 / math.sqrt(_inputs(name, shape, drawn))
            values = bound * (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1)
        drawn[name] = values
    return {name: values.to(dtype_of(settings)) for name, values in drawn.items()}


def _inputs(name: str, shape: tuple[int, ...], before: Mapping[str, Tensor]) -> int:
    if name == "convolution":
        return shape[0]
    return before[name.removesuffix(".bias")].shape[1] if name.endswith(".bias") else shape[1]


def dtype_of(settings: Settings) -> torch.dtype:
    """Return the type of all weights."""
    return torch.float64 if settings.dtype == "float64" else torch.float32


def flatten(parameters: Mapping[str, Tensor]) -> Float[Tensor, " number"]:
    """Return all weights as one new vector."""
    return torch.cat([values.reshape(-1) for values in parameters.values()])


def views(vector: Float[Tensor, " number"], like: Mapping[str, tuple[int, ...]]) -> Parameters:
    """Return the weights as views of a vector, so that one update of it updates all."""
    found, start = {}, 0
    for name, shape in like.items():
        end = start + math.prod(shape)
        found[name] = vector[start:end].view(shape)
        start = end
    return found


def check(found: Mapping[str, Tensor], settings: Settings, tokens: Tokens, where: str) -> None:
    """Refuse weights whose names or shapes are not those of the settings."""
    expected = shapes(settings, tokens)
    for name in _missing(expected, found):
        raise FirstlightError(f"{where}: damaged: {name} is missing")
    for name, shape in expected.items():
        if tuple(found[name].shape) != shape:
            raise FirstlightError(f"{where}: damaged: {name} is {tuple(found[name].shape)}, expected {shape}")


def _missing(expected: Iterable[str], found: Iterable[str]) -> list[str]:
    there = set(found)
    return [name for name in expected if name not in there]
