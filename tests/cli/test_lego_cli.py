"""`firstlight lego train`, `self-train`, `eval`, `attention`: what is printed and written, and each mistake's line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from firstlight.cli.main import main
from firstlight.runs import Run, open_run
from firstlight.tracking.measures.accuracy import accuracy_rows, attention_rows
from firstlight.tracking.measures.loading import load_model
from firstlight.tracking.practical.trainee import PracticalTrainee

Output = tuple[int, str, str]
SMALL = ("--variables", 14, "--threads", 1)
PRACTICAL = (*SMALL, "--model", "practical", "--length", 3, "--embedding", 4, "--width", 1)
THEORY = (*SMALL, "--neurons", 3, "--ffn-batch", 64, "--attention-batch", 32)
ROW = {"run", "step", "group", "length", "count", "rollout", "rollout_low", "rollout_high", "final",
       "value_probability", "teacher_forced"}  # fmt: skip


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> Output:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


def document(output: Output) -> dict[str, Any]:
    code, stdout, stderr = output
    assert code == 0, stderr
    parsed: dict[str, Any] = json.loads(stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    return parsed


def trained(folder: Path, *options: object) -> Run:
    assert main(["lego", "train", "C3", "--out", str(folder), *map(str, options)]) == 0
    return open_run(folder)


@pytest.fixture(scope="module")
def practical(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("practical")
    return [trained(folder / f"seed-{seed}", *PRACTICAL, "--steps", 8, "--seed", seed) for seed in range(3)]


@pytest.fixture(scope="module")
def theory(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("theory") / "run", *THEORY, "--steps", 6)


# --- train


def test_the_practical_model_gets_its_settings(run: Any, tmp_path: Path) -> None:
    asked = ("lego", "train", "C3", "--out", tmp_path / "run", *PRACTICAL, "--steps", 3, "--no-residual")
    code, stdout, stderr = run(*asked, "--slot-weights", "0,0,0,1,2", "--betas", "0.8,0.99")
    assert code == 0, stderr
    assert "plan: 3 steps of 128 sentences over C3, L = 3" in stderr
    assert stdout.splitlines()[0].split()[:3] == ["step", "loss", "accuracy"]
    assert f"lego eval {tmp_path / 'run'} --lengths 5,10\n" in stdout
    settings = open_run(tmp_path / "run").settings
    assert (settings["residual"], settings["layer_norm"], settings["embedding"]) == (False, True, 4)
    assert (settings["slot_weights"], settings["betas"]) == ([0, 0, 0, 1, 2], [0.8, 0.99])


def test_the_theory_model_is_the_first_choice(theory: Run) -> None:
    assert theory.manifest["kind"] == "lego theory"
    settings = theory.settings
    assert (settings["ffn_steps"], settings["attention_steps"], settings["neurons"]) == (6, 6, 3)
    # What was not asked for is what worked for the action.
    assert (settings["ffn_rate"], settings["power"], settings["restricted"]) == (10.0, 6, True)
    assert [stage["name"] for stage in theory.manifest["stages"]] == ["1", "2"]


def test_train_json_is_one_document_and_says_what_was_not_learnt(run: Any, tmp_path: Path) -> None:
    asked = ("lego", "train", "C3", "--out", tmp_path / "run", *THEORY, "--steps", 4, "--free", "--attention-steps", 2)
    found = document(run(*asked, "--json"))
    assert (found["status"], found["settings"]["restricted"]) == ("finished", False)
    assert [row["step"] for row in found["rows"]] == list(range(6))
    assert found["rows"][0]["epsilon"] is None
    assert found["checkpoints"][-1] == 6
    code, stdout, stderr = run(*asked)
    assert (code, "already trained" in stderr) == (0, True)
    assert "9 of 9 pairs (g, y) were not learnt in stage 1" in stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("C3", "--model", "transformer"), "--model 'transformer': expected theory or practical"),
        (("C0",), "C0"),
        (("K7",), "group 'K7': unknown"),
        (("C3", "--length", "5"), "--length with --model theory: Algorithm 1 trains at L = 1 and 2"),
        (("C3", "--heads", "2"), "--heads with --model theory: expected with --model practical alone"),
        (("C3", "--model", "practical", "--power", "6"), "--power with --model practical"),
        (("C3", "--model", "practical", "--length", "170"), "--length 170 with --variables 170"),
        (("C3", "--model", "practical", "--slot-weights", "1,2"), "--slot-weights '1,2': expected 5 numbers"),
        (("C3", "--model", "practical", "--steps", "-1"), "--steps -1: expected at least 0"),
        (("C3", "--power", "3"), "q = 3: expected one of 2, 4, 6, 8"),
        (("C3", "--device", "abacus"), "--device 'abacus'"),
    ],
)
def test_what_cannot_be_trained_is_one_line(run: Any, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    code, stdout, stderr = run("lego", "train", "--out", tmp_path / "run", *options)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1), stderr
    assert message in stderr
    assert not (tmp_path / "run").exists()


def test_a_table_that_is_no_group_is_one_line(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text("[[0, 1, 2], [1, 0, 2], [2, 1, 0]]")
    code, stdout, stderr = run("lego", "train", table, "--out", tmp_path / "run")
    assert (code, stdout, stderr.count("\n")) == (2, "", 1), stderr
    assert str(table) in stderr


def test_a_training_that_diverges_ends_with_1_and_keeps_its_folder(run: Any, tmp_path: Path) -> None:
    asked = ("lego", "train", "C3", "--out", tmp_path / "run", *PRACTICAL, "--steps", 20, "--lr", "1e30")
    for _ in range(2):
        code, stdout, stderr = run(*asked)
        assert (code, stdout) == (1, ""), stderr
        assert "expected a smaller rate" in stderr
    assert "status diverged" in run("lego", "eval", tmp_path / "run", "--lengths", 2, "--count", 2)[1]


# --- eval and attention


def test_eval_is_what_python_measures(run: Any, practical: list[Run], theory: Run) -> None:
    for each in (practical[0], theory):
        found = document(run("lego", "eval", each.path, "--lengths", "2,5,13", "--count", 20, "--json"))
        assert found["rows"][0].keys() == ROW
        rows = accuracy_rows(load_model(each), [2, 5, 13], count=20)
        for row, expected in zip(found["rows"], rows, strict=True):
            assert {name: row[name] for name in vars(expected)} == vars(expected)
        assert found["settings"]["runs"] == [str(each.path)]
        assert "spread" not in found
        assert found["notes"] == []


def test_attention_is_what_python_measures(run: Any, practical: list[Run]) -> None:
    found = document(run("lego", "attention", practical[0].path, "--lengths", "2,5", "--count", 20, "--json"))
    rows = attention_rows(load_model(practical[0]), [2, 5], count=20)
    assert [(row["length"], row["head"]) for row in found["rows"]] == [(2, 0), (2, 1), (5, 0), (5, 1)]
    for row, expected in zip(found["rows"], rows, strict=True):
        assert {name: row[name] for name in vars(expected)} == vars(expected)


def test_runs_of_several_seeds_are_put_together(run: Any, practical: list[Run], theory: Run) -> None:
    paths = [each.path for each in practical]
    found = document(run("lego", "eval", *paths, theory.path, "--lengths", "2,4", "--count", 20, "--json"))
    assert len(found["rows"]) == 8
    assert [(row["group"], row["length"], row["runs"]) for row in found["spread"]] == [
        ("C3 practical", 2, 3), ("C3 practical", 4, 3), ("C3 theory", 2, 1), ("C3 theory", 4, 1),
    ]  # fmt: skip
    own = sorted(row["value_probability"] for row in found["rows"][:6] if row["length"] == 4)
    assert found["spread"][1]["value_probability"] == {"low": own[0], "middle": own[1], "high": own[2]}
    code, stdout, _ = run("lego", "eval", *paths, "--lengths", "2", "--count", 20)
    assert code == 0
    assert "C3 practical       2     3" in stdout


def test_groups_are_told_apart_by_the_settings_that_differ(run: Any, practical: list[Run], tmp_path: Path) -> None:
    other = trained(tmp_path / "run", *PRACTICAL, "--steps", 4, "--no-residual")
    found = document(run("lego", "eval", practical[0].path, other.path, "--lengths", 2, "--count", 5, "--json"))
    assert [row["group"] for row in found["rows"]] == [
        "C3 practical, steps 8, residual True",
        "C3 practical, steps 4, residual False",
    ]


def test_a_step_is_measured_as_it_was(run: Any, practical: list[Run]) -> None:
    found = document(run("lego", "eval", practical[0].path, "--lengths", 2, "--step", 4, "--count", 10, "--json"))
    assert found["rows"][0]["step"] == 4
    expected = accuracy_rows(load_model(practical[0], 4), [2], count=10)[0]
    assert found["rows"][0]["teacher_forced"] == expected.teacher_forced


def test_without_lengths_those_that_there_are_come_out(run: Any, practical: list[Run]) -> None:
    found = document(run("lego", "eval", practical[0].path, "--count", 2, "--json"))
    assert [row["length"] for row in found["rows"]] == [5, 10]


def test_theorems_stand_beside_a_theory_run(run: Any, theory: Run, practical: list[Run]) -> None:
    asked = ("lego", "eval", theory.path, "--lengths", 2, "--count", 2, "--theorems")
    code, stdout, stderr = run(*asked)
    assert code == 0, stderr
    for theorem in ("Theorem 4.1", "Theorem 5.1", "Theorem B.1", "Theorem C.1"):
        assert f"\n{theorem}: " in stdout
    found = document(run(*asked, "--json"))["theorems"][str(theory.path)]
    assert [each["theorem"] for each in found] == ["Theorem 4.1", "Theorem 5.1", "Theorem B.1", "Theorem C.1"]
    code, _, stderr = run("lego", "eval", practical[0].path, "--lengths", 2, "--theorems")
    assert (code, stderr.count("\n")) == (2, 1)
    assert "expected a finished one of 'lego theory'" in stderr


def test_failure_lengths_are_predicted_and_measured(run: Any, tmp_path: Path) -> None:
    options = (*PRACTICAL[2:], "--variables", 24, "--steps", 40, "--threads", 1)
    model = trained(tmp_path / "run", *options)
    asked = ("lego", "eval", model.path, "--lengths", 2, "--count", 20, "--failure")
    rows = document(run(*asked, "--json"))["failure"]
    assert [(row["share"], row["longest"]) for row in rows] == [(0.9, 23), (0.5, 23)]
    assert all(row["predicted"] is None or row["predicted"] >= 0 for row in rows)
    code, stdout, _ = run(*asked)
    assert code == 0
    assert "predicted from sentences of three actions" in stdout
    other = trained(tmp_path / "other", *options, "--positions", "rope")
    code, _, stderr = run("lego", "eval", other.path, "--lengths", 2, "--count", 2, "--failure")
    assert (code, stderr.count("\n")) == (2, 1 + stderr.count("plan"))
    assert "positions rope" in stderr


def test_files_hold_what_was_printed(run: Any, practical: list[Run], tmp_path: Path) -> None:
    paths, out = [each.path for each in practical[:2]], tmp_path / "out"
    for command, name in (("eval", "accuracy"), ("attention", "attention")):
        asked = ("lego", command, *paths, "--lengths", "2,5", "--count", 10, "--out", out)
        found = document(run(*asked, "--json"))
        assert json.loads((out / f"{name}.json").read_text())["rows"] == found["rows"]
        assert pq.read_table(out / f"{name}.parquet").to_pylist() == found["rows"]
        assert pq.read_table(out / f"{name}_spread.parquet").num_rows == len(found["spread"])
        assert (out / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        page = (out / f"{name}.html").read_text()
        assert "<svg" in page or "data:image/svg+xml" in page
        assert "http://" not in page.split("</style>")[1].replace("http://www.w3.org", "")
    run("lego", "eval", paths[0], "--lengths", "2", "--count", 10, "--out", out, "--no-plots")
    assert not (out / "accuracy.png").exists()
    assert not (out / "accuracy_spread.parquet").exists()


def test_an_unfinished_run_is_measured_and_said_to_be(run: Any, practical: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(practical[0].path, path)
    manifest = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**manifest, "status": "running"}))
    (path / "checkpoints" / "step-000008.safetensors").unlink()
    code, stdout, _ = run("lego", "eval", path, "--lengths", 2, "--count", 5)
    assert code == 0
    assert f"note: {path}: status running; this is its model after 4 updates" in stdout


def damage(path: Path) -> None:
    for file in (path / "checkpoints").iterdir():
        file.write_bytes(file.read_bytes()[:-8] + b"\x01" * 8)


def cut(path: Path) -> None:
    for file in (path / "checkpoints").iterdir():
        file.write_bytes(file.read_bytes()[:100])


def other_kind(path: Path) -> None:
    manifest = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**manifest, "kind": "reference"}))


def no_checkpoint(path: Path) -> None:
    shutil.rmtree(path / "checkpoints")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage, ".safetensors: damaged"),
        (cut, ".safetensors: damaged"),
        (other_kind, "a run of kind 'reference', expected 'lego theory' or 'lego practical'"),
        (no_checkpoint, "no checkpoint has been written yet"),
    ],
)
def test_what_is_no_model_is_one_line(
    run: Any, practical: list[Run], theory: Run, tmp_path: Path, change: Any, message: str
) -> None:
    for number, original in enumerate((practical[0], theory)):
        path = tmp_path / f"run-{number}"
        shutil.copytree(original.path, path)
        change(path)
        for command in ("eval", "attention"):
            code, stdout, stderr = run("lego", command, path, "--lengths", 2)
            assert (code, stdout, stderr.count("\n")) == (2, "", 1), stderr
            assert message in stderr
            assert str(path) in stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--lengths", "5,14"), "length 14 with 14 variables"),
        (("--lengths", "0"), "length 0: expected 1 or more"),
        (("--lengths", "5,x"), "--lengths '5,x': expected integers separated by commas"),
        (("--step", "3"), "no checkpoint of step 3; the nearest are 0, 1, 2, 4, 8"),
        (("--count", "0"), "--count"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    run: Any, practical: list[Run], options: tuple[str, ...], message: str
) -> None:
    code, stdout, stderr = run("lego", "eval", practical[0].path, *options)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1), stderr
    assert message in stderr


def test_a_run_is_named_once(run: Any, practical: list[Run], tmp_path: Path) -> None:
    path = practical[0].path
    code, _, stderr = run("lego", "eval", path, path.parent / "." / path.name, "--lengths", 2)
    assert (code, stderr.count("\n")) == (2, 1)
    assert "named twice" in stderr


def test_a_folder_without_a_run_or_with_several_is_told(run: Any, practical: list[Run], tmp_path: Path) -> None:
    code, _, stderr = run("lego", "eval", tmp_path / "nothing")
    assert (code, stderr.count("\n")) == (2, 1)
    assert f"`firstlight lego train NAME --out {tmp_path / 'nothing'}` makes one" in stderr
    folder = practical[0].path.parent
    code, _, stderr = run("lego", "eval", folder)
    assert (code, stderr.count("\n")) == (2, 1)
    assert f"several runs; expected one or more of {folder / 'seed-0'}, {folder / 'seed-1'}, " in stderr


# --- self-train


def test_practical_self_training_stands_beside_both_controls(run: Any, tmp_path: Path) -> None:
    asked = ("lego", "self-train", "C3", "--out", tmp_path / "out", *PRACTICAL, "--steps", 6, "--stage-steps", 3)
    again = (*asked, "--stages", "4,6", "--lengths", "4,6", "--count", 10, "--no-plots")
    found = document(run(*again, "--json"))
    assert [(row["group"], row["step"]) for row in found["rows"][::2]] == [
        ("L = 3", 6),
        ("self-trained to L = 4", 3), ("self-trained to L = 6", 3),
        ("control of L = 4", 3), ("control of L = 6", 6),
        ("restarted control of L = 4", 3), ("restarted control of L = 6", 3),
    ]  # fmt: skip
    code, stdout, stderr = run(*again)
    assert code == 0, stderr
    assert "plan:" not in stderr  # all of it was there
    assert stdout.splitlines()[2].split() == ["model", "run,", "step", "L", "=", "4", "L", "=", "6"]
    assert "restarted control: with a new state of Adam" in stdout


def test_an_interrupted_self_training_goes_on_to_the_same_bits(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("lego", "self-train", "C3", *PRACTICAL, "--steps", 4, "--stage-steps", 3, "--stages", "4,6", "--no-plots")
    options = ("--lengths", "4", "--count", 4)
    assert run(*asked, *options, "--out", tmp_path / "whole")[0] == 0
    update, done = PracticalTrainee.update, 0

    def interrupted(trainee: PracticalTrainee, step: int) -> Any:
        nonlocal done
        done += 1
        if done == 9:  # in the second stage
            raise KeyboardInterrupt
        return update(trainee, step)

    monkeypatch.setattr(PracticalTrainee, "update", interrupted)
    code, _, stderr = run(*asked, *options, "--out", tmp_path / "parts")
    assert (code, "the same command goes on from here" in stderr) == (130, True)
    assert run(*asked, *options, "--out", tmp_path / "parts")[0] == 0
    for name, step in (("stage-6", 3), ("control", 6), ("restart-2", 3)):
        whole, parts = (open_run(tmp_path / each / name).load(step) for each in ("whole", "parts"))
        assert all(torch.equal(whole[tensor], parts[tensor]) for tensor in whole)


def test_theory_self_training_stands_beside_its_control(run: Any, tmp_path: Path) -> None:
    asked = ("lego", "self-train", "C3", "--out", tmp_path / "out", *THEORY, "--steps", 4, "--stage-limit", 5)
    found = document(run(*asked, "--stages", "4,8", "--lengths", "2", "--count", 5, "--no-plots", "--json"))
    assert [(row["group"], row["step"]) for row in found["rows"]] == [
        ("L = 2", 8),
        ("self-trained to L = 4", 13), ("self-trained to L = 8", 18),
        ("control of L = 4", 5), ("control of L = 8", 10),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--stages", "4,6"), "--stages 4,6: expected 4,8,...,2^K with --model theory"),
        (("--stages", "4,8,16"), "expected at most 3"),
        (("--adam", "kept"), "--adam: expected with --model practical alone"),
        (("--lengths", "14"), "length 14 with 14 variables"),
        (("--model", "practical", "--stages", "10,20"), "--length 20 with --variables 14"),
        (("--model", "practical", "--stages", "10,x"), "--stages '10,x': expected integers"),
    ],
)
def test_what_cannot_be_self_trained_is_one_line(
    run: Any, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    code, stdout, stderr = run("lego", "self-train", "C3", "--out", tmp_path / "run", "--variables", 14, *options)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1), stderr
    assert message in stderr
    assert not (tmp_path / "run").exists()
