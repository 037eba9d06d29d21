"""Shares and their intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.interleaved import in_order
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.measured import Rollout
from firstlight.tracking.measures.shares import Share, all_values, final_value


def test_shares_of_a_rollout() -> None:
    action = Action("C3", np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]]))
    values = np.array([[0, 1, 2], [0, 0, 0], [1, 1, 1], [2, 2, 1]])
    written = Rollout(np.zeros((4, 2), np.int64), np.array([[1, 2], [1, 0], [1, -1], [2, 1]]))
    sentences = Sentences(action, np.tile(np.arange(3), (4, 1)), np.zeros((4, 2), np.int64), values)
    for each in (sentences, in_order(sentences)):
        assert all_values(each, written) == Share(2, 4)
        assert final_value(each, written) == Share(3, 4)


def test_an_interval_known_by_hand() -> None:
    # Wilson's interval for 7 of 10, as R's prop.test(7, 10, correct = FALSE) prints it.
    share = Share(7, 10)
    assert (share.low, share.high) == (pytest.approx(0.3967781, abs=1e-7), pytest.approx(0.8922087, abs=1e-7))


@given(st.integers(1, 1000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_has_the_share_in_it(drawn: tuple[int, int]) -> None:
    share, opposite = Share(*drawn), Share(drawn[1] - drawn[0], drawn[1])
    assert 0 <= share.low <= share.value + 1e-12
    assert share.value - 1e-12 <= share.high <= 1
    assert share.low == pytest.approx(1 - opposite.high, abs=1e-12)
    # Its ends are where the share is 1.96 standard errors off.
    for end in (share.low, share.high):
        if 1e-9 < end < 1 - 1e-9:
            assert abs(share.value - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / share.of), rel=1e-5)
