"""The most likely token of each slot, without the logits of tokens that cannot win. Exact.

An attended clause is a mean of predicates and answers, so a pre-activation is at most the bias plus the largest weight
of each slot, added up over the slots of a predicate or of an answer, whichever is more. sReLU does not fall, so this
bounds every logit, whatever the sentence. In a trained model most tokens of most slots never come near the winner. The
logits of the others, the contenders, are formed; where the winner is not above all bounds, all logits are.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.theory_model.attention import Context, attended_inputs
from firstlight.tracking.theory_model.feed_forward import bag_logits, clipped, prefers_bags, raw_logits
from firstlight.tracking.theory_model.shape import BLOCK, Shape

_SHARE = 0.5  # of the largest bound of a slot: tokens with a bound above it are contenders


class Contenders:
    """What is needed to find the most likely tokens of a model whose W does not change."""

    def __init__(self, W: Float[Tensor, "slot block input width"], shape: Shape) -> None:
        self.W, self.shape = W, shape
        self.slots = [_Slot(W[slot], shape) for slot in range(SLOTS)]

    def most_likely(
        self, context: Context, attention: Float[Tensor, "sentence 1 clause"]
    ) -> Int64[Tensor, "sentence slot"]:
        """Return the first of the most likely tokens of each slot after a context of one query."""
        reading = _Reading(context, attention, self.shape)
        return torch.stack([slot.most_likely(reading) for slot in self.slots], dim=1)


@dataclass(frozen=True, eq=False)
class _Reading:
    context: Context
    attention: Float[Tensor, "sentence 1 clause"]
    shape: Shape

    @cached_property
    def attended(self) -> Float[Tensor, "sentence input"]:
        return attended_inputs(self.attention, self.context, self.shape.inputs)[:, 0]

    def logits(self, W: Float[Tensor, "block input width"]) -> Float[Tensor, "sentence token"]:
        if prefers_bags(W, self.context):
            return bag_logits(W, self.context, self.attention, self.shape)[:, 0]
        return raw_logits(W, self.attended, self.shape)


class _Slot:
    def __init__(self, W: Float[Tensor, "block input width"], shape: Shape) -> None:
        self.W, self.shape = W, shape
        bounds = bounds_of(W, shape)
        chosen = bounds > _SHARE * bounds.max().clamp(max=shape.ceiling)
        self.tokens = chosen.nonzero()[:, 0]
        rest = bounds[~chosen]
        # Bounds and logits are rounded in different orders.
        self.others = float(rest.max()) * (1 + 1e-4) + 1e-4 if len(rest) else float("-inf")
        self.part = _columns(W, self.tokens, shape)

    def most_likely(self, reading: _Reading) -> Int64[Tensor, "sentence"]:
        logits = reading.logits(self.part)[:, : len(self.tokens)].clamp(max=self.shape.ceiling)
        # Not argmax over equals in any order: at the ceiling several tokens can be equal, and the first is meant.
        top = logits.max(1).values
        winners = self.tokens[(logits == top[:, None]).int().argmax(1)]
        unsure = top <= self.others
        if bool(unsure.any()):
            every = clipped(raw_logits(self.W, reading.attended[unsure], self.shape), self.shape)
            winners[unsure] = (every == every.max(1, keepdim=True).values).int().argmax(1)
        return winners


def bounds_of(W: Float[Tensor, "block input width"], shape: Shape) -> Float[Tensor, "token"]:
    """Return for each token what its logit cannot exceed."""
    ends = [0, shape.first_element, shape.first_third, shape.first_fourth, shape.first_value, shape.inputs]
    first, element, third, fourth, value = (W[:, start:end].amax(1) for start, end in pairwise(ends))
    most = torch.maximum(first + element + third, fourth + value)
    # The bound as a model of one input, which gets all attention.
    return raw_logits(most[:, None, :], most.new_ones(1, 1), shape)[0, : shape.size]


def _columns(
    W: Float[Tensor, "block input width"], tokens: Int64[Tensor, "token"], shape: Shape
) -> Float[Tensor, "block input width"]:
    """Return W of some output tokens, in as few blocks as hold them."""
    filled = -(-len(tokens) // BLOCK) * BLOCK
    blocks = W.reshape(len(W), shape.inputs, shape.neurons, BLOCK)
    out = W.new_zeros(filled, shape.inputs, shape.neurons)
    out[: len(tokens)] = blocks[tokens // BLOCK, :, :, tokens % BLOCK]
    parts = out.reshape(filled // BLOCK, BLOCK, shape.inputs, shape.neurons).permute(0, 2, 3, 1)
    return parts.reshape(filled // BLOCK, shape.inputs, shape.width).contiguous()
