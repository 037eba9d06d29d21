"""The ledger adds up, and windows are what their origins say, for documents of every sort."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstlight.corpus import Corpus, build_corpus
from firstlight.corpus.ledger import Ledger, check
from firstlight.errors import FirstlightError

WORDS = st.sampled_from(["a", "b", "cat", "Dog", "été", ".", "4", "\n", " "])
DOCUMENT = st.lists(WORDS, max_size=25).map(" ".join)


@dataclass
class Expected:
    windows: list[list[int]]
    documents: dict[str, int]
    tokens: dict[str, int]


def plain_words(text: str) -> list[str]:
    """Tokenise by looking at one character after the other."""
    words, letters = [], ""
    for character in text.lower() + " ":
        if character.isalpha():
            letters += character
            continue
        words += [letters] if letters else []
        letters = ""
        words += [] if character.isspace() else [character]
    return words


def expected(texts: list[str], options: dict[str, Any]) -> Expected:
    """Build the corpus the slow way."""
    T, fewest = options["window"], options["min_tokens"]
    chosen = [text for text in texts if len(text) >= options["min_chars"]][: options["limit"]]
    counts: dict[str, int] = {}
    for text in chosen:
        for word in plain_words(text):
            counts[word] = counts.get(word, 0) + 1
    known = sorted(counts, key=lambda word: -counts[word])[: options["vocab_size"]]
    unknown = len(known) if len(counts) > len(known) and options["oov"] == "unk" else None
    bos = [len(known) + (unknown is not None)] if options["bos"] else []
    result = Expected([], {"read": 0, "kept": 0}, {"read": 0, "kept": 0})
    passed = 0
    for text in texts:
        if passed == options["limit"]:
            break
        result.documents["read"] += 1
        if len(text) < options["min_chars"]:
            continue
        passed += 1
        words = plain_words(text)
        result.tokens["read"] += len(words)
        if len(bos + words) < fewest or (unknown is None and not set(words) <= set(known)):
            continue
        ids = bos + [known.index(word) if word in known else unknown or 0 for word in words]
        mine, at = [], 0
        while len(ids) - at >= min(fewest, T + 1) and len(ids) - at >= 2:
            if options["windows"] == "first" and at:
                break
            mine.append(ids[at : at + T + 1])
            at += T
        result.windows += mine
        result.documents["kept"] += 1
        covered = sum(len(window) - 1 for window in mine) + 1
        result.tokens["kept"] += covered - len(bos)
    return result


OPTIONS = st.fixed_dictionaries(
    {
        "window": st.integers(1, 8),
        "windows": st.sampled_from(["first", "chunk"]),
        "oov": st.sampled_from(["exclude", "unk"]),
        "vocab_size": st.integers(1, 10),
        "min_tokens": st.integers(2, 10),
        "min_chars": st.sampled_from([0, 0, 10]),
        "limit": st.sampled_from([None, None, 3]),
        "bos": st.sampled_from([None, "<s>"]),
    }
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(DOCUMENT, min_size=1, max_size=8), options=OPTIONS, kind=st.sampled_from(["txt", "jsonl"]))
def test_windows_ledger_and_origins_are_those_of_the_slow_way(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], options: dict[str, Any], kind: str
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    source = folder / f"a.{kind}"
    if kind == "txt":
        texts = [text.strip() for text in texts]
        source.write_text("".join(f"\n<|endoftext|>\n{text}" for text in texts) + "\n<|endoftext|>\n")
    else:
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    slow = expected(texts, options)
    if not slow.windows:
        with pytest.raises(FirstlightError, match="no window left"):
            build_corpus([source], folder / "out", **options)
        return
    corpus = build_corpus([source], folder / "out", **options)
    stored = [window[:length].tolist() for window, length in zip(corpus.windows, corpus.lengths, strict=True)]
    assert stored == slow.windows
    ledger = corpus.ledger
    check(ledger)
    for account, counted in ((ledger["documents"], slow.documents), (ledger["tokens"], slow.tokens)):
        assert {name: account[name] for name in counted} == counted
    assert ledger["tokens"]["added"] == (ledger["documents"]["kept"] if options["bos"] else 0)
    assert ledger["windows"] == len(stored)
    assert corpus.positions == ledger["positions"] == sum(len(window) - 1 for window in stored)
    assert ledger["short_windows"] == sum(len(window) <= options["window"] for window in stored)
    assert all(not window[length:].any() for window, length in zip(corpus.windows, corpus.lengths, strict=True))
    check_origins(corpus, source, kind)


def check_origins(corpus: Corpus, source: Path, kind: str) -> None:
    """Read each window's passage again at the place its origin names."""
    data = source.read_bytes()
    bos = [corpus.manifest["added"]["bos"]["token"]] if corpus.manifest["added"] else []
    for window, length, (which, _, place, offset) in zip(corpus.windows, corpus.lengths, corpus.origins, strict=True):
        assert which == 0
        if kind == "txt":
            text = re.split(rb"(?m)^<\|endoftext\|>$", data[place:])[0].decode()
        else:
            text = json.loads(data[place:].split(b"\n")[0])["text"]
        words = (bos + plain_words(text))[offset : offset + length]
        known = set(corpus.vocabulary)
        assert [corpus.vocabulary[i] for i in window[:length]] == [w if w in known else "<unk>" for w in words]


