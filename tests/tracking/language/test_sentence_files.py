"""Parquet files of sentences: read back as written, whole or absent, and checked."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from firstlight.errors import FirstlightError
from firstlight.tracking.language import sampling
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import numbered
from firstlight.tracking.language.sentence_files import read_sentences, write_sentences
from firstlight.tracking.language.sentences import Sentences


def batches(count: int) -> Iterator[Sentences]:
    return numbered(action_named("S4"), variables=30, length=7, count=count, seed=1)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sampling, "_BATCH", 80)  # 10 sentences of length 7
    return tmp_path / "sentences.parquet"


def test_sentences_are_read_back_as_they_were_written(path: Path) -> None:
    assert write_sentences(path, batches(25), {"seed": 1}) == 25
    read, drawn = list(read_sentences(path)), list(batches(25))
    assert [len(each) for each in read] == [10, 10, 5]
    for ours, theirs in zip(read, drawn, strict=True):
        assert ours.action.name == "S4"
        assert (ours.action.images == theirs.action.images).all()
        for name in ("variables", "elements", "values"):
            assert getattr(ours, name).dtype == np.int64
            assert (getattr(ours, name) == getattr(theirs, name)).all()
    assert not path.with_name(path.name + ".tmp").exists()


def test_the_file_can_be_read_without_us(path: Path) -> None:
    write_sentences(path, batches(25), {"seed": 1, "length": 7})
    table = pq.read_table(path)
    assert table.column_names == ["variables", "elements", "values"]
    document = json.loads(table.schema.metadata[b"firstlight"])
    assert {key: document[key] for key in ("action", "seed", "length")} == {"action": "S4", "seed": 1, "length": 7}
    for row in table.to_pylist():
        value = row["values"][0]
        for element, following in zip(row["elements"], row["values"][1:], strict=True):
            value = document["images"][element][value]
            assert value == following


def test_a_write_that_fails_leaves_what_was_there(path: Path) -> None:
    write_sentences(path, batches(3), {})
    before = path.read_bytes()

    def failing() -> Iterator[Sentences]:
        yield from batches(10)
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        write_sentences(path, failing(), {})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_nothing_to_write_is_refused(path: Path) -> None:
    with pytest.raises(FirstlightError, match="no sentences to write"):
        write_sentences(path, iter([]), {})
    assert list(path.parent.iterdir()) == []


def test_damage_is_told(path: Path) -> None:
    write_sentences(path, batches(25), {})
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FirstlightError, match=r"sentences\.parquet: damaged"):
        list(read_sentences(path))


def test_other_files_are_told_apart(path: Path) -> None:
    with pytest.raises(FirstlightError, match="not found"):
        list(read_sentences(path))
    path.write_text("no parquet")
    with pytest.raises(FirstlightError, match="damaged"):
        list(read_sentences(path))
    import pyarrow as pa

    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(FirstlightError, match="no file of sentences"):
        list(read_sentences(path))
