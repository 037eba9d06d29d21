"""The feed-forward network on contexts of any length, as an embedding bag or as a product with the weights.

An attended clause is a weighted sum of one-hots over the inputs. With few clauses in a context the compiled embedding
bag of kernels.py is cheaper; with many most inputs have some weight, and the product wins.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from firstlight.tracking.theory_model import kernels
from firstlight.tracking.theory_model.attention import Context
from firstlight.tracking.theory_model.shape import BLOCK, Shape
from firstlight.tracking.theory_model.threads import shares, spread

# Up to so many clauses a bag is cheaper than a product, measured for C6 and S5 with 170 variables (bench tracking).
BAG_CLAUSES = 128


def constants(shape: Shape, dtype: np.dtype[Any] | type[np.floating]) -> np.ndarray[Any, Any]:
    """Return what the kernels need to know, in their type."""
    known = (shape.bias, shape.radius, shape.leak, shape.ceiling, 1 / shape.radius, 1 / shape.power, 0.5)
    return np.array(known, dtype)


def prefers_bags(W: Float[Tensor, "block input width"], context: Context) -> bool:
    """Return whether the compiled bag is there, and cheaper for contexts like this."""
    return W.device.type == "cpu" and context.clauses <= BAG_CLAUSES


def bag_logits(
    W: Float[Tensor, "block input width"],
    context: Context,
    attention: Float[Tensor, "sentence query clause"],
    shape: Shape,
) -> Float[Tensor, "sentence query token"]:
    """Return the logits of one slot before clipping, by the compiled bag."""
    logits = torch.empty(*attention.shape[:2], len(W) * BLOCK, dtype=W.dtype)
    weights, out, shown = W.numpy(), logits.numpy(), attention.numpy()
    predicates, answers = context.predicates.numpy(), context.answers.numpy()
    fill, known = kernels.attended_logits(*shape.loops), constants(shape, out.dtype)
    spread(
        lambda part: fill(weights, predicates[part], answers[part], shown[part], known, out[part]),
        shares(len(attention)),
    )
    return logits


def raw_logits(
    W: Float[Tensor, "block input width"], attended: Float[Tensor, "query input"], shape: Shape
) -> Float[Tensor, "query token"]:
    """Return the logits of one slot before clipping, by a product.

    Arguments:
        W: of the slot, with any number of blocks.
        attended: the attention that each input gets.
        shape: of the model.
    """
    if W.device.type == "cpu":
        return _compiled(W, attended, shape)
    parts = [activation(attended @ block + shape.bias, shape)[0] for block in W]
    neurons = torch.stack(parts, dim=1).reshape(len(attended), len(W), -1, BLOCK)
    return neurons.sum(2).reshape(len(attended), -1)


def clipped(logits: Float[Tensor, "query token"], shape: Shape) -> Float[Tensor, "query token"]:
    """Return logits clipped above (Assumption 3.4), without what fills the last block up."""
    return logits[:, : shape.size].clamp(max=shape.ceiling)


def _compiled(
    W: Float[Tensor, "block input width"], attended: Float[Tensor, "query input"], shape: Shape
) -> Float[Tensor, "query token"]:
    logits = torch.empty(len(attended), len(W) * BLOCK, dtype=W.dtype)
    out, known = logits.numpy(), constants(shape, logits.numpy().dtype)
    fill = kernels.summed_activations(*shape.loops)
    # Pre-activations of a block and some queries stay in the cache between the product and the activation.
    rows = max(1, 2**17 // W.shape[2])
    for start in range(0, len(attended), rows):
        some = attended[start : start + rows]
        for number, block in enumerate(W):
            fill((some @ block).numpy(), known, out[start : start + rows], number * BLOCK)
    return logits


def activation(x: Float[Tensor, "..."], shape: Shape) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."]]:
    """Return sReLU, with a leak if there is one, and its derivative."""
    t = x.clamp(0, shape.radius)
    slope = (t / shape.radius) ** (shape.power - 1)
    value = t * slope / shape.power + (x - shape.radius).clamp(min=0)
    if not shape.leak:
        return value, slope
    below = (-x).clamp(0, shape.ceiling)
    bend = below.clamp(max=shape.leak)
    value = value - bend**2 / 2 - shape.leak * (below - bend)
    return value, slope + bend * (-x < shape.ceiling)
