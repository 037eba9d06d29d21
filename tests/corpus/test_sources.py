"""Every kind of source delivers the same documents, and whatever is wrong with one is said or counted."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from firstlight.corpus import Corpus, build_corpus, documents, text_files
from firstlight.corpus.documents import Document
from firstlight.corpus.sources import documents_of, parse_sources
from firstlight.errors import FirstlightError

DOCUMENTS = ["the cat sat.", "A dog, ran\nfar away", "été 42 naïve", "the end of it"]


def write_text(path: Path, separator: str = "\n<|endoftext|>\n") -> Path:
    path.write_bytes((separator.join(DOCUMENTS) + separator).encode())
    return path


def write_jsonl(path: Path) -> Path:
    path.write_text("".join(json.dumps({"text": text, "other": 1}) + "\n" for text in DOCUMENTS))
    return path


def compress(path: Path) -> Path:
    data = path.read_bytes()
    # Two frames or members one after the other are one file, as `cat a.gz b.gz` makes it.
    halves = data[: len(data) // 2], data[len(data) // 2 :]
    pack = gzip.compress if path.suffix == ".gz" else zstandard.compress
    path.write_bytes(b"".join(pack(half) for half in halves))
    return path


def write_parquet(path: Path, column: pa.Array | None = None) -> Path:
    pq.write_table(pa.table({"id": list(range(4)), "text": DOCUMENTS if column is None else column}), path)
    return path


SOURCES: dict[str, Callable[[Path], Path]] = {
    "marks.txt": write_text,
    "blank.txt": lambda path: write_text(path, "\n \t\n\n"),
    "windows.txt": lambda path: write_text(path, "\r\n<|endoftext|>\r\n"),
    "spaced.txt": lambda path: write_text(path, "\n  <|endoftext|>\t\n"),
    "packed.txt.gz": lambda path: compress(write_text(path)),
    "packed.txt.zst": lambda path: compress(write_text(path)),
    "lines.jsonl": write_jsonl,
    "lines.jsonl.gz": lambda path: compress(write_jsonl(path)),
    "lines.jsonl.zst": lambda path: compress(write_jsonl(path)),
    "table.parquet": write_parquet,
    "large.parquet": lambda path: write_parquet(path, pa.array(DOCUMENTS, pa.large_string())),
    "dictionary.parquet": lambda path: write_parquet(path, pa.array(DOCUMENTS).dictionary_encode()),
    "bytes.parquet": lambda path: write_parquet(path, pa.array([text.encode() for text in DOCUMENTS])),
    "views.parquet": lambda path: write_parquet(path, pa.array(DOCUMENTS, pa.string_view())),
}


def read(name: str | Path, column: str = "text") -> list[Document]:
    (source,) = parse_sources([name])
    return list(documents_of(source, column, seed=0, start=0))


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_file_holds_the_same_documents(tmp_path: Path, name: str) -> None:
    assert [document.text for document in read(SOURCES[name](tmp_path / name))] == DOCUMENTS


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("start", [1, 3])
def test_reading_goes_on_from_any_document(tmp_path: Path, name: str, start: int) -> None:
    (source,) = parse_sources([SOURCES[name](tmp_path / name)])
    assert list(documents_of(source, "text", 0, start)) == list(documents_of(source, "text", 0, 0))[start:]


def test_compression_is_told_by_content(tmp_path: Path) -> None:
    path = compress(write_text(tmp_path / "a.txt.gz"))
    assert [document.text for document in read(path.rename(tmp_path / "plain.txt"))] == DOCUMENTS


def test_places_are_byte_offsets_of_the_text(tmp_path: Path) -> None:
    for name in ("marks.txt", "blank.txt", "windows.txt"):
        path = SOURCES[name](tmp_path / name)
        for document in read(path):
            assert path.read_bytes()[document.place :].startswith(document.text.encode())


def test_places_of_json_lines_are_their_starts(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl")
    for document in read(path):
        line = path.read_bytes()[document.place :].split(b"\n")[0]
        assert json.loads(line)["text"] == document.text


def test_a_mark_inside_a_line_separates_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"one <|endoftext|> two\n\nthree\n")
    assert [document.text for document in read(path)] == ["one <|endoftext|> two", "three"]


def test_blank_lines_do_not_separate_where_there_are_marks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"one\n\ntwo\n<|endoftext|>\nthree")
    assert [document.text for document in read(path)] == ["one\n\ntwo", "three"]


def test_nothing_between_two_marks_is_an_empty_document_and_nothing_after_the_last_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"\n<|endoftext|>\none\n<|endoftext|>\n \n<|endoftext|>\ntwo\n<|endoftext|>\n\n")
    assert [document.text for document in read(path)] == ["one", "", "two"]


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.txt", b"\xef\xbb\xbfone\n\ntwo"))[0] == Document(3, "one")
    assert read(write(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"text": "one"}'))[0].text == "one"


def test_invalid_utf8_excludes_its_document_alone(tmp_path: Path) -> None:
    texts = read(write(tmp_path / "a.txt", b"one\n\ntw\xffo\n\nthree"))
    assert [(document.text, document.excluded) for document in texts] == [
        ("one", ""),
        ("", "invalid UTF-8"),
        ("three", ""),
    ]
    column = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\x03\0\0\0\x06\0\0\0"), pa.py_buffer(b"abc\xffxy")]
    )
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    assert [document.excluded for document in read(tmp_path / "a.parquet")] == ["", "invalid UTF-8"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"other": 1}', "no text"),
        (b'{"text": null}', "no text"),
        (b'{"text": 5}', "no text"),
        (b"[1]", "no text"),
        (b"{'text': 1}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"text": "\xff"}', "invalid UTF-8"),
        (b'{"text": "\\ud800"}', "invalid UTF-8"),
    ],
)
def test_a_json_line_without_text_is_a_counted_exclusion(tmp_path: Path, line: bytes, reason: str) -> None:
    path = write(tmp_path / "a.jsonl", b'{"text": "one"}\n\n' + line + b'\n{"text": "two"}')
    assert [(document.text, document.excluded) for document in read(path)] == [("one", ""), ("", reason), ("two", "")]


def test_a_json_line_too_long_is_skipped_without_being_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LINE_BYTES", 2**21)
    long = json.dumps({"text": "x" * 2**22}).encode()
    path = write(tmp_path / "a.jsonl", b'{"text": "one"}\n' + long + b'\n{"text": "two"}\n' + long)
    assert [(document.text, document.excluded) for document in read(path)] == [
        ("one", ""),
        ("", "line longer than 2 MiB"),
        ("two", ""),
        ("", "line longer than 2 MiB"),
    ]


@pytest.mark.parametrize("size", [2**20 - 1, 2**20, 2**20 + 1, 2**21])
def test_a_line_as_long_as_the_buffer_is_one_line(tmp_path: Path, size: int) -> None:
    text = "x" * (size - len('{"text": ""}'))
    line = json.dumps({"text": text}).encode()
    assert len(line) == size
    for end in (b"", b"\n", b'\n{"text": "y"}'):
        assert read(write(tmp_path / "a.jsonl", line + end))[0].text == text


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_a_text_too_long_to_hold_comes_in_parts_that_lose_only_white_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(documents, "PART_BYTES", 50)
    text = "a few words with été in them " * 20 + "ß" * 200 + " end"
    path = tmp_path / name
    if name == "a.txt":
        path.write_text("short\n\n" + text + "\n\nlast")
    elif name == "a.jsonl":
        path.write_text("".join(json.dumps({"text": each}) + "\n" for each in ("short", text, "last")))
    else:
        pq.write_table(pa.table({"text": ["short", text, "last"]}), path)
    first, *parts, last = read(path)
    assert (first.text, first.part, last.text, last.part) == ("short", 0, "last", 0)
    assert [part.part for part in parts] == list(range(1, len(parts) + 1))
    assert all(len(part.text.encode()) <= 50 and not part.excluded for part in parts)
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())
    # No word was cut but the one without white space inside.
    assert {word for part in parts for word in part.text.split() if "ß" not in word} == set(text.split()) - {"ß" * 200}


def damaged(name: str, path: Path) -> Path:
    """Write a file of 2,000 documents and cut its end off."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"text": [f"text {i}" for i in range(2000)]}), path)
    else:
        data = "".join(json.dumps({"text": f"text {i * i}"}) + "\n" for i in range(2000)).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else zstandard.compress(data))
    path.write_bytes(path.read_bytes()[:-20])
    return path


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.parquet"])
def test_a_truncated_file_is_an_error_that_says_how_far_it_got(tmp_path: Path, name: str) -> None:
    path = damaged(name, tmp_path / name)
    with pytest.raises(FirstlightError, match=rf"{name}: damaged or cut short after [\d,]+ documents") as error:
        build_corpus([path], tmp_path / "out", window=1)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.partial").exists()


