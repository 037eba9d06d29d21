"""Tokenizers: the words of the paper, BPE learnt here, and tokenizer.json files, with nothing added unasked."""

import json
import string
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from firstlight.corpus import build_corpus
from firstlight.corpus.tokenizers import Pieces, load_pieces, words_of
from firstlight.corpus.word_counts import WordCounts
from firstlight.corpus.word_table import WordTable
from firstlight.errors import FirstlightError

DATA = Path(__file__).parents[3] / "shared" / "data"


def write_documents(path: Path, *texts: str) -> Path:
    path.write_text("\n<|endoftext|>\n".join(texts) + "\n<|endoftext|>\n")
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The CAT sat.", ["the", "cat", "sat", "."]),
        ("don't", ["don", "'", "t"]),
        ("a1b2", ["a", "1", "b", "2"]),
        ("snake_case 42", ["snake", "_", "case", "4", "2"]),
        ("Été,\tnaïve\n\n“x”", ["été", ",", "naïve", "“", "x", "”"]),
        ("...", [".", ".", "."]),
        (" \n\t ", []),
    ],
)
def test_words_are_runs_of_letters_and_single_other_characters(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.text())
def test_words_lose_nothing_but_white_space(text: str) -> None:
    assert "".join(words_of(text)) == "".join(text.lower().split())


@given(st.lists(st.text(), max_size=5))
def test_the_compiled_table_finds_the_words_of_the_definition(texts: list[str]) -> None:
    table = WordTable()
    found = [table.scan([text.lower()], insert=True)[0].tolist() for text in texts]
    names = [word for word, _ in table.words()]
    expected = [words_of(text) for text in texts]
    assert [[names[i] for i in ids] for ids in found] == expected
    assert table.words() == list(Counter(word for words in expected for word in words).items())
    together, bounds = table.scan([text.lower() for text in texts], insert=False)
    assert [together[a:b].tolist() for a, b in pairwise(bounds)] == found
    assert WordTable().scan([text.lower() for text in texts], insert=True)[0].tolist() == [
        i for ids in found for i in ids
    ]


