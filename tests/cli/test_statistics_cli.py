"""`firstlight stats` and the entry point: what is printed where, exit codes, and one line for each mistake."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firstlight as fl
from firstlight.cli.main import main
from firstlight.corpus import Corpus, build_corpus
from firstlight.statistics import Statistics, count

BASES = ("bigram", "interchangeability", "context", "attention")
Output = tuple[int, str, str]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return build_corpus(["stories:60"], tmp_path_factory.mktemp("corpus") / "corpus", window=40)


@pytest.fixture(scope="module")
def stats(corpus: Corpus) -> Statistics:
    return count(corpus, corpus.path.parent / "stats", workers=1)


class Run:
    """Runs a command in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Output:
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *self._capsys.readouterr()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(capsys)


def document(output: Output) -> dict[str, Any]:
    """Return the JSON document that is all there is on stdout."""
    code, stdout, stderr = output
    assert code == 0, stderr
    parsed: dict[str, Any] = json.loads(stdout)
    return parsed


# --- build


def test_build_prints_the_plan_first_and_then_a_table(run: Run, corpus: Corpus, tmp_path: Path) -> None:
    code, stdout, stderr = run("stats", "build", corpus.path, "--out", tmp_path / "stats", "--workers", 1)
    assert code == 0
    lines = stderr.splitlines()
    assert lines[0].startswith("plan: ")
    assert "pairs twice over (60 windows, T = 40, V = " in lines[0]
    assert "1 worker," in lines[0]
    assert "of 8.0 GiB memory" in lines[1]
    assert lines[2].startswith("counted ")
    table = [" ".join(line.split()) for line in stdout.splitlines()]
    assert f"statistics {tmp_path / 'stats'}" in table
    assert "windows 60, T = 40" in table
    assert "positions 2,400" in table
    assert "attention, position yes" in table
    assert any(line.startswith("context 0.") for line in table)


def test_the_plan_comes_before_the_work(
    run: Run, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*arguments: object) -> None:
        raise MemoryError("as if")

    monkeypatch.setattr("firstlight.statistics.engine.claimed", killed)
    code, stdout, stderr = run("stats", "build", corpus.path, "--out", tmp_path / "stats", "--workers", 1)
    assert (code, stdout) == (1, "")
    assert [line.split(":")[0] for line in stderr.splitlines()] == ["plan", "plan", "firstlight"]
    assert "out of memory: as if" in stderr


def test_a_second_build_says_it_is_counted_already(run: Run, corpus: Corpus, stats: Statistics) -> None:
    code, stdout, stderr = run("stats", "build", corpus.path, "--out", stats.path)
    assert (code, stderr) == (0, f"{stats.path}: already counted, nothing to do\n")
    assert "seconds" not in stdout
    assert "windows" in stdout


def test_build_json_has_the_facts_and_the_seconds(run: Run, corpus: Corpus, tmp_path: Path) -> None:
    facts = document(run("stats", "build", corpus.path, "--out", tmp_path / "stats", "--workers", 1, "--json"))
    assert facts["path"] == str(tmp_path / "stats")
    assert (facts["windows"], facts["window"], facts["positions"]) == (60, 40, 2400)
    assert facts["corpora"][0]["fingerprint"] == corpus.fingerprint
    assert set(facts["seconds"]) >= {"bigrams", "context", "composition", "attention"}


# --- show


def test_show_without_a_token_describes_the_store(run: Run, stats: Statistics) -> None:
    code, stdout, stderr = run("stats", "show", stats.path)
    assert (code, stderr) == (0, "")
    assert "distinct bigrams" in stdout
    facts = document(run("stats", "show", stats.path, "--json"))
    assert facts["vocabulary_size"] == len(stats.vocabulary)
    assert facts["bigrams"] == stats.bigrams.counts.nnz


