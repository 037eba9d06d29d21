"""Sizes and constants of the model of Def. 3.5, and which rows of its weights a clause reads."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS, Tokens

BLOCK = 16  # output tokens whose weights lie together: one vector of AVX-512, two of AVX2
VARIABLE_SLOT, VALUE_SLOT = 3, 4  # of an answer clause, counted from 0


@dataclass(frozen=True)
class Shape:
    """What the model is made of.

    Only some tokens ever stand in a slot, so only their columns of W meet an input or a gradient. They are the
    *inputs*, numbered in this order: variables in slot 1, elements in slot 2, variables in slot 3, variables in slot 4,
    values in slot 5. In the same way the rows of Q are variables in slot 4, then values in slot 5, of the query clause.

    Attributes:
        tokens: the vocabulary.
        neurons: m.
        power: q of the smooth ReLU.
        radius: ρ, where it becomes straight.
        leak: ϖ, its slope below zero (Assumption B.2); 0 is the activation of Def. 3.4.
        clip: C_B.
    """

    tokens: Tokens
    neurons: int
    power: int
    radius: float
    leak: float
    clip: float

    @property
    def size(self) -> int:
        """How many tokens there are, d."""
        return self.tokens.size

    @property
    def bias(self) -> float:
        """The fixed bias of all neurons, ln(d)/√d."""
        return math.log(self.size) / math.sqrt(self.size)

    @property
    def ceiling(self) -> float:
        """Above which logits are clipped, B = C_B ln d."""
        return self.clip * math.log(self.size)

    @property
    def inputs(self) -> int:
        """How many columns of W can be met."""
        return self.first_value + self.tokens.values

    @property
    def queries(self) -> int:
        """How many rows of Q can be met."""
        return self.tokens.variables + self.tokens.values

    @property
    def first_element(self) -> int:
        """The input of element 0 in slot 2; variables in slot 1 are numbered from 0."""
        return self.tokens.variables

    @property
    def first_third(self) -> int:
        """The input of variable 0 in slot 3."""
        return self.first_element + self.tokens.elements

    @property
    def first_fourth(self) -> int:
        """The input of variable 0 in slot 4."""
        return self.first_third + self.tokens.variables

    @property
    def first_value(self) -> int:
        """The input of value 0 in slot 5."""
        return self.first_fourth + self.tokens.variables

    @property
    def blocks(self) -> int:
        """How many blocks of output tokens there are; the last is filled up."""
        return -(-self.size // BLOCK)

    @property
    def width(self) -> int:
        """Numbers that an input has in a block: neurons x tokens."""
        return self.neurons * BLOCK

    @property
    def loops(self) -> tuple[int, int, bool]:
        """What loops are compiled for."""
        return self.neurons, self.power, self.leak > 0

    def predicates(self, sentences: Sentences) -> Int64[np.ndarray, "sentence clause part"]:
        """Return the inputs of clauses l = 1..L: x_l, g_l and x_(l-1)."""
        x, g = sentences.variables, sentences.elements
        return np.stack([x[:, 1:], g + self.first_element, x[:, :-1] + self.first_third], axis=2)

    def answers(self, sentences: Sentences) -> Int64[np.ndarray, "sentence place part"]:
        """Return the inputs of answers l = 0..L: x_l and y_l."""
        return np.stack([sentences.variables + self.first_fourth, sentences.values + self.first_value], axis=2)

    def targets(self, sentences: Sentences) -> Int64[np.ndarray, "sentence place slot"]:
        """Return the tokens of answers l = 0..L."""
        targets = np.full((*sentences.variables.shape, SLOTS), self.tokens.blank, np.int64)
        targets[:, :, VARIABLE_SLOT] = sentences.variables
        targets[:, :, VALUE_SLOT] = sentences.values + self.tokens.first_value
        return targets
