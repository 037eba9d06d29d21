"""What each kind of positions promises: what does not depend on the place, and what depends on it and how."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.interleaved import permuted
from firstlight.tracking.practical import positions
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.settings import Settings
from tests.tracking.practical.conftest import block_of, clauses_of, model_of, sentences_of


def test_without_positions_the_order_of_predicates_is_nothing(action: Action) -> None:
    model, sentences = model_of(action, positions="none"), sentences_of(action, 8)
    shuffled = permuted(sentences, np.random.default_rng(0))
    plain, moved = model.teacher_forced(sentences), model.teacher_forced(shuffled)
    np.testing.assert_allclose(moved.clause, plain.clause, rtol=1e-12)
    assert np.array_equal(model.rollout(shuffled).variables, model.rollout(sentences).variables)
    # Attention finds the predicates where they have gone.
    np.testing.assert_allclose(model.attention(shuffled).predicate, model.attention(sentences).predicate, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [{"positions": kind} for kind in ("sinusoidal", "learned", "rope", "alibi")] + [{"convolution": 3}],
    ids=str,
)
def test_with_positions_the_order_of_predicates_is_something(action: Action, options: dict[str, object]) -> None:
    model, sentences = model_of(action, **options), sentences_of(action, 8)
    shuffled = permuted(sentences, np.random.default_rng(0))
    difference = model.teacher_forced(shuffled).clause / model.teacher_forced(sentences).clause - 1
    assert np.abs(difference).max() > 1e-4


def test_rotations_keep_lengths_and_know_differences_alone() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 1, 1, 1, 6, generator=generator, dtype=torch.float64)

    def product(at: int, there: int) -> float:
        turned = (positions.rotate(v, torch.tensor([p])) for v, p in ((query, at), (key, there)))
        return float(torch.mul(*turned).sum())

    assert product(0, 0) == pytest.approx(float((query * key).sum()), rel=1e-12)
    for difference in (0, 1, 5):
        reference = product(difference, 0)
        assert all(product(difference + shift, shift) == pytest.approx(reference, rel=1e-9) for shift in (1, 7, 900))
    assert abs(product(5, 0) - product(4, 0)) > 1e-3
    turned = positions.rotate(query, torch.tensor([123]))
    assert float(turned.norm()) == pytest.approx(float(query.norm()), rel=1e-12)


def test_rotated_attention_does_not_change_when_all_positions_shift(action: Action) -> None:
    block = block_of(action, positions="rope")
    stream = torch.randn(2, 9, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parts = block.project(stream).chunk(3, -1)
    here, there = (block.split(stream, *parts, position=position) for position in (0, 50))
    assert float((here.keys - there.keys).abs().max()) > 0.1
    torch.testing.assert_close(block.look(here.queries, here.keys), block.look(there.queries, there.keys))


def test_the_bias_by_distance_is_that_of_the_formula() -> None:
    bias = positions.distance_bias(2, torch.tensor([5, 6]), torch.arange(7), torch.zeros(1, dtype=torch.float64))
    assert bias.shape == (2, 2, 7)
    for head, slope in enumerate((1 / 16, 1 / 256)):
        for row, query in enumerate((5, 6)):
            for key in range(7):
                assert float(bias[head, row, key]) == -slope * (query - key)


def test_the_bias_is_added_to_the_scores(action: Action) -> None:
    block = block_of(action, positions="alibi")
    plain = Block(replace(block.settings, positions="none"), block.tokens, block.parameters)
    entry = block.enter(*clauses_of(sentences_of(action, 4), block))
    ratio = torch.log(block.look(entry.queries, entry.keys) / plain.look(entry.queries, entry.keys))
    # Up to the normalisation of each query, which falls out of differences between keys.
    found = (ratio - ratio[..., :1])[:, :, -1]
    expected = torch.tensor([1 / 16, 1 / 256], dtype=torch.float64)[:, None] * torch.arange(9)
    torch.testing.assert_close(found, expected.expand_as(found))


def test_sinusoids_at_places_known_by_hand() -> None:
    table = positions.sinusoids(3, 4, torch.zeros(1, dtype=torch.float64))
    expected = [[0, 1, 0, 1], *([math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in (1, 2))]
    np.testing.assert_allclose(table.numpy(), expected, rtol=1e-14)


def test_a_convolution_is_causal_and_short(action: Action) -> None:
    block = block_of(action, convolution=3)
    stream = torch.randn(1, 9, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    changed = stream.clone()
    changed[:, 4] += 1
    touched = (block.convolved(changed, 9) != block.convolved(stream, 9)).any(-1)[0]
    assert touched.nonzero()[:, 0].tolist() == [4, 5, 6]
    torch.testing.assert_close(block.convolved(stream, 2), block.convolved(stream, 9)[:, -2:])
    torch.testing.assert_close(block.convolved(stream[:, 5:], 2), block.convolved(stream, 9)[:, -2:])
    kernel = block.parameters["convolution"]
    torch.testing.assert_close(block.convolved(stream, 9)[:, 0], kernel[0] * stream[:, 0])


def test_later_answers_change_nothing_before_them(action: Action) -> None:
    for options in ({}, {"positions": "rope"}, {"convolution": 3}):
        block = block_of(action, **options)
        predicates, answers = clauses_of(sentences_of(action, 4), block)
        changed = answers.clone()
        changed[:, 3, 4] = block.tokens.first_value
        changed[:, 3, 3] = 0
        found, expected = block.logits(predicates, changed), block.logits(predicates, answers)
        torch.testing.assert_close(found[:, :3], expected[:, :3], rtol=0, atol=1e-12)


def test_learned_positions_that_were_never_trained_are_random_and_those_that_are_not_there_an_error(
    action: Action,
) -> None:
    model = model_of(action, positions="learned", position_rows=20)
    assert model.rollout(sentences_of(action, 10)).values.shape == (7, 10)
    with pytest.raises(FirstlightError, match="a sequence of 21 clauses: expected at most 20, the learned positions"):
        model.rollout(sentences_of(action, 11))


def test_positions_are_told_by_name() -> None:
    with pytest.raises(FirstlightError, match="--positions 'nope': expected one of none, sinusoidal, learned, rope"):
        Settings(positions="nope")