def test_show_a_token_has_a_column_for_each_basis(run: Run, stats: Statistics) -> None:
    code, stdout, stderr = run("stats", "show", stats.path, "the", "-k", 3, "--min-count", 5)
    assert (code, stderr) == (0, "")
    first, _, header, _, *rows = stdout.splitlines()
    assert first.startswith("'the' (")
    assert first.endswith(" times), lift, out, tokens seen at least 5 times")
    assert header.split() == [word for basis in BASES for word in (basis, "lift")]
    assert len(rows) == 3


@pytest.mark.parametrize("basis", [*BASES, "composed"])
@pytest.mark.parametrize("score", ["lift", "raw"])
@pytest.mark.parametrize("direction", ["out", "in"])
def test_show_json_is_what_top_returns(run: Run, stats: Statistics, basis: Any, score: Any, direction: Any) -> None:
    options = ("--basis", basis, "--score", score, "--direction", direction, "-k", 4, "--min-count", 3, "--json")
    shown = document(run("stats", "show", stats.path, "the", *options))
    assert {name: shown[name] for name in ("token", "score", "direction", "min_count")} == {
        "token": "the", "score": score, "direction": direction, "min_count": 3,
    }  # fmt: skip
    found = [(each["token"], each["score"]) for each in shown["associations"][basis]]
    assert found == stats.top("the", basis, 4, score, direction, 3)
    assert list(shown["associations"]) == [basis]


def test_a_token_is_found_in_lower_case_and_called_by_its_own_name(run: Run, stats: Statistics) -> None:
    assert document(run("stats", "show", stats.path, "THE", "--json"))["token"] == "the"


def test_a_minimum_count_that_nothing_reaches_is_said(run: Run, stats: Statistics) -> None:
    code, stdout, _ = run("stats", "show", stats.path, "the", "--min-count", 10**9)
    assert code == 0
    assert "no other token is seen at least 1,000,000,000 times" in stdout


def test_show_verifies_on_request(run: Run, stats: Statistics) -> None:
    code, stdout, stderr = run("stats", "show", stats.path, "--verify", "--json")
    assert (code, stderr) == (0, f"{stats.path}: all chunks match their checksums\n")
    json.loads(stdout)


# --- export and merge


def test_export_writes_the_arrays_and_says_what(run: Run, stats: Statistics, tmp_path: Path) -> None:
    code, stdout, stderr = run("stats", "export", stats.path, "--to", tmp_path / "a.npz")
    assert (code, stderr) == (0, "")
    size = len(stats.vocabulary)
    assert stdout == f"{tmp_path / 'a.npz'}: alpha, B, Sigma, Phi, Q, Delta and vocab of {size:,} tokens\n"
    assert sorted(np.load(tmp_path / "a.npz").files) == sorted(["alpha", "B", "Sigma", "Phi", "Q", "Delta", "vocab"])
    facts = document(run("stats", "export", stats.path, "--to", tmp_path / "b.npz", "--json"))
    assert facts == {
        "path": str(tmp_path / "b.npz"), "bytes": (tmp_path / "b.npz").stat().st_size, "vocabulary_size": size,
        "arrays": ["alpha", "B", "Sigma", "Phi", "Q", "Delta", "vocab"],
    }  # fmt: skip
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_merge_adds_up_and_prints_json_alone(run: Run, tmp_path: Path) -> None:
    vocabulary = tmp_path / "v.json"
    vocabulary.write_text(json.dumps(["a", "b", "c"]))
    for name, rows in (("one", [[0, 1, 2], [2, 1, 0]]), ("two", [[0, 0, 1]])):
        np.save(tmp_path / f"{name}.npy", np.array(rows))
        built = build_corpus([f"tokens:{tmp_path / name}.npy"], tmp_path / f"{name}-corpus", vocab=vocabulary)
        count(built, tmp_path / name, workers=1)
    command = (
        "stats",
        "merge",
        tmp_path / "one",
        tmp_path / "two",
        "--out",
        tmp_path / "both",
        "--workers",
        1,
        "--json",
    )
    (tmp_path / "two-corpus").rename(tmp_path / "moved")
    assert not document(run(*command))["has_attention"]
    code, stdout, stderr = run("stats", "export", tmp_path / "both", "--to", tmp_path / "both.npz")
    assert (code, stdout) == (0, f"{tmp_path / 'both.npz'}: alpha, B, Sigma, Phi and vocab of 3 tokens\n")
    assert re.match(r".*both\.npz: without Q and Delta, .*merged without .*two-corpus: no corpus here", stderr)
    (tmp_path / "moved").rename(tmp_path / "two-corpus")
    facts = document(run(*command))
    assert (facts["windows"], facts["positions"], len(facts["corpora"])) == (3, 6, 2)
    assert facts["has_attention"]
    code, stdout, stderr = run(*command)
    assert (code, stderr) == (0, f"{tmp_path / 'both'}: already counted, nothing to do\n")
    assert json.loads(stdout)["seconds"] == {}
    assert fl.open_statistics(tmp_path / "both").token_count.tolist() == [3, 2, 1]


