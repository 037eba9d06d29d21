"""Windows in, exact corpus statistics out: alpha, bigram, interchangeability, context, attention, position."""

from firstlight.statistics.engine import count
from firstlight.statistics.merge import merge
from firstlight.statistics.statistics import BASES, Basis, Statistics, open_statistics

__all__ = ["BASES", "Basis", "Statistics", "count", "merge", "open_statistics"]
