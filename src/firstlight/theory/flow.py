"""The output weight beyond its leading term, from the bigram counts alone: no pass over the corpus.

While the other weights are small the output is trained on bigrams by itself,

    W(s+1) = W(s) + lr (C / P - diag(alpha) softmax(W(s))),    W(0) = 0,

rows one by one. Entries of a row that follow its token never (count 0) start equal and stay equal, so a row is its
counted entries and one number for the rest: a step costs the number of distinct bigrams, not V x V.
The second order of it is W(s) = s lr B - C(s,2) lr^2 / V diag(alpha) B.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64, Int64

from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from firstlight.statistics.bigrams import Bigrams


@dataclass(frozen=True)
class FlowState:
    """The output weight after some steps of the flow.

    Attributes:
        steps: how many.
        starts: where each row starts in `columns` and `values`.
        columns: the next token of each entry.
        values: the entries of counted bigrams.
        rest: the entry of every other column of each row.
    """

    steps: int
    starts: Int64[np.ndarray, " row_or_end"]
    columns: Int64[np.ndarray, " entry"]
    values: Float64[np.ndarray, " entry"]
    rest: Float64[np.ndarray, " current"]

    def rows(self, low: int, high: int) -> Float64[np.ndarray, "current next"]:
        """Return dense rows."""
        dense = np.repeat(self.rest[low:high, None], len(self.rest), axis=1)
        start, stop = self.starts[low], self.starts[high]
        rows = np.repeat(np.arange(high - low), np.diff(self.starts[low : high + 1]))
        dense[rows, self.columns[start:stop]] = self.values[start:stop]
        return dense


def flow(bigrams: "Bigrams", steps: Sequence[int], lr: float) -> Iterator[FlowState]:
    """Yield the output weight after each number of steps, which must ascend.

    Arguments:
        bigrams: the counts.
        steps: after how many steps.
        lr: the rate.
    """
    counts = bigrams.counts.tocsr()
    starts, columns = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    values, rest = np.zeros(len(columns)), np.zeros(counts.shape[0])
    share = counts.data / bigrams.positions
    # Rows of tokens that never occur have no entry and never move.
    active = np.flatnonzero(np.diff(starts))
    heads, entries = starts[active], np.diff(starts)[active]
    alpha, others = bigrams.alpha[active], counts.shape[1] - entries
    moving = rest[active]
    done = 0
    for wanted in steps:
        if wanted < done:
            raise FirstlightError(f"flow after {wanted} steps, asked for after {done}: expected steps that ascend")
        for _ in range(wanted - done):
            peak = np.maximum(np.maximum.reduceat(values, heads), np.where(others > 0, moving, -np.inf))
            mass, moving_mass = np.exp(values - np.repeat(peak, entries)), np.exp(moving - peak)
            total = np.add.reduceat(mass, heads) + others * moving_mass
            values += lr * (share - np.repeat(alpha / total, entries) * mass)
            moving -= lr * alpha / total * moving_mass
        done = wanted
        rest[active] = moving
        yield FlowState(wanted, starts, columns, values.copy(), rest.copy())


def second_order_factor(alpha: Float64[np.ndarray, " current"], steps: int, lr: float) -> Float64[np.ndarray, "row 1"]:
    """Return what each row of B is multiplied by in the second order of the output weight."""
    first, second = float(steps * Fraction(lr)), float(comb(steps, 2) * Fraction(lr) ** 2)
    return (first - second / len(alpha) * alpha)[:, None]