# --- mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("show STATS teh", "token 'teh' is not among the .* of the vocabulary; near it: .*the"),
        ("show STATS qqqqqqqqqqqq", "token 'qqqqqqqqqqqq' is not among the [0-9,]+ of the vocabulary$"),
        ("show STATS the --basis bigrams", "basis 'bigrams': expected one of bigram, interchangeability, context"),
        ("show STATS the --score pmi", "score 'pmi': expected lift or raw"),
        ("show STATS the --direction left", "direction 'left': expected out or in"),
        ("show STATS the -k 0", "k = 0: expected at least 1"),
        ("show STATS the -k many", "'-k'.*integer"),
        ("show STATS the --bas bigram", "No such option: --bas .*--basis"),
        ("show STATS the more", "unexpected extra argument"),
        ("show NOWHERE the", "NOWHERE: no statistics here; `firstlight stats build"),
        ("show CORPUS the", "not a statistics store"),
        ("show", "Missing argument 'STATS'"),
        ("build NOWHERE --out OUT", "NOWHERE: no corpus here; `firstlight corpus build"),
        ("build STATS --out OUT", "not a firstlight corpus"),
        ("build CORPUS", "Missing option '--out'"),
        ("build CORPUS --out CORPUS", "not empty and not statistics, so it is not replaced"),
        ("build CORPUS --out FILE", "a file; expected a folder"),
        (
            "build CORPUS --out FILE/below",
            "--out .*below: cannot be made in .*FILE, expected a folder",
        ),
        ("build CORPUS --out /", "--out /: expected a folder that can be replaced"),
        ("build CORPUS --out OUT --memory lots", "--memory 'lots' is not a number with a unit such as 8GiB"),
        ("build CORPUS --out OUT --memory -1GiB", "--memory '-1GiB' must be positive"),
        ("build CORPUS --out OUT --memory 1MiB", "--memory 1.0 MiB is too little for V = .*: at least .* is needed"),
        ("build CORPUS --out OUT --workers 0", "--workers 0: expected at least 1"),
        ("build CORPUS --out OUT --workers two", "'--workers'.*integer"),
        ("build CORPUS --out OUT --engine ray", "--engine ray: expected local"),
        ("export STATS --to OUT.txt", r"OUT\.txt: expected a name that ends in \.npz"),
        ("export STATS --to FILE/below.npz", r"--to .*below\.npz: cannot be written: "),
        ("export STATS", "Missing option '--to'"),
        ("export NOWHERE --to OUT.npz", "no statistics here"),
        ("merge STATS --out OUT", "1 store given, expected at least 2"),
        ("merge STATS STATS --out STATS", "is one of the stores to be merged"),
        ("merge STATS NOWHERE --out OUT", "NOWHERE: no statistics here"),
        ("", "firstlight stats: a command is missing; expected one of build, merge, show, export"),
        ("list", "No such command 'list'"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(
    run: Run, corpus: Corpus, stats: Statistics, tmp_path: Path, arguments: str, words: str
) -> None:
    (tmp_path / "FILE").touch()
    names = {"STATS": stats.path, "CORPUS": str(corpus.path)}
    given = [
        names.get(each, str(tmp_path / each) if each.startswith(("NOWHERE", "OUT", "FILE")) else each)
        for each in arguments.split()
    ]
    code, stdout, stderr = run("stats", *given)
    assert (code, stdout) == (2, ""), stderr
    assert stderr.startswith("firstlight: ")
    assert stderr.count("\n") == 1
    assert "Traceback" not in stderr
    assert re.search(words, stderr.strip()), stderr
    assert not list(tmp_path.glob("OUT*"))


@pytest.mark.parametrize("arguments", [["frobnicate"], ["--frobnicate"], ["corpus"], ["corpus", "frobnicate"]])
def test_an_unknown_command_or_none_is_one_line(run: Run, arguments: list[str]) -> None:
    code, stdout, stderr = run(*arguments)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)


