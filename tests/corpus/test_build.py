"""A build is whole or absent: settings, refusals, replacement, resuming after a kill, damage."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstlight.corpus import Corpus, build_corpus, encode, open_corpus
from firstlight.corpus.shards import ShardedWindows
from firstlight.errors import FirstlightError
from firstlight.files import staging_folder

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a file of 40 documents of 10 to 29 tokens."""
    path = tmp_path / "a.txt"
    texts = [" ".join("abcdefgh"[(i * j) % 8] for j in range(10 + i % 20)) for i in range(40)]
    path.write_text("\n\n".join(texts))
    return path


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_equal_builds_are_equal_byte_for_byte(source: Path, tmp_path: Path) -> None:
    one = build_corpus([source], tmp_path / "one", window=5, windows="chunk")
    two = build_corpus([source], tmp_path / "two", window=5, windows="chunk")
    assert folder_bytes(one.path) == folder_bytes(two.path)
    assert one.fingerprint == two.fingerprint
    assert str(tmp_path) not in json.dumps({**one.manifest, "sources": []})


def test_many_shards_hold_the_windows_of_one(source: Path, tmp_path: Path) -> None:
    one = build_corpus([source], tmp_path / "one", window=5, windows="chunk")
    many = build_corpus([source], tmp_path / "many", window=5, windows="chunk", shard_tokens=100)
    assert isinstance(one.windows, np.memmap)
    assert isinstance(many.windows, ShardedWindows)
    assert len(many.manifest["shards"]) == -(-len(one.windows) // (100 // 6))
    np.testing.assert_array_equal(np.asarray(many.windows), one.windows, strict=True)
    np.testing.assert_array_equal(many.origins, one.origins)


def test_small_vocabularies_take_two_bytes_and_large_ones_four(tmp_path: Path) -> None:
    for size, dtype in ((2**16, "uint16"), (2**16 + 1, "uint32")):
        (tmp_path / "v.json").write_text(json.dumps([f"t{i}" for i in range(size)]))
        np.save(tmp_path / "t.npy", np.array([[0, size - 1]]))
        corpus = build_corpus([f"tokens:{tmp_path / 't.npy'}"], tmp_path / f"out{size}", vocab=tmp_path / "v.json")
        assert corpus.windows.dtype == dtype == corpus.manifest["dtype"]
        assert corpus.windows.tolist() == [[0, size - 1]]


def test_a_corpus_that_is_there_is_not_built_again(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build_corpus([source], tmp_path / "out", window=5)
    before = (tmp_path / "out" / "tokens-00000.npy").stat()
    source.touch()  # another time, the same content
    capsys.readouterr()
    build_corpus([source], tmp_path / "out", window=5)
    assert "already built" in capsys.readouterr().err
    assert (tmp_path / "out" / "tokens-00000.npy").stat().st_ino == before.st_ino
    assert not staging_folder(tmp_path / "out").exists()


@pytest.mark.parametrize("change", ["text", "option", "source"])
def test_another_corpus_replaces_the_one_that_is_there(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    old = build_corpus([source], tmp_path / "out", window=5)
    sources, window = [source], 5
    if change == "text":
        source.write_text(source.read_text().replace("a", "z"))  # of the same size
    elif change == "option":
        window = 4
    else:
        sources = [source, source]
    capsys.readouterr()
    new = build_corpus(sources, tmp_path / "out", window=window)
    assert "replaced when this one is complete" in capsys.readouterr().err
    assert new.fingerprint != old.fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "out"]


def test_a_build_that_fails_leaves_the_old_corpus(source: Path, tmp_path: Path) -> None:
    build_corpus([source], tmp_path / "out", window=5)
    before = folder_bytes(tmp_path / "out")
    with pytest.raises(FirstlightError, match="no window left"):
        build_corpus([source], tmp_path / "out", window=500)
    assert folder_bytes(tmp_path / "out") == before
    assert not staging_folder(tmp_path / "out").exists()


def test_what_is_no_corpus_is_not_replaced(source: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("years of work")
    with pytest.raises(FirstlightError, match="not empty and not a corpus"):
        build_corpus([source], tmp_path / "folder", window=5)
    with pytest.raises(FirstlightError, match=r"a\.txt: a file; expected a folder"):
        build_corpus([source], source, window=5)
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "thesis.tex").write_text("years of work")
    with pytest.raises(FirstlightError, match=r"out\.partial: in the way"):
        build_corpus([source], tmp_path / "out", window=5)
    assert (tmp_path / "folder" / "thesis.tex").exists()
    assert (tmp_path / "out.partial" / "thesis.tex").exists()
    (tmp_path / "empty").mkdir()
    assert build_corpus([source], tmp_path / "empty", window=5).window == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "--window 0: expected at least 1"),
        ({"windows": "all"}, "--windows all: expected first or chunk"),
        ({"oov": "drop"}, "--oov drop: expected exclude or unk"),
        ({"limit": 0}, "--limit 0: expected at least 1"),
        ({"min_tokens": 1}, "--min-tokens 1: expected at least 2"),
        ({"min_chars": -1}, "--min-chars -1: expected at least 0"),
        ({"vocab_size": 0}, "--vocab-size 0: expected at least 1"),
        ({"bos": ""}, "--bos: came empty, expected a token"),
        ({"bos": "\udcff"}, "\udcff: came with bytes that are not UTF-8, expected text"),
        ({"vocab": "v.json"}, "--vocab: only goes with tokens: files; text has the vocabulary of its tokenizer"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(
    source: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(FirstlightError) as error:
        build_corpus([source], tmp_path / "out", **options)
    assert str(error.value) == message
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("windows", ["first", "chunk"])
def test_windows_written_a_few_at_a_time_are_the_same_bytes(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: str
) -> None:
    options: dict[str, Any] = {"window": 7, "min_tokens": 3, "windows": windows, "bos": "<bos>"}
    whole = build_corpus([source], tmp_path / "whole", **options)
    monkeypatch.setattr(encode, "ROWS_TOKENS", 24)
    assert folder_bytes(build_corpus([source], tmp_path / "parts", **options).path) == folder_bytes(whole.path)


def test_the_folder_one_is_in_is_a_corpus(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = build_corpus([source], tmp_path / "out", window=5)
    monkeypatch.chdir(corpus.path)
    assert open_corpus(".").fingerprint == corpus.fingerprint
    assert build_corpus([source], ".", window=4).path == corpus.path


def test_limit_counts_the_documents_that_are_long_enough(source: Path, tmp_path: Path) -> None:
    corpus = build_corpus([source, source], tmp_path / "out", window=5, limit=45, min_chars=21)
    documents = corpus.ledger["documents"]
    too_short = documents["excluded"]["fewer than 21 characters"]
    assert documents["read"] == documents["kept"] + too_short
    assert documents["kept"] == 45
    assert corpus.ledger["tokens"]["excluded"].keys() == {"beyond the first window"}
    assert [each["documents"] for each in corpus.manifest["sources"]] == [40, documents["read"] - 40]


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"window": 100}, "40 fewer than 101 tokens; a smaller --window"),
        ({"window": 5, "min_chars": 100}, "40 fewer than 100 characters; a smaller --min-chars"),
    ],
)
def test_nothing_left_says_what_took_it_and_what_to_change(
    source: Path, tmp_path: Path, options: dict[str, Any], advice: str
) -> None:
    with pytest.raises(FirstlightError, match=advice) as error:
        build_corpus([source], tmp_path / "out", **options)
    assert "40 documents read" in str(error.value)
    assert "\n" not in str(error.value)


