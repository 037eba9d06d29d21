"""What people read: tables, short numbers, sizes."""

import pytest

from firstlight.errors import FirstlightError
from firstlight.files import format_bytes, parse_bytes
from firstlight.report.progress import progress, say, short_number
from firstlight.report.tables import format_table


def test_columns_are_as_wide_as_their_longest_cell_and_no_line_ends_in_spaces() -> None:
    table = format_table(["token", "count"], [["a", 1], ["longer", 1234567]], "lr")
    assert table.splitlines() == [
        "token       count",
        "------  ---------",
        "a               1",
        "longer  1,234,567",
    ]
    left = format_table(["token", "next"], [["a", "b"], ["longer", ""]])
    assert left.splitlines()[2:] == ["a       b", "longer"]


def test_cells_are_written_for_people() -> None:
    row = format_table(["a", "b", "c", "d", "e"], [[0.123456, 1e-9, 12345, True, None]]).splitlines()[2]
    assert row.split() == ["0.1235", "1e-09", "12,345", "True", "None"]


def test_a_table_without_rows_is_its_header() -> None:
    assert format_table(["a", "bc"], []) == "a  bc\n-  --"


def test_a_row_of_another_length_is_an_error() -> None:
    with pytest.raises((ValueError, IndexError)):
        format_table(["a", "b"], [["only one"]])


def test_wide_and_combining_characters_take_the_columns_a_terminal_gives_them() -> None:
    table = format_table(["token", "n"], [["日本語", 1], ["e\u0301te\u0301", 2], ["plain", 3]], "lr")
    assert table.splitlines()[2:] == ["日本語  1", "e\u0301te\u0301     2", "plain   3"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1 k"),
        (20_480, "20.5 k"),
        (1_310_000_000, "1.31 G"),
        (2.5e12, "2.5 T"),
        (-1500, "-1.5 k"),
        (0.25, "0.25"),
    ],
)
def test_short_numbers(value: float, text: str) -> None:
    assert short_number(value) == text


def test_progress_is_silent_off_a_terminal_and_when_not_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    for show in (True, False):
        with progress("work", 10, "pairs", show) as advance:
            advance(10)
    assert capsys.readouterr() == ("", "")


def test_what_is_said_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("plan: nothing")
    assert capsys.readouterr() == ("", "plan: nothing\n")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GiB", 8 * 2**30),
        ("500MB", 500_000_000),
        ("2G", 2 * 2**30),
        ("1.5 KiB", 1536),
        (" 12 B ", 12),
        ("1048576", 2**20),
        ("1TB", 10**12),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "lots", "8 giga", "GiB", "8XB", "8GiBB", "1,5GiB", "0", "-1GiB", "inf", "nan"])
def test_what_is_no_size_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(FirstlightError) as error:
        parse_bytes(text)
    assert repr(text) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1.5 * 2**30, "1.5 GiB"),
        (2.25 * 2**40, "2.2 TiB"),
        (5000 * 2**40, "5000.0 TiB"),
    ],
)
def test_sizes_are_written(size: float, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.parametrize("size", [2**10, 2**20, 3 * 2**30, 2**41])
def test_a_written_size_reads_back(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size
