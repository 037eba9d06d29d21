"""Counted statistics equal an independent dense float64 computation, and do not depend on how they were counted."""

import dataclasses
import tempfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.corpus import build_corpus
from firstlight.statistics import Statistics, count, layout, merge, plan, segments
from firstlight.statistics.bigrams import count_segment
from tests.statistics.conftest import MakeCorpus, zipf_windows
from tests.statistics.reference import Reference, dense_reference

NAMES = ("alpha", "bigram", "interchangeability", "context", "composed", "attention", "position")
STORED = ("context_sum", "attention_sum", "attention_exponent", "bigram_count", "token_count")


def assert_agrees(stats: Statistics, reference: Reference) -> None:
    # An entry can be a difference that cancels, in rare corpora all of them: errors are then measured against the size
    # of what was subtracted, 1/V for a context share and what the composition makes of it.
    share = 1 / len(reference.alpha)
    through = np.abs(reference.interchangeability).max() * share
    sizes = {"context": share, "composed": through, "attention": through, "position": through}
    for name in NAMES:
        ours, theirs = getattr(stats, name), getattr(reference, name)
        size = max(np.abs(theirs).max(), sizes.get(name, share))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10 * size, err_msg=name)
        assert np.linalg.norm(ours - theirs) <= 1e-9 * max(np.linalg.norm(theirs), size), name


def stored_bits(stats: Statistics) -> list[bytes]:
    """Return the bits of every array, those of sparse matrices included."""
    arrays = dict(stats.group.members(max_depth=None))
    bits = [np.asarray(array).tobytes() for _, array in sorted(arrays.items()) if isinstance(array, zarr.Array)]
    assert set(STORED) <= set(arrays)
    return bits


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[int]], int, int]:
    vocabulary = draw(st.integers(2, 9))
    steps = draw(st.integers(1, 12))
    windows = draw(
        st.lists(st.lists(st.integers(0, vocabulary - 1), min_size=2, max_size=steps + 1), min_size=1, max_size=8)
    )
    return windows, vocabulary, steps


@given(corpora())
@settings(max_examples=60, deadline=None)
def test_any_windows_agree_with_the_dense_reference(case: tuple[list[list[int]], int, int]) -> None:
    windows, vocabulary, steps = case
    with tempfile.TemporaryDirectory() as folder:
        # Words w0, w1, ... in text, so that windows of different lengths come through a real source.
        words = [chr(ord("a") + i) * 2 for i in range(vocabulary)]
        path = Path(folder) / "text.txt"
        path.write_text("\n<|endoftext|>\n".join(" ".join(words[i] for i in window) for window in windows))
        corpus = build_corpus([path], Path(folder) / "corpus", window=steps, min_tokens=2)
        ids = [corpus.vocabulary.index(word) if word in corpus.vocabulary else -1 for word in words]
        stats = count(corpus, Path(folder) / "stats", workers=1)
        size = len(corpus.vocabulary)
        assert_agrees(stats, dense_reference([[ids[i] for i in window] for window in windows], size, steps))


@pytest.mark.parametrize(("count_", "steps", "vocabulary"), [(40, 30, 100), (12, 60, 300), (3, 130, 80)])
def test_a_zipf_corpus_agrees_with_the_dense_reference(
    make_corpus: MakeCorpus, tmp_path: Path, count_: int, steps: int, vocabulary: int
) -> None:
    windows = zipf_windows(np.random.default_rng(count_), count_, steps, vocabulary)
    stats = count(make_corpus(windows, vocabulary), tmp_path / "stats", workers=2)
    assert_agrees(stats, dense_reference(windows.tolist(), vocabulary, steps))


