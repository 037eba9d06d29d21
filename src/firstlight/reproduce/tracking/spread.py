"""Seeds together: their mean, how sure it is, and their ends; as cells of tables and as lines of plots."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from firstlight.report.plots import Line

BAND = (
    "Lines are means over seeds, dots are single seeds, bands go from the lowest seed to the highest. Tables have the "
    "mean and its 95 % interval (Student's t over seeds); numbers.json has the interval of each seed alone (Wilson's)."
)


@dataclass(frozen=True)
class Spread:
    """What one number is over seeds.

    Attributes:
        mean: over seeds.
        low: lower end of the 95 % interval of the mean (Student's t).
        high: its upper end.
        least: the lowest seed.
        most: the highest.
        seeds: how many.
    """

    mean: float
    low: float
    high: float
    least: float
    most: float
    seeds: int

    def cell(self, digits: int = 2) -> str:
        """Write the mean with its 95 % interval; a mean of equal values has none."""
        if self.seeds == 1 or self.least == self.most:
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


def spread(values: Sequence[float], within: tuple[float, float] = (-math.inf, math.inf)) -> Spread:
    """Return what a number is over seeds.

    Arguments:
        values: one of each seed.
        within: what the number cannot leave, nor can its interval.
    """
    from scipy import stats

    count, mean = len(values), float(np.mean(values))
    half = float(stats.t.ppf(0.975, count - 1) * np.std(values, ddof=1) / math.sqrt(count)) if count > 1 else math.inf
    low, high = max(within[0], mean - half), min(within[1], mean + half)
    return Spread(mean, low, high, min(values), max(values), count)


def difference(first: Sequence[float], second: Sequence[float]) -> Spread:
    """Return by how much the first exceeds the second, the same seeds of both beside each other."""
    return spread([a - b for a, b in zip(first, second, strict=True)])


@dataclass(frozen=True)
class Curve:
    """A number against another, over seeds.

    Attributes:
        name: in the legend.
        x: places.
        seeds: for each seed, a value at each place.
        within: what the values cannot leave.
    """

    name: str
    x: Sequence[float]
    seeds: Sequence[Sequence[float]]
    within: tuple[float, float] = (0.0, 1.0)

    @property
    def spreads(self) -> list[Spread]:
        """At each place, what it is over seeds."""
        return [spread(values, self.within) for values in zip(*self.seeds, strict=True)]

    def at(self, x: float) -> list[float]:
        """Return the value of each seed at a place."""
        place = list(self.x).index(x)
        return [seed[place] for seed in self.seeds]

    def mean(self, x: float) -> float:
        """Return the mean over seeds at a place."""
        return float(np.mean(self.at(x)))

    def line(self, colour: int = 0, dash: int = 0) -> Line:
        """Return the line with its band and its seeds."""
        found = self.spreads
        points = [(x, value) for seed in self.seeds for x, value in zip(self.x, seed, strict=True)]
        low, high = [each.least for each in found], [each.most for each in found]
        return Line(
            self.name, list(self.x), [each.mean for each in found], low, high, colour=colour, dash=dash, points=points
        )

    def cells(self, digits: int = 2) -> list[str]:
        """Return the cells of a row of a table."""
        return [each.cell(digits) for each in self.spreads]

    def as_json(self) -> dict[str, Any]:
        """Return all numbers."""
        return {"name": self.name, "x": list(self.x), "seeds": [list(seed) for seed in self.seeds],
                "spreads": [asdict(each) for each in self.spreads]}  # fmt: skip


def curve(
    name: str, rows: Sequence[Sequence[dict[str, Any]]], x: str, y: str | Callable[[dict[str, Any]], float]
) -> Curve:
    """Return a curve of what was measured of models that differ in their seed alone.

    Arguments:
        name: in the legend.
        rows: of each seed.
        x: the column of places.
        y: the column of values, or a function of a row.
    """
    value = (lambda row: row[y]) if isinstance(y, str) else y
    return Curve(name, [row[x] for row in rows[0]], [[value(row) for row in seed] for seed in rows])
