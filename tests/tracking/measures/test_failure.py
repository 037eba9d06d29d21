"""Searches for the length where a share is crossed, models that fail at a known length, and R² by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.runs import Run
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.failure import crossing, failure_measured, failure_prediction
from firstlight.tracking.measures.goodness import Case, goodness, r_squared
from firstlight.tracking.measures.loading import load_model
from firstlight.tracking.measures.measured import AttentionMass, Rollout, TeacherForced


class Fails:
    """Right with probability exp(-L / scale), whatever the sentence."""

    def __init__(self, action: Action, variables: int, scale: float) -> None:
        self.action, self.variables, self.scale = action, variables, scale

    def rollout(self, sentences: Sentences) -> Rollout:
        values = sentences.values[:, 1:].copy()
        wrong = math.ceil(len(values) * (1 - math.exp(-sentences.length / self.scale)))
        values[:wrong, -1] = -1
        return Rollout(sentences.variables[:, 1:], values)

    def teacher_forced(self, sentences: Sentences) -> TeacherForced:
        ones = np.ones((len(sentences), sentences.length))
        return TeacherForced(ones, ones)

    def attention(self, sentences: Sentences) -> AttentionMass:
        raise NotImplementedError


@given(st.floats(2, 1e4), st.floats(0.05, 0.95))
def test_crossings_are_found(scale: float, share: float) -> None:
    asked = []

    def at(length: int) -> float:
        asked.append(length)
        return math.exp(-length / scale)

    exact = -scale * math.log(share)
    found = crossing(at, share, 1, 2**16)
    if exact <= 1:
        assert found == 0
    else:
        assert found == pytest.approx(exact, rel=0.05, abs=0.5)
    assert len(set(asked)) < 40


def test_what_is_never_and_always_exceeded() -> None:
    assert crossing(lambda length: 0.4, 0.5, 3, 100) == 0
    assert crossing(lambda length: 0.6, 0.5, 3, 100) == math.inf
    assert crossing(lambda length: 1.0 if length < 100 else 0.0, 0.5, 3, 100) == pytest.approx(99, abs=3)


def test_failure_lengths_are_measured(c3: Action) -> None:
    found = failure_measured(Fails(c3, 500, 60.0), count=200)
    assert found[0.5].length == pytest.approx(60 * math.log(2), rel=0.05)
    assert found[0.9].length == pytest.approx(-60 * math.log(0.9), rel=0.15)
    for each in found.values():
        assert each.low < each.length < each.high
    beyond = failure_measured(Fails(c3, 40, 1e6), count=100)[0.5]
    assert (beyond.length, beyond.low, beyond.high) == (math.inf, 39, math.inf)


def test_predictions_are_close_to_what_is_measured(theory_run: Run) -> None:
    # While attention concentrates, the length at which half of all roll-outs fail grows from 10 to beyond 39.
    found = []
    for step in (420, 460):
        model = load_model(theory_run, step)
        predicted, measured = failure_prediction(model, queries=512), failure_measured(model, count=200)
        found += [predicted.lengths[share] / measured[share].length for share in (0.9, 0.5)]
        assert predicted.epsilon == predicted.curve[0].epsilon > 0
        assert all(a.epsilon < b.epsilon and a.rollout >= b.rollout for a, b in pairwise(predicted.curve))
    assert max(found) < 1.3
    assert min(found) > 1 / 1.3
    last = load_model(theory_run)
    assert failure_prediction(last, queries=512).lengths[0.5] > 39
    assert failure_measured(last, count=100)[0.5].length == math.inf


def cases(predicted: list[float], measured: list[float], groups: str = "abcd") -> list[Case]:
    epsilons = [1 / value if 0 < value < math.inf else 0.1 for value in measured]
    return [Case(*each) for each in zip(groups, predicted, measured, epsilons, strict=True)]


def test_r_squared_is_the_one_of_textbooks() -> None:
    found = goodness(cases([8, 16, 32, 64], [10, 20, 40, 80]), longest=100)
    assert (found.cases, found.known) == (4, 4)
    logs = np.log([10, 20, 40, 80])
    assert found.r_squared == pytest.approx(1 - 4 * math.log(1.25) ** 2 / ((logs - logs.mean()) ** 2).sum())
    assert found.error == pytest.approx(1.25)
    assert found.bias == pytest.approx(0.8)
    # These epsilons tell the length exactly, and a line learns that from the other groups; their mean tells nothing.
    assert found.epsilon_alone == pytest.approx(1)
    assert found.others_mean is not None
    assert found.others_mean < 0
    assert r_squared(logs, logs) == 1
    assert r_squared(logs, np.zeros(4)) is None


def test_what_was_not_reached_is_counted_apart() -> None:
    found = goodness(cases([10, math.inf, 50, 0], [10, math.inf, math.inf, 0]), longest=100)
    assert (found.known, found.agree, found.r_squared) == (1, pytest.approx(2 / 3), None)
    found = goodness(cases([10, 1000, 50, 0], [10, 100, math.inf, 20]), longest=100)
    assert found.known == 3
    assert found.bias == pytest.approx((1 / 20) ** (1 / 3))


def test_simple_predictions_never_see_the_group_they_are_judged_on() -> None:
    # Within a group epsilon tells all, between groups it misleads.
    same = [Case("a", 1, 10, 0.1), Case("a", 1, 100, 0.01), Case("b", 1, 10, 0.01), Case("b", 1, 100, 0.1)]
    assert goodness(same, longest=200).epsilon_alone == pytest.approx(-3)
    assert goodness(same[:2], longest=200).epsilon_alone is None
    # Fitted on all models but the one it is judged on, it knows the other of its group.
    alike = [Case("a", 1, 10, 0.1), Case("a", 1, 100, 0.01), Case("a", 1, 1000, 0.001)]
    assert goodness(alike, longest=2000).epsilon_seen == pytest.approx(1)