def test_a_damaged_store_is_one_line(run: Run, corpus: Corpus, tmp_path: Path) -> None:
    made = count(corpus, tmp_path / "stats", workers=1)
    (chunk, *_) = (path for path in (Path(made.path) / "vocabulary").rglob("*") if path.is_file() and path.name == "0")
    chunk.write_bytes(chunk.read_bytes()[:-9])
    code, stdout, stderr = run("stats", "show", made.path, "the")
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert "array vocabulary: damaged" in stderr


def test_what_the_system_refuses_is_one_line_and_exit_code_1(
    run: Run, stats: Statistics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(stats: Statistics, path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("firstlight.statistics.export._write", full)
    code, stdout, stderr = run("stats", "export", stats.path, "--to", tmp_path / "big.npz")
    assert (code, stdout) == (1, "")
    assert stderr == f"firstlight: {tmp_path / 'big.npz.tmp'}: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


# --- the entry point


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["stats", "--help"], ["stats", "show", "-h"]])
def test_help_is_on_stdout(run: Run, arguments: list[str]) -> None:
    code, stdout, stderr = run(*arguments)
    assert (code, stderr) == (0, "")
    assert stdout.startswith("Usage: firstlight")


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"firstlight {fl.__version__}\n", "")


def entry(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    # SIGINT is ignored where the tests run in the background of a shell: here it is not.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    code += "from firstlight.cli.main import run; run()"
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, **environment}}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], **pipes)


@pytest.mark.parametrize("number", ["3", "100000"])
def test_a_reader_that_leaves_is_no_failure(stats: Statistics, number: str) -> None:
    # Few lines are still in the buffer when the command ends, many break the pipe while it prints.
    with entry("stats", "show", stats.path, "the", "-k", number, "--min-count", "0", "--json") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 0


def test_there_may_be_no_stdout(stats: Statistics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)  # as Python has it after `>&-`
    assert main(["stats", "show", stats.path, "the"]) == 0


def test_an_interrupted_command_says_that_it_goes_on(tmp_path: Path) -> None:
    with entry("corpus", "build", "stories:1000000", "--out", str(tmp_path / "corpus")) as child:
        deadline = time.monotonic() + 20
        while not (tmp_path / "corpus.partial").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.stderr is not None
        assert child.stderr.read() == b"firstlight: interrupted; the same command goes on from here\n"
    assert child.returncode == 130


def test_a_terminal_that_cannot_write_a_token_gets_it_spelled(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("été 日本 😀 été 日本 été")
    built = build_corpus([tmp_path / "a.txt"], tmp_path / "corpus", window=3, windows="chunk", min_tokens=2)
    made = count(built, tmp_path / "stats", workers=1)
    for format_, expected in (((), b"\\u65e5\\u672c"), (("--json",), b"\\u65e5\\u672c")):
        with entry("stats", "show", made.path, "été", "--min-count", "1", *format_, PYTHONIOENCODING="ascii") as child:
            stdout, stderr = child.communicate()
        assert (child.returncode, stderr) == (0, b"")
        assert expected in stdout
    assert json.loads(stdout)["token"] == "été"
