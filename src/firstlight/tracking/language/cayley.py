"""Multiplication tables: of an action's group, and of a group given by nothing else."""

import numpy as np
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.permutations import check_size, product_table

Table = Int64[np.ndarray, "after before"]


def cayley_table(action: Action) -> Int64[np.ndarray, "after before"]:
    """Return table[g, h], the element that does h first and then g; element 0 is the identity."""
    check_size(action.order, action.order, f"Cayley table of {action.name}")
    return product_table(action.images)


def check_group(table: Table, where: str) -> None:
    """Refuse a table that is not the multiplication of a group, saying which axiom fails and where.

    Arguments:
        table: table[g, h] is the product of g and h, elements being numbered from 0.
        where: the file, for the error.
    """
    order = len(table)
    outside = np.argwhere((table < 0) | (table >= order))
    if len(outside):
        g, h = outside[0].tolist()
        raise _no_group(where, f"not closed: {g} * {h} = {table[g, h]}, expected an element of 0..{order - 1}")
    numbers = np.arange(order)
    units = np.flatnonzero((table == numbers).all(1) & (table == numbers[:, None]).all(0))
    if not len(units):
        raise _no_group(where, "no identity: no element e has e * g = g * e = g for every g")
    identity = int(units[0])
    for side, found in (("right", (table == identity).any(1)), ("left", (table == identity).any(0))):
        if not found.all():
            lonely = int(np.flatnonzero(~found)[0])
            raise _no_group(where, f"no inverse: {lonely} has no {side} inverse, the identity being {identity}")
    _check_associative(table, identity, where)


def _check_associative(table: Table, identity: int, where: str) -> None:
    """Light's test: it is enough that (g s) h = g (s h) for all g and h, and each s of a set that generates all."""
    for s in _generators(table, identity):
        left, right = table[table[:, s]], table[:, table[s]]
        wrong = np.argwhere(left != right)
        if len(wrong):
            g, h = wrong[0].tolist()
            raise _no_group(
                where, f"not associative: ({g} * {s}) * {h} = {left[g, h]}, but {g} * ({s} * {h}) = {right[g, h]}"
            )


def _generators(table: Table, identity: int) -> list[int]:
    """Return elements whose products give all others."""
    reached = np.zeros(len(table), bool)
    reached[identity] = True
    chosen: list[int] = []
    while not reached.all():
        chosen.append(int(np.flatnonzero(~reached)[0]))
        reached[chosen[-1]] = True
        before = 0
        while before < reached.sum():
            before = int(reached.sum())
            inside = np.flatnonzero(reached)
            reached[table[np.ix_(inside, inside)]] = True
    return chosen


def _no_group(where: str, reason: str) -> FirstlightError:
    return FirstlightError(f"{where}: not the Cayley table of a group: {reason}")
