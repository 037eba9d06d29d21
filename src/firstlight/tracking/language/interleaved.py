"""Sentences whose predicates stand in another order, or among predicates that do not matter."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS, Tokens, predicate_clauses


@dataclass(frozen=True, eq=False)
class Interleaved:
    """Sentences and how their predicates are laid out; answers follow all predicates, as ever.

    Attributes:
        sentences: what is to be followed.
        irrelevant: x, g and x' of predicates x = g(x') about variables that the sentence does not have.
        order: which predicate stands at each place: 0..L-1 are the sentence's own, in their order, then the irrelevant.
    """

    sentences: Sentences
    irrelevant: Int64[np.ndarray, "sentence irrelevant 3"]
    order: Int64[np.ndarray, "sentence place"]

    @property
    def places(self) -> Int64[np.ndarray, "sentence clause"]:
        """Where the sentence's own predicates stand."""
        return np.argsort(self.order, axis=1)[:, : self.sentences.length]

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, rows: slice) -> "Interleaved":
        return Interleaved(self.sentences[rows], self.irrelevant[rows], self.order[rows])


def in_order(sentences: Sentences) -> Interleaved:
    """Return sentences as they are: their own predicates alone, one after the other."""
    none = np.zeros((len(sentences), 0, 3), np.int64)
    return Interleaved(sentences, none, np.tile(np.arange(sentences.length), (len(sentences), 1)))


def permuted(sentences: Sentences, rng: np.random.Generator) -> Interleaved:
    """Put the predicates of each sentence in a random order."""
    plain = in_order(sentences)
    return Interleaved(sentences, plain.irrelevant, rng.permuted(plain.order, axis=1))


def interleaved(sentences: Sentences, count: int, *, variables: int, rng: np.random.Generator) -> Interleaved:
    """Put irrelevant predicates between those of each sentence, which keep their order.

    They are a second chain, of variables that the sentence does not have and without any answer: nothing but their
    variables tells them from the sentence's own. Where they stand is uniform.

    Arguments:
        sentences: what they are put into.
        count: how many; a chain has one variable more.
        variables: |X|.
        rng: where random numbers come from.
    """
    own = sentences.length + 1
    if count < 0:
        raise FirstlightError(f"{count} irrelevant clauses: expected 0 or more")
    if count and own + count + 1 > variables:
        raise FirstlightError(
            f"{count} irrelevant clauses beside sentences of {own} variables: {variables} variables leave room for "
            f"{max(0, variables - own - 1)}"
        )
    if not count:
        return in_order(sentences)
    total = sentences.length + count
    keys = rng.random((len(sentences), total))
    # The places of the sentence's own predicates are those of the smallest keys, in their order.
    chosen = np.sort(np.argsort(keys, axis=1)[:, : sentences.length], axis=1)
    order = np.full((len(sentences), total), -1, np.int64)
    np.put_along_axis(order, chosen, np.arange(sentences.length)[None], axis=1)
    order[order < 0] = np.tile(np.arange(sentences.length, total), len(sentences))
    free = rng.random((len(sentences), variables))
    np.put_along_axis(free, sentences.variables, 2.0, axis=1)  # the last of all: never among the first
    chain = np.argsort(free, axis=1)[:, : count + 1]
    elements = rng.integers(sentences.action.order, size=(len(sentences), count))
    return Interleaved(sentences, np.stack([chain[:, 1:], elements, chain[:, :-1]], -1), order)


def laid_out(
    sentences: Sentences | Interleaved, tokens: Tokens
) -> tuple[Int64[np.ndarray, "sentence predicate slot"], Int64[np.ndarray, "sentence clause"]]:
    """Return the tokens of all predicates as they stand, and the places of the sentence's own."""
    if isinstance(sentences, Sentences):
        sentences = in_order(sentences)
    own = predicate_clauses(sentences.sentences, tokens)
    other = np.full((*sentences.irrelevant.shape[:2], SLOTS), tokens.blank, np.int64)
    other[..., :3] = sentences.irrelevant + np.array([0, tokens.first_element, 0])
    everything = np.concatenate([own, other], axis=1)
    return np.take_along_axis(everything, sentences.order[..., None], axis=1), sentences.places