def test_nothing_left_of_a_small_vocabulary_points_at_its_size(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c d\n\nb c d a")
    with pytest.raises(FirstlightError, match="2 a token outside the vocabulary; a larger --vocab-size or --oov unk"):
        build_corpus([tmp_path / "a.txt"], tmp_path / "out", window=2, vocab_size=3)


def test_nothing_left_of_json_lines_points_at_the_column(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "some words"}\n' * 3)
    with pytest.raises(FirstlightError, match="3 no text; --text-column names the column"):
        build_corpus([tmp_path / "a.jsonl"], tmp_path / "out")
    assert build_corpus([tmp_path / "a.jsonl"], tmp_path / "out", text_column="body", window=1).window == 1


def test_a_source_that_changes_while_it_is_read_is_an_error(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from firstlight.corpus import build

    def learn_then_change(*arguments: Any) -> Any:
        learnt = learn(*arguments)
        source.write_text(source.read_text() + "\n\nmore and more text")
        return learnt

    learn = build._learn
    monkeypatch.setattr(build, "_learn", learn_then_change)
    with pytest.raises(FirstlightError, match="changed while it was read"):
        build_corpus([source], tmp_path / "out", window=5)
    assert not (tmp_path / "out").exists()


# Opening


def test_what_is_no_corpus_does_not_open(source: Path, tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="no corpus here"):
        open_corpus(tmp_path / "nowhere")
    with pytest.raises(FirstlightError, match="not a firstlight corpus"):
        open_corpus(source)
    (tmp_path / "other").mkdir()
    with pytest.raises(FirstlightError, match="not a firstlight corpus"):
        open_corpus(tmp_path / "other")
    for content in ("[]", '{"format": "something else"}'):
        (tmp_path / "other" / "manifest.json").write_text(content)
        with pytest.raises(FirstlightError, match="not a firstlight corpus"):
            open_corpus(tmp_path / "other")
    (tmp_path / "other" / "manifest.json").write_text("{")
    with pytest.raises(FirstlightError, match="damaged"):
        open_corpus(tmp_path / "other")


def test_a_corpus_of_a_later_format_does_not_open(source: Path, tmp_path: Path) -> None:
    corpus = build_corpus([source], tmp_path / "out", window=5)
    manifest = json.dumps({**corpus.manifest, "format_version": 2})
    (corpus.path / "manifest.json").write_text(manifest)
    with pytest.raises(FirstlightError, match="format 2, expected 1"):
        open_corpus(corpus.path)


def test_missing_and_shortened_files_are_noticed_at_once(source: Path, tmp_path: Path) -> None:
    for name in build_corpus([source], tmp_path / "out", window=5, min_tokens=3).manifest["files"]:
        path = tmp_path / "out" / name
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        with pytest.raises(FirstlightError, match=rf"{name}: damaged"):
            open_corpus(tmp_path / "out")
        path.unlink()
        with pytest.raises(FirstlightError, match=rf"{name}: missing"):
            open_corpus(tmp_path / "out")
        path.write_bytes(content)
    open_corpus(tmp_path / "out").verify()


def test_verify_names_the_file_with_a_flipped_byte(source: Path, tmp_path: Path) -> None:
    corpus = build_corpus([source], tmp_path / "out", window=5, windows="chunk", min_tokens=3, tokenizer="bpe")
    corpus.verify()
    names = {path.name for path in corpus.path.iterdir()} - {"manifest.json"}
    assert names == {"tokens-00000.npy", "lengths.npy", "origins.npy", "vocabulary.json", "tokenizer.json"}
    assert names == set(corpus.manifest["files"])
    for name in names:
        path = corpus.path / name
        content = path.read_bytes()
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
        with pytest.raises(FirstlightError, match=rf"{name}: damaged"):
            open_corpus(corpus.path).verify()
        path.write_bytes(content)
    manifest = (corpus.path / "manifest.json").read_text()
    (corpus.path / "manifest.json").write_text(manifest.replace('"kept": 40', '"kept": 41'))
    with pytest.raises(FirstlightError, match=r"manifest\.json: damaged"):
        open_corpus(corpus.path).verify()


def test_the_fingerprint_is_that_of_the_content(source: Path, tmp_path: Path) -> None:
    one = build_corpus([source], tmp_path / "one", window=5)
    source.rename(tmp_path / "b.txt")
    assert build_corpus([tmp_path / "b.txt"], tmp_path / "two", window=5).fingerprint == one.fingerprint
    # Shorter windows padded to the same rows are other content.
    (tmp_path / "c.txt").write_text("a b a\n\nb a b a")
    long = build_corpus([tmp_path / "c.txt"], tmp_path / "long", window=3, min_tokens=3)
    (tmp_path / "c.txt").write_text("a b a a\n\nb a b a")
    full = build_corpus([tmp_path / "c.txt"], tmp_path / "full", window=3, min_tokens=3)
    np.testing.assert_array_equal(long.windows, full.windows)
    assert long.fingerprint != full.fingerprint


# Killing

# Builds one corpus again and again in forked children, each killed at a later step on the disk, and after every kill
# looks at what is there and lets the same command run to its end.
KILLER = """
import json, os, signal, sys, time
from pathlib import Path
from firstlight.corpus import build_corpus, encode, open_corpus
from firstlight.errors import FirstlightError

source, folder, replaces, tokenizer = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "replace", sys.argv[4]
encode.JOURNAL_SECONDS, encode.BATCH_DOCUMENTS = 0.0, 5
options = dict(window=5, windows="chunk", min_tokens=3, shard_tokens=100, tokenizer=tokenizer, vocab_size=270)
STEPS = {"open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir"}

def child(out, kill_at):
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        return status
    seen = 0
    def step(event, arguments):
        nonlocal seen
        if event in STEPS and str(folder) in str(arguments[0]):
            seen += 1
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(step)
    sys.stderr = open(folder / "said", "a")
    build_corpus([source], out, **options)
    os._exit(0)

def content(path):
    return {file.name: file.read_bytes() for file in sorted(path.iterdir())}

old = build_corpus([source], folder / "old", window=3) and content(folder / "old")
new = build_corpus([source], folder / "new", **options) and content(folder / "new")
kills = 0
for kill_at in range(1, 2000):
    out = folder / f"out{kill_at}"
    if replaces:
        build_corpus([source], out, window=3)
    status = child(out, kill_at)
    if status == 0:
        assert content(out) == new
        break
    assert os.WTERMSIG(status) == signal.SIGKILL, status
    kills += 1
    try:
        opened = content(open_corpus(out).path)
        assert opened in ([old, new] if replaces else [new]), (kill_at, sorted(opened))
    except FirstlightError as error:
        assert not replaces and ("unfinished" in str(error) or "no corpus here" in str(error)), (kill_at, error)
    # What a write that was cut short leaves behind the last rows.
    for file in sorted(out.with_name(out.name + ".partial").glob("tokens-*.npy"))[-1:]:
        with file.open("ab") as torn:
            torn.write(b"torn")
    assert child(out, 0) == 0
    assert content(out) == new, (kill_at, [n for n in new if content(out).get(n) != new[n]], sorted(content(out)))
    assert not out.with_name(out.name + ".partial").exists()
    assert not out.with_name(out.name + ".replaced").exists()
print(json.dumps({"kills": kills, "resumed": (folder / "said").read_text().count("resuming after")}))
"""


@pytest.mark.parametrize(("replaces", "tokenizer"), [("fresh", "words"), ("replace", "words"), ("fresh", "bpe")])
def test_a_build_killed_at_any_step_leaves_the_old_corpus_and_resumes_to_the_same_bytes(
    source: Path, tmp_path: Path, replaces: str, tokenizer: str
) -> None:
    (tmp_path / "work").mkdir()
    result = subprocess.run(
        [sys.executable, "-c", KILLER, source, tmp_path / "work", replaces, tokenizer],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    counts = json.loads(result.stdout)
    assert counts["kills"] > 40
    assert counts["resumed"] > 20


SLOW = """
import sys, time
from firstlight.corpus import build_corpus, encode
write = encode._write
def slow(*arguments):
    time.sleep(0.02)
    write(*arguments)
encode._write, encode.JOURNAL_SECONDS, encode.BATCH_DOCUMENTS = slow, 0.0, 1
build_corpus([sys.argv[1]], sys.argv[2], window=5)
"""


def start_slow_build(source: Path, out: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen([sys.executable, "-c", SLOW, source, out], stderr=subprocess.PIPE, text=True)
    journal = staging_folder(out) / "journal.json"
    while not (journal.exists() and "encoding" in journal.read_text()):
        assert child.poll() is None, child.stderr and child.stderr.read()
        time.sleep(0.01)
    return child


def test_two_builds_of_one_corpus_do_not_run_at_once(source: Path, tmp_path: Path) -> None:
    child = start_slow_build(source, tmp_path / "out")
    try:
        with pytest.raises(FirstlightError, match="another build of it is running"):
            build_corpus([source], tmp_path / "out", window=5)
        with pytest.raises(FirstlightError, match="a build of it is running"):
            open_corpus(tmp_path / "out")
        assert child.wait(timeout=20) == 0
    finally:
        child.kill()
        child.communicate()
    assert open_corpus(tmp_path / "out").ledger["documents"]["kept"] == 40


@pytest.mark.parametrize("change", ["nothing", "option", "source"])
def test_a_killed_build_goes_on_only_if_nothing_changed(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    child = start_slow_build(source, tmp_path / "out")
    child.kill()
    child.communicate()
    with pytest.raises(FirstlightError, match="an unfinished build; run the same"):
        open_corpus(tmp_path / "out")
    if change == "source":
        source.write_text(source.read_text() + "\n\n" + "a " * 20)
    window = 4 if change == "option" else 5
    resumed = build_corpus([source], tmp_path / "out", window=window)
    assert ("resuming after" in capsys.readouterr().err) == (change == "nothing")
    whole = build_corpus([source], tmp_path / "whole", window=window)
    assert folder_bytes(resumed.path) == folder_bytes(whole.path)


# Real data: figures that were published, or counted independently


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/tinystories")
def test_the_filter_of_the_paper_keeps_660_stories(tmp_path: Path) -> None:
    corpus = build_corpus([DATA / "tinystories/stories.txt"], tmp_path / "out")
    assert corpus.windows.shape == (660, 201)
    assert len(corpus.vocabulary) == 3000
    assert corpus.ledger["documents"]["read"] == 10_352


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/models")
def test_the_windows_of_the_language_model_section_are_9860(tmp_path: Path) -> None:
    corpus = build_corpus(
        [DATA / "tinystories/stories.txt"],
        tmp_path / "out",
        tokenizer=f"hf:{DATA / 'models/stories15M'}",
        window=128,
        min_chars=512,
    )
    assert corpus.windows.shape == (9860, 129)
    assert len(corpus.vocabulary) == 32_000
    assert not (np.asarray(corpus.windows) == 1).any(), "no BOS"


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/webtext")
def test_real_web_text_opens_with_its_passages(tmp_path: Path) -> None:
    import gzip

    from firstlight.corpus.tokenizers import words_of

    source = DATA / "webtext/reviews.jsonl.gz"
    corpus: Corpus = build_corpus([source], tmp_path / "out", window=64, oov="unk", windows="chunk", limit=500)
    with gzip.open(source) as file:
        stream = file.read(2_000_000)
    known = set(corpus.vocabulary)
    for row in range(0, len(corpus.windows), 97):
        _, _, place, offset = corpus.origins[row]
        words = words_of(json.loads(stream[place:].split(b"\n")[0])["text"])[offset : offset + 65]
        stored = [corpus.vocabulary[i] for i in corpus.windows[row]]
        assert stored == [word if word in known else "<unk>" for word in words]