def test_the_compiled_table_grows() -> None:
    words = ["".join(chr(97 + (i // 26**k) % 26) for k in range(4)) for i in range(100_000)]
    table = WordTable()
    assert (table.scan([" ".join(words)], insert=True)[0] == np.arange(100_000)).all()
    assert (table.scan([" ".join(reversed(words))], insert=False)[0] == np.arange(100_000)[::-1]).all()
    assert table.scan(["neverseen"], insert=False)[0].tolist() == [-1]


def test_the_vocabulary_is_the_most_frequent_words_and_ties_go_to_the_first(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "zoo apple zoo pear fig", "pear apple nut pear")
    corpus = build_corpus([path], tmp_path / "out", vocab_size=3, window=1, oov="unk")
    assert corpus.vocabulary == ("pear", "zoo", "apple", "<unk>")


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from([*string.ascii_lowercase, "é", "\x00", "日本"]))), st.integers(1, 30))
def test_counting_with_runs_on_disk_is_counting_in_memory(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[str]], number: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    spilling = WordCounts(folder, types=3)
    for words in documents:
        spilling.add([" ".join(words)])
    counted = Counter(word for words in documents for word in words)
    expected = [word for word, _ in counted.most_common(number)]  # stable: ties in the order of first appearance
    assert spilling.most_frequent(number) == (expected, len(counted) > number)
    assert list(folder.iterdir()) == []


def test_endless_letters_are_no_word_and_take_no_memory(tmp_path: Path) -> None:
    counts = WordCounts(tmp_path)
    counts.add([" ".join(["a", "x" * 1001, "y" * 1000])])
    assert counts.most_frequent(10) == (["a", "y" * 1000], True)


def test_unk_is_a_token_only_where_it_is_asked_for_and_needed(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "a a a b b c", "a b a b a b")
    excluded = build_corpus([path], tmp_path / "exclude", vocab_size=2, window=5)
    assert excluded.vocabulary == ("a", "b")
    assert excluded.ledger["documents"]["excluded"] == {"a token outside the vocabulary": 1}
    kept = build_corpus([path], tmp_path / "unk", vocab_size=2, window=5, oov="unk")
    assert kept.vocabulary == ("a", "b", "<unk>")
    assert kept.windows[0].tolist() == [0, 0, 0, 1, 1, 2]
    assert kept.ledger["tokens"]["unknown"] == 1
    unneeded = build_corpus([path], tmp_path / "all", vocab_size=3, window=5, oov="unk")
    assert unneeded.vocabulary == ("a", "b", "c")


def test_a_word_too_long_for_the_vocabulary_is_unknown_and_not_lost(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "a b " + "x" * 2000, "a b a")
    corpus = build_corpus([path], tmp_path / "unk", window=2, oov="unk")
    assert corpus.vocabulary == ("a", "b", "<unk>")
    assert corpus.windows.tolist() == [[0, 1, 2], [0, 1, 0]]
    excluded = build_corpus([path], tmp_path / "exclude", window=2)
    assert excluded.windows.tolist() == [[0, 1, 0]]


def test_the_vocabulary_counts_documents_too_short_to_be_kept(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "a a a a", "b b", "b b", "b")
    assert build_corpus([path], tmp_path / "out", vocab_size=2, window=3).vocabulary == ("b", "a")
    # ... but not those that --min-chars or --limit leave out.
    limited = build_corpus([path], tmp_path / "limit", vocab_size=2, window=3, limit=1)
    assert limited.vocabulary == ("a",)
    assert build_corpus([path], tmp_path / "chars", vocab_size=2, window=3, min_chars=4).vocabulary == ("a",)


def test_bpe_is_deterministic_keeps_every_byte_and_adds_nothing(tmp_path: Path) -> None:
    text = "The quick brown fox — naïve, 日本 — jumps over the lazy dog. " * 30
    path = write_documents(tmp_path / "a.txt", text, text + "again")
    one = build_corpus([path], tmp_path / "one", tokenizer="bpe", vocab_size=300, window=20, windows="chunk")
    two = build_corpus([path], tmp_path / "two", tokenizer="bpe", vocab_size=300, window=20, windows="chunk")
    assert folder_bytes(one.path) == folder_bytes(two.path)
    assert len(one.vocabulary) == 300
    tokenizer = Tokenizer.from_file(str(one.path / "tokenizer.json"))
    first = np.concatenate([one.windows[0], *[row[1:] for row in one.windows[one.origins[:, 1] == 0][1:]]])
    assert text.startswith(tokenizer.decode(first.tolist()).rstrip("�"))
    assert one.manifest["tokenizer"]["characters_trained_on"] == 2 * len(text.strip()) + len(" again")
    assert one.manifest["added"] == {}


def test_bpe_needs_room_for_all_bytes(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "some text")
    with pytest.raises(FirstlightError, match=r"--vocab-size 255: .* at least 256"):
        build_corpus([path], tmp_path / "out", tokenizer="bpe", vocab_size=255)


def test_a_bos_spelt_in_the_text_stays_text(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "<s> is a word here <s> " * 5)
    corpus = build_corpus([path], tmp_path / "out", tokenizer="bpe", vocab_size=270, window=4, bos="<s>")
    assert corpus.manifest["added"]["bos"] == {"token": "<s>", "id": 0, "where": "start of every document"}
    assert corpus.windows[0].tolist().count(0) == 1
    assert corpus.windows[0, 0] == 0


@pytest.mark.parametrize("windows", ["first", "chunk"])
def test_a_bos_is_put_before_each_document_and_counted_apart(tmp_path: Path, windows: str) -> None:
    path = write_documents(tmp_path / "a.txt", "a b a b", "b a b a")
    corpus = build_corpus([path], tmp_path / "out", window=2, windows=windows, bos="<bos>")
    assert corpus.vocabulary == ("a", "b", "<bos>")
    if windows == "first":
        assert corpus.windows.tolist() == [[2, 0, 1], [2, 1, 0]]
        assert corpus.ledger["tokens"] == {
            "read": 8,
            "kept": 4,
            "excluded": {"beyond the first window": 4},
            "added": 2,
            "unknown": 0,
        }
    else:
        assert corpus.windows.tolist() == [[2, 0, 1], [1, 0, 1], [2, 1, 0], [0, 1, 0]]
        assert corpus.origins[:, 3].tolist() == [0, 2, 0, 2]
        assert corpus.ledger["tokens"]["kept"] == 8


def test_a_bos_that_is_a_word_already_is_an_error(tmp_path: Path) -> None:
    path = write_documents(tmp_path / "a.txt", "a b a b")
    with pytest.raises(FirstlightError, match="already in the vocabulary"):
        build_corpus([path], tmp_path / "out", window=2, bos="a")
    with pytest.raises(FirstlightError, match="already in the vocabulary"):
        build_corpus([path], tmp_path / "out", window=2, bos="<unk>", oov="unk", vocab_size=1)
    assert build_corpus([path], tmp_path / "out", window=2, bos="<unk>", oov="unk").vocabulary == ("a", "b", "<unk>")


def tokenizer_json(path: Path, unknown: str | None = "[UNK]") -> Path:
    """Write a tokenizer that would add a BOS, pad, cut and has an unknown token, and ids with a hole."""
    vocabulary = {"[UNK]": 0, "[BOS]": 1, "cat": 2, "sat": 3, "the": 7}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown or "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[BOS] $A [BOS]", pair=None, special_tokens=[("[BOS]", 1)]
    )
    tokenizer.enable_padding(pad_id=0, length=50)
    tokenizer.enable_truncation(2)
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize("how", ["file", "hf"])
def test_a_tokenizer_file_adds_pads_and_cuts_nothing(tmp_path: Path, how: str) -> None:
    file = tokenizer_json(tmp_path / "tokenizer.json")
    path = write_documents(tmp_path / "a.txt", "the cat sat the cat", "the cat sat the dog")
    corpus = build_corpus([path], tmp_path / "out", tokenizer=file if how == "file" else f"hf:{tmp_path}", window=4)
    assert corpus.windows.tolist() == [[7, 2, 3, 7, 2]]
    assert corpus.vocabulary == ("[UNK]", "[BOS]", "cat", "sat", "<id:4>", "<id:5>", "<id:6>", "the")
    assert corpus.ledger["documents"]["excluded"] == {"a token outside the vocabulary": 1}
    assert (corpus.path / "tokenizer.json").read_bytes() == file.read_bytes()
    facts = corpus.manifest["tokenizer"]
    assert facts["post_processor_not_applied"] == ["TemplateProcessing"]
    assert facts["sha256"] == corpus.manifest["files"]["tokenizer.json"]["sha256"]
    kept = build_corpus([path], tmp_path / "unk", tokenizer=file, window=4, oov="unk", bos="[BOS]")
    assert kept.windows.tolist() == [[1, 7, 2, 3, 7], [1, 7, 2, 3, 7]]


