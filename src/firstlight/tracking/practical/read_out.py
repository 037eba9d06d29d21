"""The loss of a read-out, with a gradient of its own."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.tracking.practical.matmul import product


class _ReadOutLoss(torch.autograd.Function):
    """Logits, softmax and cross-entropy in one array, which becomes the gradient of the logits."""

    @staticmethod
    def forward(ctx: Any, state: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, scale: Tensor) -> Any:
        flat = product(state, weight, bias)
        logits = flat.view(*targets.shape, -1)
        logits -= logits.amax(-1, keepdim=True)
        at_target = logits.gather(-1, targets[..., None])
        total = logits.exp_().sum(-1, keepdim=True)
        losses = (total.log() - at_target).squeeze(-1)
        logits *= scale[:, None] / total
        logits.scatter_add_(-1, targets[..., None], (-scale[:, None]).expand_as(at_target))
        ctx.save_for_backward(state, weight, flat)
        by_slot = losses.sum(0)
        ctx.mark_non_differentiable(by_slot)
        return by_slot @ scale, by_slot

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        state, weight, flat = ctx.saved_tensors
        by_state, by_weight = product(flat, weight.T), product(flat.T, state.T)
        return by_state.mul_(gradient), by_weight.mul_(gradient), flat.sum(0).mul_(gradient), None, None


def read_out_loss(
    state: Float[Tensor, "answer channel"],
    weight: Float[Tensor, "slot_token channel"],
    bias: Float[Tensor, " slot_token"],
    targets: Int64[Tensor, "answer slot"],
    scale: Float[Tensor, " slot"],
) -> tuple[Float[Tensor, ""], Float[Tensor, " slot"]]:
    """Return the loss of a linear read-out a slot, and its parts.

    Arguments:
        state: what is read.
        weight: of the read-outs of all slots, one after the other.
        bias: of the same.
        targets: the right tokens.
        scale: what a cross-entropy of each slot counts.

    Returns:
        The sum over answers and slots of scale times cross-entropy, and the sums over answers of the cross-entropies,
        through which no gradient flows.
    """
    loss, by_slot = _ReadOutLoss.apply(state, weight, bias, targets, scale)  # type: ignore[no-untyped-call]
    return loss, by_slot
