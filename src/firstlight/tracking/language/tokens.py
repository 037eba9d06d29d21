"""Sentences as tokens: five slots a clause (Def. 3.1), and the numbers of all tokens."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences

SLOTS = 5


@dataclass(frozen=True)
class Tokens:
    """The vocabulary: variables, then elements of the group, then values, then blank.

    Attributes:
        variables: how many variables there are.
        elements: how many elements the group has.
        values: how many values it acts on.
    """

    variables: int
    elements: int
    values: int

    @property
    def size(self) -> int:
        """How many tokens there are, blank included: d."""
        return self.variables + self.elements + self.values + 1

    @property
    def first_element(self) -> int:
        """The token of element 0; variables are numbered from 0 and need no such offset."""
        return self.variables

    @property
    def first_value(self) -> int:
        """The token of value 0."""
        return self.variables + self.elements

    @property
    def blank(self) -> int:
        """The token that embeds to zero."""
        return self.size - 1


def tokens_of(action: Action, variables: int) -> Tokens:
    """Return the vocabulary of sentences over an action."""
    return Tokens(variables, action.order, action.degree)


def predicate_clauses(sentences: Sentences, tokens: Tokens) -> Int64[np.ndarray, "sentence clause slot"]:
    """Return clauses l = 1..L: (x_l, g_l, x_(l-1), blank, blank)."""
    clauses = np.full((len(sentences), sentences.length, SLOTS), tokens.blank, np.int64)
    clauses[:, :, 0] = sentences.variables[:, 1:]
    clauses[:, :, 1] = sentences.elements + tokens.first_element
    clauses[:, :, 2] = sentences.variables[:, :-1]
    return clauses


def answer_clauses(sentences: Sentences, tokens: Tokens) -> Int64[np.ndarray, "sentence place slot"]:
    """Return clauses l = 0..L: (blank, blank, blank, x_l, y_l)."""
    clauses = np.full((len(sentences), sentences.length + 1, SLOTS), tokens.blank, np.int64)
    clauses[:, :, 3] = sentences.variables
    clauses[:, :, 4] = sentences.values + tokens.first_value
    return clauses
