"""Drawn sentences: uniform, without repetition, following from their actions, and the same for the same seed."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from firstlight.errors import FirstlightError
from firstlight.tracking.language import sampling
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw, numbered

LEAST = 1e-4  # seeds are fixed, so this is no rate of failure


def drawn(name: str, variables: int, length: int, count: int, seed: int = 0) -> sampling.Sentences:
    rng = np.random.default_rng(seed)
    return draw(action_named(name), variables=variables, length=length, count=count, rng=rng)


@pytest.mark.parametrize(
    ("name", "variables", "length"), [("C6", 170, 5), ("S5", 170, 169), ("Q8", 2, 1), ("C1", 300, 20)]
)
def test_values_follow_and_no_variable_is_repeated(name: str, variables: int, length: int) -> None:
    sentences = drawn(name, variables, length, 200)
    images = sentences.action.images.tolist()
    assert sentences.variables.shape == sentences.values.shape == (200, length + 1)
    assert sentences.elements.shape == (200, length)
    assert sentences.length == length
    assert len(sentences) == 200
    assert all(array.dtype == np.int64 for array in (sentences.variables, sentences.elements, sentences.values))
    assert sentences.variables.min() >= 0
    assert sentences.variables.max() < variables
    for chosen, elements, values in zip(
        sentences.variables.tolist(), sentences.elements.tolist(), sentences.values.tolist(), strict=True
    ):
        assert len(set(chosen)) == length + 1
        assert values[1:] == [images[g][y] for g, y in zip(elements, values, strict=False)]


def test_variables_elements_and_values_are_uniform_at_every_place() -> None:
    sentences = drawn("A4", 7, 4, 40_000)
    for array, size in ((sentences.variables, 7), (sentences.elements, 12), (sentences.values, 4)):
        for column in array.T:
            assert chisquare(np.bincount(column, minlength=size)).pvalue > LEAST


@pytest.mark.parametrize("pool", [8, 2**19])
def test_all_orders_of_variables_are_equally_likely(monkeypatch: pytest.MonkeyPatch, pool: int) -> None:
    # With the small pool two rows are shuffled on and on; what they bring must not depend on what they brought before.
    monkeypatch.setattr(sampling, "_POOL", pool)
    chosen = drawn("C2", 4, 2, 24_000).variables
    seen = Counter(map(tuple, chosen.tolist()))
    assert len(seen) == 24
    assert chisquare(list(seen.values())).pvalue > LEAST
    if pool == 8:
        following = Counter(map(tuple, np.hstack([chosen[:-2, :1], chosen[2:, :1]]).tolist()))
        assert len(following) == 16
        assert chisquare(list(following.values())).pvalue > LEAST


def test_actions_and_variables_are_independent() -> None:
    sentences = drawn("C3", 5, 2, 30_000)
    for one, other in (
        (sentences.elements[:, 0], sentences.elements[:, 1]),
        (sentences.elements[:, 0], sentences.values[:, 0]),
    ):
        assert chisquare(np.bincount(one * 3 + other, minlength=9)).pvalue > LEAST
    assert chisquare(np.bincount(sentences.elements[:, 0] * 5 + sentences.variables[:, 1], minlength=15)).pvalue > LEAST


def test_the_same_seed_draws_the_same() -> None:
    first, again, other = (drawn("S5", 170, 6, 50, seed) for seed in (3, 3, 4))
    assert (first.variables == again.variables).all()
    assert (first.elements == again.elements).all()
    assert (first.values == again.values).all()
    assert (first.variables != other.variables).any()


def test_no_sentence_is_a_number_of_sentences() -> None:
    assert drawn("C6", 170, 5, 0).variables.shape == (0, 6)


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 65])
def test_which_sentence_is_drawn_does_not_depend_on_how_many_are(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(sampling, "_BATCH", 100)

    def rows(count: int) -> list[list[int]]:
        batches = numbered(action_named("S3"), variables=9, length=4, count=count, seed=5)
        return [row for batch in batches for row in np.hstack([batch.variables, batch.elements, batch.values]).tolist()]

    everything = rows(100)
    assert len(everything) == 100
    assert rows(count) == everything[:count]
    assert len(set(map(tuple, everything))) == 100


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length": 170}, "length 170 with 170 variables: a sentence has 171 different variables; .* at most 169"),
        ({"length": 0}, "length 0: expected 1 or more actions"),
        ({"variables": 0}, "length 5 with 0 variables"),
        ({"count": -1}, "-1 sentences: expected 0 or more"),
        ({"variables": 2**40}, "expected at most 16,777,216"),
    ],
)
def test_impossible_sentences_are_refused(settings: dict[str, int], message: str) -> None:
    wanted = {"variables": 170, "length": 5, "count": 1} | settings
    with pytest.raises(FirstlightError, match=message):
        draw(action_named("C6"), rng=np.random.default_rng(0), **wanted)


def test_numbered_sentences_are_refused_before_the_first_is_asked_for() -> None:
    with pytest.raises(FirstlightError, match="length 9 with 9 variables"):
        numbered(action_named("C6"), variables=9, length=9, count=1, seed=0)
