"""`firstlight bench tracking`, the language: clauses drawn a second, on one core."""

import random
from itertools import product

import numpy as np

from firstlight.bench.rows import Row, best_of, row
from firstlight.report.progress import say
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw

VARIABLES = 170
RATE_GOAL = 1_000_000


def bench_language(
    clauses: int = 2_000_000, plain_clauses: int = 10_000, lengths: tuple[int, ...] = (5, 160)
) -> list[Row]:
    """Draw sentences of C6 and S5, beside the rate aimed at and beside a loop over SymPy permutations.

    Arguments:
        clauses: for ours to draw in each row.
        plain_clauses: for the loop, whose time is scaled up.
        lengths: of the sentences.
    """
    rows = []
    for name, length in product(("C6", "S5"), lengths):
        say(f"{name}, L = {length}: drawing sentences")
        action, count, few = action_named(name), -(-clauses // length), -(-plain_clauses // length)
        # One core whatever the machine has: nothing in drawing is threaded.
        seconds = best_of(3, lambda: _ours(action, length, count))  # noqa: B023  # called at once
        sympy_sentences(action, VARIABLES, length, 1, seed=0)  # importing SymPy is not part of the work
        plain = best_of(2, lambda: sympy_sentences(action, VARIABLES, length, few, seed=0)) * count / few  # noqa: B023
        rate = count * length / seconds
        work = f"{count * length:,} clauses of {name}, L = {length}, {rate / 1e6:.3g} M a second on one core"
        rows += [
            row("tracking", work, "1 M clauses a second", seconds, count * length / RATE_GOAL, 1),
            row("tracking", work, f"SymPy permutations in a loop, scaled from {few * length:,}", seconds, plain, None),
        ]
    return rows


def _ours(action: Action, length: int, count: int) -> None:
    rng = np.random.default_rng(0)
    # In parts, as trainings and files do: what is drawn is used and forgotten.
    part = max(1, 2**18 // length)
    for start in range(0, count, part):
        draw(action, variables=VARIABLES, length=length, count=min(part, count - start), rng=rng)


def sympy_sentences(
    action: Action, variables: int, length: int, count: int, seed: int
) -> list[tuple[list[int], list[int], list[int]]]:
    """Draw sentences as one would with SymPy: permutations composed clause by clause, and the first value sent along.

    Returns:
        variables, elements and values of each sentence.
    """
    from sympy.combinatorics import Permutation

    rng = random.Random(seed)
    permutations = [Permutation(images) for images in action.images.tolist()]
    sentences = []
    for _ in range(count):
        chosen = rng.sample(range(variables), length + 1)
        elements, values = [], [rng.randrange(action.degree)]
        so_far = Permutation(action.degree - 1)
        for _ in range(length):
            elements.append(rng.randrange(action.order))
            so_far = so_far * permutations[elements[-1]]
            values.append(so_far(values[0]))
        sentences.append((chosen, elements, values))
    return sentences
