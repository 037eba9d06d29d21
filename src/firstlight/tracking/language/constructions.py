"""Actions made of others: products, wreath products, a group on itself, and cosets."""

import numpy as np

from firstlight.errors import FirstlightError
from firstlight.tracking.language.permutations import Images, check_size, in_order, product_table, rows_of


def product(first: Images, second: Images, name: str) -> Images:
    """Return G x H on pairs: (g, h) sends (y, z) to (g(y), h(z)); the pair (y, z) is value y m + z."""
    degree = second.shape[1]
    check_size(len(first) * len(second), first.shape[1] * degree, name)
    pairs = first[:, None, :, None] * degree + second[None, :, None, :]
    return in_order(pairs.reshape(len(first) * len(second), -1))


def wreath(inner: Images, outer: Images, name: str) -> Images:
    """Return G wr H on m copies of n points: each copy moved by a G of its own, then the copies by H.

    Point y of copy b is value b n + y, so the degree is n m and the order |G|^m |H|.
    """
    (order, points), copies = inner.shape, outer.shape[1]
    check_size(order ** min(copies, 64) * len(outer), points * copies, name)
    choices = np.indices((order,) * copies).reshape(copies, -1).T
    moved = inner[choices]  # choice copy point
    rows = outer[:, None, :, None] * points + moved[None]
    return in_order(rows.reshape(-1, points * copies))


def on_itself(images: Images, name: str) -> Images:
    """Return the group acting on its own elements by multiplication from the left."""
    check_size(len(images), len(images), name)
    return in_order(product_table(images))


def on_cosets(images: Images, subgroup: Images, name: str) -> Images:
    """Return the action on left cosets k H, where g sends k H to g k H.

    Cosets are numbered by their first elements, so coset 0 is H itself.

    Arguments:
        images: the group, rows in order.
        subgroup: some of its rows that are a group.
        name: of the action, for errors.
    """
    check_size(len(images), len(images) // len(subgroup), name)
    coset = np.full(len(images), -1, np.int64)
    firsts: list[int] = []
    while (coset < 0).any():
        first = int(np.argmin(coset))
        coset[rows_of(images[first][subgroup], images)] = len(firsts)
        firsts.append(first)
    moved = [coset[rows_of(images[:, images[first]], images)] for first in firsts]
    action = np.stack(moved, axis=1)
    kernel = int((action == np.arange(len(firsts))).all(1).sum())
    if kernel > 1:
        raise FirstlightError(
            f"group {name!r}: {kernel} elements leave every coset where it is, so this action is not faithful; "
            "expected a subgroup that contains no normal subgroup but the trivial one"
        )
    return in_order(action)


def embedded(subgroup: Images, images: Images, name: str) -> Images:
    """Return a permutation group of fewer points as part of another, the points it does not have staying fixed."""
    degree = images.shape[1]
    if subgroup.shape[1] <= degree:
        rest = np.tile(np.arange(subgroup.shape[1], degree), (len(subgroup), 1))
        rows = np.hstack([subgroup, rest])
        if (rows_of(rows, images) >= 0).all():
            return np.asarray(rows)
    raise FirstlightError(
        f"group {name!r}: what stands after / is no subgroup of what stands before it as they act here; expected "
        f"permutations of the values 0..{degree - 1}, those that a smaller group does not have staying fixed"
    )
