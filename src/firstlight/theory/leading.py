"""Predicted weights: a mapping from names to arrays that computes a tensor when it is asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from jaxtyping import Float, Float64

from firstlight.errors import FirstlightError
from firstlight.theory.directions import Directions
from firstlight.theory.flow import FlowState, flow, second_order_factor
from firstlight.theory.terms import Kind, coefficient, kind_of, weight_names

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
        directions: of the corpus.
        steps: s.
        lr: the rate.
        layers: L.
        order: of the output weight: its leading term, the second order too, or the flow. The others are leading terms.
        dtype: float64 or float32.
    """

    directions: Directions
    steps: int
    lr: float
    layers: int
    order: Order = "leading"
    dtype: str = "float64"
    _state: FlowState | None = field(default=None, repr=False)

    def __getitem__(self, name: str) -> Float[np.ndarray, "..."]:
        if name not in self._names:
            raise KeyError(name)
        kind = kind_of(name)
        values = self._predicted(kind, slice(0, self.directions.shape(kind)[0]), self.directions.whole(kind))
        check_range(self, name, float(np.abs(values).max()))
        return rounded(values[0] if kind == "position" else values, self.dtype)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def blocks(self, name: str) -> Iterator[tuple[slice, Float64[np.ndarray, "row column"]]]:
        """Yield ranges of rows and their values in float64; what is large is never held as a whole."""
        kind = kind_of(name)
        for part, direction in self.directions.blocks(kind):
            yield part, self._predicted(kind, part, direction)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor without computing it."""
        kind = kind_of(name)
        return self.directions.shape(kind)[1:] if kind == "position" else self.directions.shape(kind)

    @cached_property
    def _names(self) -> list[str]:
        return weight_names(self.layers)

    @cached_property
    def _flowed(self) -> FlowState:
        return self._state or next(flow(self.directions.stats.bigrams, [self.steps], self.lr))

    def _predicted(
        self, kind: Kind, part: slice, direction: Float64[np.ndarray, "row column"]
    ) -> Float64[np.ndarray, "row column"]:
        if kind == "output" and self.order == "flow":
            return self._flowed.rows(part.start, part.stop)
        if kind == "output" and self.order == "second":
            factor = second_order_factor(self.directions.stats.alpha, self.steps, self.lr)
            return np.asarray(direction * factor[part])
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
    return next(leading_terms_along(stats, [steps], lr=lr, layers=layers, order=order, dtype=dtype))


def leading_terms_along(
    stats: "Statistics",
    steps: Sequence[int],
    *,
    lr: float,
    layers: int,
    order: Order = "leading",
    dtype: str = "float64",
) -> Iterator[LeadingTerms]:
    """Yield the predictions for several numbers of steps, which must ascend; they share all that does not change.

    Arguments as in `leading_terms`.
    """
    if min(steps, default=0) < 0:
        raise FirstlightError(f"steps = {min(steps)}: expected at least 0")
    if not 0 < lr < float("inf"):
        raise FirstlightError(f"lr = {lr}: expected a positive number")
    if layers < 1:
        raise FirstlightError(f"layers = {layers}: expected at least 1")
    if order not in ORDERS:
        raise FirstlightError(f"order {order!r}: expected one of {', '.join(ORDERS)}")
    if dtype not in DTYPES:
        raise FirstlightError(f"dtype {dtype!r}: expected one of {', '.join(DTYPES)}")
    stats.require_attention()
    directions = Directions(stats)
    states = flow(stats.bigrams, steps, lr) if order == "flow" else repeat(None, len(steps))
    for count, state in zip(steps, states, strict=True):
        yield LeadingTerms(directions, count, lr, layers, order, dtype, state)
