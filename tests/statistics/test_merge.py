"""Merged stores are what counting at once gives."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from firstlight.errors import FirstlightError
from firstlight.statistics import count, fixed_point, layout, merge
from tests.statistics.conftest import MakeCorpus, zipf_windows
from tests.statistics.test_exact import stored_bits


def test_merging_gives_the_bits_of_counting_at_once(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    windows = zipf_windows(np.random.default_rng(0), 70, 20, 90)
    parts = [windows[:10], windows[10:50], windows[50:]]
    stores = [count(make_corpus(part, 90), tmp_path / f"part-{i}", workers=1) for i, part in enumerate(parts)]
    whole = count(make_corpus(windows, 90), tmp_path / "whole", workers=1)
    merged = merge([store.path for store in stores], tmp_path / "merged", workers=2)
    assert stored_bits(merged) == stored_bits(whole)
    assert merged.facts["windows"] == 70
    nested = merge([merge(stores[:2], tmp_path / "two", workers=1), stores[2]], tmp_path / "nested", workers=1)
    assert stored_bits(nested) == stored_bits(whole)


@pytest.mark.parametrize("dense", [True, False])
def test_a_carry_is_the_same_counted_or_merged(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: bool
) -> None:
    windows = zipf_windows(np.random.default_rng(1), 40, 12, 30)
    corpora = [make_corpus(part, 30) for part in (windows[:25], windows[25:], windows)]
    plain = count(corpora[2], tmp_path / "plain", workers=1)
    # A finer scale makes sums of this small corpus pass 2**62, as those of a large one do at the real scale.
    monkeypatch.setattr(fixed_point, "context_bits", lambda window: 58)
    monkeypatch.setattr(layout, "DENSE_VOCABULARY", 100 if dense else 10)
    wide = count(corpora[2], tmp_path / "wide", workers=2)
    assert layout.is_sparse(wide.group, "context_carry") is not dense
    assert layout.read_columns(wide.group, "context_carry", 0, 30).max() > 0
    np.testing.assert_allclose(wide.composed, plain.composed, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(wide.context, plain.context, rtol=1e-9, atol=1e-12)
    parts = [count(corpus, tmp_path / f"part-{i}", workers=1) for i, corpus in enumerate(corpora[:2])]
    merged = merge(parts, tmp_path / "merged", workers=1)
    for name in ("context_sum", "context_carry", "attention_sum"):
        ours, theirs = (layout.read_columns(stats.group, name, 0, 30) for stats in (merged, wide))
        assert (ours == theirs).all(), name
    assert (merged.position == wide.position).all()


def test_without_a_member_corpus_attention_is_left_out_and_said_to_be(
    make_corpus: MakeCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    windows = zipf_windows(np.random.default_rng(2), 20, 12, 30)
    corpora = [make_corpus(windows[:9], 30), make_corpus(windows[9:], 30)]
    stores = [count(corpus, tmp_path / f"part-{i}", workers=1) for i, corpus in enumerate(corpora)]
    whole = count(make_corpus(windows, 30), tmp_path / "whole", workers=1)
    shutil.rmtree(corpora[1].path)
    merged = merge(stores, tmp_path / "merged", workers=1)
    assert str(corpora[1].path) in capsys.readouterr().err
    assert (merged.context == whole.context).all()
    with pytest.raises(FirstlightError, match=f"no attention and position.*{corpora[1].path}"):
        _ = merged.attention
    with pytest.raises(FirstlightError, match="no attention"):
        _ = merged.position
    merged.export(tmp_path / "merged.npz")
    assert "Q" not in np.load(tmp_path / "merged.npz")


def test_what_cannot_be_merged_is_refused(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    base = count(make_corpus(zipf_windows(rng, 5, 8, 20), 20), tmp_path / "base", workers=1)
    longer = count(make_corpus(zipf_windows(rng, 5, 9, 20), 20), tmp_path / "longer", workers=1)
    other = count(make_corpus(zipf_windows(rng, 5, 8, 20), 21), tmp_path / "other", workers=1)
    with pytest.raises(FirstlightError, match="windows of 9, expected 8"):
        merge([base, longer], tmp_path / "out")
    with pytest.raises(FirstlightError, match="another vocabulary"):
        merge([base, other], tmp_path / "out")
    with pytest.raises(FirstlightError, match="expected at least 2"):
        merge([base], tmp_path / "out")
    with pytest.raises(FirstlightError, match="is one of the stores"):
        merge([base, base], tmp_path / "base")
    with pytest.raises(FirstlightError, match="is one of the stores"):
        merge([base, base], tmp_path / "out" / ".." / "base")
    assert not (tmp_path / "out").exists()
