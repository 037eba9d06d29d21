"""One update of W or of Q, with gradients written out: exact, and only what the losses ask for."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.theory_model import kernels
from firstlight.tracking.theory_model.attention import Context, Reach, attend, attended_inputs, attention_gradient
from firstlight.tracking.theory_model.feed_forward import activation, bag_logits, clipped, constants, prefers_bags
from firstlight.tracking.theory_model.parameters import Weights
from firstlight.tracking.theory_model.shape import BLOCK, VALUE_SLOT, Shape
from firstlight.tracking.theory_model.threads import shares, spread


def descend_ffn(
    W: Float[Tensor, "slot block input width"],
    rows: Int64[Tensor, "sentence 5"],
    targets: Int64[Tensor, "sentence slot"],
    shape: Shape,
    rates: Sequence[float],
) -> float:
    """Descend on the loss of all five slots (6a) at L = 1 and Q = 0, in place, and return the loss before it.

    Arguments:
        W: the weights.
        rows: the inputs of the predicate and of answer 0.
        targets: the tokens of answer 1.
        shape: of the model.
        rates: η of each slot.
    """
    descend = _descend_compiled if W.device.type == "cpu" else _descend_by_product
    return sum(spread(lambda slot: descend(W[slot], rows, targets[:, slot], shape, rates[slot]), range(SLOTS)))


def _descend_compiled(
    W: Float[Tensor, "block input width"], rows: Tensor, targets: Tensor, shape: Shape, rate: float
) -> float:
    weights, known = W.numpy(), constants(shape, W.numpy().dtype)
    logits = torch.empty(len(rows), len(W) * BLOCK, dtype=W.dtype)
    kernels.one_step_logits(*shape.loops)(weights, rows.numpy(), known, logits.numpy())
    loss, slope = cross_entropy(logits, targets, shape)
    places = (shape.first_third, shape.first_fourth, shape.tokens.variables)
    eta = known.dtype.type(rate)
    kernels.one_step_descent(*shape.loops)(weights, rows.numpy(), known, slope.numpy(), eta, *places)
    return loss


def _descend_by_product(
    W: Float[Tensor, "block input width"], rows: Tensor, targets: Tensor, shape: Shape, rate: float
) -> float:
    attended = torch.zeros(len(rows), shape.inputs, dtype=W.dtype, device=W.device)
    attended.scatter_(1, rows, 0.5)
    logits, back = _with_slopes(W, attended, shape)
    loss, slope = cross_entropy(logits, targets, shape)
    for block in range(len(W)):
        W[block].sub_(attended.T @ back(block, slope), alpha=rate)
    return loss


def attention_gradients(
    weights: Weights,
    context: Context,
    targets: Int64[Tensor, "sentence query"],
    reach: Reach,
) -> tuple[float, Float[Tensor, "query input"], Float[Tensor, "sentence query clause"]]:
    """Return the loss of slot 5, summed over queries, its gradient by Q, and the attention.

    Arguments:
        weights: W and Q.
        context: with the queries whose next answers count.
        targets: the tokens of their values.
        reach: which entries of Q are used.
    """
    shape, W = reach.shape, weights.W[VALUE_SLOT]
    attention = attend(weights.Q, context, reach)
    loss, slope = (_bags if prefers_bags(W, context) else _product)(W, context, attention, targets, shape)
    return loss, attention_gradient(attention, slope, context, reach), attention


def _bags(
    W: Float[Tensor, "block input width"], context: Context, attention: Tensor, targets: Tensor, shape: Shape
) -> tuple[float, Tensor]:
    logits = bag_logits(W, context, attention, shape)
    loss, flat = cross_entropy(logits.flatten(0, 1), targets.reshape(-1), shape, len(attention))
    weights, slope, shown = W.numpy(), flat.reshape(logits.shape).numpy(), attention.numpy()
    predicates, answers = context.predicates.numpy(), context.answers.numpy()
    out = torch.empty_like(attention)
    fill, known, filled = kernels.attention_slopes(*shape.loops), constants(shape, slope.dtype), out.numpy()
    spread(
        lambda part: fill(weights, predicates[part], answers[part], shown[part], known, slope[part], filled[part]),
        shares(len(attention)),
    )
    return loss, out


def _product(
    W: Float[Tensor, "block input width"], context: Context, attention: Tensor, targets: Tensor, shape: Shape
) -> tuple[float, Tensor]:
    attended = attended_inputs(attention, context, shape.inputs).flatten(0, 1)
    logits, back = _with_slopes(W, attended, shape)
    loss, slope = cross_entropy(logits, targets.reshape(-1), shape, len(attention))
    inputs = torch.zeros_like(attended)
    for block in range(len(W)):
        inputs.addmm_(back(block, slope), W[block].T)
    inputs = inputs.reshape(*attention.shape[:2], -1)
    parts = [
        sum(
            inputs.gather(2, clauses[:, None, :, token].expand(-1, inputs.shape[1], -1))
            for token in range(clauses.shape[2])
        )
        for clauses in (context.predicates, context.answers)
    ]
    return loss, torch.cat(parts, dim=2)  # type: ignore[arg-type]


def _with_slopes(
    W: Float[Tensor, "block input width"], attended: Float[Tensor, "query input"], shape: Shape
) -> tuple[Tensor, Callable[[int, Tensor], Tensor]]:
    """Return logits, and the gradient by a block's pre-activations as a function of the gradient by logits."""
    logits, slopes = [], []
    for block in W:
        values, slope = activation(attended @ block + shape.bias, shape)
        logits.append(values.reshape(len(attended), -1, BLOCK).sum(1))
        slopes.append(slope)

    def back(block: int, slope: Tensor) -> Tensor:
        part = slope[:, None, block * BLOCK : (block + 1) * BLOCK]
        return (slopes[block].reshape(len(attended), -1, BLOCK) * part).flatten(1)

    return torch.cat(logits, dim=1), back


def cross_entropy(
    logits: Float[Tensor, "query token"], targets: Int64[Tensor, "query"], shape: Shape, divisor: int | None = None
) -> tuple[float, Float[Tensor, "query token"]]:
    """Return the mean loss after clipping and its gradient by the logits before it, zero where they were clipped.

    Arguments:
        logits: before clipping, filled up to whole blocks.
        targets: the true tokens.
        shape: of the model.
        divisor: what the sum over queries is divided by; their number when None.
    """
    count = divisor or len(logits)
    kept = clipped(logits, shape)
    places = targets[:, None]
    largest = kept.amax(1, keepdim=True)
    right = kept.gather(1, places) - largest
    chances = kept.sub_(largest).exp_()
    total = chances.sum(1, keepdim=True)
    loss = float((total.log() - right).sum(dtype=torch.float64)) / count
    slope = torch.zeros_like(logits)
    inside = slope[:, : shape.size]
    torch.div(chances, total, out=inside)
    inside.scatter_add_(1, places, inside.new_full(places.shape, -1.0))
    inside.mul_(logits[:, : shape.size] <= shape.ceiling).div_(count)
    return loss, slope
