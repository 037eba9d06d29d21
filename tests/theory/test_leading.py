"""Leading terms: against float64 gradient descent, exact coefficients, orders of the output, the safetensors file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import firstlight as fl
from firstlight.errors import FirstlightError
from firstlight.statistics import Statistics
from firstlight.theory import leading_terms, terms
from firstlight.theory.flow import flow
from firstlight.theory.terms_file import write_terms
from tests.theory.reference import descend

LR = 0.01


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def relative_error(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


@pytest.fixture(scope="module")
def trained(windows: np.ndarray) -> dict[int, dict[str, np.ndarray]]:
    torch.set_num_threads(1)
    return {step: weights for step, _, weights, _ in descend(windows, 60, 3, LR, 10) if step in (3, 5, 10)}


@pytest.mark.parametrize("step", [3, 5, 10])
def test_every_weight_of_every_layer_is_its_leading_term_early(
    stats: Statistics, trained: dict[int, dict[str, np.ndarray]], step: int
) -> None:
    predicted = leading_terms(stats, steps=step, lr=LR, layers=3)
    assert list(predicted) == list(trained[step])[:1] + [f"layers.{n}.{x}" for n in range(3) for x in "WVP"]
    assert set(predicted) == set(trained[step])
    # Seen at s*lr = 0.1: 3e-5 (output), 7e-5 (value), 2e-4 (attention, position); a wrong orientation gives 1.
    limits = {"output": 2e-4, "value": 2.5e-4, "attention": 6e-4, "position": 6e-4}
    for name, weight in trained[step].items():
        assert cosine(weight, predicted[name]) > 0.999999
        assert relative_error(weight, predicted[name]) < limits[terms.kind_of(name)]


def test_the_relative_error_is_of_first_order_in_the_time(
    stats: Statistics, trained: dict[int, dict[str, np.ndarray]]
) -> None:
    early, late = (leading_terms(stats, steps=step, lr=LR, layers=3) for step in (5, 10))
    for name in early:
        ratio = relative_error(trained[10][name], late[name]) / relative_error(trained[5][name], early[name])
        assert 1.6 < ratio < 2.7


def test_the_second_order_and_the_flow_are_nearer_to_the_output(
    stats: Statistics, trained: dict[int, dict[str, np.ndarray]]
) -> None:
    errors = [
        relative_error(trained[10]["W_O"], leading_terms(stats, steps=10, lr=LR, layers=3, order=order)["W_O"])
        for order in ("leading", "second", "flow")
    ]
    assert errors[1] < errors[0] / 20
    assert errors[2] < errors[0] / 20


@pytest.mark.parametrize(("steps", "lr"), [(7, 0.5), (40, 3.0)])
def test_the_flow_is_dense_gradient_descent_on_the_bigrams(stats: Statistics, steps: int, lr: float) -> None:
    counts = stats.bigrams.counts.toarray() / stats.positions
    dense = np.zeros_like(counts)
    for _ in range(steps):
        exponential = np.exp(dense - dense.max(axis=1, keepdims=True))
        softmax = exponential / exponential.sum(axis=1, keepdims=True)
        dense += lr * (counts - stats.alpha[:, None] * softmax)
    assert relative_error(leading_terms(stats, steps=steps, lr=lr, layers=1, order="flow")["W_O"], dense) < 1e-12


def test_the_flow_goes_on_from_where_it_stopped(stats: Statistics) -> None:
    once = [state.rows(3, 9) for state in flow(stats.bigrams, [0, 2, 2, 5], 0.3)]
    assert not once[0].any()
    np.testing.assert_array_equal(once[1], once[2])
    np.testing.assert_array_equal(once[3], next(flow(stats.bigrams, [5], 0.3)).rows(3, 9))
    with pytest.raises(FirstlightError, match="ascend"):
        list(flow(stats.bigrams, [5, 3], 0.3))


def test_the_second_order_agrees_with_the_flow_to_the_third(stats: Statistics) -> None:
    gaps = []
    for lr in (0.05, 0.1):
        second, flowed = (leading_terms(stats, steps=6, lr=lr, layers=1, order=o)["W_O"] for o in ("second", "flow"))
        gaps.append(np.linalg.norm(second - flowed))
    assert gaps[1] / gaps[0] == pytest.approx(8, rel=0.05)


def test_coefficients_are_sums_of_the_gradient_coefficients() -> None:
    lr = 0.125  # a power of two: nothing is rounded
    for kind in terms.KINDS:
        total = 0.0
        for step in range(30):
            assert terms.coefficient(kind, step, lr) == total
            total += lr * terms.gradient_coefficient(kind, step, lr)
    for step in range(30):
        assert terms.gradient_coefficient("output", step, lr) == 1
        assert terms.gradient_coefficient("value", step, lr) == step * lr
        assert terms.gradient_coefficient("attention", step, lr) == (step**3 - step**2) / 2 * lr**3


def test_coefficients_of_very_many_steps_do_not_overflow() -> None:
    steps = 10**12
    exact = (
        3 * steps * (steps - 1) * (steps - 2) * (steps - 3) // 24 + steps * (steps - 1) * (steps - 2) // 3
    ) / 10**40
    assert terms.coefficient("attention", steps, 1e-10) == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("held", [0.0, 0.25])
def test_blocks_are_the_rows_of_the_tensor(stats: Statistics, held: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.theory.directions.HELD_SHARE", held)
    monkeypatch.setattr("firstlight.theory.directions.BLOCK_BYTES", 7 * 8 * 60)
    for order in ("leading", "second", "flow"):
        predicted = leading_terms(stats, steps=50, lr=0.1, layers=2, order=order)
        for name in ("W_O", "layers.1.W", "layers.1.V", "layers.0.P"):
            ranges, blocks = zip(*predicted.blocks(name), strict=True)
            assert [rows.start for rows in ranges] == ([0] if name.endswith("P") else list(range(0, 60, 7)))
            np.testing.assert_allclose(np.concatenate(blocks), np.atleast_2d(predicted[name]), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_file_has_the_tensors_and_the_metadata(
    stats: Statistics, tmp_path: Path, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstlight.theory.directions.BLOCK_BYTES", 7 * 8 * 60)
    monkeypatch.setattr("firstlight.theory.terms_file._COPY_BYTES", 1000)
    predicted = leading_terms(stats, steps=50, lr=0.1, layers=3, dtype=dtype)
    write_terms(predicted, tmp_path / "sub" / "terms.safetensors", {"steps": "50"})
    loaded = load_file(tmp_path / "sub" / "terms.safetensors")
    assert set(loaded) == set(predicted)
    for name, tensor in predicted.items():
        assert loaded[name].dtype == dtype
        assert loaded[name].shape == predicted.shape(name) == tensor.shape
        np.testing.assert_allclose(loaded[name], tensor, rtol=1e-6 if dtype == "float32" else 1e-13)
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["terms.safetensors"]


def test_what_float32_cannot_hold_is_refused_and_nothing_is_left(stats: Statistics, tmp_path: Path) -> None:
    predicted = leading_terms(stats, steps=3, lr=1e-9, layers=1, dtype="float32")
    assert predicted["W_O"].dtype == np.float32
    with pytest.raises(FirstlightError, match=r"^layers\.0\.W after 3 steps of 1e-09: its largest entry .* float32"):
        predicted["layers.0.W"]
    with pytest.raises(FirstlightError, match="float32"):
        write_terms(predicted, tmp_path / "terms.safetensors", {})
    assert not list(tmp_path.iterdir())


def test_no_step_predicts_zero_and_layers_share_their_values(stats: Statistics) -> None:
    assert not any(tensor.any() for tensor in leading_terms(stats, steps=0, lr=0.1, layers=2).values())
    predicted = leading_terms(stats, steps=9, lr=0.1, layers=2)
    np.testing.assert_array_equal(predicted["layers.0.V"], predicted["layers.1.V"])
    assert not np.shares_memory(predicted["layers.0.V"], predicted["layers.1.V"])
    with pytest.raises(KeyError):
        predicted["layers.2.V"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": -1}, "steps = -1"),
        ({"lr": 0.0}, "lr = 0.0"),
        ({"lr": float("nan")}, "lr = nan"),
        ({"layers": 0}, "layers = 0"),
        ({"order": "third"}, "order 'third'"),
        ({"dtype": "float16"}, "dtype 'float16'"),
    ],
)
def test_bad_arguments_are_named(stats: Statistics, change: dict[str, Any], message: str) -> None:
    with pytest.raises(FirstlightError, match=message):
        leading_terms(stats, **({"steps": 1, "lr": 0.1, "layers": 1} | change))


def test_the_public_name_is_this_one() -> None:
    assert fl.leading_terms is leading_terms
