"""Compiled loops over the weights that a few clauses meet: an embedding bag, the activation and both their gradients.

W of one slot is `[block, input, width]`: an input's weights to 16 output tokens and all their neurons lie together, so
the innermost loops run over neighbours, and the tables of a block stay in the cache while a batch passes.
Pre-activations are never kept: adding up a few rows again costs less than reading them back from memory. Blocks do not
touch each other's numbers and the order of every sum is fixed, so results have the same bits in every run.

`constants` are, in the type of W: bias, radius ρ, leak ϖ, ceiling B, and the weight of a clause where all are equal.
"""

from typing import Any

import numpy as np
from numba import njit

from firstlight.tracking.theory_model.shape import BLOCK

Array = np.ndarray[Any, Any]

# Sums may be reordered and products fused, but what is not a number stays so: it is how a divergence is seen.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(inline="always")
def _odd_power(u: Any, power: int) -> Any:
    """u^(power - 1) for the even powers there are; a constant branch that the compiler takes out of loops."""
    square = u * u
    if power == 2:
        return u
    if power == 4:
        return u * square
    if power == 6:
        return u * square * square
    return u * square * square * square


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def activate(x: Array, power: int, constants: Array) -> None:
    """Replace pre-activations by sReLU of them."""
    zero, radius, leak, ceiling = constants[0] * 0, constants[1], constants[2], constants[3]
    one = radius / radius
    inverse, share = one / radius, one / constants.dtype.type(power)
    half = one / (one + one)
    if leak == zero:
        for k in range(x.shape[0]):
            t = min(max(x[k], zero), radius)
            x[k] = t * _odd_power(t * inverse, power) * share + max(x[k] - radius, zero)
    else:
        for k in range(x.shape[0]):
            t = min(max(x[k], zero), radius)
            below = min(max(-x[k], zero), ceiling)
            bend = min(below, leak)
            up = t * _odd_power(t * inverse, power) * share + max(x[k] - radius, zero)
            x[k] = up - half * bend * bend - leak * (below - bend)


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def slopes(x: Array, power: int, constants: Array) -> None:
    """Replace pre-activations by the derivative of sReLU there."""
    zero, radius, leak, ceiling = constants[0] * 0, constants[1], constants[2], constants[3]
    inverse = radius / radius / radius
    if leak == zero:
        for k in range(x.shape[0]):
            x[k] = _odd_power(min(max(x[k], zero), radius) * inverse, power)
    else:
        for k in range(x.shape[0]):
            below = min(max(-x[k], zero), leak)
            if -x[k] >= ceiling:
                below = zero
            x[k] = _odd_power(min(max(x[k], zero), radius) * inverse, power) + below


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def add_neurons(values: Array, out: Array) -> None:
    """Sum the values of a block over neurons."""
    for j in range(BLOCK):
        out[j] = values[j]
    for start in range(BLOCK, values.shape[0], BLOCK):
        for j in range(BLOCK):
            out[j] += values[start + j]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def sum_activations(x: Array, power: int, constants: Array, out: Array) -> None:
    """Turn pre-activations of a block, without their bias and overwritten, into its logits, `[query, BLOCK]`."""
    bias = constants[0]
    for n in range(x.shape[0]):
        row = x[n]
        for k in range(row.shape[0]):
            row[k] += bias
        activate(row, power, constants)
        add_neurons(row, out[n])


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _one_step(W: Array, rows: Array, constants: Array, x: Array) -> None:
    """Pre-activations of one block for a predicate and an answer that get equal attention."""
    bias, half = constants[0], constants[4]
    a, b, c, d, e = W[rows[0]], W[rows[1]], W[rows[2]], W[rows[3]], W[rows[4]]
    for k in range(x.shape[0]):
        x[k] = bias + half * (a[k] + b[k] + c[k] + d[k] + e[k])


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def one_step_logits(W: Array, rows: Array, power: int, constants: Array, logits: Array) -> None:
    """Fill the logits of one slot for sentences of one action.

    Arguments:
        W: `[block, input, width]`.
        rows: the five inputs of each sentence: x_1, g, x_0 in slot 3, x_0 in slot 4, y_0.
        logits: `[sentence, token]`, filled up to whole blocks.
    """
    x = np.empty(W.shape[2], W.dtype)
    for block in range(W.shape[0]):
        for n in range(rows.shape[0]):
            _one_step(W[block], rows[n], constants, x)
            activate(x, power, constants)
            add_neurons(x, logits[n, block * BLOCK : (block + 1) * BLOCK])


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def one_step_descent(
    W: Array,
    rows: Array,
    power: int,
    constants: Array,
    slope: Array,
    rate: Any,
    third: int,
    fourth: int,
    variables: int,
) -> None:
    """Subtract `rate` times the gradient from W of one slot.

    x_0 stands in slots 3 and 4 of every sentence, so both have the same gradient, which is summed once.

    Arguments:
        slope: `[sentence, token]`, the gradient of the loss by the logits.
        third, fourth: the inputs of variable 0 in slots 3 and 4.
        variables: how many there are.
    """
    zero, half = constants[0] * 0, constants[4]
    x = np.empty(W.shape[2], W.dtype)
    step = np.empty(W.shape[1:], W.dtype)
    for block in range(W.shape[0]):
        step[:] = zero
        for n in range(rows.shape[0]):
            _one_step(W[block], rows[n], constants, x)
            slopes(x, power, constants)
            for start in range(0, x.shape[0], BLOCK):
                for j in range(BLOCK):
                    x[start + j] *= slope[n, block * BLOCK + j]
            for part in (0, 1, 2, 4):
                row = step[rows[n, part]]
                for k in range(x.shape[0]):
                    row[k] += x[k]
        step[fourth : fourth + variables] = step[third : third + variables]
        scale = rate * half
        weights = W[block]
        for i in range(step.shape[0]):
            for k in range(step.shape[1]):
                weights[i, k] -= scale * step[i, k]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _clauses(W: Array, predicates: Array, answers: Array, clauses: Array) -> None:
    """What each clause of a sentence gives to the pre-activations of a block."""
    width = W.shape[1]
    for c in range(predicates.shape[0]):
        a, b, d = W[predicates[c, 0]], W[predicates[c, 1]], W[predicates[c, 2]]
        out = clauses[c]
        for k in range(width):
            out[k] = a[k] + b[k] + d[k]
    for c in range(answers.shape[0]):
        a, b = W[answers[c, 0]], W[answers[c, 1]]
        out = clauses[predicates.shape[0] + c]
        for k in range(width):
            out[k] = a[k] + b[k]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _attended(clauses: Array, weights: Array, bias: Any, x: Array) -> None:
    """Pre-activations of a block from clauses and the attention they get."""
    for k in range(x.shape[0]):
        x[k] = bias
    for c in range(weights.shape[0]):
        weight, clause = weights[c], clauses[c]
        if weight != 0:
            for k in range(x.shape[0]):
                x[k] += weight * clause[k]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def attended_logits(
    W: Array, predicates: Array, answers: Array, attention: Array, power: int, constants: Array, logits: Array
) -> None:
    """Fill the logits of one slot for queries that attend to several clauses.

    Arguments:
        W: `[block, input, width]`.
        predicates: `[sentence, clause, 3]`, inputs.
        answers: `[sentence, place, 2]`, inputs.
        attention: `[sentence, query, clause]`, predicates first; zero where a query does not see an answer.
        logits: `[sentence, query, token]`, filled up to whole blocks.
    """
    x = np.empty(W.shape[2], W.dtype)
    clauses = np.empty((attention.shape[2], W.shape[2]), W.dtype)
    for block in range(W.shape[0]):
        for n in range(attention.shape[0]):
            _clauses(W[block], predicates[n], answers[n], clauses)
            for query in range(attention.shape[1]):
                _attended(clauses, attention[n, query], constants[0], x)
                activate(x, power, constants)
                add_neurons(x, logits[n, query, block * BLOCK : (block + 1) * BLOCK])


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def attention_slopes(
    W: Array,
    predicates: Array,
    answers: Array,
    attention: Array,
    power: int,
    constants: Array,
    slope: Array,
    out: Array,
) -> None:
    """Fill the gradient of the loss by the attention that each clause gets.

    Arguments:
        slope: `[sentence, query, token]`, the gradient by the logits.
        out: as `attention`.
    """
    zero = constants[0] * 0
    x = np.empty(W.shape[2], W.dtype)
    clauses = np.empty((attention.shape[2], W.shape[2]), W.dtype)
    out[:] = zero
    for block in range(W.shape[0]):
        for n in range(attention.shape[0]):
            _clauses(W[block], predicates[n], answers[n], clauses)
            for query in range(attention.shape[1]):
                _attended(clauses, attention[n, query], constants[0], x)
                slopes(x, power, constants)
                for start in range(0, x.shape[0], BLOCK):
                    for j in range(BLOCK):
                        x[start + j] *= slope[n, query, block * BLOCK + j]
                for c in range(attention.shape[2]):
                    if attention[n, query, c] != 0:
                        total, clause = zero, clauses[c]
                        for k in range(x.shape[0]):
                            total += x[k] * clause[k]
                        out[n, query, c] += total
