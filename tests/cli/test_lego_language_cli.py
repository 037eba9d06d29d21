"""`firstlight lego groups` and `lego sample`: what is printed and written, exit codes, one line for each mistake."""

import json
from pathlib import Path

import pytest

from firstlight.cli.main import main
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sentence_files import read_sentences
from firstlight.tracking.language.text import parsed

Output = tuple[int, str, str]


@pytest.fixture
def firstlight(capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    def run(*arguments: str) -> Output:
        code = main(["lego", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_an_action_is_explained_as_json(firstlight) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = firstlight("groups", "S5", "--json")
    facts = json.loads(out)
    assert code == 0
    expected = {"name": "S5", "order": 120, "degree": 5, "transitive": True, "free": False, "stabiliser": 24,
                "solvable": False, "complexity": "NC1-complete", "number": "5T5", "derived_series": [120, 60],
                "fibres": [[24] * 5] * 5, "share": [[0.2] * 5] * 5}  # fmt: skip
    assert {key: facts[key] for key in expected} == expected
    facts = json.loads(firstlight("groups", "C6", "--json")[1])
    assert (facts["free"], facts["solvable"], facts["complexity"], facts["stabiliser"]) == (True, True, "TC0", 1)


def test_an_action_that_is_not_transitive_has_a_stabiliser_for_each_value(firstlight) -> None:  # type: ignore[no-untyped-def]
    facts = json.loads(firstlight("groups", "(1 2 3)(4 5),(1 2)", "--json")[1])
    assert facts["stabiliser"] == [4, 4, 4, 6, 6]
    assert facts["orbits"] == [[0, 1, 2], [3, 4]]
    assert facts["transitive"] is False
    code, out, _ = firstlight("groups", "(1 2 3)(4 5),(1 2)")
    assert code == 0
    assert "2 orbits: {0 1 2}, {3 4}" in out
    assert "from 4" in out


def test_an_action_is_explained_in_words(firstlight) -> None:  # type: ignore[no-untyped-def]
    code, out, err = firstlight("groups", "F20", "--elements")
    assert (code, err) == (0, "")
    for words in ("5T3", "20", "every value can be sent to every other", "20 > 5 > 1", "TC0", "4 elements send", "1/5"):
        assert words in out
    assert "(1 2 4 3)" in out


def test_known_groups_are_listed(firstlight) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = firstlight("groups")
    assert code == 0
    assert "7T5     PSL(3,2)" in out
    listed = json.loads(firstlight("groups", "--json")[1])["groups"]
    assert len(listed) == 37
    assert listed[9]["number"] == "5T1"


def test_sentences_are_printed_so_that_they_can_be_read(firstlight) -> None:  # type: ignore[no-untyped-def]
    code, out, err = firstlight("sample", "S4", "--length", "5", "--count", "7", "--seed", "3")
    assert (code, err) == (0, "")
    sentences = parsed(out, action_named("S4"), variables=170)
    assert len(sentences) == 7
    assert sentences.length == 5
    assert firstlight("sample", "S4", "--length", "5", "--count", "7", "--seed", "3")[1] == out
    assert firstlight("sample", "S4", "--length", "5", "--count", "7")[1] != out
    short = firstlight("sample", "S4", "--length", "5", "--count", "7", "--seed", "3", "--answers", "0")[1]
    assert [line.count(";") for line in short.splitlines()] == [5] * 7


def test_sentences_are_printed_as_json(firstlight) -> None:  # type: ignore[no-untyped-def]
    arguments = ("sample", "S4", "--length", "3", "--count", "5")
    document = json.loads(firstlight(*arguments, "--json")[1])
    assert len(document["sentences"]) == 5
    for sentence in document["sentences"]:
        value = sentence["initial"]
        reached = [value, *(value := images[value] for images in sentence["actions"])]
        assert reached == sentence["values"]
        assert len(set(sentence["variables"])) == 4
    assert [each["text"] for each in document["sentences"]] == firstlight(*arguments)[1].splitlines()
    assert json.loads(firstlight("sample", "S4", "--length", "3", "--count", "0", "--json")[1])["sentences"] == []


def test_sentences_are_written_as_parquet(firstlight, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "c6.parquet"
    arguments = ("sample", "C6", "--length", "4", "--count", "9")
    code, out, _ = firstlight(*arguments, "--out", str(path))
    assert code == 0
    assert "9 sentences of 4 actions" in out
    [written] = read_sentences(path)
    printed = parsed(firstlight(*arguments)[1], action_named("C6"))
    assert (written.variables == printed.variables).all()
    assert (written.elements == printed.elements).all()
    facts = json.loads(firstlight(*arguments, "--out", str(path), "--json")[1])
    assert (facts["count"], facts["length"], facts["variables"], facts["seed"]) == (9, 4, 170, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["groups", "K9"], "group 'K9': unknown; expected a name such as C6"),
        (["groups", "S10"], "too many"),
        (["groups", "--elements"], "--elements: expected the NAME of an action"),
        (["groups", "nowhere.npy"], "nowhere.npy: file not found"),
        (["sample", "C6"], "Missing option '--length'"),
        (["sample", "C6", "--length", "170"], "length 170 with 170 variables"),
        (["sample", "C6", "--length", "5", "--variables", "5"], "length 5 with 5 variables"),
        (["sample", "C6", "--length", "3", "--answers", "4"], "answers up to 4: expected 0..3"),
        (["sample", "C6", "--length", "3", "--out", "a.csv"], "--out a.csv: expected a file name that ends with"),
        (["sample", "C6", "--length", "3", "--out", "no/a.parquet"], "the folder no does not exist"),
        (["sample", "C6", "--length", "3", "--out", "a.parquet", "--answers", "1"], "--answers with --out"),
        (["sample", "C6", "--length", "3", "--count", "0", "--out", "a.parquet"], "no sentences to write"),
        ([], "a command is missing; expected one of groups, sample"),
    ],
)  # fmt: skip
def test_mistakes_get_one_line(firstlight, arguments: list[str], message: str, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    code, out, err = firstlight(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
