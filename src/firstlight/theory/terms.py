"""The four leading terms of Theorem 4.1: the direction each weight grows in, and how far it has come after s steps.

weight      symbol  direction          growth after s steps      axes of the direction
output      W_O     B                  s lr                      current, next
value       V       Phi^T B^T          C(s,2) lr^2               prefix, current
attention   W       Q                  (3C(s,4)+2C(s,3)) lr^4    query, key
position    P       Delta              (3C(s,4)+2C(s,3)) lr^4    offset

The directions are statistics of the corpus and the same for every layer.
"""

from fractions import Fraction
from math import comb
from typing import Literal, get_args

from firstlight.errors import FirstlightError

Kind = Literal["output", "value", "attention", "position"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# How a checkpoint calls the weights of each kind; those of a layer have its number before.
_LETTER: dict[Kind, str] = {"value": "V", "attention": "W", "position": "P"}
_KIND = {letter: kind for kind, letter in _LETTER.items()}
_POWER: dict[Kind, int] = {"output": 1, "value": 2, "attention": 4, "position": 4}


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
