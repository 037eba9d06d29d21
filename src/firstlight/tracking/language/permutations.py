"""Permutations as rows of images: composing many at once, putting rows in order, and closing generators to a group."""

import numpy as np
from jaxtyping import Bool, Int64, Shaped

from firstlight.errors import FirstlightError

# One table holds at most this many numbers (256 MiB): S9 on 9 values fits, S10 does not.
LARGEST_TABLE = 2**25
_BLOCK = 2**20  # products looked up at once

Images = Int64[np.ndarray, "element value"]


def compose(
    after: Int64[np.ndarray, "first value"], before: Int64[np.ndarray, "second value"]
) -> Int64[np.ndarray, "first second value"]:
    """Return every a after every b: (a b)(y) = a(b(y))."""
    return np.asarray(after[:, before])


def in_order(rows: Int64[np.ndarray, "row value"]) -> Images:
    """Return the distinct rows in lexicographic order; among permutations the identity is then row 0."""
    _, first = np.unique(row_keys(rows), return_index=True)
    return np.asarray(rows[first])


def rows_of(rows: Int64[np.ndarray, "row value"], ordered: Images) -> Int64[np.ndarray, " row"]:
    """Return where each row stands in rows that are in order, or -1 where it does not occur."""
    keys, known = row_keys(rows), row_keys(ordered)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


def row_keys(rows: Int64[np.ndarray, "row value"]) -> Shaped[np.ndarray, " row"]:
    """Return a key for each row that sorts and compares as the row does: its numbers as bytes, the highest first."""
    packed = np.ascontiguousarray(rows, dtype=">u2")
    return packed.view(np.dtype((np.void, 2 * rows.shape[1]))).reshape(-1)


def product_table(images: Images) -> Int64[np.ndarray, "after before"]:
    """Return table[g, h], the row of g after h, of a group whose rows are in order."""
    table = np.empty((len(images), len(images)), np.int64)
    block = max(1, _BLOCK // len(images))
    for start in range(0, len(images), block):
        products = compose(images[start : start + block], images)
        table[start : start + block] = rows_of(products.reshape(-1, images.shape[1]), images).reshape(-1, len(images))
    return table


def generated(generators: Int64[np.ndarray, "generator value"], name: str) -> Images:
    """Return all elements of the group that permutations generate, in order.

    Words of one letter more are formed from the newest elements until nothing new comes. Letters are the generators
    and their inverses, so what is new need only be compared with the two generations before it.

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
        known = np.concatenate([rows_of(words, each) >= 0 for each in generations[-2:] if len(each)])
        fresh = words[~known.reshape(-1, len(words)).any(0)]
        order += len(fresh)
        check_size(order, degree, name, at_least=True)
        generations.append(fresh)
    return in_order(np.concatenate(generations))


def odd(rows: Images) -> Bool[np.ndarray, " element"]:
    """Return which permutations are odd, by counting their inversions."""
    inversions = np.zeros(len(rows), np.int64)
    for place in range(rows.shape[1]):
        inversions += (rows[:, place, None] > rows[:, place + 1 :]).sum(1)
    return np.asarray(inversions % 2 == 1)


def cycle_types(rows: Images) -> dict[tuple[int, ...], int]:
    """Return how many permutations have cycles of which lengths, the longest first."""
    turned, back = rows, np.zeros_like(rows)
    for power in range(1, rows.shape[1] + 1):
        back[(back == 0) & (turned == np.arange(rows.shape[1]))] = power
        turned = np.take_along_axis(rows, turned, 1)
    # Entry y of a row is now the length of the cycle that y is in: sorted, it tells the type.
    lengths, counts = np.unique(np.sort(back, axis=1), axis=0, return_counts=True)
    return {_cycles(row): int(count) for row, count in zip(lengths.tolist(), counts, strict=True)}


def _cycles(lengths: list[int]) -> tuple[int, ...]:
    return tuple(n for n in sorted(set(lengths), reverse=True) for _ in range(lengths.count(n) // n))


def check_size(order: int, degree: int, name: str, at_least: bool = False) -> None:
    """Refuse a group whose table of images would be too large, before it is made."""
    if order * degree > LARGEST_TABLE:
        raise FirstlightError(
            f"group {name!r}: {'at least ' if at_least else ''}{order:,} elements on {degree:,} values are too many; "
            f"expected elements times values of at most {LARGEST_TABLE:,}"
        )
