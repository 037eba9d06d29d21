"""Algorithms 1 and 2 follow a dense descent, have the same bits after any kill, and say when W did not learn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstlight.errors import Diverged, FirstlightError
from firstlight.runs import Run, open_run
from firstlight.runs.recorder import Recorder
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.theory_model import trainee
from firstlight.tracking.theory_model.loading import load_theory, settings_of, stage_begin
from firstlight.tracking.theory_model.settings import TheorySettings, settings_for
from firstlight.tracking.theory_model.shape import VALUE_SLOT
from firstlight.tracking.theory_model.trainee import TheoryTrainee
from firstlight.tracking.theory_model.training import control_theory, self_train_theory, train_theory
from tests.tracking.theory_model.conftest import SMALL, TINY
from tests.tracking.theory_model.dense import dense_weights, losses

QUICK = replace(TINY, ffn_steps=4, ffn_batch=16, attention_steps=3, attention_batch=8, checkpoint_every=2)


def same_bits(one: Run, other: Run) -> bool:
    """Whether two runs have the same metrics but for their times, the same stages, and the same weights."""
    a, b = one.metrics(), other.metrics()
    return (
        list(one.checkpoints) == list(other.checkpoints)
        and one.manifest["stages"] == other.manifest["stages"]
        and all(np.array_equal(a[name], b[name], equal_nan=True) for name in a if name != "seconds")
        and all(
            torch.equal(weight, other.load(step)[name])
            for step in one.checkpoints
            for name, weight in one.load(step).items()
        )
    )


@pytest.mark.parametrize("restricted", [True, False])
def test_both_stages_equal_a_dense_descent(tmp_path: Path, restricted: bool) -> None:
    action = action_named("S3")
    settings = replace(
        QUICK, restricted=restricted, ffn_rate=2.0, variable_rate=3.0, attention_rate=3.0, attention_rate_first=2.0
    )
    run = train_theory(action, tmp_path / "run", settings)
    initial, shape = load_theory(run, 0), settings.shape(action)
    W, Q = dense_weights(initial)
    found = []
    for step in range(7):
        W, Q = W.detach().requires_grad_(), Q.detach().requires_grad_()
        rng, first = np.random.default_rng([settings.seed, 1, step]), step < 4
        drawn = draw(action, variables=9, length=1 if first else 2, count=16 if first else 8, rng=rng)
        if first:
            loss = losses(W, Q, drawn, shape, 1)[0].sum(1).mean()
        else:
            loss = sum(losses(W, Q, drawn, shape, last)[0][:, VALUE_SLOT].mean() for last in (1, 2))
        loss.backward()
        found.append(float(loss.detach()))
        with torch.no_grad():
            if first:
                W -= torch.tensor([2.0, 2.0, 2.0, 3.0, 2.0]).reshape(5, 1, 1, 1) * W.grad
            else:
                gradient = Q.grad
                if restricted:
                    d = shape.size
                    kept = torch.zeros_like(gradient)
                    kept[3 * d : 4 * d, 2 * d : 4 * d] = gradient[3 * d : 4 * d, 2 * d : 4 * d]
                    gradient = kept
                Q -= min(3.0, 2.0 + (step - 4)) * gradient
    np.testing.assert_allclose(run.metrics()["loss"], found, rtol=1e-11)
    for ours, dense in zip(dense_weights(load_theory(run)), (W, Q), strict=True):
        np.testing.assert_allclose(ours, dense.detach(), rtol=1e-10, atol=1e-13)
    assert [stage["begins"] for stage in run.manifest["stages"]] == [0, 4]
    assert run.metrics()["stage"].tolist() == [1, 1, 1, 1, 2, 2, 2]
    assert list(run.checkpoints) == [0, 4, 6, 7]


class _Killed(BaseException):
    """What no code catches."""


KILLED = replace(
    SMALL,
    ffn_steps=200,
    ffn_rate=10.0,
    attention_steps=10,
    level_window=3,
    level=1e-9,
    stage_limit=9,
    checkpoint_every=4,
)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = self_train_theory(action_named("C3"), tmp_path_factory.mktemp("unbroken") / "run", KILLED, doublings=3)
    assert stage_begin(run, 4) == 228
    return run


@pytest.mark.parametrize("stop", [150, 200, 211, 222])
def test_a_killed_self_training_goes_on_to_the_same_bits(
    unbroken: Run, tmp_path: Path, stop: int, monkeypatch: Any
) -> None:
    action, count, update = action_named("C3"), 0, TheoryTrainee.update

    def killed(self: TheoryTrainee, step: int) -> Any:
        nonlocal count
        if step == stop and count == 0:
            count += 1
            raise _Killed
        return update(self, step)

    monkeypatch.setattr(TheoryTrainee, "update", killed)
    calls = iter(range(1000))
    monkeypatch.setattr(Recorder, "state_is_due", lambda self: next(calls) % 3 == 0)
    with pytest.raises(_Killed):
        self_train_theory(action, tmp_path / "killed", KILLED, doublings=3)
    assert open_run(tmp_path / "killed").manifest["status"] == "running"
    assert same_bits(unbroken, self_train_theory(action, tmp_path / "killed", KILLED, doublings=3))


def test_self_training_and_its_control(learnt: Run, tmp_path: Path) -> None:
    settings = replace(settings_of(learnt), attention_steps=100, level=1e-9, stage_limit=20)
    action = load_theory(learnt).action
    run = self_train_theory(action, tmp_path / "run", settings, doublings=3)
    assert [stage["length"] for stage in run.manifest["stages"]] == [1, 2, 4, 8]
    assert [stage["labelled"] for stage in run.manifest["stages"]] == [False, False, True, True]
    control = control_theory(run, tmp_path / "control")
    start = stage_begin(run, 2)
    assert [stage["ends"] - stage["begins"] for stage in control.manifest["stages"]] == [20, 20]
    before, after = load_theory(run, start), load_theory(control, 0)
    assert torch.equal(before.weights.Q, after.weights.Q)
    assert torch.equal(before.weights.W, load_theory(control).weights.W)
    assert not torch.equal(load_theory(control).weights.Q, load_theory(run).weights.Q)
    # The control is stage 1.2 gone on with: the same draws, the same rates.
    longer = self_train_theory(action, tmp_path / "longer", replace(settings, attention_steps=140), doublings=2)
    assert torch.equal(load_theory(control).weights.Q, load_theory(longer, stage_begin(longer, 2)).weights.Q)
    assert control_theory(run, tmp_path / "control").checkpoints == control.checkpoints


def test_a_stage_ends_below_its_level(learnt: Run, tmp_path: Path) -> None:
    settings = replace(settings_of(learnt), attention_steps=150, level=1e6, level_window=7)
    run = self_train_theory(load_theory(learnt).action, tmp_path / "run", settings, doublings=2)
    last = run.manifest["stages"][-1]
    assert last["ends"] - last["begins"] == 7


def test_a_network_that_did_not_learn_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = train_theory(action_named("C3"), tmp_path / "run", QUICK)
    found = run.manifest["combinations"]
    assert found["pairs"] == 9
    assert len(found["missing"]) > 0
    assert "are not learnt" in capsys.readouterr().err


def test_a_network_that_learnt_is_told(learnt: Run) -> None:
    found = learnt.manifest["combinations"]
    assert found["missing"] == []
    assert found["positive"] == found["pairs"] == 9
    assert found["lowest_probability"] > 0.9


def test_a_teacher_that_writes_no_answer_is_told(tmp_path: Path) -> None:
    with pytest.raises(Diverged, match="writes no answer"):
        self_train_theory(
            action_named("C3"), tmp_path / "run", replace(QUICK, ffn_rate=1e-3, variable_rate=1e-3), doublings=2
        )


def test_divergence_is_told_and_kept(tmp_path: Path, monkeypatch: Any) -> None:
    # Clipped logits and a softmax keep the loss finite at any rate, so it is broken by hand.
    monkeypatch.setattr(trainee, "descend_ffn", lambda *arguments: float("nan"))
    for _ in range(2):
        with pytest.raises(Diverged, match="smaller rate"):
            train_theory(action_named("C3"), tmp_path / "run", QUICK)
    assert open_run(tmp_path / "run").manifest["status"] == "diverged"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"power": 3}, "power q = 3: expected one of 2, 4, 6, 8"),
        ({"dtype": "float16"}, "float16"),
        ({"ffn_rate": 0.0}, "ffn_rate 0.0: expected a positive number"),
        ({"variables": 2}, "--variables 2: expected at least 3"),
        ({"neurons": 0}, "neurons 0: expected at least 1"),
        ({"leak": -1.0}, "leak -1.0"),
    ],
)
def test_settings_that_cannot_be_trained_are_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(FirstlightError, match=text.replace(".", r"\.")):
        replace(TheorySettings(), **changes)


def test_mistakes_get_one_clear_line(learnt: Run, tmp_path: Path) -> None:
    action = action_named("C3")
    with pytest.raises(FirstlightError, match="expected at most 3"):
        self_train_theory(action, tmp_path / "far", QUICK, doublings=4)
    with pytest.raises(FirstlightError, match="finished run of self-training"):
        control_theory(learnt, tmp_path / "control")
    with pytest.raises(FirstlightError, match="ffn_rate is"):
        train_theory(action, learnt.path, replace(settings_of(learnt), ffn_rate=4.0))
    with pytest.raises(FirstlightError, match="images"):
        train_theory(replace(action_named("C4"), name="C3"), learnt.path, settings_of(learnt))
    broken = train_theory(action, tmp_path / "broken", QUICK)
    whole = broken.checkpoints[4]
    whole.write_bytes(whole.read_bytes()[:-3])
    with pytest.raises(FirstlightError, match="damaged"):
        load_theory(broken)


@pytest.mark.parametrize(("name", "rate"), [("C6", 10), ("V4", 10), ("regular:S3", 10), ("S4", 20), ("S5", 40)])
def test_settings_go_by_the_number_of_pairs(name: str, rate: float) -> None:
    assert settings_for(action_named(name)).ffn_rate == rate
