"""The format of a run: the schedule, reading back what was written, and one line for each kind of damage."""

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from firstlight.errors import FirstlightError
from firstlight.runs import metrics, open_run, schedule
from firstlight.runs.recorder import Recorder, first_difference, recording
from firstlight.runs.tensors import digest, read_tensors, write_tensors

SETTINGS = {"seed": 3, "lr": 0.5, "name": "x"}
WEIGHTS = {"a": torch.arange(6.0).reshape(2, 3), "b.c": torch.ones(4, dtype=torch.float64)}


def record(path: Path, steps: int = 3, finish: bool = True) -> None:
    with start(path) as recorder:
        for step in range(steps + 1):
            recorder.record({"step": step, "loss": 1.0 / (step + 1)})
            recorder.checkpoint(step, {name: weight + step for name, weight in WEIGHTS.items()})
        recorder.save_state(steps, WEIGHTS, {"order": [1, 2]})
        if finish:
            recorder.finish("finished", step=steps)


def start(path: Path, kind: str = "anything", **changes: Any) -> Any:
    return recording(path, kind, {**SETTINGS, **changes}, provenance={"data": "d"}, session={"device": "cpu"})


# --- the schedule


def test_the_schedule_is_that_of_pythia() -> None:
    powers = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert schedule(3000, 1000) == (*powers, 1000, 2000, 3000)
    assert schedule(3200, 1000) == (*powers, 1000, 2000, 3000, 3200)
    assert schedule(40, 8) == (0, 1, 2, 4, 8, 16, 24, 32, 40)
    assert schedule(0, 5) == (0,)


@given(st.integers(0, 5000), st.integers(1, 700))
def test_a_schedule_is_in_order_and_has_both_ends(total: int, every: int) -> None:
    steps = schedule(total, every)
    assert list(steps) == sorted(set(steps))
    assert (steps[0], steps[-1]) == (0, total)
    assert all(step % every == 0 for step in steps[:-1] if step > 512)


# --- reading back


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    record(tmp_path / "run")
    run = open_run(tmp_path / "run")
    assert (run.finished, run.settings, run.manifest["seed"], run.manifest["device"]) == (True, SETTINGS, 3, "cpu")
    assert run.manifest["provenance"] == {"data": "d"}
    assert set(run.manifest["versions"]) == {"firstlight", "python", "torch", "numpy"}
    assert list(run.checkpoints) == [0, 1, 2, 3]
    assert all(torch.equal(run.load(2)[name], weight + 2) for name, weight in WEIGHTS.items())
    assert run.load(2)["b.c"].dtype == torch.float64
    columns = run.metrics()
    assert columns["step"].tolist() == [0, 1, 2, 3]
    assert columns["loss"].tolist() == [1.0, 1 / 2, 1 / 3, 1 / 4]