def test_the_bits_do_not_depend_on_workers_memory_segments_or_head(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = zipf_windows(np.random.default_rng(1), 60, 25, 150)
    corpus = make_corpus(windows, 150)
    expected = stored_bits(count(corpus, tmp_path / "one", workers=1))
    assert stored_bits(count(corpus, tmp_path / "three", workers=3)) == expected
    for head in (0, 1, 150):
        monkeypatch.setattr(plan, "HEAD_TOKENS", head)
        assert stored_bits(count(corpus, tmp_path / f"head-{head}", workers=2)) == expected
    monkeypatch.undo()

    def small_plan(*arguments: object) -> plan.Plan:
        made = plan.make_plan(*arguments)  # type: ignore[arg-type]
        return dataclasses.replace(made, unit=32, block_cells=2 * 32 * 150, composed_in_memory=False, segment_rows=7)

    monkeypatch.setattr("firstlight.statistics.engine.make_plan", small_plan)
    monkeypatch.setattr("firstlight.statistics.layout.chunk_side", lambda size: 32)
    assert stored_bits(count(corpus, tmp_path / "blocks", workers=2)) == expected


def test_a_sparse_store_holds_the_bits_of_a_dense_one(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = make_corpus(zipf_windows(np.random.default_rng(8), 30, 12, 200), 200)
    dense = count(corpus, tmp_path / "dense", workers=2)
    monkeypatch.setattr(layout, "DENSE_VOCABULARY", 100)
    monkeypatch.setattr(layout, "chunk_side", lambda size: 64)
    sparse = count(corpus, tmp_path / "sparse", workers=2)
    assert layout.is_sparse(sparse.group, "context_sum")
    assert layout.is_sparse(sparse.group, "attention_sum")
    for name in ("bigram", "context", "attention", "composed", "position"):
        assert (getattr(dense, name) == getattr(sparse, name)).all(), name
    chosen = [150, 3, 3, 64]
    for basis in ("context", "attention"):
        assert (sparse.rows(basis, chosen) == dense.rows(basis, chosen)).all()
        assert (sparse.columns(basis, chosen) == dense.columns(basis, chosen)).all()
    token = dense.vocabulary[int(dense.token_count.argmax())]
    for basis in ("bigram", "interchangeability", "context", "attention"):
        for direction in ("out", "in"):
            ours, theirs = (s.top(token, basis, direction=direction, min_count=2) for s in (sparse, dense))
            assert ours == theirs
    sparse.verify()
    parts = [make_corpus(part, 200) for part in np.split(np.asarray(corpus.windows), [11])]
    merged = merge([count(part, tmp_path / f"part-{i}") for i, part in enumerate(parts)], tmp_path / "merged")
    assert (merged.context == dense.context).all()
    assert (merged.attention == dense.attention).all()


def test_the_bits_do_not_depend_on_the_order_of_windows(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    windows = zipf_windows(np.random.default_rng(2), 50, 20, 90)
    shuffled = np.random.default_rng(3).permutation(windows)
    first = count(make_corpus(windows, 90), tmp_path / "first", workers=1)
    second = count(make_corpus(shuffled, 90), tmp_path / "second", workers=2)
    assert stored_bits(first) == stored_bits(second)


def test_wide_token_ids_agree_with_narrow_ones(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    windows = zipf_windows(np.random.default_rng(4), 5, 8, 40)
    narrow = count(make_corpus(windows, 40), tmp_path / "narrow", workers=1)
    wide_corpus = make_corpus(windows, 70_000)
    assert wide_corpus.windows.dtype == np.uint32
    segment = next(iter(segments.segments([wide_corpus], 100)))
    assert segment.windows.dtype == np.uint32
    bigrams = count_segment(segment, 70_000, segments.Workers(1))
    assert (bigrams.counts[:40, :40].toarray() == narrow.bigrams.counts.toarray()).all()


def test_the_theory_needs_three_centrings_only_once(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    stats = count(make_corpus(zipf_windows(np.random.default_rng(5), 30, 20, 50), 50), tmp_path / "stats", workers=1)
    assert np.abs(stats.bigram.sum(axis=1)).max() < 1e-15
    assert np.abs(stats.context.sum(axis=0)).max() < 1e-15
    assert np.abs(stats.composed.sum(axis=0)).max() < 1e-15
    # Attention terms of a position sum to 0 over its prefix, so query rows do.
    assert np.abs(stats.attention.sum(axis=1)).max() < 1e-12 * np.abs(stats.attention).max()
    assert abs(stats.position.sum()) < 1e-12 * np.abs(stats.position).max()


def test_rows_and_columns_are_the_parts_of_the_whole(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    stats = count(make_corpus(zipf_windows(np.random.default_rng(6), 30, 20, 50), 50), tmp_path / "stats", workers=1)
    chosen = [7, 3, 49, 8]
    for basis in ("bigram", "interchangeability", "context", "attention", "composed"):
        whole = getattr(stats, basis)
        np.testing.assert_allclose(stats.rows(basis, chosen), whole[chosen], rtol=1e-12, atol=1e-18)
        np.testing.assert_allclose(stats.columns(basis, chosen), whole[:, chosen], rtol=1e-12, atol=1e-18)


def test_counting_again_returns_the_finished_store(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    corpus = make_corpus(zipf_windows(np.random.default_rng(7), 10, 10, 20), 20)
    count(corpus, tmp_path / "stats", workers=1)
    stamp = (tmp_path / "stats" / "zarr.json").stat().st_mtime_ns
    count(corpus, tmp_path / "stats", workers=2, memory="1GiB")
    assert (tmp_path / "stats" / "zarr.json").stat().st_mtime_ns == stamp
