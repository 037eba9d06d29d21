"""What can be said of an action from its table of images."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.permutations import Images, cycle_types, generated, rows_of
from firstlight.tracking.language.transitive import TRANSITIVE


@dataclass(frozen=True, eq=False)
class Facts:
    """An action, described.

    Attributes:
        name: of the action.
        order: how many elements the group has.
        degree: how many values it acts on, n.
        orbits: the values, in sets that elements move within.
        stabilisers: for each value, how many elements leave it where it is.
        abelian: whether any two elements commute.
        derived_series: orders of the group, of its commutator subgroup, of that one's, and so on until it stays.
        fibres: how many elements send the second value to the first, |Fiber_{j,y}|.
        number: of a transitive group of degree at most 7, such as `5T3`.
    """

    name: str
    order: int
    degree: int
    orbits: tuple[tuple[int, ...], ...]
    stabilisers: tuple[int, ...]
    abelian: bool
    derived_series: tuple[int, ...]
    fibres: Int64[np.ndarray, "to value"]
    number: str | None

    @property
    def transitive(self) -> bool:
        """Whether every value can be sent to every other."""
        return len(self.orbits) == 1

    @property
    def free(self) -> bool:
        """Whether only the identity leaves any value where it is."""
        return max(self.stabilisers) == 1

    @property
    def simply_transitive(self) -> bool:
        """Whether exactly one element sends one given value to another."""
        return self.transitive and self.free

    @property
    def stabiliser(self) -> int | tuple[int, ...]:
        """How many elements leave a value where it is: one number if transitive, else one for each value."""
        return self.stabilisers[0] if self.transitive else self.stabilisers

    @property
    def solvable(self) -> bool:
        """Whether the derived series ends at the identity."""
        return self.derived_series[-1] == 1

    @property
    def complexity(self) -> Literal["TC0", "NC1-complete"]:
        """The class of the word problem: NC1-complete for groups that are not solvable, within TC0 for the others."""
        return "TC0" if self.solvable else "NC1-complete"

    @property
    def share(self) -> Float64[np.ndarray, "to value"]:
        """The share of elements that send the second value to the first: 1/n everywhere if transitive."""
        return self.fibres / self.order


def facts_of(action: Action) -> Facts:
    """Return the facts of an action."""
    fibres = fibre_sizes(action)
    generators = generating_set(action.images)
    orbits = sorted({tuple(np.flatnonzero(fibres[:, y]).tolist()) for y in range(action.degree)})
    return Facts(
        name=action.name,
        order=action.order,
        degree=action.degree,
        orbits=tuple(orbits),
        stabilisers=tuple(np.diagonal(fibres).tolist()),
        abelian=bool((generators[:, generators] == generators[:, generators].swapaxes(0, 1)).all()),
        derived_series=tuple(len(each) for each in derived_series(action.images)),
        fibres=fibres,
        number=_number(action) if len(orbits) == 1 else None,
    )


def fibre_sizes(action: Action) -> Int64[np.ndarray, "to value"]:
    """Return how many elements send the second value to the first."""
    columns = [np.bincount(column, minlength=action.degree) for column in action.images.T]
    return np.stack(columns, axis=1)


def generating_set(images: Images) -> Images:
    """Return elements that generate the group, at most log2 of its order of them."""
    # Any order of trying does; in a shuffled one few are needed, as most elements are in no small subgroup.
    shuffled = np.random.default_rng(0).permutation(len(images))
    chosen, reached = images[:1], images[:1]
    for candidate in shuffled.tolist():
        if len(reached) == len(images):
            break
        if rows_of(images[candidate : candidate + 1], reached)[0] < 0:
            chosen = np.concatenate([chosen, images[candidate : candidate + 1]])
            reached = generated(chosen, "")
    return np.asarray(chosen[1:] if len(chosen) > 1 else chosen)


def derived_series(images: Images) -> list[Images]:
    """Return a group, its commutator subgroup, that one's, and so on until it is trivial or stays as it is."""
    series = [images]
    while len(series[-1]) > 1:
        inside = _derived(series[-1])
        if len(inside) == len(series[-1]):
            break
        series.append(inside)
    return series


def _derived(images: Images) -> Images:
    """Return the commutator subgroup: what commutators of generators and their conjugates generate."""
    generators = generating_set(images)
    inverses = np.argsort(generators, axis=1)
    pairs = [(a, b) for a in range(len(generators)) for b in range(a)]
    seeds = [generators[a][generators[b][inverses[a][inverses[b]]]] for a, b in pairs]
    words = np.array([np.arange(images.shape[1]), *seeds])
    while True:
        inside = generated(words, "")
        conjugates = np.concatenate([g[words[:, back]] for g, back in zip(generators, inverses, strict=True)])
        outside = conjugates[rows_of(conjugates, inside) < 0]
        if not len(outside):
            return inside
        words = np.concatenate([words, outside])


def _number(action: Action) -> str | None:
    """Return the number of a transitive group: order and cycle types tell those of degree at most 7 apart."""
    groups = TRANSITIVE.get(action.degree, ())
    alike = [number for number, (_, order) in enumerate(groups, start=1) if order == action.order]
    if len(alike) > 1:
        types = cycle_types(action.images)
        named = {number: action_named(f"{action.degree}T{number}") for number in alike}
        alike = [number for number, known in named.items() if cycle_types(known.images) == types]
    return f"{action.degree}T{alike[0]}" if alike else None
