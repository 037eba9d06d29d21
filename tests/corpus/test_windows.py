"""Windows cover what they should once, and shards read like one array."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from firstlight.corpus.shards import GrowingArray, ShardedWindows, WindowWriter
from firstlight.corpus.windows import cut
from firstlight.errors import FirstlightError

ROWS, WIDTH = 23, 4


def cut_one(n: int, window: int, windows: str, fewest: int) -> tuple[list[int], list[int], int]:
    """Cut one document; return starts, lengths, and what is covered."""
    cuts = cut(np.array([n]), window, windows, fewest)
    assert (cuts.documents == 0).all()
    return cuts.starts.tolist(), cuts.lengths.tolist(), int(cuts.covered[0])


@given(n=st.integers(0, 200), window=st.integers(1, 20), fewest=st.integers(2, 30))
def test_chunks_predict_every_step_exactly_once(n: int, window: int, fewest: int) -> None:
    starts, lengths, covered = cut_one(n, window, "chunk", fewest)
    steps = [s + k for s, length in zip(starts, lengths, strict=True) for k in range(length - 1)]
    assert steps == list(range(max(covered - 1, 0)))
    if n >= fewest and fewest > window:
        assert lengths == [window + 1] * ((n - 1) // window) or lengths[-1] >= fewest
    assert all(fewest <= length or length == window + 1 for length in lengths)
    # What is left over is too short for a window of its own, the token it would share included.
    assert n < fewest or n - covered + (1 if covered else 0) < max(fewest, 2)


@given(n=st.integers(0, 200), window=st.integers(1, 20))
def test_full_chunks_are_as_many_as_fit(n: int, window: int) -> None:
    _, lengths, _ = cut_one(n, window, "chunk", window + 1)
    assert lengths == [window + 1] * (max(n - 1, 0) // window)


@given(n=st.integers(0, 200), window=st.integers(1, 20), fewest=st.integers(2, 30))
def test_first_is_the_first_window_alone(n: int, window: int, fewest: int) -> None:
    starts, lengths, covered = cut_one(n, window, "first", fewest)
    assert lengths == ([min(n, window + 1)] if n >= fewest else [])
    assert covered == sum(lengths)
    assert starts == [0] * len(lengths)


@given(
    n=st.lists(st.integers(0, 50), max_size=8),
    window=st.integers(1, 20),
    windows=st.sampled_from(["first", "chunk"]),
    fewest=st.integers(2, 30),
)
def test_documents_cut_together_are_cut_as_each_alone(n: list[int], window: int, windows: str, fewest: int) -> None:
    cuts = cut(np.array(n, np.int64), window, windows, fewest)
    alone = [cut_one(size, window, windows, fewest) for size in n]
    assert cuts.documents.tolist() == [i for i, (starts, _, _) in enumerate(alone) for _ in starts]
    assert cuts.starts.tolist() == [start for starts, _, _ in alone for start in starts]
    assert cuts.lengths.tolist() == [length for _, lengths, _ in alone for length in lengths]
    assert cuts.covered.tolist() == [covered for _, _, covered in alone]


def sharded(rows: int = ROWS) -> tuple[ShardedWindows, np.ndarray]:
    whole = np.arange(rows * WIDTH, dtype=np.uint16).reshape(rows, WIDTH)
    return ShardedWindows([whole[:7], whole[7:8], whole[8:16], whole[16:]]), whole


ROW_KEYS = st.one_of(
    st.integers(-ROWS, ROWS - 1),
    st.slices(ROWS),
    hnp.arrays(np.int64, st.integers(0, 30), elements=st.integers(-ROWS, ROWS - 1)),
    st.lists(st.integers(-ROWS, ROWS - 1), max_size=5),
    hnp.arrays(np.bool_, ROWS),
)


@given(key=ROW_KEYS)
def test_shards_are_indexed_like_one_array(key: Any) -> None:
    windows, whole = sharded()
    if isinstance(key, list) and not key:
        key = np.array([], np.int64)
    np.testing.assert_array_equal(windows[key], whole[key], strict=True)


@given(rows=st.one_of(st.integers(-ROWS, ROWS - 1), st.slices(ROWS)), columns=st.slices(WIDTH))
def test_shards_are_indexed_by_rows_and_columns(rows: Any, columns: slice) -> None:
    windows, whole = sharded()
    np.testing.assert_array_equal(windows[rows, columns], whole[rows, columns], strict=True)


@given(data=st.data(), size=st.integers(1, 9))
def test_rows_and_columns_that_are_arrays_are_read_in_pairs(data: st.DataObject, size: int) -> None:
    windows, whole = sharded()
    rows = data.draw(hnp.arrays(np.int64, size, elements=st.integers(0, ROWS - 1)))
    columns = data.draw(hnp.arrays(np.int64, size, elements=st.integers(-WIDTH, WIDTH - 1)))
    np.testing.assert_array_equal(windows[rows, columns], whole[rows, columns], strict=True)
    np.testing.assert_array_equal(windows[rows[:, None], columns], whole[rows[:, None], columns], strict=True)
    np.testing.assert_array_equal(windows[:, columns], whole[:, columns], strict=True)
    assert windows[int(rows[0]), int(columns[0])] == whole[rows[0], columns[0]]


def test_shards_are_an_array_to_numpy() -> None:
    windows, whole = sharded()
    assert (windows.shape, windows.dtype, windows.ndim, len(windows)) == (whole.shape, whole.dtype, 2, ROWS)
    np.testing.assert_array_equal(np.asarray(windows), whole, strict=True)
    np.testing.assert_array_equal(np.asarray(windows, np.float64), whole.astype(np.float64), strict=True)
    np.testing.assert_array_equal(np.stack(list(windows)), whole, strict=True)
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(windows, copy=False)


@pytest.mark.parametrize(
    "key",
    [ROWS, -ROWS - 1, np.array([0, ROWS]), 1.5, np.array([0.5]), (0, 0, 0), np.ones(3, bool), (slice(None), WIDTH)],
)
def test_an_index_that_does_not_fit_is_an_error(key: Any) -> None:
    with pytest.raises(IndexError):
        sharded()[0][key]


def rows_of(start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    number = np.arange(start, stop)
    tokens = (number[:, None] * WIDTH + np.arange(WIDTH)).astype(np.uint16)
    return tokens, number.astype(np.int32), np.stack([number] * 4, axis=1)


@settings(max_examples=30, deadline=None)  # each example waits for the disk
@given(
    cuts=st.lists(st.integers(0, 40), max_size=6),
    lost=st.integers(0, 40),
    shard_rows=st.integers(1, 15),
    torn=st.binary(max_size=20),
)
def test_rows_written_in_any_pieces_and_resumed_are_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], lost: int, shard_rows: int, torn: bytes
) -> None:
    total = 40
    plain = tmp_path_factory.mktemp("plain")
    with WindowWriter(plain, WIDTH - 1, np.uint16, shard_rows * WIDTH) as writer:
        writer.append(*rows_of(0, total))
        names = writer.close()
    assert len(names) == -(-total // shard_rows)
    whole = ShardedWindows([np.load(plain / name, mmap_mode="r") for name in names])
    np.testing.assert_array_equal(np.asarray(whole), rows_of(0, total)[0])

    pieces = tmp_path_factory.mktemp("pieces")
    bounds = [0, *sorted(cuts)]
    with WindowWriter(pieces, WIDTH - 1, np.uint16, shard_rows * WIDTH) as writer:
        for start, stop in pairwise(bounds):
            writer.append(*rows_of(start, stop))
        writer.flush()
    recorded = max(bounds[-1] - lost, 0)  # the journal may be older than the last rows
    for path in (max(pieces.glob("tokens-*.npy")), pieces / "lengths.npy", pieces / "origins.npy"):
        with path.open("ab") as file:
            file.write(torn)  # a write that was cut short
    with WindowWriter(pieces, WIDTH - 1, np.uint16, shard_rows * WIDTH, rows=recorded) as writer:
        writer.append(*rows_of(recorded, total))
        writer.close()
    assert {p.name: p.read_bytes() for p in plain.iterdir()} == {p.name: p.read_bytes() for p in pieces.iterdir()}


def test_a_file_shorter_than_its_journal_is_not_filled_up(tmp_path: Path) -> None:
    array = GrowingArray(tmp_path / "a.npy", np.int32, ())
    array.append(np.arange(5))
    array.close()
    with pytest.raises(FirstlightError, match="shorter than the journal says"):
        GrowingArray(tmp_path / "a.npy", np.int32, (), rows=6)
