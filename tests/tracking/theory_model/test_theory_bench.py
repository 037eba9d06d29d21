"""The benchmark's own check: what it times agrees, and a difference is an error."""

from typing import Any

import numpy as np
import pytest
import torch

from firstlight.bench.theory_material import Case, GatherUpdate, following_model
from firstlight.bench.tracking_theory import bench_theory
from firstlight.tracking.theory_model import updates
from firstlight.tracking.theory_model.parameters import in_words

SIZES: dict[str, Any] = {"variables": 12, "batch": 16}


def test_every_row_is_there(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr("firstlight.bench.tracking_theory.NAMES", ("C6",))
    rows = bench_theory(torch.get_num_threads(), repeats=1, length=9, count=2, compiled=False, **SIZES)
    capsys.readouterr()
    assert [row.goal for row in rows] == [6, 20, None, None, 9, None, 20, None, None, 20, None]
    assert all(row.seconds > 0 and row.baseline_seconds > 0 for row in rows)


def test_a_wrong_gradient_is_not_timed(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        "firstlight.bench.onehot_theory.logits", lambda W, seen, shape: torch.zeros(16, 5, shape.size) * W.sum()
    )
    with pytest.raises(RuntimeError, match="differ from the plain model by"):
        bench_theory(torch.get_num_threads(), repeats=1, **SIZES)
    capsys.readouterr()


def test_gathers_in_pytorch_do_the_same_update() -> None:
    case = Case("C6", **SIZES)
    sentences = case.sentences(1, 16)
    rows = np.concatenate([case.shape.predicates(sentences)[:, 0], case.shape.answers(sentences)[:, 0]], axis=1)
    inputs, targets = torch.from_numpy(rows), torch.from_numpy(case.shape.targets(sentences)[:, 1])
    W = case.model.weights.W
    gather = GatherUpdate(W, case, inputs, targets)
    gather.step()
    changed = W.clone()
    updates.descend_ffn(changed, inputs, targets, case.shape, 5 * [1e-3])
    for slot, table in enumerate(gather.tables):
        expected = in_words(changed, case.shape)[slot].transpose(1, 2).flatten(1)
        torch.testing.assert_close(table.detach(), expected, rtol=1e-5, atol=1e-6)


def test_the_model_made_by_hand_follows_far() -> None:
    case = Case("S5", 40, 4)
    sentences = case.sentences(39, 20)
    rollout = following_model(case).rollout(sentences)
    np.testing.assert_array_equal(rollout.values, sentences.values[:, 1:])
    np.testing.assert_array_equal(rollout.variables, sentences.variables[:, 1:])
