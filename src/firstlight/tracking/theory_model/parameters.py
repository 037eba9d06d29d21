"""The weights W and Q: how they begin, how they lie in memory, and how they lie on disk."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from firstlight.errors import FirstlightError
from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.theory_model.shape import BLOCK, Shape


@dataclass(eq=False)
class Weights:
    """W and Q of Def. 3.5, in the columns and rows that sentences meet.

    Attributes:
        W: in blocks of output tokens: an input's weights to 16 tokens and all their neurons lie together. On disk and
            in the words of the theory it is `[slot, input, neuron, token]`.
        Q: `[query, input]`, what a token of the query clause asks for in a token of a key clause.
    """

    W: Float[Tensor, "slot block input width"]
    Q: Float[Tensor, "query input"]

    def to(self, device: torch.device) -> "Weights":
        """Return the weights on a device."""
        return Weights(self.W.to(device), self.Q.to(device))


def initial_weights(shape: Shape, seed: int, dtype: torch.dtype) -> Weights:
    """Return Q = 0 and W from N(0, 1/d), drawn in float64 so that the type only rounds it."""
    draws = np.random.default_rng([seed, 0])
    natural = torch.empty(SLOTS, shape.inputs, shape.neurons, shape.size, dtype=dtype)
    for slot in natural:
        slot.copy_(torch.from_numpy(draws.normal(0, shape.size**-0.5, tuple(slot.shape))))
    return Weights(in_blocks(natural), torch.zeros(shape.queries, shape.inputs, dtype=dtype))


def in_blocks(natural: Float[Tensor, "slot input neuron token"]) -> Float[Tensor, "slot block input width"]:
    """Return W as it lies in memory; the last block is filled up with zeros."""
    slots, inputs, neurons, size = natural.shape
    blocks = -(-size // BLOCK)
    filled = functional.pad(natural, (0, blocks * BLOCK - size))
    parts = filled.reshape(slots, inputs, neurons, blocks, BLOCK).permute(0, 3, 1, 2, 4)
    return parts.reshape(slots, blocks, inputs, neurons * BLOCK).contiguous()


def in_words(W: Float[Tensor, "slot block input width"], shape: Shape) -> Float[Tensor, "slot input neuron token"]:
    """Return W as the theory writes it."""
    slots, blocks, inputs, _ = W.shape
    parts = W.reshape(slots, blocks, inputs, shape.neurons, BLOCK).permute(0, 2, 3, 1, 4)
    return parts.reshape(slots, inputs, shape.neurons, blocks * BLOCK)[..., : shape.size].contiguous()


def weights_from(tensors: Mapping[str, Tensor], shape: Shape, where: str) -> Weights:
    """Return weights from the tensors of a checkpoint.

    Arguments:
        tensors: W as the theory writes it, and Q.
        shape: what they are expected to have.
        where: the file, for the error.
    """
    expected = {"W": (SLOTS, shape.inputs, shape.neurons, shape.size), "Q": (shape.queries, shape.inputs)}
    for name, sizes in expected.items():
        if name not in tensors:
            raise FirstlightError(f"{where}: damaged: it has no tensor {name}")
        if tuple(tensors[name].shape) != sizes:
            raise FirstlightError(f"{where}: damaged: {name} is {tuple(tensors[name].shape)}, expected {sizes}")
    return Weights(in_blocks(tensors["W"]), tensors["Q"].clone())
