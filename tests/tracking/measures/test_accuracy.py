"""Rows of accuracy and attention against models whose every answer is known, and intervals against published ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.accuracy import accuracy_rows, attention_rows, measured_sentences, wilson
from firstlight.tracking.measures.measured import AttentionMass, Rollout, SentenceModel, TeacherForced


class Oracle:
    """Knows every answer, but writes a wrong value after so many right ones in every third sentence it is asked for."""

    def __init__(self, action: Action, variables: int = 40, wrong_at: int | None = None) -> None:
        self.action, self.variables, self.wrong_at, self.asked = action, variables, wrong_at, 0

    def rollout(self, sentences: Sentences) -> Rollout:
        values = sentences.values[:, 1:].copy()
        number = self.asked + np.arange(len(values))
        self.asked += len(values)
        if self.wrong_at is not None:
            place = min(self.wrong_at, values.shape[1] - 1)
            values[number % 3 == 0, place] = -1
        return Rollout(sentences.variables[:, 1:], values)

    def teacher_forced(self, sentences: Sentences) -> TeacherForced:
        steps = np.arange(1, sentences.length + 1)
        value = np.tile(1 / steps, (len(sentences), 1))
        return TeacherForced(clause=value / 2, value=value)

    def attention(self, sentences: Sentences) -> AttentionMass:
        # Head 0 looks at the predicate alone and at the answer alone by turns; head 1 at both equally, and elsewhere.
        turn = np.arange(sentences.length) % 2
        predicate = np.stack([np.tile(turn, (len(sentences), 1)), np.full((len(sentences), sentences.length), 0.25)])
        answer = np.stack([np.tile(1 - turn, (len(sentences), 1)), np.full((len(sentences), sentences.length), 0.25)])
        return AttentionMass(predicate.astype(float), answer.astype(float))


@pytest.fixture(scope="module")
def action() -> Action:
    return action_named("S3")


def test_the_rows_are_what_the_model_got_right(action: Action) -> None:
    model: SentenceModel = Oracle(action, wrong_at=1)
    short, long = accuracy_rows(model, [2, 6], count=30)
    # The second of two answers is the last one; the second of six is not.
    assert (short.length, short.count, short.rollout, short.final) == (2, 30, 20 / 30, 20 / 30)
    assert (long.length, long.count, long.rollout, long.final) == (6, 30, 20 / 30, 1.0)
    assert short.value_probability == pytest.approx(0.75)
    assert short.teacher_forced == pytest.approx(0.375)
    assert (short.rollout_low, short.rollout_high) == wilson(20, 30)


def test_epsilon_and_gap_are_means_over_steps(action: Action) -> None:
    one, two = attention_rows(Oracle(action), [4], count=5)
    assert (one.length, one.head, one.predicate, one.answer, one.epsilon, one.gap) == (4, 0, 0.5, 0.5, 0.0, 1.0)
    assert (two.head, two.predicate, two.answer, two.epsilon, two.gap) == (1, 0.25, 0.25, 0.5, 0.0)


def test_sentences_depend_on_seed_and_length_alone(action: Action) -> None:
    model = Oracle(action, variables=3000)

    def drawn(length: int, count: int, seed: int) -> np.ndarray:
        return np.concatenate([each.variables for each in measured_sentences(model, length, count, seed)])

    np.testing.assert_array_equal(drawn(2000, 9, 1), drawn(2000, 20, 1)[:9])
    assert (drawn(2000, 9, 1) != drawn(2000, 9, 2)).any()
    assert (drawn(2000, 9, 1)[:, :1500] != drawn(1499, 9, 1)).any()
    assert max(len(each) for each in measured_sentences(model, 2000, 20, 1)) == 8


def test_batches_do_not_change_the_rows(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = accuracy_rows(Oracle(action, wrong_at=0), [3], count=21)[0]
    monkeypatch.setattr("firstlight.tracking.measures.accuracy._CLAUSES", 12)
    parts = accuracy_rows(Oracle(action, wrong_at=0), [3], count=21)[0]
    assert (whole.count, whole.rollout, whole.final) == (parts.count, parts.rollout, parts.final)
    assert whole.teacher_forced == pytest.approx(parts.teacher_forced)


@pytest.mark.parametrize(
    ("lengths", "count", "message"),
    [
        ([5, 40], 10, "length 40 with 40 variables"),
        ([0], 10, "length 0: expected 1 or more"),
        ([5], 0, "0 sentences: expected at least 1"),
        ([], 10, "no lengths"),
    ],
)
def test_what_cannot_be_measured_is_refused(action: Action, lengths: list[int], count: int, message: str) -> None:
    with pytest.raises(FirstlightError, match=message):
        accuracy_rows(Oracle(action), lengths, count=count)


def test_intervals_are_those_published() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I: the score method.
    for successes, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718)):
        assert wilson(successes, count) == pytest.approx((low, high), abs=5e-5)
    assert wilson(0, 20)[0] == 0
    assert wilson(0, 20)[1] == pytest.approx(0.1611, abs=5e-5)


@given(st.integers(1, 2000), st.data())
def test_intervals_hold_the_share_and_mirror(count: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, count))
    low, high = wilson(successes, count)
    assert 0 <= low <= successes / count <= high <= 1
    other = wilson(count - successes, count)
    assert (1 - other[1], 1 - other[0]) == pytest.approx((low, high))
