"""`tokens:` files: windows somebody else made, with a vocabulary."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstlight.corpus import build_corpus
from firstlight.errors import FirstlightError

ROWS = np.arange(24).reshape(6, 4) % 10


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.json"
    path.write_text(json.dumps([f"w{i}" for i in range(10)]))
    return path


def save(tmp_path: Path, array: Any, name: str = "t.npy") -> str:
    np.save(tmp_path / name, array, allow_pickle=True)
    return f"tokens:{tmp_path / name}"


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64, ">i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_copied_as_it_is(tmp_path: Path, vocab: Path, dtype: Any, order: Any) -> None:
    corpus = build_corpus([save(tmp_path, np.array(ROWS, dtype, order=order))], tmp_path / "out", vocab=vocab)
    np.testing.assert_array_equal(corpus.windows, ROWS)
    assert corpus.windows.dtype == np.uint16
    assert corpus.window == 3
    assert corpus.vocabulary == tuple(f"w{i}" for i in range(10))
    assert corpus.origins.tolist() == [[0, row, row, 0] for row in range(6)]
    assert corpus.ledger["tokens"] == {"read": 24, "kept": 24, "excluded": {}, "added": 0, "unknown": 0}
    assert (corpus.positions, corpus.ledger["documents"]["kept"]) == (18, 6)
    corpus.verify()


def test_several_arrays_and_a_limit(tmp_path: Path, vocab: Path) -> None:
    sources = [save(tmp_path, ROWS), save(tmp_path, ROWS[::-1], "u.npy")]
    corpus = build_corpus(sources, tmp_path / "out", vocab=vocab, limit=8, window=3)
    np.testing.assert_array_equal(corpus.windows, np.concatenate([ROWS, ROWS[:-3:-1]]))
    assert [source["documents"] for source in corpus.manifest["sources"]] == [6, 2]
    assert corpus.ledger["documents"]["read"] == 8


def test_an_array_that_is_there_is_not_copied_again(
    tmp_path: Path, vocab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        build_corpus([save(tmp_path, ROWS)], tmp_path / "out", vocab=vocab)
    assert "already built" in capsys.readouterr().err
    vocab.write_text(json.dumps([f"x{i}" for i in range(10)]))
    assert build_corpus([save(tmp_path, ROWS)], tmp_path / "out", vocab=vocab).vocabulary[0] == "x0"


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (ROWS * 1.0, {}, "6 x 4 of float64, expected an array of N x (T+1) integers"),
        (ROWS > 3, {}, "6 x 4 of bool, expected"),
        (ROWS[0], {}, "4 of int64, expected an array of N x (T+1) integers"),
        (ROWS[None], {}, "1 x 6 x 4 of int64, expected"),
        (np.int64(3), {}, "a single value of int64, expected"),
        (ROWS[:, :1], {}, "windows of 1 tokens, expected at least 2"),
        (ROWS, {"window": 4}, "windows of 4 tokens, expected 5 for --window 4 (T + 1)"),
        (np.where(ROWS == 7, 10, ROWS), {}, "token id 10 in row 1, column 3 is outside the vocabulary of 10 entries"),
        (np.where(ROWS == 7, -1, ROWS), {}, "token id -1 in row 1, column 3 is outside the vocabulary"),
        (np.array([["a"]], object), {}, "not a complete .npy file"),
        (ROWS[:0], {}, "no document was found there"),
        (ROWS, {"tokenizer": "bpe"}, "--tokenizer: does not go with tokens: files"),
        (ROWS, {"vocab_size": 10}, "--vocab-size: does not go with tokens: files"),
        (ROWS, {"bos": "<s>"}, "--bos: does not go with tokens: files"),
        (ROWS, {"min_tokens": 3}, "--min-tokens: does not go with tokens: files"),
        (ROWS, {"vocab": None}, "tokens: files need --vocab FILE.json"),
    ],
)
def test_an_array_that_cannot_be_windows_is_one_line(
    tmp_path: Path, vocab: Path, array: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(FirstlightError) as error:
        build_corpus([save(tmp_path, array)], tmp_path / "out", **{"vocab": vocab, **options})
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("content", [b"", b"not an array", "cut", "archive"])
def test_a_file_that_is_no_array_is_one_line(tmp_path: Path, vocab: Path, content: Any) -> None:
    path = tmp_path / "t.npy"
    if content == "cut":
        np.save(path, ROWS)
        content = path.read_bytes()[:-8]
    elif content == "archive":
        np.savez(tmp_path / "t.npz", ROWS)
        content = (tmp_path / "t.npz").read_bytes()
    path.write_bytes(content)
    with pytest.raises(FirstlightError, match=r"not a complete \.npy file|an archive of arrays") as error:
        build_corpus([f"tokens:{path}"], tmp_path / "out", vocab=vocab)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "expected a JSON list with the token of each id, came dict"),
        ("[]", "expected a JSON list"),
        ('["a", 5]', "entry 1 is int, expected a string"),
        ('["a", "b", "a"]', "'a' is both entry 0 and entry 2"),
        ('["a"', "damaged"),
    ],
)
def test_a_vocabulary_that_is_none_is_one_line(tmp_path: Path, vocab: Path, content: str, message: str) -> None:
    vocab.write_text(content)
    with pytest.raises(FirstlightError) as error:
        build_corpus([save(tmp_path, ROWS)], tmp_path / "out", vocab=vocab)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_arrays_are_not_mixed_with_text(tmp_path: Path, vocab: Path) -> None:
    (tmp_path / "a.txt").write_text("some text")
    with pytest.raises(FirstlightError, match="cannot be mixed with sources of text"):
        build_corpus([save(tmp_path, ROWS), tmp_path / "a.txt"], tmp_path / "out", vocab=vocab)
