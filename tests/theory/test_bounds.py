"""The theorems: which one speaks, its conditions one by one, its range and its bounds, as the paper prints them."""

import math
from dataclasses import replace

import pytest

from firstlight.reference.settings import _gaussian
from firstlight.theory.bounds import Setting, statement, theorem_for

PAPER = Setting(vocabulary=3000, window=200, layers=3, lr=0.005, full_batch=True)
GAUSSIAN = replace(PAPER, init="gaussian", init_scale=(0.005 / 200) ** 2)


def test_the_setting_of_the_paper_is_proved_up_to_a_time_of_four_hundredths() -> None:
    theorem = theorem_for(PAPER)
    assert (theorem.name, theorem.applies) == ("D.9", True)
    assert theorem.limit == min(1 / 36, 5 / (8 * math.sqrt(200)))
    assert theorem.last_step == 5
    assert theorem.in_proved_range(5)
    assert not theorem.in_proved_range(6)
    assert 5 / (8 * math.sqrt(200)) == pytest.approx(0.0442, abs=1e-4)


@pytest.mark.parametrize(
    ("layers", "bounds"),
    [(1, {"output": 3e-2, "value": 4e-3, "attention": 12e-3, "position": 12e-3}),
     (3, {"output": 3e-2, "value": 12e-3, "attention": 26e-3, "position": 26e-3})],
)  # fmt: skip
def test_bounds_at_a_tenth(layers: int, bounds: dict[str, float]) -> None:
    theorem = theorem_for(replace(PAPER, layers=layers, lr=0.1))
    assert {kind: theorem.bound(kind, 1) for kind in bounds} == pytest.approx(bounds)  # type: ignore[arg-type]


def test_one_layer_from_zero_is_the_other_theorem() -> None:
    theorem = theorem_for(replace(PAPER, layers=1))
    assert theorem.name == "D.6"
    assert theorem.limit == 3 / (8 * 200**0.375)


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ({"vocabulary": 499}, "|V| >= 500"),
        ({"window": 59}, "T >= 60"),
        ({"layers": 4}, "L <= sqrt(T)/4"),
        ({"full_windows": False}, "every window has T positions"),
        ({"full_batch": False}, "full-batch gradient descent"),
        ({"init": "gaussian", "init_scale": 1.0}, "v <= lr^2/T^2"),
        ({"init": "gaussian", "lr": 0.004}, "lr >= 1/T"),
        ({"init": "gaussian", "vocabulary": 199}, "T <= |V|"),
        ({"init": "gaussian", "init_exponent": -0.5}, "xi >= 0"),
    ],
)
def test_each_condition_can_fail_and_then_nothing_is_proved(change: dict[str, object], condition: str) -> None:
    theorem = theorem_for(replace(PAPER, **change))  # type: ignore[arg-type]
    assert condition in [each.text for each in theorem.conditions if not each.holds]
    assert not theorem.in_proved_range(0)
    assert any("NOT hold" in line and condition in line for line in statement(theorem))


def test_the_smallest_sizes_that_are_allowed() -> None:
    assert theorem_for(replace(PAPER, vocabulary=500, window=60, layers=1)).applies
    assert theorem_for(replace(PAPER, vocabulary=500, window=3, layers=1)).applies
    assert theorem_for(replace(PAPER, window=64, layers=2)).applies
    assert not theorem_for(replace(PAPER, window=63, layers=2)).applies


def test_the_last_step_is_the_last_in_the_range_for_any_rate() -> None:
    for lr in (1e-4, 0.001, 0.003, 0.0277, 1 / 36, 0.1):
        theorem = theorem_for(replace(PAPER, lr=lr))
        assert theorem.in_proved_range(theorem.last_step)
        assert not theorem.in_proved_range(theorem.last_step + 1)
    assert "not even the first step" in " ".join(statement(theorem_for(replace(PAPER, lr=0.1))))


def test_the_probability_of_a_gaussian_start() -> None:
    theorem = theorem_for(GAUSSIAN)
    assert (theorem.name, theorem.applies, theorem.probability) == ("D.12", True, 1.0)
    # At the start itself the bound is zero and the weights are not.
    assert [theorem.in_proved_range(step) for step in (0, 1, 5, 6)] == [False, True, True, False]
    assert theorem_for(PAPER).in_proved_range(0)
    small = replace(GAUSSIAN, vocabulary=10, layers=1, init_exponent=0.25)
    expected = 1 - 4 * (math.exp(-(10**1.5) / 2) + math.exp(-(10**2.5) / 4))
    assert theorem_for(small).probability == pytest.approx(expected, rel=1e-12)
    assert theorem_for(replace(small, vocabulary=2, init_exponent=0)).probability == 0
    assert theorem_for(replace(GAUSSIAN, init_exponent=1000)).probability == 1


def test_a_probability_is_written_by_what_it_lacks_of_1() -> None:
    def said(vocabulary: int) -> str:
        return statement(theorem_for(replace(GAUSSIAN, vocabulary=vocabulary)))[-1]

    # 10 exp(-250) beside which the second tail is nothing.
    assert said(500) == "with probability at least 1 - 2.7e-108 over the start"
    assert said(3000) == "with probability at least 1 (to the last digit of a float) over the start"
    # Of 2 tokens: too few for the theorem, so its probability is that of what does not apply.
    assert said(2) == "if they all held, with probability at least 0 (so nothing is said) over the start"


@pytest.mark.parametrize("lr", [0.005, 0.05, 0.3, 0.4, 0.7])
@pytest.mark.parametrize("window", [20, 24, 64, 200])
def test_the_default_start_of_a_training_is_allowed(lr: float, window: int) -> None:
    scale, _ = _gaussian("gaussian", None, None, lr, window)
    assert scale is not None
    conditions = theorem_for(replace(GAUSSIAN, lr=lr, window=window, init_scale=scale)).conditions
    assert [each.holds for each in conditions if each.text == "v <= lr^2/T^2"] == [True]
