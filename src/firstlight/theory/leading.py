"""Predicted weights: a mapping from names to arrays that computes a tensor when it is asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from jaxtyping import Float, Float64

from firstlight.errors import FirstlightError
from firstlight.theory.flow import FlowState, flow, second_order_factor
from firstlight.theory.terms import (
    Kind,
    coefficient,
    direction_rows,
    kind_of,
    row_blocks,
    weight_names,
)

if TYPE_CHECKING:
    from firstlight.statistics import Statistics

Order = Literal["leading", "second", "flow"]
ORDERS: tuple[Order, ...] = get_args(Order)
DTYPES = ("float32", "float64")


@dataclass(frozen=True, eq=False)
class LeadingTerms(Mapping[str, np.ndarray]):
    """The weights the theory predicts after some steps of full-batch gradient descent from zero.

    Names are those of checkpoints: `W_O`, `layers.0.W`, `layers.0.V`, `layers.0.P`, ... All layers have the same
    prediction. An array is computed when asked for; `blocks` gives it in parts when V is large.

    Attributes:
        stats: the statistics.
        steps: s.
        lr: the rate.
        layers: L.
        order: of the output weight: its leading term, the second order too, or the flow. The others are leading terms.
        dtype: float64 or float32.
    """

    stats: "Statistics"
    steps: int
    lr: float
    layers: int
    order: Order = "leading"
    dtype: str = "float64"
    _directions: dict[Kind, np.ndarray] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Float[np.ndarray, "..."]:
        if name not in self._names:
            raise KeyError(name)
        kind = kind_of(name)
        if kind == "output" and self.order == "flow":
            values = self._flowed.rows(0, len(self.stats.vocabulary))
        else:
            values = self._scaled(kind, self._direction(kind), slice(None))
        check_range(self, name, float(np.abs(values).max()))
        return rounded(values[0] if kind == "position" else values, self.dtype)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def blocks(self, name: str) -> Iterator[Float64[np.ndarray, "row column"]]:
        """Yield consecutive rows of a tensor in float64, never holding more than one block."""
        kind = kind_of(name)
        for low, high in row_blocks(self.stats, kind):
            if kind == "output" and self.order == "flow":
                yield self._flowed.rows(low, high)
            else:
                yield self._scaled(kind, direction_rows(self.stats, kind, low, high), slice(low, high))

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor without computing it."""
        size = len(self.stats.vocabulary)
        return (self.stats.window,) if kind_of(name) == "position" else (size, size)

    @cached_property
    def _names(self) -> list[str]:
        return weight_names(self.layers)

    @cached_property
    def _flowed(self) -> FlowState:
        return next(flow(self.stats.bigrams, [self.steps], self.lr))

    def _direction(self, kind: Kind) -> np.ndarray:
        """Return a direction, computed once for all layers."""
        if kind not in self._directions:
            if kind == "output":
                self._directions[kind] = self.stats.bigram
            elif kind == "attention":
                self._directions[kind] = self.stats.attention
            else:
                parts = [direction_rows(self.stats, kind, low, high) for low, high in row_blocks(self.stats, kind)]
                self._directions[kind] = np.concatenate(parts)
        return self._directions[kind]

    def _scaled(self, kind: Kind, direction: np.ndarray, rows: slice) -> np.ndarray:
        if kind == "output" and self.order == "second":
            return np.asarray(direction * second_order_factor(self.stats.alpha, self.steps, self.lr)[rows])
        return np.asarray(direction * coefficient(kind, self.steps, self.lr))


def rounded(values: Float64[np.ndarray, "..."], dtype: str) -> Float[np.ndarray, "..."]:
    """Return values in another type; `check_range` says whether that lost them."""
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(dtype, copy=False)


def check_range(terms: LeadingTerms, name: str, largest: float) -> None:
    """Raise an error if the largest entry of a tensor, as float64, is beyond the range of the wanted type."""
    limits = np.finfo(terms.dtype)
    if largest > 0 and not limits.tiny <= largest <= limits.max:
        raise FirstlightError(
            f"{name} after {terms.steps:,} steps of {terms.lr:g}: its largest entry {largest:.3g} is beyond the range "
            f"of {terms.dtype}, {limits.tiny:.3g} to {limits.max:.3g}"
        )


def leading_terms(
    stats: "Statistics", *, steps: int, lr: float, layers: int, order: Order = "leading", dtype: str = "float64"
) -> LeadingTerms:
    """Predict every weight after some steps of full-batch gradient descent from zero.

    Arguments:
        stats: the statistics of the corpus.
        steps: how many steps.
        lr: the rate.
        layers: how many layers.
        order: of the output weight: `leading`, `second` (the next term too) or `flow` (gradient descent on the bigram
            counts alone). The theory has only the leading term of the others.
        dtype: float64 or float32.
    """
    if steps < 0:
        raise FirstlightError(f"steps = {steps}: expected at least 0")
    if not 0 < lr < float("inf"):
        raise FirstlightError(f"lr = {lr}: expected a positive number")
    if layers < 1:
        raise FirstlightError(f"layers = {layers}: expected at least 1")
    if order not in ORDERS:
        raise FirstlightError(f"order {order!r}: expected one of {', '.join(ORDERS)}")
    if dtype not in DTYPES:
        raise FirstlightError(f"dtype {dtype!r}: expected one of {', '.join(DTYPES)}")
    stats.require_attention()
    return LeadingTerms(stats, steps, lr, layers, order, dtype)
