"""Drawing sentences: variables without replacement, the first value and all actions uniform."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences

_POOL = 2**19  # variables held while drawing: 1 MB, so that swaps stay in the cache
_MOST_VARIABLES = 2**24
_BATCH = 2**18  # clauses of a batch of numbered sentences


def draw(action: Action, *, variables: int, length: int, count: int, rng: np.random.Generator) -> Sentences:
    """Draw sentences, a function of the arguments and the state of the generator alone.

    Arguments:
        action: of the group.
        variables: how many there are, |X|; a sentence uses length + 1 of them.
        length: actions in a sentence, L.
        count: how many sentences.
        rng: where random numbers come from.
    """
    check_length(length, variables)
    if count < 0:
        raise FirstlightError(f"{count} sentences: expected 0 or more")
    elements = rng.integers(action.order, size=(length, count))
    values = np.empty((length + 1, count), np.int64)
    values[0] = rng.integers(action.degree, size=count)
    for place, applied in enumerate(elements):
        values[place + 1] = action.images[applied, values[place]]
    chosen = _without_replacement(variables, length + 1, count, rng)
    return Sentences(action, chosen, np.ascontiguousarray(elements.T), np.ascontiguousarray(values.T))


def numbered(action: Action, *, variables: int, length: int, count: int, seed: int) -> Iterator[Sentences]:
    """Draw sentences in batches of bounded memory; which is sentence i depends on the seed, not on the count."""
    check_length(length, variables)
    return _batches(action, variables, length, count, seed)


def _batches(action: Action, variables: int, length: int, count: int, seed: int) -> Iterator[Sentences]:
    rows = max(1, _BATCH // (length + 1))
    for batch, start in enumerate(range(0, count, rows)):
        # Always a whole batch: the last would else draw other sentences than it does as part of more.
        rng = np.random.default_rng([seed, batch])
        whole = draw(action, variables=variables, length=length, count=rows, rng=rng)
        yield whole if count - start >= rows else whole[: count - start]


def check_length(length: int, variables: int) -> None:
    """Refuse lengths for which there are no sentences."""
    if length < 1:
        raise FirstlightError(f"length {length}: expected 1 or more actions")
    if variables > _MOST_VARIABLES:
        raise FirstlightError(f"{variables:,} variables: expected at most {_MOST_VARIABLES:,}")
    if length >= variables:
        raise FirstlightError(
            f"length {length} with {variables} variables: a sentence has {length + 1} different variables; "
            f"expected a length of at most {variables - 1}"
        )


def _without_replacement(
    variables: int, places: int, count: int, rng: np.random.Generator
) -> Int64[np.ndarray, "sentence place"]:
    """Draw ordered samples, each by the first swaps of a shuffle, for many sentences at once.

    A pool holds all variables once a row, in any order: what the swaps bring to its front is uniform whatever that
    order was, so the pool is made once and goes on as the last swaps left it.
    """
    chosen = np.empty((count, places), np.int64)
    rows = min(count, max(1, _POOL // variables))
    pool = np.tile(np.arange(variables, dtype=np.min_scalar_type(variables - 1)), (rows, 1))
    for start in range(0, count, max(1, rows)):
        part = chosen[start : start + rows]
        some = np.arange(len(part))
        for place in range(places):
            other = rng.integers(place, variables, size=len(part))
            taken = pool[some, other]
            pool[some, other] = pool[some, place]
            pool[some, place] = taken
        part[:] = pool[: len(part), :places]
    return chosen
