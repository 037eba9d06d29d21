"""Sentences: a chain of variables, each the one before it acted upon, and the values that follow."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from firstlight.tracking.language.action import Action


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences of one length L over one action.

    Clause l = 1..L is the predicate x_l = g_l(x_{l-1}), and place l = 0..L has the answer x_l = y_l.

    Attributes:
        action: of the group.
        variables: the numbers of x_0..x_L, none twice in a sentence.
        elements: the rows of `action.images` of g_1..g_L.
        values: y_0..y_L.
    """

    action: Action
    variables: Int64[np.ndarray, "sentence place"]
    elements: Int64[np.ndarray, "sentence clause"]
    values: Int64[np.ndarray, "sentence place"]

    @property
    def length(self) -> int:
        """How many actions a sentence has, L."""
        return int(self.elements.shape[1])

    def __len__(self) -> int:
        return len(self.variables)

    def __getitem__(self, which: slice) -> "Sentences":
        return Sentences(self.action, self.variables[which], self.elements[which], self.values[which])
