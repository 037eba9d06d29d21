"""The weights of the reference model: their names, shapes and initial values."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from firstlight.errors import FirstlightError

Parameters = dict[str, torch.Tensor]
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class Shape:
    """The sizes of a model.

    Attributes:
        vocabulary: V.
        window: T, the positions of the longest window.
        layers: L.
    """

    vocabulary: int
    window: int
    layers: int


def names(layers: int) -> tuple[str, ...]:
    """Return the names of the weights, as in every checkpoint."""
    return ("W_O", *(f"layers.{layer}.{weight}" for layer in range(layers) for weight in ("W", "V", "P")))


def shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight."""
    V, T = shape.vocabulary, shape.window
    return {name: (T,) if name.endswith(".P") else (V, V) for name in names(shape.layers)}


def shape_of(parameters: Mapping[str, torch.Tensor]) -> Shape:
    """Return the sizes of a model from its weights, or raise an error that names the weight that does not fit."""
    layers = max(1, sum(name.endswith(".W") for name in parameters))
    missing = [name for name in names(layers) if name not in parameters]
    if missing or len(parameters) != len(names(layers)):
        named = missing[0] if missing else next(name for name in parameters if name not in names(layers))
        raise FirstlightError(f"weights of the reference model: {named} is {'missing' if missing else 'unexpected'}")
    shape = Shape(len(parameters["W_O"]), len(parameters["layers.0.P"]), layers)
    for name, expected in shapes(shape).items():
        if tuple(parameters[name].shape) != expected:
            raise FirstlightError(f"{name}: shape {tuple(parameters[name].shape)}, expected {expected}")
    return shape


def zero_parameters(shape: Shape, dtype: torch.dtype, device: torch.device | str = "cpu") -> Parameters:
    """Return weights that are all zero, as in Theorems D.6 and D.9."""
    return {name: torch.zeros(size, dtype=dtype, device=device) for name, size in shapes(shape).items()}


def gaussian_parameters(
    shape: Shape,
    scale: float,
    exponent: float,
    seed: int,
    dtype: torch.dtype,
    device: torch.device | str = "cpu",
) -> Parameters:
    """Return independent Gaussian weights of variance v^2 / V^(2 + 2 xi), as in Theorem D.12.

    They are drawn in float64 on the CPU, weight by weight in the order of `names`, so that a seed means the same
    weights whatever the type and the device.

    Arguments:
        shape: the sizes.
        scale: v.
        exponent: xi.
        seed: of the draws.
        dtype: the type of the result.
        device: where the result is.
    """
    generator = torch.Generator().manual_seed(seed)
    deviation = scale / shape.vocabulary ** (1 + exponent)
    return {
        name: (deviation * torch.randn(size, generator=generator, dtype=torch.float64)).to(device, dtype)
        for name, size in shapes(shape).items()
    }
