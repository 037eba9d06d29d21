"""A group acting on values: the one table that sentences, models and measures read."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64


@dataclass(frozen=True, eq=False)
class Action:
    """A finite group acting on the values 0..n-1.

    Elements are rows: two elements with the same images are the same row, so the action is faithful as it stands here.

    Attributes:
        name: as users write it, such as `C6`, `S5` or `S4/S3`.
        images: images[g, y] = g(y); row 0 is the identity.
    """

    name: str
    images: Int64[np.ndarray, "element value"]

    @property
    def order(self) -> int:
        """How many elements the group has."""
        return len(self.images)

    @property
    def degree(self) -> int:
        """How many values it acts on, n."""
        return int(self.images.shape[1])
