"""Scales: nothing overflows, nothing needed is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import FirstlightError
from firstlight.statistics import fixed_point


@given(st.integers(1, 8192))
def test_shares_are_stored_to_one_part_in_2_to_the_34(window: int) -> None:
    t = np.arange(1, window + 1)
    stored = fixed_point.context_weights(window) / 2.0 ** fixed_point.context_bits(window)
    assert np.abs(stored * t - 1).max() <= 2.0**-34


@given(st.floats(1e-300, 1e300))
def test_ceil_log2_bounds_from_above_and_no_further(bound: float) -> None:
    exponent = fixed_point.ceil_log2(bound)
    assert np.ldexp(1.0, exponent - 1) < bound <= np.ldexp(1.0, exponent)


def test_sums_of_a_corpus_that_is_too_large_are_refused() -> None:
    count = np.array([5, fixed_point.most_before_carry(200) * 2**31 + 1])
    with pytest.raises(FirstlightError, match="overflow: token 1"):
        fixed_point.refuse_context_overflow(count, 200)
    fixed_point.refuse_context_overflow(count - 1, 200)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9))
def test_moving_the_carry_keeps_the_sum(values: list[int]) -> None:
    low, carry = np.array([values]), np.ones((1, len(values)), np.int32)
    fixed_point.move_carry(low, carry)
    assert ((low >= 0) & (low < 2**62)).all()
    assert [(int(c) - 1) * 2**62 + int(lo) for c, lo in zip(carry[0], low[0], strict=True)] == values


def test_row_sums_are_exact_where_int64_would_overflow() -> None:
    low = np.full((8, 2), 2**62 - 1)
    carry = np.full((8, 2), 3, np.int32)
    assert (fixed_point.row_sums(low.T.copy(), None, 10) == 8 * (2**62 - 1) / 2**10).all()
    assert (fixed_point.row_sums(low.T.copy(), carry.T.copy(), 10) == 8 * (2**62 - 1 + 3 * 2**62) / 2**10).all()


@given(st.integers(1, 2**20))
def test_one_window_never_needs_a_carry(window: int) -> None:
    assert window <= fixed_point.most_before_carry(window)
