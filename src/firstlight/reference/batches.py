"""Which windows each step sees: a function of seed and step alone, so nothing of it needs to be kept to resume."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64


@dataclass(frozen=True)
class Order:
    """The order of windows in a training.

    Attributes:
        windows: how many there are.
        batch_size: windows a step; the last batch of an epoch has what is left. None is all of them, in order.
        seed: of the shuffling, which differs from epoch to epoch.
    """

    windows: int
    batch_size: int | None
    seed: int

    @property
    def steps_per_epoch(self) -> int:
        """How many batches an epoch has."""
        return 1 if self.batch_size is None else -(-self.windows // self.batch_size)

    def batch(self, step: int) -> Int64[np.ndarray, " window"]:
        """Return the windows of the update that follows so many updates."""
        if self.batch_size is None:
            return np.arange(self.windows)
        epoch, place = divmod(step, self.steps_per_epoch)
        shuffled = np.random.default_rng([self.seed, epoch]).permutation(self.windows)
        return shuffled[place * self.batch_size : (place + 1) * self.batch_size]