def test_a_parquet_page_damaged_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text {i * i}" for i in range(50_000)]}), path, row_group_size=5000)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 3000] = bytes(3000)
    path.write_bytes(data)
    with pytest.raises(FirstlightError, match=r"a.parquet: damaged or cut short after [\d,]+ documents"):
        read(path)


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.zst"])
def test_a_suffix_that_lies_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(FirstlightError, match=f"{name}: damaged"):
        read(write(tmp_path / name, b"this is not compressed at all\n"))


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.txt.gz", "a.txt.zst"])
def test_an_empty_file_holds_no_document(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, b"")
    assert read(path) == []
    with pytest.raises(FirstlightError, match="no document was found"):
        build_corpus([path], tmp_path / "out")


def test_an_empty_file_beside_others_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, full = write(tmp_path / "empty.txt", b""), write_text(tmp_path / "full.txt")
    corpus = build_corpus([empty, full], tmp_path / "out", window=3)
    assert f"{empty}: holds no documents" in capsys.readouterr().err
    assert [source["documents"] for source in corpus.manifest["sources"]] == [0, 4]
    assert set(corpus.origins[:, 0]) == {1}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.txt", "missing.txt: file not found"),
        ("missing.csv", "missing.csv: not found; expected .txt"),
        ("a.csv", "a.csv: an unknown kind of source; expected .txt"),
        ("folder", "folder: a folder; expected .txt"),
        ("folder.txt", "folder.txt: a folder; expected .txt"),
        ("a.parquet.gz", "a.parquet.gz: not found; expected"),
        ("stories:", "stories:: expected stories:N"),
        ("stories:0", "stories:0: expected stories:N"),
        ("stories:-3", "stories:-3: expected stories:N"),
        ("stories:" + "9" * 5000, "stories:999"),
        ("caf\udce9.txt", "caf\udce9.txt: a name that is not UTF-8"),
        ("hf:", "hf:: expected hf:DATASET"),
        ("tokens:missing.npy", "tokens:missing.npy: file not found"),
    ],
)
def test_what_is_no_source_is_an_error_that_lists_what_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder.txt").mkdir()
    Path("a.csv").write_text("a,b\n")
    with pytest.raises(FirstlightError) as error:
        parse_sources([name])
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("name", ["a.parquet", "hf"])
def test_a_missing_column_is_an_error_that_lists_the_others(tmp_path: Path, name: str) -> None:
    write_parquet(tmp_path / "a.parquet")
    source = f"hf:{tmp_path}" if name == "hf" else tmp_path / name
    with pytest.raises(FirstlightError, match="no column 'body', it has id, text") as error:
        read(source, "body")
    assert "\n" not in str(error.value)