def test_origins_number_the_documents_of_each_source(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a a a\n\nb\n\nc c c c c\n")
    (tmp_path / "b.txt").write_text("\n\n\nd d d\n")
    corpus = build_corpus([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "out", window=2, windows="chunk")
    assert corpus.origins.tolist() == [[0, 0, 0, 0], [0, 2, 10, 0], [0, 2, 10, 2], [1, 0, 3, 0]]


def test_the_parts_of_a_long_document_are_documents_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("firstlight.corpus.documents.PART_BYTES", 20)
    source = tmp_path / "a.txt"
    source.write_text("short one\n\n" + "one two six " * 10 + "\n\nshort two\n")
    corpus = build_corpus([source], tmp_path / "out", window=1, windows="chunk", min_tokens=2)
    parts = corpus.ledger["split"]["parts"]
    assert corpus.ledger["split"]["documents"] == 1
    assert corpus.ledger["documents"]["read"] == parts + 2
    assert corpus.ledger["tokens"]["read"] == 34
    assert f"1 documents too long to hold were split into {parts} parts" in capsys.readouterr().err
    text = source.read_text()
    for window, (_, _, place, offset) in zip(corpus.windows, corpus.origins, strict=True):
        assert [corpus.vocabulary[i] for i in window] == text[place:].split()[offset : offset + 2]


def test_a_ledger_that_does_not_add_up_is_noticed() -> None:
    ledger = Ledger(documents_read=3, documents_kept=2, tokens_read=5, tokens_kept=5)
    with pytest.raises(AssertionError, match="documents read 3, kept 2, excluded 0"):
        ledger.check()
    ledger.exclude_documents("some reason", np.array([4]))
    with pytest.raises(AssertionError, match="tokens read 5, kept 5, excluded 4"):
        ledger.check()
    ledger.tokens_read = 9
    ledger.check()


def test_full_windows_need_no_file_of_lengths(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c d e\n\na b")
    full = build_corpus([tmp_path / "a.txt"], tmp_path / "full", window=2)
    assert full.lengths.tolist() == [3]
    assert not (full.path / "lengths.npy").exists()
    short = build_corpus([tmp_path / "a.txt"], tmp_path / "short", window=2, min_tokens=2)
    assert short.lengths.tolist() == [3, 2]
    assert short.windows.tolist() == [[0, 1, 2], [0, 1, 0]]
    assert isinstance(short.windows, np.memmap)
    assert not short.windows.flags.writeable
