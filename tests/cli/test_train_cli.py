"""`firstlight train`: what is printed where, exit codes, and that every option arrives."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstlight.cli.main import main
from firstlight.corpus import Corpus, build_corpus
from firstlight.runs import open_run
from firstlight.statistics import open_statistics

SMALL = ("--layers", 1, "--lr", 0.5, "--steps", 3, "--batch-size", 16, "--threads", 1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return build_corpus(
        ["stories:60"], tmp_path_factory.mktemp("corpus") / "corpus", window=20, vocab_size=300, oov="unk"
    )


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_the_plan_comes_first_and_a_table_last(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, stdout, stderr = run(capsys, "train", corpus.path, "--out", tmp_path / "run", *SMALL)
    assert code == 0
    assert stderr.startswith(
        f"plan: 3 steps of 16 windows, V = {len(corpus.vocabulary)}, T = 20, 1 layers, float32 on cpu"
    )
    assert "windows at a time" in stderr
    lines = stdout.splitlines()
    assert lines[0].split()[:4] == ["checkpoint", "s*eta", "epoch", "loss"]
    assert [line.split()[0] for line in lines[2:6]] == ["0", "1", "2", "3"]
    assert lines[-1] == f"4 checkpoints in {tmp_path / 'run'}"


def test_json_is_one_document(corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for said in ("plan: ", "already trained"):
        code, stdout, stderr = run(capsys, "train", corpus.path, "--out", tmp_path / "run", *SMALL, "--json")
        document: dict[str, Any] = json.loads(stdout)
        assert code == 0
        assert said in stderr
        assert document["status"] == "finished"
        assert document["checkpoints"] == [0, 1, 2, 3]
        assert [row["step"] for row in document["rows"]] == [0, 1, 2, 3]
        assert document["provenance"]["corpus"] == {"path": str(corpus.path), "fingerprint": corpus.fingerprint}


def test_every_option_arrives(corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {
        "layers": 2,
        "lr": 0.25,
        "epochs": 2,
        "batch_size": "full",
        "init": "gaussian",
        "init_scale": 0.5,
        "init_exponent": 0.125,
        "dtype": "float64",
        "seed": 9,
        "checkpoint_every": 7,
    }
    flags = [each for name, value in options.items() for each in ("--" + name.replace("_", "-"), value)]
    more = ("--limit-windows", 10, "--device", "cpu", "--memory", "2GiB", "--threads", 1)
    code, _, stderr = run(capsys, "train", corpus.path, "--out", tmp_path / "run", *flags, *more)
    assert code == 0, stderr
    settings = open_run(tmp_path / "run").settings
    expected = {**options, "steps": 2, "windows": 10, "window": 20, "vocabulary": len(corpus.vocabulary)}
    assert settings == {**{n: v for n, v in expected.items() if n != "epochs"}, "corpus": corpus.fingerprint}


def test_the_checksum_of_the_statistics_is_kept(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = build_corpus(["stories:9"], tmp_path / "other", window=20)
    for each, name in ((corpus, "same"), (other, "different")):
        assert run(capsys, "stats", "build", each.path, "--out", tmp_path / name, "--workers", 1)[0] == 0
    arguments = ("train", corpus.path, "--out", tmp_path / "run", *SMALL, "--stats")
    code, _, stderr = run(capsys, *arguments, tmp_path / "different")
    assert (code, stderr) == (
        2,
        f"firstlight: {tmp_path / 'different'}: statistics of another corpus, expected those of {corpus.path}\n",
    )
    assert run(capsys, *arguments, tmp_path / "same")[0] == 0
    kept = open_run(tmp_path / "run").manifest["provenance"]["statistics"]
    assert kept == {"path": str(tmp_path / "same"), "key": open_statistics(tmp_path / "same").facts["key"]}


def test_divergence_exits_with_1_and_one_line(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        code, stdout, stderr = run(
            capsys, "train", corpus.path, "--out", tmp_path / "run", *SMALL, "--lr", 1e6, "--steps", 40
        )
        assert (code, stdout) == (1, "")
        last = stderr.splitlines()[-1]
        assert last.startswith(f"firstlight: {tmp_path / 'run'}: ")
        assert "(s*eta = " in last
        assert "expected a smaller --lr than 1e+06" in last


def test_mistakes_exit_with_2_and_one_line(corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ("train", tmp_path / "absent", "--out", tmp_path / "run"),
        ("train", corpus.path, "--out", tmp_path / "run", "--batch-size", "many"),
        ("train", corpus.path),
    ):
        code, stdout, stderr = run(capsys, *arguments)
        assert (code, stdout, len(stderr.splitlines())) == (2, "", 1)


def test_help_needs_no_torch() -> None:
    code = "import sys; from firstlight.cli.main import main; main(['train', '--help']); print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False"