def test_a_column_that_holds_no_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="column 'id' holds int64, expected strings"):
        read(write_parquet(tmp_path / "a.parquet"), "id")


def test_rows_without_text_are_counted(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one", None, "two"]}), tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", f"hf:{tmp_path}"):
        assert [(d.place, d.text, d.excluded) for d in read(source)] == [
            (0, "one", ""),
            (1, "", "no text"),
            (2, "two", ""),
        ]


@pytest.mark.parametrize("suffix", ["", ":default", ":train", ":default:train", "::train"])
def test_a_local_folder_is_a_data_set(tmp_path: Path, suffix: str) -> None:
    write_parquet(tmp_path / "train.parquet")
    assert [document.text for document in read(f"hf:{tmp_path}{suffix}")] == DOCUMENTS


def test_another_split_of_a_data_set_is_read(tmp_path: Path) -> None:
    write_parquet(tmp_path / "train.parquet")
    pq.write_table(pa.table({"text": ["of the test"]}), tmp_path / "test.parquet")
    assert [document.text for document in read(f"hf:{tmp_path}:test")] == ["of the test"]


@pytest.mark.parametrize("name", ["{}/nowhere", "{}:no_such_split", "{}:a:b:c"])
def test_a_data_set_that_cannot_be_had_is_one_line(tmp_path: Path, name: str) -> None:
    write_parquet(tmp_path / "train.parquet")
    with pytest.raises(FirstlightError) as error:
        read("hf:" + name.format(tmp_path))
    assert "\n" not in str(error.value)


def test_a_data_set_without_the_loader_tells_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(FirstlightError, match=r"pip install 'firstlight\[hf\]'"):
        read(f"hf:{tmp_path}")


def test_standard_input_is_read_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(write_text(tmp_path / "a.txt").read_bytes())))
    piped = build_corpus(["-"], tmp_path / "piped", window=3)
    from_file = build_corpus([tmp_path / "a.txt"], tmp_path / "file", window=3)
    assert same_content(piped, from_file)
    assert "stdin.txt" not in {path.name for path in piped.path.iterdir()}


def test_a_closed_standard_input_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FirstlightError, match="-: standard input is closed"):
        build_corpus(["-"], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_one_is_in_is_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parquet(tmp_path / "train.parquet")
    monkeypatch.chdir(tmp_path)
    assert [document.text for document in read("hf:.")] == DOCUMENTS


def test_a_source_that_ends_before_the_place_to_go_on_from_is_an_error(tmp_path: Path) -> None:
    (source,) = parse_sources([write_jsonl(tmp_path / "a.jsonl")])
    assert list(documents_of(source, "text", seed=0, start=4)) == []
    with pytest.raises(FirstlightError, match=r"ends before document 5.*remove the \.partial folder"):
        list(documents_of(source, "text", seed=0, start=5))


def test_stories_are_a_source_with_a_seed(tmp_path: Path) -> None:
    kinds: dict[str, Any] = {
        "first": build_corpus(["stories:30"], tmp_path / "first", window=20, oov="unk"),
        "again": build_corpus(["stories:30"], tmp_path / "again", window=20, oov="unk"),
        "other": build_corpus(["stories:30"], tmp_path / "other", window=20, oov="unk", seed=1),
    }
    assert same_content(kinds["first"], kinds["again"])
    assert not same_content(kinds["first"], kinds["other"])
    assert kinds["first"].ledger["documents"]["read"] == 30


def same_content(one: Corpus, other: Corpus) -> bool:
    return one.fingerprint == other.fingerprint