@pytest.mark.parametrize(
    ("tokenizer", "options", "message"),
    [
        ("nowhere.json", {}, "nowhere.json not found; expected words, bpe, hf:ID"),
        ("broken.json", {}, "not a tokenizer.json"),
        ("text.json", {}, "not a tokenizer.json"),
        (".", {}, "a folder; expected words"),
        ("hf:.", {}, "not found"),
        ("tokenizer.json", {"bos": "<s>"}, "--bos <s>: not a token"),
        ("tokenizer.json", {"vocab_size": 3000}, "has its own vocabulary"),
    ],
)
def test_a_tokenizer_that_cannot_be_used_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: str, options: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(write_documents(tmp_path / "a.txt", "a b").parent)
    (tmp_path / "broken.json").write_text(json.dumps({"model": 5}))
    (tmp_path / "text.json").write_bytes(b"\xff not json")
    if tokenizer == "tokenizer.json":
        tokenizer_json(Path(tokenizer))
    with pytest.raises(FirstlightError, match=message) as error:
        build_corpus(["a.txt"], "out", tokenizer=tokenizer, **options)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    assert not Path("out.partial").exists()


def test_a_hub_tokenizer_offline_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(FirstlightError, match=r"hf:nobody/nothing: no tokenizer\.json to be had from the hub") as error:
        load_pieces("hf:nobody/nothing", None)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/models")
def test_a_llama_tokenizer_puts_no_bos() -> None:
    path = DATA / "models/stories15M/tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    text = "Once upon a time, there was a cat."
    plain = tokenizer.encode(text).ids
    # The file at hand adds nothing by itself; Llama's own post-processor, put back, does.
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair=None, special_tokens=[("<s>", 1)])
    assert tokenizer.encode(text).ids == [1, *plain]
    for content in (path.read_bytes(), tokenizer.to_str().encode()):
        assert Pieces(content, "stories15M", None, {"kind": "file"}).encode([text])[0].tolist() == plain


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/tokenizers")
@pytest.mark.parametrize("name", ["gpt2", "gpt-neox"])
def test_real_tokenizers_decode_to_the_text(name: str) -> None:
    pieces = load_pieces(f"hf:{DATA / 'tokenizers' / name}", None)
    text = "The naïve cat — it’s 42!\n\n  Two  spaces."
    (ids,) = pieces.encode([text])
    assert Tokenizer.from_file(str(DATA / "tokenizers" / name / "tokenizer.json")).decode(ids.tolist()) == text


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
