"""Compiled loops over the weights that a few clauses meet: an embedding bag, the activation and both their gradients.

W of one slot is `[block, input, width]`: an input's weights to 16 output tokens and all their neurons lie together, so
the innermost loops run over neighbours, and the tables of a block stay in the cache while a batch passes.
Pre-activations are never kept: adding up a few rows again costs less than reading them back from memory. Blocks do not
touch each other's numbers and the order of every sum is fixed, so results have the same bits in every run.

Loops are compiled for a number of neurons, a power q and with or without a leak, for what the compiler knows as a
constant it unrolls: that alone makes them 1.5 times as fast. `constants` are, in the type of W: bias, radius ρ, leak ϖ,
ceiling B, 1/ρ, 1/q, and one half, which each of two clauses gets. No array is sliced, as every view would be counted.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from firstlight.tracking.theory_model.shape import BLOCK

Array = np.ndarray[Any, Any]

# Sums may be reordered and products fused, but what is not a number stays so: it is how a divergence is seen.
_FAST = {"reassoc", "contract", "nsz", "arcp"}
_compiled = njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")


@njit(inline="always")
def _odd_power(u: Any, power: int) -> Any:
    """u^(power - 1) for the even powers there are."""
    square = u * u
    if power == 2:
        return u
    if power == 4:
        return u * square
    if power == 6:
        return u * square * square
    return u * square * square * square


# Constants are passed to these one by one: read from their array within a loop, each store might have changed them.
@njit(inline="always")
def _value(y: Any, power: int, leaky: bool, radius: Any, inverse: Any, share: Any, half: Any, leak: Any, B: Any) -> Any:
    """Apply sReLU."""
    zero = radius - radius
    t = min(max(y, zero), radius)
    up = t * _odd_power(t * inverse, power) * share + (max(y, radius) - radius)
    if leaky:
        below = min(max(-y, zero), B)
        bend = min(below, leak)
        up -= half * bend * bend + leak * (below - bend)
    return up


@njit(inline="always")
def _slope(y: Any, power: int, leaky: bool, radius: Any, inverse: Any, leak: Any, B: Any) -> Any:
    """Apply the derivative of sReLU."""
    zero = radius - radius
    up = _odd_power(min(max(y, zero), radius) * inverse, power)
    if leaky:
        up += min(max(-y, zero), leak) if -y < B else zero
    return up


@cache
def one_step_logits(neurons: int, power: int, leaky: bool) -> Callable[..., None]:
    """Return the loop that fills the logits of one slot for sentences of one action.

    Its arguments:
        W: `[block, input, width]`.
        rows: the five inputs of each sentence: x_1, g, x_0 in slot 3, x_0 in slot 4, y_0.
        constants: as above.
        logits: `[sentence, token]`, filled up to whole blocks.
    """
    width = neurons * BLOCK

    @_compiled
    def fill(W: Array, rows: Array, constants: Array, logits: Array) -> None:
        bias, radius, leak, B = constants[0], constants[1], constants[2], constants[3]
        inverse, share, half = constants[4], constants[5], constants[6]
        x = np.empty(width, W.dtype)
        for block in range(W.shape[0]):
            for n in range(rows.shape[0]):
                a, b, c, d, e = rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3], rows[n, 4]
                for k in range(width):
                    met = W[block, a, k] + W[block, b, k] + W[block, c, k] + W[block, d, k] + W[block, e, k]
                    x[k] = _value(bias + half * met, power, leaky, radius, inverse, share, half, leak, B)
                for j in range(BLOCK):
                    total = x[j]
                    for r in range(1, neurons):
                        total += x[r * BLOCK + j]
                    logits[n, block * BLOCK + j] = total

    return fill


@cache
def one_step_descent(neurons: int, power: int, leaky: bool) -> Callable[..., None]:
    """Return the loop that subtracts `rate` times the gradient from W of one slot.

    x_0 stands in slots 3 and 4 of every sentence, so both have the same gradient, which is summed once.

    Its arguments, beside those of `one_step_logits`:
        slopes: `[sentence, token]`, the gradient of the loss by the logits.
        rate: η.
        third, fourth: the inputs of variable 0 in slots 3 and 4.
        variables: how many there are.
    """
    width = neurons * BLOCK

    @_compiled
    def descend(
        W: Array, rows: Array, constants: Array, slopes: Array, rate: Any, third: int, fourth: int, variables: int
    ) -> None:
        bias, radius, leak, B = constants[0], constants[1], constants[2], constants[3]
        inverse, half = constants[4], constants[6]
        zero, scale = bias - bias, rate * half
        x, step = np.empty(width, W.dtype), np.empty(W.shape[1:], W.dtype)
        for block in range(W.shape[0]):
            step[:] = zero
            for n in range(rows.shape[0]):
                a, b, c, d, e = rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3], rows[n, 4]
                for r in range(neurons):
                    for j in range(BLOCK):
                        k = r * BLOCK + j
                        met = W[block, a, k] + W[block, b, k] + W[block, c, k] + W[block, d, k] + W[block, e, k]
                        x[k] = (
                            _slope(bias + half * met, power, leaky, radius, inverse, leak, B)
                            * slopes[n, block * BLOCK + j]
                        )
                for k in range(width):
                    step[a, k] += x[k]
                for k in range(width):
                    step[b, k] += x[k]
                for k in range(width):
                    step[c, k] += x[k]
                for k in range(width):
                    step[e, k] += x[k]
            for i in range(variables):
                for k in range(width):
                    step[fourth + i, k] = step[third + i, k]
            for i in range(step.shape[0]):
                for k in range(width):
                    W[block, i, k] -= scale * step[i, k]

    return descend


@njit(inline="always")
def _gather(W: Array, block: int, predicates: Array, answers: Array, n: int, width: int, clauses: Array) -> None:
    """What each clause of a sentence gives to the pre-activations of a block."""
    count = predicates.shape[1]
    for i in range(count):
        a, b, c = predicates[n, i, 0], predicates[n, i, 1], predicates[n, i, 2]
        for k in range(width):
            clauses[i, k] = W[block, a, k] + W[block, b, k] + W[block, c, k]
    for i in range(answers.shape[1]):
        a, b = answers[n, i, 0], answers[n, i, 1]
        for k in range(width):
            clauses[count + i, k] = W[block, a, k] + W[block, b, k]


@njit(inline="always")
def _mix(clauses: Array, attention: Array, n: int, query: int, bias: Any, width: int, x: Array) -> None:
    """Pre-activations of a block from clauses and the attention they get."""
    for k in range(width):
        x[k] = bias
    for i in range(attention.shape[2]):
        weight = attention[n, query, i]
        if weight != 0:
            for k in range(width):
                x[k] += weight * clauses[i, k]


@cache
def attended_logits(neurons: int, power: int, leaky: bool) -> Callable[..., None]:
    """Return the loop that fills the logits of one slot for queries that attend to several clauses.

    Its arguments:
        W: `[block, input, width]`.
        predicates: `[sentence, clause, 3]`, inputs.
        answers: `[sentence, place, 2]`, inputs.
        attention: `[sentence, query, clause]`, predicates first; zero where a query does not see an answer.
        constants: as above.
        logits: `[sentence, query, token]`, filled up to whole blocks.
    """
    width = neurons * BLOCK

    @_compiled
    def fill(W: Array, predicates: Array, answers: Array, attention: Array, constants: Array, logits: Array) -> None:
        bias, radius, leak, B = constants[0], constants[1], constants[2], constants[3]
        inverse, share, half = constants[4], constants[5], constants[6]
        x, clauses = np.empty(width, W.dtype), np.empty((attention.shape[2], width), W.dtype)
        for block in range(W.shape[0]):
            for n in range(attention.shape[0]):
                _gather(W, block, predicates, answers, n, width, clauses)
                for query in range(attention.shape[1]):
                    _mix(clauses, attention, n, query, bias, width, x)
                    for k in range(width):
                        x[k] = _value(x[k], power, leaky, radius, inverse, share, half, leak, B)
                    for j in range(BLOCK):
                        total = x[j]
                        for r in range(1, neurons):
                            total += x[r * BLOCK + j]
                        logits[n, query, block * BLOCK + j] = total

    return fill


@cache
def attention_slopes(neurons: int, power: int, leaky: bool) -> Callable[..., None]:
    """Return the loop that fills the gradient of the loss by the attention that each clause gets.

    Its arguments, beside those of `attended_logits`:
        slopes: `[sentence, query, token]`, the gradient by the logits.
        out: as `attention`.
    """
    width = neurons * BLOCK

    @_compiled
    def fill(
        W: Array, predicates: Array, answers: Array, attention: Array, constants: Array, slopes: Array, out: Array
    ) -> None:
        bias, radius, leak, B = constants[0], constants[1], constants[2], constants[3]
        inverse, zero = constants[4], bias - bias
        x, clauses = np.empty(width, W.dtype), np.empty((attention.shape[2], width), W.dtype)
        out[:] = zero
        for block in range(W.shape[0]):
            for n in range(attention.shape[0]):
                _gather(W, block, predicates, answers, n, width, clauses)
                for query in range(attention.shape[1]):
                    _mix(clauses, attention, n, query, bias, width, x)
                    for r in range(neurons):
                        for j in range(BLOCK):
                            k = r * BLOCK + j
                            x[k] = (
                                _slope(x[k], power, leaky, radius, inverse, leak, B)
                                * slopes[n, query, block * BLOCK + j]
                            )
                    for i in range(attention.shape[2]):
                        if attention[n, query, i] != 0:
                            total = zero
                            for k in range(width):
                                total += x[k] * clauses[i, k]
                            out[n, query, i] += total

    return fill


@cache
def summed_activations(neurons: int, power: int, leaky: bool) -> Callable[..., None]:
    """Return the loop that turns pre-activations of a block without their bias, `[query, width]`, into its logits."""
    width = neurons * BLOCK

    @_compiled
    def fill(x: Array, constants: Array, logits: Array, first: int) -> None:
        bias, radius, leak, B = constants[0], constants[1], constants[2], constants[3]
        inverse, share, half = constants[4], constants[5], constants[6]
        values = np.empty(width, x.dtype)
        for n in range(x.shape[0]):
            for k in range(width):
                values[k] = _value(bias + x[n, k], power, leaky, radius, inverse, share, half, leak, B)
            for j in range(BLOCK):
                total = values[j]
                for r in range(1, neurons):
                    total += values[r * BLOCK + j]
                logits[n, first + j] = total

    return fill
