"""The benchmark's plain model is the model, and a small benchmark runs to its rows."""

import numpy as np
import pytest
import torch

from firstlight.bench import onehot_model, rows, training
from firstlight.errors import FirstlightError
from firstlight.reference.parameters import Shape
from tests.reference.dense import STEPS, dense_gradients, draw_windows, largest_difference, random_parameters


def test_the_plain_model_is_the_model() -> None:
    windows, parameters = draw_windows(), random_parameters(3)
    lengths = np.full(len(windows), STEPS + 1)
    expected_loss, expected = dense_gradients(parameters, windows, lengths)
    leaves = {name: weight.clone() for name, weight in parameters.items()}
    assert onehot_model.step(leaves, torch.from_numpy(windows), 0.5) == pytest.approx(expected_loss, rel=1e-12)
    assert largest_difference({n: leaf.grad for n, leaf in leaves.items() if leaf.grad is not None}, expected) < 1e-10
    after = {name: weight - 0.5 * expected[name] for name, weight in parameters.items()}
    assert largest_difference({name: leaf.detach() for name, leaf in leaves.items()}, after) < 1e-10


def test_a_small_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "SHAPE", Shape(60, 20, 3))
    monkeypatch.setattr(training, "MEMORY_GOAL", 1)
    monkeypatch.setattr(training, "PLAIN_FIXED", 2**29 + 2**27)
    speed, memory = training.bench_training(1, "stories:50", "650MiB")
    assert speed.ratio == speed.baseline_seconds / speed.seconds
    assert memory.baseline_peak_bytes is not None
    assert memory.ratio == memory.baseline_peak_bytes / memory.peak_bytes
    assert {row["bench"] for row in rows.as_json([speed, memory])["rows"]} == {"training"}
    assert "MiB" in rows.as_table([speed, memory])


def test_too_little_memory_for_the_plain_model() -> None:
    with pytest.raises(FirstlightError, match=r"--training-memory 512\.0 MiB: expected at least \d"):
        training.plain_batch(2**29)


def test_unequal_gradients_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        training, "read_tensors", lambda path: ({"W_O": torch.ones(2) * (1 + ("ours" in path.name))}, {})
    )
    with pytest.raises(RuntimeError, match=r"W_O differs from the plain model by 1\.0e\+00, expected 1e-04"):
        training._difference(training.Path(), 1.0, 1.0)
