"""Cosines and deviations: against NumPy, at any scale, in any number of blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.theory.agreement import Comparison, agreement

RNG = np.random.default_rng(5)
WEIGHT, PREDICTED = RNG.normal(size=(40, 30)), RNG.normal(size=(40, 30))


def test_numbers_of_ordinary_size_agree_with_numpy() -> None:
    result = agreement(WEIGHT, PREDICTED)
    product = float((WEIGHT * PREDICTED).sum())
    assert result.cosine == pytest.approx(product / np.linalg.norm(WEIGHT) / np.linalg.norm(PREDICTED), rel=1e-13)
    assert result.deviation == pytest.approx(np.linalg.norm(WEIGHT - PREDICTED), rel=1e-13)
    assert result.relative_error == pytest.approx(result.deviation / np.linalg.norm(PREDICTED), rel=1e-13)
    assert (result.norm, result.predicted_norm) == pytest.approx((np.linalg.norm(WEIGHT), np.linalg.norm(PREDICTED)))


@given(own=st.integers(-960, 960), predicted=st.integers(-960, 960), cut=st.integers(1, 39))
def test_scales_change_neither_the_cosine_nor_the_norms(own: int, predicted: int, cut: int) -> None:
    comparison = Comparison()
    for rows in (slice(0, cut), slice(cut, 40)):
        comparison.add(np.ldexp(WEIGHT[rows], own), np.ldexp(PREDICTED[rows], predicted))
    result, ordinary = comparison.result(), agreement(WEIGHT, PREDICTED)
    assert result.cosine == pytest.approx(ordinary.cosine, rel=1e-12)
    assert np.ldexp(result.norm, -own) == pytest.approx(ordinary.norm, rel=1e-12)
    assert np.ldexp(result.predicted_norm, -predicted) == pytest.approx(ordinary.predicted_norm, rel=1e-12)


def test_blocks_of_very_different_scale_add_up() -> None:
    comparison = Comparison()
    for scale in (1e-300, 1e-20, 1.0, 1e-200):
        comparison.add(WEIGHT * scale, WEIGHT * scale)
    assert comparison.result().cosine == pytest.approx(1, rel=1e-14)
    assert comparison.result().norm == pytest.approx(np.linalg.norm(WEIGHT), rel=1e-14)


def test_float32_of_the_size_of_early_attention_does_not_underflow() -> None:
    tiny = (WEIGHT * 1e-25).astype(np.float32)
    assert not (tiny * tiny).any()
    assert agreement(tiny, WEIGHT * 1e-25).cosine == pytest.approx(1, abs=1e-12)


def test_a_deviation_far_below_the_weight_is_told() -> None:
    assert agreement(WEIGHT * (1 + 1e-12), WEIGHT).relative_error == pytest.approx(1e-12, rel=1e-3)


def test_nothing_has_no_direction() -> None:
    zeros = np.zeros((3, 3))
    assert agreement(zeros, zeros) == agreement(zeros[:1], zeros[:1])
    assert (agreement(zeros, zeros).cosine, agreement(zeros, zeros).relative_error) == (None, None)
    beside = agreement(zeros, np.ones((3, 3)))
    assert (beside.cosine, beside.relative_error, beside.deviation) == (None, 1.0, 3.0)
    assert agreement(np.ones((3, 3)), zeros).relative_error is None
