"""Permutations as rows of images: composing many at once, putting rows in order, and closing generators to a group."""

import numpy as np
from jaxtyping import Int64, Shaped

from firstlight.errors import FirstlightError

# One table of images holds at most this many numbers (128 MiB): S9 fits, S10 does not.
LARGEST_TABLE = 2**24


def compose(
    after: Int64[np.ndarray, "first value"], before: Int64[np.ndarray, "second value"]
) -> Int64[np.ndarray, "first second value"]:
    """Return every a after every b: (a b)(y) = a(b(y))."""
    return np.asarray(after[:, before])


def in_order(rows: Int64[np.ndarray, "row value"]) -> Int64[np.ndarray, "element value"]:
    """Return the distinct rows in lexicographic order; among permutations the identity is then row 0."""
    _, first = np.unique(row_keys(rows), return_index=True)
    return rows[first]


def rows_of(
    rows: Int64[np.ndarray, "row value"], ordered: Int64[np.ndarray, "element value"]
) -> Int64[np.ndarray, " row"]:
    """Return where each row stands in rows that are in order, or -1 where it does not occur."""
    keys, known = row_keys(rows), row_keys(ordered)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


def row_keys(rows: Int64[np.ndarray, "row value"]) -> Shaped[np.ndarray, " row"]:
    """Return a key for each row that sorts and compares as the row does: its numbers as bytes, the highest first."""
    packed = np.ascontiguousarray(rows, dtype=">u2")
    return packed.view(np.dtype((np.void, 2 * rows.shape[1]))).reshape(-1)


def generated(generators: Int64[np.ndarray, "generator value"], name: str) -> Int64[np.ndarray, "element value"]:
    """Return all elements of the group that permutations generate, in order.

    Words of one letter more are formed from the newest elements until nothing new comes. Letters are the generators
    and their inverses, so what is new can only be compared with the two generations before it.

    Arguments:
        generators: permutations of 0..n-1.
        name: of the group, for the error when it is too large.
    """
    degree = generators.shape[1]
    letters = in_order(np.concatenate([generators, np.argsort(generators, axis=1)]))
    generations = [np.empty((0, degree), np.int64), np.arange(degree)[None, :]]
    order = 1
    while len(generations[-1]):
        words = in_order(compose(generations[-1], letters).reshape(-1, degree))
        known = np.concatenate([row_keys(generations[-1]), row_keys(generations[-2])])
        fresh = words[~np.isin(row_keys(words), known)]
        order += len(fresh)
        check_size(order, degree, name, at_least=True)
        generations.append(fresh)
    return in_order(np.concatenate(generations))


def check_size(order: int, degree: int, name: str, at_least: bool = False) -> None:
    """Refuse a group whose table of images would be too large, before it is made."""
    if order * degree > LARGEST_TABLE:
        raise FirstlightError(
            f"group {name!r}: {'at least ' if at_least else ''}{order:,} elements on {degree:,} values are too many; "
            f"expected elements times values of at most {LARGEST_TABLE:,}"
        )
