"""Irrelevant clauses: dilution by the number of equal clauses, measured exactly where it is known."""

import pytest

from firstlight.tracking.language.action import Action
from firstlight.tracking.practical.context_rot import context_rot
from tests.tracking.practical.conftest import model_of


def test_attention_that_knows_nothing_is_shared_by_all(action: Action) -> None:
    model = model_of(action)
    model.block.parameters["attention.query_key_value"].zero_()
    rows = list(context_rot(model, 3, [0, 1, 10], count=20))
    for row in rows:
        # Answer l sees all predicates and l + 1 answers: one share each.
        share = sum(1 / (3 + row.irrelevant + answer) for answer in (1, 2, 3)) / 3
        assert row.predicate == (pytest.approx(share), pytest.approx(share))
        assert row.answer == row.predicate
    assert [row.irrelevant for row in rows] == [0, 1, 10]
    assert all(row.rollout.of == row.final.of == 20 for row in rows)


def test_a_model_that_looks_at_itself_alone_is_not_disturbed(action: Action) -> None:
    model = model_of(action)
    # Nothing is brought by the attention, so nothing that stands elsewhere matters.
    model.block.parameters["attention.output"].zero_()
    rows = list(context_rot(model, 4, [0, 7, 20], count=20))
    assert len({row.rollout for row in rows}) == 1
    assert max(abs(row.value_probability - rows[0].value_probability) for row in rows) < 1e-12


def test_the_same_seed_gives_the_same_rows(action: Action) -> None:
    model = model_of(action, dtype="float32")
    assert list(context_rot(model, 3, [2], count=9, seed=4)) == list(context_rot(model, 3, [2], count=9, seed=4))
    assert next(context_rot(model, 3, [2], count=9)) != next(context_rot(model, 3, [2], count=9, seed=4))
