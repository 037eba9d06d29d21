"""Facts of actions against SymPy, against their definitions, and against what is published."""

import numpy as np
import pytest
from sympy.combinatorics import Permutation, PermutationGroup

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.facts import derived_series, facts_of, generating_set
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.transitive import transitive_names

OTHERS = (
    *("Q8", "Q12", "F55", "C2xC3", "A4xC5", "A5xC2", "regular:A5", "S4/S3", "S5/A4", "C2wrC4", "GL(4,2)", "PSL(2,7)"),
    *("(1 2 3)(4 5),(1 2)", "(1 2)(3 4),(5 6)(7 8 9)", "()", "(2 3)"),
)


@pytest.mark.parametrize("name", [*transitive_names(), *OTHERS])
def test_facts_are_those_of_sympy(name: str) -> None:
    action = action_named(name)
    facts = facts_of(action)
    group = PermutationGroup([Permutation(row.tolist()) for row in generating_set(action.images)])
    assert group.order() == facts.order == action.order
    assert facts.transitive == group.is_transitive(strict=True)
    assert facts.abelian == group.is_abelian
    assert facts.solvable == group.is_solvable
    assert facts.derived_series == tuple(each.order() for each in group.derived_series())
    assert list(facts.stabilisers) == [group.stabilizer(value).order() for value in range(action.degree)]
    moved = [sorted(orbit) for orbit in group.orbits()]
    alone = [[value] for value in range(action.degree) if not any(value in orbit for orbit in moved)]
    assert [list(orbit) for orbit in facts.orbits] == sorted(moved + alone)
    assert facts.complexity == ("TC0" if group.is_solvable else "NC1-complete")


@pytest.mark.parametrize("name", ["C6", "S4", "Q8", "6T9", "A4xC5", "(1 2 3)(4 5),(1 2)", "(2 3)"])
def test_fibres_are_counted_as_defined(name: str) -> None:
    action = action_named(name)
    facts = facts_of(action)
    for j in range(action.degree):
        for y in range(action.degree):
            fibre = [g for g in range(action.order) if action.images[g, y] == j]
            assert facts.fibres[j, y] == len(fibre)
            # Orbit-stabiliser: a fibre is a coset of the stabiliser, or empty.
            assert len(fibre) in (0, facts.stabilisers[y])
    assert np.allclose(facts.share.sum(0), 1)
    if facts.transitive:
        assert np.allclose(facts.share, 1 / action.degree)
        assert facts.stabiliser == facts.order // facts.degree
    else:
        assert facts.stabiliser == facts.stabilisers


def test_the_groups_of_degree_five_differ_in_their_stabilisers_alone() -> None:
    facts = [facts_of(action_named(name)) for name in ("C5", "D5", "F20", "A5", "S5")]
    assert [each.stabiliser for each in facts] == [1, 2, 4, 12, 24]
    assert all((each.share == 1 / 5).all() for each in facts)
    assert [each.complexity for each in facts] == ["TC0", "TC0", "TC0", "NC1-complete", "NC1-complete"]


@pytest.mark.parametrize("name", ["C6", "V4", "Q8", "Q12", "C2xC3", "regular:S3", "regular:A4xC5", "S4/()", "6T2"])
def test_simply_transitive_actions(name: str) -> None:
    facts = facts_of(action_named(name))
    assert facts.simply_transitive
    assert facts.order == facts.degree
    assert (facts.fibres == 1).all()


@pytest.mark.parametrize("name", ["S3", "D5", "F20", "A4xC5", "S4/S3"])
def test_transitive_actions_with_stabilisers_are_not_free(name: str) -> None:
    facts = facts_of(action_named(name))
    assert facts.transitive
    assert not facts.free
    assert not facts.simply_transitive


def test_an_action_that_is_free_need_not_be_transitive() -> None:
    facts = facts_of(action_named("(1 2)(3 4)"))
    assert facts.free
    assert not facts.transitive
    assert facts.orbits == ((0, 1), (2, 3))


@pytest.mark.parametrize("name", transitive_names())
def test_numbers_are_recognised_whatever_the_points_are_called(name: str) -> None:
    action = action_named(name)
    order = np.random.default_rng(0).permutation(action.degree)
    renamed = Action("renamed", np.argsort(order)[action.images[:, order]])
    assert facts_of(renamed).number == name


def test_only_small_transitive_actions_have_a_number() -> None:
    assert facts_of(action_named("Q8")).number is None
    assert facts_of(action_named("(1 2)(3 4)")).number is None


def test_the_derived_series_is_made_of_subgroups() -> None:
    series = derived_series(action_named("S4").images)
    assert [len(each) for each in series] == [24, 12, 4, 1]
    assert (series[1] == action_named("A4").images).all()
    assert (series[2] == action_named("V4").images).all()
