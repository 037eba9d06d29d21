"""How well a weight agrees with its prediction, row block by row block, at any scale.

Entries of early attention weights are around 1e-20 and smaller, their squares 1e-40, beyond float32. Sums of squares
are kept in float64 with an exponent of their own, so nothing underflows and nobody has to multiply by 1e10 first.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

# Between 2^-400 and 2^400 the squares of a tensor's largest entries are ordinary numbers.
_SAFE_EXPONENT = 400


@dataclass(frozen=True)
class Agreement:
    """One weight beside its prediction.

    Attributes:
        cosine: of the two as vectors, or None when one of them is zero.
        relative_error: the norm of the deviation over that of the prediction, or None when that is zero.
        deviation: the Frobenius norm of weight - prediction.
        norm: the Frobenius norm of the weight.
        predicted_norm: that of the prediction.
    """

    cosine: float | None
    relative_error: float | None
    deviation: float
    norm: float
    predicted_norm: float


class _Sum:
    """A sum of numbers of any size: value x 2^exponent, with |value| between a half and one."""

    def __init__(self) -> None:
        self.value, self.exponent = 0.0, 0

    def add(self, value: float, exponent: int) -> None:
        """Add value x 2^exponent."""
        if value == 0:
            return
        common = max(self.exponent, exponent) if self.value else exponent
        total = math.ldexp(self.value, self.exponent - common) + math.ldexp(value, exponent - common)
        self.value, shift = math.frexp(total)
        self.exponent = common + shift

    def root(self) -> float:
        """Return the square root."""
        odd = self.exponent % 2
        return math.ldexp(math.sqrt(math.ldexp(self.value, odd)), (self.exponent - odd) // 2)


class Comparison:
    """Takes blocks of a weight and of its prediction, and says how well they agree."""

    def __init__(self) -> None:
        self._own, self._predicted, self._product, self._deviation = _Sum(), _Sum(), _Sum(), _Sum()

    def add(self, weight: Float[np.ndarray, "*axes"], predicted: Float[np.ndarray, "*axes"]) -> None:
        """Take one block of both, of finite numbers."""
        own, own_exponent = _scaled(np.asarray(weight, np.float64))
        theirs, their_exponent = _scaled(np.asarray(predicted, np.float64))
        self._own.add(float(own @ own), 2 * own_exponent)
        self._predicted.add(float(theirs @ theirs), 2 * their_exponent)
        self._product.add(float(own @ theirs), own_exponent + their_exponent)
        # Subtracted before it is squared: from the three sums above a small deviation could not be told.
        gap, gap_exponent = _scaled(np.asarray(weight, np.float64) - predicted)
        self._deviation.add(float(gap @ gap), 2 * gap_exponent)

    def result(self) -> Agreement:
        """Return the agreement of all blocks so far."""
        own, predicted, deviation = self._own.root(), self._predicted.root(), self._deviation.root()
        cosine = None
        if self._own.value and self._predicted.value:
            power = self._own.exponent + self._predicted.exponent
            # An even power has an exact root; what an odd one leaves goes under the root.
            size = math.sqrt(math.ldexp(self._own.value * self._predicted.value, power % 2))
            ratio = self._product.value / size
            cosine = math.ldexp(ratio, self._product.exponent - (power - power % 2) // 2)
        return Agreement(cosine, deviation / predicted if predicted else None, deviation, own, predicted)


def agreement(weight: Float[np.ndarray, "*axes"], predicted: Float[np.ndarray, "*axes"]) -> Agreement:
    """Compare a weight with its prediction, both held in memory."""
    comparison = Comparison()
    comparison.add(weight, predicted)
    return comparison.result()


def _scaled(values: Float[np.ndarray, "*axes"]) -> tuple[Float[np.ndarray, " entry"], int]:
    """Return values as a vector whose squares neither underflow nor overflow, and the power of two that undoes it."""
    flat = values.reshape(-1)
    largest = float(max(flat.max(initial=0.0), -flat.min(initial=0.0)))
    exponent = math.frexp(largest)[1]
    if largest == 0 or abs(exponent) < _SAFE_EXPONENT:
        return flat, 0
    return np.ldexp(flat, -exponent), exponent
