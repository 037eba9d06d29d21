"""Training follows a plain descent, goes on after any kill as if there had been none, and in another run as in one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstlight.bench.plain_practical import plain_loss, plain_rollout
from firstlight.errors import Diverged, FirstlightError
from firstlight.runs import Run, open_run, recorder
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.tokens import answer_clauses, predicate_clauses, tokens_of
from firstlight.tracking.practical import training
from firstlight.tracking.practical.model import load_practical
from firstlight.tracking.practical.settings import Settings, settings_from
from firstlight.tracking.practical.training import continue_practical, train_practical
from tests.tracking.practical.conftest import SMALL, sentences_of

FAST = Settings(**SMALL, steps=6, checkpoint_every=3, accuracy_every=4)


def trained(action: Action, out: Path, **changes: Any) -> Run:
    return train_practical(action, out, settings_from({**FAST.as_json(), **changes}), threads=1)


def same_bits(one: Run, other: Run, shift: int = 0) -> bool:
    """Whether two runs have the same metrics but for their times, and the same weights at the same steps.

    Those of the second are compared from a step on, and the first counts from there.
    """
    a, b = one.metrics(), other.metrics()
    return (
        [step + shift for step in one.checkpoints] == [step for step in other.checkpoints if step >= shift]
        and all(
            np.array_equal(a[name], b[name][shift:], equal_nan=True) for name in a if name not in ("seconds", "step")
        )
        and all(
            torch.equal(weight, other.load(step + shift)[name])
            for step in one.checkpoints
            for name, weight in one.load(step).items()
        )
    )


# --- the descent


@pytest.mark.parametrize("changes", [{}, {"lr": 0.01, "betas": (0.5, 0.8), "adam_eps": 1e-3, "positions": "rope"}])
def test_training_equals_a_plain_descent(action: Action, tmp_path: Path, changes: dict[str, Any]) -> None:
    run = trained(action, tmp_path / "run", **changes)
    settings = load_practical(run).settings
    weights = {name: weight.requires_grad_() for name, weight in run.load(0).items() if name != "action.images"}
    adam = torch.optim.Adam(weights.values(), lr=settings.lr, betas=settings.betas, eps=settings.adam_eps)
    tokens, losses = tokens_of(action, 30), []
    for step in range(6):
        sentences = draw(action, variables=30, length=4, count=6, rng=np.random.default_rng([0, 0, step]))
        predicates, answers = predicate_clauses(sentences, tokens), answer_clauses(sentences, tokens)
        adam.zero_grad()
        loss = plain_loss(settings, weights, torch.from_numpy(predicates), torch.from_numpy(answers))
        torch.autograd.backward(loss)
        adam.step()
        losses.append(loss.item())
    np.testing.assert_allclose(run.metrics()["loss"], losses, rtol=1e-10)
    final = run.load(6)
    assert all(float((final[name] - weight.detach()).abs().max()) < 1e-9 for name, weight in weights.items())


def test_it_learns(tmp_path: Path) -> None:
    action = action_named("C2")
    settings = Settings(variables=8, length=2, steps=400, batch_size=32, lr=5e-3, embedding=8)
    run = train_practical(action, tmp_path / "run", settings, threads=1)
    metrics = run.metrics()
    assert metrics["loss"][-1] < 0.05 < 2 < metrics["loss"][0]
    sentences = sentences_of(action, 2, count=200, seed=5, variables=8)
    assert (load_practical(run).rollout(sentences).values == sentences.values[:, 1:]).mean() > 0.98
    assert np.isfinite(metrics["accuracy"]).tolist() == [step % 100 == 0 for step in range(400)]
    assert metrics["accuracy"][300] > 0.9 > metrics["accuracy"][0]


def test_metrics_have_the_loss_of_each_slot(action: Action, tmp_path: Path) -> None:
    metrics = trained(action, tmp_path / "run", slot_weights=(0.5, 0.0, 0.0, 1.0, 2.0)).metrics()
    assert set(metrics) == {"step", "loss", "accuracy", "loss_slot_1", "loss_slot_4", "loss_slot_5", "seconds"}
    total = 0.5 * metrics["loss_slot_1"] + metrics["loss_slot_4"] + 2 * metrics["loss_slot_5"]
    np.testing.assert_allclose(metrics["loss"], total, rtol=1e-12)


def test_what_is_in_the_folder(action: Action, tmp_path: Path) -> None:
    run = trained(action, tmp_path / "run")
    assert run.finished
    assert run.manifest["kind"] == "lego practical"
    assert list(run.checkpoints) == [0, 1, 2, 3, 4, 6]
    assert run.settings["action"]["name"] == "S3"
    model = load_practical(run, 3)
    assert np.array_equal(model.action.images, action.images)
    assert model.settings == FAST
    assert sorted(file.name for file in run.path.iterdir()) == [
        "checkpoints",
        "metrics.parquet",
        "optimizer.safetensors",
        "run.json",
    ]


def test_each_seed_has_its_own_weights_and_sentences(action: Action, tmp_path: Path) -> None:
    one, other = (trained(action, tmp_path / str(seed), seed=seed) for seed in (0, 1))
    assert not torch.equal(one.load(0)["embedding"], other.load(0)["embedding"])
    losses = one.metrics()["loss"]
    assert len(set(losses)) == 6


# --- kills


class Killed(BaseException):
    """What a test raises in place of a kill."""


def test_a_kill_at_any_write_changes_nothing(action: Action, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = trained(action, tmp_path / "base")

    def work(out: Path) -> Run:
        # Labelled by a model and with the state of Adam of another run: all there is to restore.
        return continue_practical(base, out, steps=3, length=5, labels="own", threads=1)

    whole = work(tmp_path / "whole")
    monkeypatch.setattr(recorder, "SECONDS_BETWEEN_STATES", 0.0)
    writes, at, after = 0, 0, False

    def interrupted(real: Callable[..., None]) -> Callable[..., None]:
        def write(*arguments: Any) -> None:
            nonlocal writes
            writes += 1
            if writes == at and not after:
                raise Killed
            real(*arguments)
            if writes == at:
                raise Killed

        return write

    monkeypatch.setattr(training, "write_tensors", interrupted(training.write_tensors))
    for name, home in (("write_tensors", recorder), ("write_json", recorder), ("write_metrics", recorder.metrics)):
        monkeypatch.setattr(home, name, interrupted(getattr(home, name)))
    work(tmp_path / "counted")
    total = writes
    assert total > 12
    for at in range(1, total + 1):
        for after in (False, True):
            out, writes = tmp_path / f"killed-{at}-{after}", 0
            with pytest.raises(Killed):
                work(out)
            writes = total  # no more kills
            resumed = work(out)
            assert same_bits(resumed, whole), (at, after)
            assert resumed.finished
            assert (out / "optimizer.safetensors").exists()


def test_kill_9_in_the_middle_changes_nothing(action: Action, tmp_path: Path) -> None:
    whole = trained(action, tmp_path / "whole", steps=400, checkpoint_every=50)
    out = tmp_path / "killed"
    code = (
        "import sys\n"
        "from firstlight.runs import recorder\n"
        "from firstlight.tracking.language.names import action_named\n"
        "from firstlight.tracking.practical.settings import settings_from\n"
        "from firstlight.tracking.practical.training import train_practical\n"
        "recorder.SECONDS_BETWEEN_STATES = 0.0\n"
        f"settings = settings_from({ {**FAST.as_json(), 'steps': 400, 'checkpoint_every': 50}!r})\n"
        "train_practical(action_named('S3'), sys.argv[1], settings, threads=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(out)])
    while not (out / "checkpoints" / "step-000064.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not open_run(out).finished
    resumed = trained(action, out, steps=400, checkpoint_every=50)
    assert same_bits(resumed, whole)
    assert len(resumed.manifest["sessions"]) == 2


# --- going on in another run


def test_a_run_continued_with_its_adam_is_one_long_run(action: Action, tmp_path: Path) -> None:
    whole = trained(action, tmp_path / "whole", steps=9, accuracy_every=1)
    base = trained(action, tmp_path / "base", steps=4, accuracy_every=1)
    middle = continue_practical(base, tmp_path / "middle", steps=2, threads=1)
    last = continue_practical(middle, tmp_path / "last", steps=3, threads=1)
    assert all(torch.equal(weight, whole.load(9)[name]) for name, weight in last.load(3).items())
    np.testing.assert_array_equal(middle.metrics()["loss"], whole.metrics()["loss"][4:6])
    np.testing.assert_array_equal(last.metrics()["loss"], whole.metrics()["loss"][6:])
    np.testing.assert_array_equal(last.metrics()["accuracy"], whole.metrics()["accuracy"][6:])
    assert last.settings["start"]["before"] == 6


def test_a_new_adam_is_another_descent_over_the_same_sentences(action: Action, tmp_path: Path) -> None:
    base = trained(action, tmp_path / "base")
    kept = continue_practical(base, tmp_path / "kept", steps=3, threads=1)
    new = continue_practical(base, tmp_path / "new", steps=3, adam="new", threads=1)
    assert kept.metrics()["loss"][0] == new.metrics()["loss"][0]
    assert kept.metrics()["loss"][1] != new.metrics()["loss"][1]


def test_own_labels_are_what_the_base_writes(action: Action, tmp_path: Path) -> None:
    base = trained(action, tmp_path / "base")
    run = continue_practical(base, tmp_path / "run", steps=2, length=7, labels="own", threads=1)
    model, tokens = load_practical(base), tokens_of(action, 30)
    sentences = draw(action, variables=30, length=7, count=6, rng=np.random.default_rng([0, 0, 6]))
    predicates, answers = (torch.from_numpy(f(sentences, tokens)) for f in (predicate_clauses, answer_clauses))
    written = plain_rollout(model.settings, model.block.parameters, predicates, answers[:, 0], 7)
    labelled = torch.cat([answers[:, :1], written], 1)
    loss = plain_loss(model.settings, model.block.parameters, predicates, labelled)
    assert run.metrics()["loss"][0] == pytest.approx(loss.item(), rel=1e-10)
    assert run.metrics()["labels_right"].tolist() == [0.0, 0.0]  # six updates teach nothing
    assert run.settings["length"] == 7


def test_a_teacher_does_not_learn_with_its_pupil(action: Action, tmp_path: Path) -> None:
    base = trained(action, tmp_path / "base")
    before = load_practical(base).block.parameters
    run = continue_practical(base, tmp_path / "run", steps=3, labels="own", threads=1)
    assert all(torch.equal(weight, before[name]) for name, weight in load_practical(base).block.parameters.items())
    assert not torch.equal(run.load(3)["read_out"], before["read_out"])


# --- what is refused


def test_a_finished_run_is_left_as_it_is(action: Action, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = trained(action, tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in run.path.rglob("*") if path.is_file()}
    capsys.readouterr()
    train_practical(action, run.path, FAST, show=True)
    assert capsys.readouterr().err == f"{run.path}: already trained, nothing to do\n"
    assert {path: path.stat().st_mtime_ns for path in run.path.rglob("*") if path.is_file()} == before


def test_a_run_with_other_settings_or_another_action_is_refused(action: Action, tmp_path: Path) -> None:
    trained(action, tmp_path / "run")
    with pytest.raises(FirstlightError, match=r"lr is 0\.001 there and 0\.1 here"):
        trained(action, tmp_path / "run", lr=0.1)
    with pytest.raises(FirstlightError, match=r"action is .*'S3'.* there and .*'C6'.* here"):
        trained(action_named("C6"), tmp_path / "run")
    with pytest.raises(FirstlightError, match="start is None there"):
        continue_practical(open_run(tmp_path / "run"), tmp_path / "run", steps=6, threads=1)


def test_what_cannot_be_continued(action: Action, tmp_path: Path) -> None:
    base = trained(action, tmp_path / "base")
    with pytest.raises(FirstlightError, match="--adam 'old': expected one of kept, new"):
        continue_practical(base, tmp_path / "run", steps=1, adam="old")  # type: ignore[arg-type]
    with pytest.raises(FirstlightError, match="heads is 2 there, got 1; expected the same"):
        continue_practical(base, tmp_path / "run", steps=1, changes={"heads": 1})
    with pytest.raises(FirstlightError, match="reads out slots"):
        continue_practical(base, tmp_path / "run", steps=1, changes={"slot_weights": (0.0, 0.0, 0.0, 1.0, 1.0)})
    with pytest.raises(FirstlightError, match="--length 30 with --variables 30: expected a length of at most 29"):
        continue_practical(base, tmp_path / "run", steps=1, length=30)
    base.manifest["status"] = "running"
    with pytest.raises(FirstlightError, match="status running; expected a finished run"):
        continue_practical(base, tmp_path / "run", steps=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": -1}, "--steps -1: expected at least 0"),
        ({"batch_size": 0}, "--batch-size 0: expected at least 1"),
        ({"lr": 0.0}, "--lr 0.0: expected a positive number"),
        ({"betas": (0.9, 1.0)}, "--betas .*: expected two numbers from 0 to below 1"),
        ({"heads": 3}, "--heads 3: expected a divisor of 20, the width of a clause"),
        ({"heads": 4, "positions": "rope"}, "--positions rope: expected heads of even width, got 20/4"),
        ({"dtype": "float16"}, "--dtype 'float16': expected one of float32, float64"),
        ({"slot_weights": (1.0, 1.0, 1.0, 0.0, 1.0)}, "--slot-weights .*: expected five numbers of at least 0"),
        ({"length": 30}, "--length 30 with --variables 30"),
        ({"convolution": -1}, "--convolution -1: expected at least 0"),
    ],
)
def test_what_cannot_be_done_is_one_line(action: Action, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(FirstlightError, match=said) as refused:
        trained(action, tmp_path / "run", **change)
    assert "\n" not in str(refused.value)


def test_damage_is_one_line(action: Action, tmp_path: Path) -> None:
    run = trained(action, tmp_path / "run")
    with pytest.raises(FirstlightError, match="no checkpoint of step 5; expected one of 0, 1, 2, 3, 4, 6"):
        load_practical(run, 5)
    file = run.checkpoints[6]
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(FirstlightError, match=r"step-000006\.safetensors: damaged"):
        load_practical(run)
    (run.path / "optimizer.safetensors").write_bytes(b"")
    with pytest.raises(FirstlightError, match=r"step-000006\.safetensors: damaged"):
        continue_practical(run, tmp_path / "next", steps=1)


def test_divergence_keeps_what_is_known(action: Action, tmp_path: Path) -> None:
    with pytest.raises(Diverged, match="the loss is nan after step"):
        trained(action, tmp_path / "run", lr=1e200, steps=50)
    assert open_run(tmp_path / "run").manifest["status"] == "diverged"
    with pytest.raises(Diverged, match="the loss is nan after step"):
        trained(action, tmp_path / "run", lr=1e200, steps=50)
