"""What is measured of a model on sentences, whichever model it is."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float64, Int64

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences


@dataclass(frozen=True, eq=False)
class Rollout:
    """What a model wrote after the predicates and the first answer, greedily, clause by clause.

    A clause whose tokens are not a variable and a value where an answer has them counts as wrong: its entry is -1.

    Attributes:
        variables: the variable of each generated answer l = 1..L, by number, or -1.
        values: its value, or -1.
    """

    variables: Int64[np.ndarray, "sentence answer"]
    values: Int64[np.ndarray, "sentence answer"]


@dataclass(frozen=True, eq=False)
class TeacherForced:
    """Probabilities of the true next answer when all answers before it are the true ones.

    Attributes:
        clause: of all five slots together.
        value: of the value alone.
    """

    clause: Float64[np.ndarray, "sentence answer"]
    value: Float64[np.ndarray, "sentence answer"]


@dataclass(frozen=True, eq=False)
class AttentionMass:
    """Where the query clause of each next answer looks.

    Attributes:
        predicate: share of attention on the predicate of the next answer.
        answer: share on its own clause, the last answer.
    """

    predicate: Float64[np.ndarray, "head sentence answer"]
    answer: Float64[np.ndarray, "head sentence answer"]

    @property
    def epsilon(self) -> Float64[np.ndarray, "head sentence answer"]:
        """Attention that goes to neither, ε."""
        return np.asarray(1 - self.predicate - self.answer)

    @property
    def gap(self) -> Float64[np.ndarray, "head sentence answer"]:
        """How unequal the two are."""
        return np.asarray(np.abs(self.predicate - self.answer))


class SentenceModel(Protocol):
    """What measures ask of a model, whichever it is. Sentences of any number and length; batching is its own affair."""

    @property
    def action(self) -> Action:
        """What the model has been taught."""
        ...

    @property
    def variables(self) -> int:
        """How many variables it knows, |X|."""
        ...

    def rollout(self, sentences: Sentences) -> Rollout:
        """Write answers 1..L greedily, each read back, after the predicates and the true answer 0."""
        ...

    def teacher_forced(self, sentences: Sentences) -> TeacherForced:
        """Return the probabilities of the true answers 1..L, each after the true ones before it."""
        ...

    def attention(self, sentences: Sentences) -> AttentionMass:
        """Return where answers 0..L-1 look when the next answer is asked for, all answers being the true ones."""
        ...
