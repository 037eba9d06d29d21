"""Irrelevant predicates: nothing of the sentence in them, the sentence's own in order, every place alike."""

import numpy as np
import pytest

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.interleaved import in_order, interleaved, laid_out, permuted
from firstlight.tracking.language.tokens import predicate_clauses, tokens_of
from tests.tracking.practical.conftest import model_of, sentences_of


def test_irrelevant_predicates_are_a_chain_of_other_variables(action: Action) -> None:
    sentences, tokens = sentences_of(action, 5, count=200), tokens_of(action, 30)
    mixed = interleaved(sentences, 9, variables=30, rng=np.random.default_rng(0))
    clauses, places = laid_out(mixed, tokens)
    assert clauses.shape == (200, 14, 5)
    assert (np.diff(places) > 0).all()
    own = np.take_along_axis(clauses, places[..., None], axis=1)
    assert np.array_equal(own, predicate_clauses(sentences, tokens))
    for row in range(200):
        other = clauses[row, np.setdiff1d(np.arange(14), places[row])]
        chain = [*other[:, 2], other[-1, 0]]
        assert np.array_equal(other[:-1, 0], other[1:, 2])
        assert len(set(chain)) == 10
        assert not set(chain) & set(sentences.variables[row])
        assert ((other[:, 1] >= 30) & (other[:, 1] < 36)).all()
        assert (other[:, 3:] == tokens.blank).all()


def test_every_set_of_places_is_as_likely() -> None:
    from firstlight.tracking.language.names import action_named

    sentences = sentences_of(action_named("C2"), 2, count=6000)
    places = interleaved(sentences, 2, variables=30, rng=np.random.default_rng(0)).places
    _, counts = np.unique(places, axis=0, return_counts=True)
    assert len(counts) == 6
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_a_permutation_loses_nothing(action: Action) -> None:
    sentences, tokens = sentences_of(action, 6, count=50), tokens_of(action, 30)
    clauses, places = laid_out(permuted(sentences, np.random.default_rng(0)), tokens)
    assert np.array_equal(np.take_along_axis(clauses, places[..., None], axis=1), predicate_clauses(sentences, tokens))
    assert len(np.unique(places, axis=0)) > 40


def test_nothing_irrelevant_is_the_sentence_itself(action: Action) -> None:
    sentences, tokens = sentences_of(action, 6), tokens_of(action, 30)
    for same in (in_order(sentences), interleaved(sentences, 0, variables=30, rng=np.random.default_rng(0))):
        for found, expected in zip(laid_out(same, tokens), laid_out(sentences, tokens), strict=True):
            assert np.array_equal(found, expected)
    model = model_of(action)
    assert np.array_equal(model.teacher_forced(in_order(sentences)).clause, model.teacher_forced(sentences).clause)


def test_there_are_only_so_many_other_variables(action: Action) -> None:
    sentences, rng = sentences_of(action, 5), np.random.default_rng(0)
    assert len(interleaved(sentences, 23, variables=30, rng=rng).irrelevant[0]) == 23
    with pytest.raises(
        FirstlightError, match=r"24 irrelevant clauses beside sentences of 6 variables: 30 .* room for 23"
    ):
        interleaved(sentences, 24, variables=30, rng=rng)
    with pytest.raises(FirstlightError, match="-1 irrelevant clauses: expected 0 or more"):
        interleaved(sentences, -1, variables=30, rng=rng)


def test_a_part_of_them(action: Action) -> None:
    mixed = interleaved(sentences_of(action, 5), 3, variables=30, rng=np.random.default_rng(0))
    tokens = tokens_of(action, 30)
    whole, part = laid_out(mixed, tokens), laid_out(mixed[2:5], tokens)
    assert len(mixed[2:5]) == 3
    assert all(np.array_equal(some, every[2:5]) for some, every in zip(part, whole, strict=True))