def test_the_files_are_read_without_firstlight(tmp_path: Path) -> None:
    record(tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (manifest["format"], manifest["kind"], manifest["status"]) == ("firstlight run", "anything", "finished")
    assert pq.read_table(tmp_path / "run" / "metrics.parquet").column("step").to_pylist() == [0, 1, 2, 3]
    checkpoint = tmp_path / "run" / "checkpoints" / "step-000003.safetensors"
    assert torch.equal(load_file(checkpoint)["a"], WEIGHTS["a"] + 3)
    with safe_open(checkpoint, "pt") as file:
        assert file.metadata()["step"] == "3"


def test_a_state_brings_everything_back(tmp_path: Path) -> None:
    record(tmp_path / "run", finish=False)
    assert not open_run(tmp_path / "run").finished
    with start(tmp_path / "run") as recorder:
        state = recorder.resume()
        assert state is not None
        step, tensors, values = state
        assert (step, values) == (3, {"order": [1, 2]})
        assert all(torch.equal(tensors[name], weight) for name, weight in WEIGHTS.items())
        assert [row["step"] for row in recorder.rows] == [0, 1, 2, 3]
    assert len(open_run(tmp_path / "run").manifest["sessions"]) == 2


def test_metrics_after_the_state_are_dropped(tmp_path: Path) -> None:
    with start(tmp_path / "run") as recorder:
        recorder.record({"step": 0, "loss": 1.0})
        recorder.save_state(1, WEIGHTS, {})
        recorder.record({"step": 1, "loss": 0.5})
        state = (tmp_path / "run" / "state.safetensors").read_bytes()
        recorder.save_state(2, WEIGHTS, {})
    # As if the kill had come between the metrics and the state.
    (tmp_path / "run" / "state.safetensors").write_bytes(state)
    with start(tmp_path / "run") as recorder:
        recorder.resume()
        assert [row["step"] for row in recorder.rows] == [0]


def test_any_type_of_tensor(tmp_path: Path) -> None:
    tensors = {
        "half": torch.ones(3, dtype=torch.bfloat16),
        "none": torch.zeros(0),
        "one": torch.tensor(7),
        "rows": torch.eye(3)[:, 1:],
    }
    write_tensors(tmp_path / "t.safetensors", tensors, {"note": "n"})
    back, metadata = read_tensors(tmp_path / "t.safetensors")
    assert metadata["note"] == "n"
    assert all(torch.equal(back[name], tensor) and back[name].dtype == tensor.dtype for name, tensor in tensors.items())
    assert digest(tensors) == digest(dict(reversed(tensors.items())))
    assert digest(tensors) != digest({**tensors, "one": torch.tensor(8)})
    assert digest({"a": torch.zeros(2, 3)}) != digest({"a": torch.zeros(3, 2)})


# --- damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    path.write_bytes(b"\xff\xfe{" * 50)


CHECKPOINT, STATE, METRICS = "checkpoints/step-000002.safetensors", "state.safetensors", "metrics.parquet"


def read_all(path: Path) -> None:
    run = open_run(path)
    run.metrics()
    for step in run.checkpoints:
        run.load(step)
    with start(path) as recorder:
        recorder.resume()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((CHECKPOINT, damage) for damage in (cut, flip, empty, garble)),
        *((STATE, damage) for damage in (cut, flip, empty, garble)),
        *((METRICS, damage) for damage in (cut, flip, empty, garble)),
        *(("run.json", damage) for damage in (cut, empty, garble)),
    ],
)
def test_damage_is_one_line_that_names_the_file(tmp_path: Path, name: str, damage: Callable[[Path], None]) -> None:
    record(tmp_path / "run", finish=False)
    read_all(tmp_path / "run")
    damage(tmp_path / "run" / name)
    with pytest.raises(FirstlightError) as error:
        read_all(tmp_path / "run")
    assert str(tmp_path / "run" / name) in str(error.value)
    assert "damaged" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_flipped_bit_never_changes_a_metric(tmp_path: Path) -> None:
    path = tmp_path / "metrics.parquet"
    rows: list[metrics.Row] = [{"step": step, "loss": 1.0 / (step + 1)} for step in range(50)]
    metrics.write_metrics(path, rows)
    whole = path.read_bytes()
    noticed = 0
    for place in range(len(whole) // 2):  # after that come the names of the columns
        content = bytearray(whole)
        content[place] ^= 1
        path.write_bytes(content)
        try:
            assert metrics.read_rows(path) == rows
        except FirstlightError:
            noticed += 1
    assert noticed > len(whole) // 4


def test_metrics_shorter_than_the_state_says_are_damage(tmp_path: Path) -> None:
    record(tmp_path / "run", finish=False)
    table = pq.read_table(tmp_path / "run" / METRICS)
    pq.write_table(table.slice(0, 2), tmp_path / "run" / METRICS)
    with start(tmp_path / "run") as recorder, pytest.raises(FirstlightError, match="damaged: expected 4 rows"):
        recorder.resume()


def test_a_checkpoint_under_another_name_is_damage(tmp_path: Path) -> None:
    record(tmp_path / "run")
    folder = tmp_path / "run" / "checkpoints"
    (folder / "step-000002.safetensors").rename(folder / "step-000009.safetensors")
    with pytest.raises(FirstlightError, match=r"step-000009\.safetensors: damaged: its header says step 2"):
        open_run(tmp_path / "run").load(9)


def test_weights_of_somebody_else(tmp_path: Path) -> None:
    record(tmp_path / "run")
    save_file({"a": torch.ones(2)}, tmp_path / "run" / CHECKPOINT)
    with pytest.raises(FirstlightError, match="format None, expected 'firstlight tensors 1'"):
        open_run(tmp_path / "run").load(2)


# --- what is refused


def test_a_step_without_a_checkpoint_names_those_there_are(tmp_path: Path) -> None:
    record(tmp_path / "run", steps=9)
    with pytest.raises(FirstlightError, match=r"no checkpoint of step 77; expected one of 0, 1, 2, 3, 4, 5, \.\.\., 9"):
        open_run(tmp_path / "run").load(77)


def test_folders_that_are_no_runs(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="no run here; `firstlight train CORPUS --out"):
        open_run(tmp_path / "absent")
    with pytest.raises(FirstlightError, match=r"not a run: it has no run\.json"):
        open_run(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FirstlightError, match="not a run, and not empty"), start(tmp_path):
        pass
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FirstlightError, match="not a run, and not empty"), start(tmp_path / "file"):
        pass
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("[1]")
    with pytest.raises(FirstlightError, match=r"its run\.json is of something else"):
        open_run(tmp_path / "other")
    record(tmp_path / "new")
    manifest = json.loads((tmp_path / "new" / "run.json").read_text())
    (tmp_path / "new" / "run.json").write_text(json.dumps({**manifest, "format_version": 99}))
    with pytest.raises(FirstlightError, match="format version 99, this firstlight reads 1"):
        open_run(tmp_path / "new")


def test_what_a_kill_at_the_very_start_leaves_is_a_new_run(tmp_path: Path) -> None:
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    (tmp_path / "run" / "run.json.tmp").write_text("{")
    record(tmp_path / "run")
    assert open_run(tmp_path / "run").finished


def test_other_settings_and_kinds_are_refused(tmp_path: Path) -> None:
    record(tmp_path / "run")
    with pytest.raises(FirstlightError, match=r"lr is 0\.5 there and 0\.25 here"), start(tmp_path / "run", lr=0.25):
        pass
    with pytest.raises(FirstlightError, match="more is 'absent' there and 1 here"), start(tmp_path / "run", more=1):
        pass
    with (
        pytest.raises(FirstlightError, match="a run of kind 'anything', expected 'other'"),
        start(tmp_path / "run", "other"),
    ):
        pass
    assert first_difference({"a": 1, "b": 2}, {"a": 1, "b": 2}) is None
    assert first_difference({"a": 1, "b": 2}, {"b": 3, "a": 0}) == "b is 2 there and 3 here"


def _hold(path: Path, ready: Any, done: Any) -> None:
    with start(path):
        ready.set()
        done.wait(30)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(tmp_path / "run", ready, done))
    holder.start()
    assert ready.wait(60)
    with pytest.raises(FirstlightError, match="another process is training here"), start(tmp_path / "run"):
        pass
    done.set()
    holder.join()
    record(tmp_path / "run")


def test_a_recorder_starts_without_a_state(tmp_path: Path) -> None:
    with start(tmp_path / "run") as recorder:
        assert isinstance(recorder, Recorder)
        assert recorder.resume() is None
