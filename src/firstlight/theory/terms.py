"""The four leading terms of Theorem 4.1: the direction each weight grows in, and how far it has come after s steps.

weight      symbol  direction          growth after s steps      axes of the direction
output      W_O     B                  s lr                      current, next
value       V       Phi^T B^T          C(s,2) lr^2               prefix, current
attention   W       Q                  (3C(s,4)+2C(s,3)) lr^4    query, key
position    P       Delta              (3C(s,4)+2C(s,3)) lr^4    offset

The directions are statistics of the corpus and the same for every layer.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from jaxtyping import Float64

from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from firstlight.statistics import Statistics

Kind = Literal["output", "value", "attention", "position"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# How a checkpoint calls the weights of each kind; those of a layer have its number before.
_LETTER: dict[Kind, str] = {"value": "V", "attention": "W", "position": "P"}
_KIND = {letter: kind for kind, letter in _LETTER.items()}
_POWER: dict[Kind, int] = {"output": 1, "value": 2, "attention": 4, "position": 4}

_BLOCK_BYTES = 2**28


def names_of(kind: Kind, layers: int) -> list[str]:
    """Return what a checkpoint calls the weights of a kind, layer by layer."""
    return ["W_O"] if kind == "output" else [f"layers.{layer}.{_LETTER[kind]}" for layer in range(layers)]


def weight_names(layers: int) -> list[str]:
    """Return the names of all weights, in the order of a checkpoint."""
    return ["W_O", *(f"layers.{layer}.{letter}" for layer in range(layers) for letter in "WVP")]


def kind_of(name: str) -> Kind:
    """Return the kind of a weight from its name."""
    kind = "output" if name == "W_O" else _KIND.get(name.rpartition(".")[2])
    if kind is None:
        raise FirstlightError(f"weight {name!r}: expected W_O or layers.NUMBER.W, .V or .P")
    return kind


def layer_of(name: str) -> int | None:
    """Return the layer of a weight, None for the output."""
    return None if name == "W_O" else int(name.split(".")[1])


def growth(kind: Kind, steps: int) -> int:
    """Return the growth after a number of steps without its powers of the rate: an exact integer of any size."""
    if kind == "output":
        return steps
    if kind == "value":
        return comb(steps, 2)
    return 3 * comb(steps, 4) + 2 * comb(steps, 3)


def coefficient(kind: Kind, steps: int, lr: float) -> float:
    """Return what the direction is multiplied by after a number of steps, rounded once."""
    try:
        return float(growth(kind, steps) * Fraction(lr) ** _POWER[kind])
    except OverflowError:
        raise FirstlightError(f"{steps:,} steps of {lr:g}: the {kind} term is beyond the range of float64") from None


def gradient_coefficient(kind: Kind, steps: int, lr: float) -> float:
    """Return what the direction is multiplied by in -dL/dweight at the model of that many steps.

    The next step adds lr times it: it is the difference of two coefficients over the rate. At the model of s steps it
    is 1 for the output, s lr for the value, (s^3 - s^2)/2 lr^3 for attention and position.
    """
    step = growth(kind, steps + 1) - growth(kind, steps)
    return float(step * Fraction(lr) ** (_POWER[kind] - 1))


def direction_rows(stats: "Statistics", kind: Kind, low: int, high: int) -> Float64[np.ndarray, "row column"]:
    """Return some rows of the direction of a kind; the position has one row only and is all of it."""
    if kind == "position":
        return stats.position[None, :]
    tokens = np.arange(low, high)
    if kind == "output":
        return stats.rows("bigram", tokens)
    if kind == "attention":
        return stats.rows("attention", tokens)
    # Columns of Phi sum to 0, so the centring of B drops out of B Phi and the sparse counts are all of it.
    through = stats.bigrams.counts @ stats.columns("context", tokens)
    through /= stats.positions
    return np.ascontiguousarray(through.T)


def row_blocks(stats: "Statistics", kind: Kind) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, each of which takes a bounded amount of memory; one range where all fits."""
    if kind == "position":
        yield 0, 1
        return
    size = len(stats.vocabulary)
    step = max(1, _BLOCK_BYTES // (8 * size))
    for low in range(0, size, step):
        yield low, min(low + step, size)
