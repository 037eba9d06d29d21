"""`firstlight corpus build` and `show`: what they print where, and what they pass on."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from firstlight.cli.corpus import app
from firstlight.corpus import open_corpus
from firstlight.errors import FirstlightError


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    lines: list[dict[str, Any]] = [{"body": "the cat sat on the mat"}, {"body": "the dog"}, {"body": None}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_build_prints_counts_and_the_ledger(source: Path, tmp_path: Path) -> None:
    result = run("build", source, "--out", tmp_path / "out", "--window", 3, "--text-column", "body")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    for line in (
        "windows 1 of 4 tokens",
        "read 3 8",
        "kept 1 4",
        "excluded: no text 1 0",
        "excluded: fewer than 4 tokens 1 2",
        "excluded: beyond the first window 0 2",
    ):
        assert line in lines


def test_every_option_reaches_the_build(source: Path, tmp_path: Path) -> None:
    options = {
        "tokenizer": "words",
        "vocab_size": 4,
        "window": 2,
        "windows": "chunk",
        "oov": "unk",
        "limit": 2,
        "min_chars": 1,
        "min_tokens": 2,
        "bos": "<bos>",
        "text_column": "body",
        "seed": 7,
    }
    flags = [each for name, value in options.items() for each in ("--" + name.replace("_", "-"), value)]
    result = run("build", source, "--out", tmp_path / "out", "--json", *flags)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["settings"] == options
    corpus = open_corpus(tmp_path / "out")
    assert corpus.vocabulary == ("the", "cat", "sat", "on", "<unk>", "<bos>")
    assert corpus.windows.tolist() == [[5, 0, 1], [1, 2, 3], [3, 0, 4], [5, 0, 4]]


def test_json_is_one_document_and_nothing_else_on_stdout(source: Path, tmp_path: Path) -> None:
    for _ in range(2):  # the second time it is built already, which is said on stderr
        result = run("build", source, "--out", tmp_path / "out", "--window", 3, "--text-column", "body", "--json")
        built = json.loads(result.stdout)
    assert "already built" in result.stderr
    shown = json.loads(run("show", tmp_path / "out", "--json", "-k", 2).stdout)
    assert {name: shown[name] for name in built} == built
    assert shown["tokens"] == [{"id": 0, "token": "the", "count": 1}, {"id": 1, "token": "cat", "count": 1}]
    assert shown["ledger"]["documents"] == {"read": 3, "kept": 1, "excluded": {"fewer than 4 tokens": 1, "no text": 1}}


def test_show_counts_the_tokens_of_short_windows_without_their_padding(source: Path, tmp_path: Path) -> None:
    run("build", source, "--out", tmp_path / "out", "--window", 9, "--min-tokens", 2, "--text-column", "body")
    shown = json.loads(run("show", tmp_path / "out", "--json", "-k", 1).stdout)
    assert shown["tokens"] == [{"id": 0, "token": "the", "count": 3}]
    table = run("show", tmp_path / "out").stdout
    assert "most frequent tokens" in table
    assert "'the'" in table


def test_show_verifies_on_request(source: Path, tmp_path: Path) -> None:
    run("build", source, "--out", tmp_path / "out", "--window", 3, "--text-column", "body")
    assert "all files are what the manifest recorded" in run("show", tmp_path / "out", "--verify").stdout
    path = tmp_path / "out" / "tokens-00000.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    assert isinstance(run("show", tmp_path / "out", "--verify").exception, FirstlightError)


def test_text_comes_from_a_pipe(tmp_path: Path) -> None:
    result = run("build", "-", "--out", tmp_path / "out", "--window", 2, stdin="a b c\n\nd e f\n")
    assert result.exit_code == 0
    assert open_corpus(tmp_path / "out").windows.shape == (2, 3)


def test_arrays_of_tokens_come_with_a_vocabulary(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([[0, 1, 2]]))
    (tmp_path / "v.json").write_text('["a", "b", "c"]')
    result = run("build", f"tokens:{tmp_path / 't.npy'}", "--out", tmp_path / "out", "--vocab", tmp_path / "v.json")
    assert result.exit_code == 0
    assert open_corpus(tmp_path / "out").windows.tolist() == [[0, 1, 2]]


def test_what_the_user_can_mend_is_passed_on_as_one_line(tmp_path: Path) -> None:
    result = run("build", tmp_path / "missing.txt", "--out", tmp_path / "out")
    assert isinstance(result.exception, FirstlightError)
    assert "\n" not in str(result.exception)
    assert isinstance(run("show", tmp_path / "out").exception, FirstlightError)


@pytest.mark.parametrize(
    "arguments", [("build",), ("build", "a.txt"), ("build", "a.txt", "--out", "o", "--window", "x")]
)
def test_bad_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2
