from pathlib import Path

import pytest

from firstlight.corpus import remembered as module
from firstlight.corpus.documents import Document
from firstlight.corpus.remembered import Remembered
from firstlight.corpus.sources import Source, documents_of, parse_sources


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "a.txt"
    path.write_text("one\n\ntwo\n\nthree\n\nfour\n")
    return parse_sources([str(path)])[0]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    starts: list[int] = []

    def counted(source: Source, column: str, seed: int, start: int) -> object:
        starts.append(start)
        return documents_of(source, column, seed, start)

    monkeypatch.setattr(module, "documents_of", counted)
    return starts


def texts(remembered: Remembered, source: Source, start: int = 0) -> list[str]:
    return [document.text for document in remembered.documents(0, source, "text", 0, start)]


ALL = ["one", "two", "three", "four"]


def test_a_small_source_is_read_once(source: Source, reads: list[int]) -> None:
    remembered = Remembered()
    assert texts(remembered, source) == ALL
    remembered.close()
    assert texts(remembered, source) == ALL
    assert texts(remembered, source, 2) == ALL[2:]
    assert reads == [0]


def test_a_large_source_is_read_again(source: Source, reads: list[int]) -> None:
    remembered = Remembered(room=120)  # two documents
    assert texts(remembered, source) == ALL
    assert texts(remembered, source) == ALL
    assert reads == [0, 0]


def test_a_second_source_that_is_too_much_forgets_the_first(source: Source, reads: list[int]) -> None:
    remembered = Remembered(room=300)
    assert texts(remembered, source) == ALL
    assert len(list(remembered.documents(1, source, "text", 0, 0))) == 4
    assert texts(remembered, source) == ALL
    assert reads == [0, 0, 0]


def test_a_reading_that_stopped_early_goes_on_from_there(source: Source, reads: list[int]) -> None:
    remembered = Remembered()
    first = remembered.documents(0, source, "text", 0, 0)
    assert [next(first).text, next(first).text] == ALL[:2]
    first.close()  # type: ignore[attr-defined]
    remembered.close()
    assert texts(remembered, source) == ALL
    assert reads == [0, 2]


def test_what_is_remembered_is_what_is_read(source: Source) -> None:
    remembered = Remembered()
    twice = [list(remembered.documents(0, source, "text", 0, 0)) for _ in range(2)]
    plain: list[Document] = list(documents_of(source, "text", 0, 0))
    assert twice == [plain, plain]
