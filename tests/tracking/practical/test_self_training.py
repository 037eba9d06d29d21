"""Self-training: every run is what its recipe says, and a kill between or within runs changes nothing."""

from pathlib import Path
from typing import Any

import pytest
import torch

from firstlight.errors import FirstlightError
from firstlight.runs import Run, open_run
from firstlight.tracking.language.action import Action
from firstlight.tracking.practical import self_training
from firstlight.tracking.practical.self_training import open_self_training, self_train_practical
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.training import continue_practical, train_practical
from tests.tracking.practical.conftest import SMALL

BASE = Settings(**SMALL, steps=5)
OPTIONS: dict[str, Any] = {"stages": (6, 9), "steps": 2, "threads": 1}


def same_weights(one: Run, other: Run) -> bool:
    a, b = one.load(max(one.checkpoints)), other.load(max(other.checkpoints))
    return all(torch.equal(weight, b[name]) for name, weight in a.items())


def test_every_run_is_what_its_recipe_says(action: Action, tmp_path: Path) -> None:
    found = self_train_practical(action, tmp_path / "all", settings=BASE, **OPTIONS)
    base = train_practical(action, tmp_path / "base", BASE, threads=1)
    assert same_weights(found.base, base)
    latest = base
    for length in (6, 9):
        folder = tmp_path / str(length)
        latest = continue_practical(latest, folder, steps=2, length=length, adam="new", labels="own", threads=1)
        assert same_weights(found.stages[length], latest)
    long = train_practical(action, tmp_path / "long", Settings(**SMALL, steps=9), threads=1)
    assert same_weights(found.control, long)
    assert {2, 4} <= set(found.control.checkpoints)
    latest = base
    for number, restart in enumerate(found.restarts):
        latest = continue_practical(latest, tmp_path / f"r{number}", steps=2, adam="new", threads=1)
        assert same_weights(restart, latest)
    assert len(found.restarts) == 2
    assert [run.settings["start"]["before"] for run in found.stages.values()] == [5, 7]


def test_it_begins_with_a_run(action: Action, tmp_path: Path) -> None:
    base = train_practical(action, tmp_path / "base", BASE, threads=1)
    found = self_train_practical(base, tmp_path / "all", **OPTIONS, adam="kept")
    assert found.base.path == base.path.resolve()
    assert found.restarts == []
    assert not (tmp_path / "all" / "base").exists()
    assert found.stages[6].settings["start"]["adam"] == "kept"
    with pytest.raises(FirstlightError, match="a run has its settings"):
        self_train_practical(base, tmp_path / "other", settings=BASE, **OPTIONS)


def test_a_kill_between_runs_changes_nothing(action: Action, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = self_train_practical(action, tmp_path / "whole", settings=BASE, **OPTIONS)
    real, calls, last = self_training.continue_practical, 0, 0

    def interrupted(*arguments: Any, **options: Any) -> Run:
        nonlocal calls
        calls += 1
        if calls == last:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(self_training, "continue_practical", interrupted)
    for last in range(1, 6):
        calls, out = 0, tmp_path / str(last)
        with pytest.raises(KeyboardInterrupt):
            self_train_practical(action, out, settings=BASE, **OPTIONS)
        with pytest.raises(FirstlightError, match="status running; the same command as before finishes it"):
            open_self_training(out)
        calls = last
        resumed = self_train_practical(action, out, settings=BASE, **OPTIONS)
        for name in ("base", "stage-6", "stage-9", "control", "restart-1", "restart-2"):
            assert same_weights(open_run(resumed.path / name), open_run(whole.path / name))


def test_what_is_refused(action: Action, tmp_path: Path) -> None:
    self_train_practical(action, tmp_path / "all", settings=BASE, **OPTIONS)
    with pytest.raises(FirstlightError, match=r"a self-training with other settings: stages is \[6, 9\] there"):
        self_train_practical(action, tmp_path / "all", settings=BASE, **{**OPTIONS, "stages": (6,)})
    for stages in ((), (6, 6)):
        with pytest.raises(FirstlightError, match="expected lengths, none of them twice"):
            self_train_practical(action, tmp_path / "x", settings=BASE, stages=stages)
    with pytest.raises(FirstlightError, match="--length 30 with --variables 30: expected a length of at most 29"):
        self_train_practical(action, tmp_path / "x", settings=BASE, stages=(6, 30))
    with pytest.raises(FirstlightError, match="--steps 0: expected at least 1 for each stage"):
        self_train_practical(action, tmp_path / "x", settings=BASE, steps=0)
    assert not (tmp_path / "x").exists()
    with pytest.raises(FirstlightError, match="not a self-training, and not empty"):
        self_train_practical(action, tmp_path, settings=BASE, **OPTIONS)
    with pytest.raises(FirstlightError, match=r"not a self-training: it has no self-training\.json"):
        open_self_training(tmp_path)
