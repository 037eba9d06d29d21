"""Rows, horizons, caveats: against NumPy on the same checkpoints, and each way the two may not belong together."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import firstlight as fl
from firstlight.corpus import Corpus
from firstlight.errors import FirstlightError
from firstlight.runs import Run, open_run
from firstlight.runs.tensors import write_tensors
from firstlight.statistics import Statistics, count
from firstlight.theory import leading_terms, verify
from firstlight.theory.spread import check_alike, seed_matters, spread
from firstlight.theory.tables import horizon_table
from firstlight.theory.terms import weight_names
from firstlight.theory.trained import caveats, corpus_of, setting_of
from firstlight.theory.verification import THRESHOLDS, Horizon, Row, horizons
from tests.theory.conftest import corpus_of as build


def test_a_row_for_each_checkpoint_and_weight_positions_included(run: Run, stats: Statistics) -> None:
    found = verify(run, stats)
    assert [(row.step, row.weight) for row in found.rows] == [
        (step, name) for step in (0, 1, 2, 4, 8, 10) for name in weight_names(3)
    ]
    losses = dict(zip(run.metrics()["step"].tolist(), run.metrics()["loss"].tolist(), strict=True))
    for row in found.rows:
        weight = run.load(row.step)[row.weight].numpy()
        predicted = leading_terms(stats, steps=row.step, lr=0.01, layers=3)[row.weight]
        assert row.s_eta == pytest.approx(row.step * 0.01)
        assert row.loss == losses[row.step]
        assert row.deviation == pytest.approx(np.linalg.norm(weight - predicted), rel=1e-9, abs=1e-300)
        if weight.any():
            size = np.linalg.norm(weight) * np.linalg.norm(predicted)
            assert row.cosine == pytest.approx(float((weight * predicted).sum() / size), abs=1e-13)
            assert row.relative_error == pytest.approx(row.deviation / np.linalg.norm(predicted))
        else:
            assert row.cosine is None


def test_early_all_weights_of_all_layers_are_predicted(run: Run, stats: Statistics) -> None:
    """The float64 identity of the specification, through the package's own training."""
    rows = [row for row in verify(run, stats).rows if row.step in (4, 8, 10)]
    assert len(rows) == 30
    assert all(row.cosine is not None and row.cosine > 0.999999 for row in rows)
    limits = {"W_O": 2e-4, "V": 2.5e-4, "W": 6e-4, "P": 6e-4}
    assert all(row.relative_error < limits[row.weight.rpartition(".")[2]] for row in rows if row.relative_error)


def test_bounds_are_told_apart_from_what_is_proved(run: Run, stats: Statistics) -> None:
    found = verify(run, stats)
    assert found.theorem.name == "D.9"
    assert not found.theorem.applies  # |V| = 60, T = 20, L = 3: each is too small or too deep
    assert all(row.within_bound and not row.in_proved_range for row in found.rows)
    row = next(row for row in found.rows if (row.step, row.weight) == (10, "layers.1.W"))
    assert row.bound == pytest.approx(13 * 0.1**5 * 20)


@pytest.mark.parametrize("order", ["second", "flow"])
def test_another_order_of_the_output_is_nearer_and_has_no_bound(run: Run, stats: Statistics, order: Any) -> None:
    leading, other = verify(run, stats).rows, verify(run, stats, order=order).rows
    for one, two in zip(leading, other, strict=True):
        if one.weight == "W_O":
            assert (two.bound, two.within_bound) == (None, None)
            assert one.step < 2 or two.deviation < one.deviation / 10
        else:
            assert one == two


def test_checkpoints_are_chosen(run: Run, stats: Statistics) -> None:
    assert {row.step for row in verify(run, stats, checkpoints=[8, 2, 8]).rows} == {2, 8}
    with pytest.raises(FirstlightError, match="no checkpoint of step 3; expected some of 0, 1, 2, 4, 8, 10"):
        verify(run, stats, checkpoints=[3])
    with pytest.raises(FirstlightError, match="no checkpoint has been written"):
        verify(replace(run, checkpoints={}), stats)


def row_of(step: int, cosine: float | None, weight: str = "W_O") -> Row:
    return Row(step, step / 10, weight, None, cosine, None, 0.0, 1.0, False, True)


def test_a_horizon_is_the_last_checkpoint_above() -> None:
    rows = [row_of(0, None), row_of(1, 1.0), row_of(2, 0.9995), row_of(4, 0.95), row_of(8, 0.8)]
    found = {each.threshold: each for each in horizons(rows)}
    assert [(found[t].step, found[t].censored, found[t].dipped) for t in (0.999, 0.99, 0.9, 0.7)] == [
        (2, False, False), (2, False, False), (4, False, False), (8, True, False),
    ]  # fmt: skip
    assert found[0.9].s_eta == 0.4


def test_a_horizon_says_when_it_came_back_or_never_was() -> None:
    found = {each.threshold: each for each in horizons([row_of(1, 0.1), row_of(2, 0.95), row_of(4, 0.3)])}
    assert (found[0.9].step, found[0.9].dipped, found[0.9].censored) == (2, True, False)
    assert (found[0.99].step, found[0.99].s_eta, found[0.99].dipped) == (None, None, False)


def test_statistics_of_another_corpus_are_refused(
    run: Run, windows: np.ndarray, tmp_path: Path, stats: Statistics
) -> None:
    other = count(build(windows[:150], 60, tmp_path), tmp_path / "stats", workers=1)
    with pytest.raises(FirstlightError, match="expected statistics of that corpus alone"):
        verify(run, other)
    assert len(verify(run, other, same_corpus=False).rows) == len(verify(run, stats).rows)
    assert "the statistics are not of the corpus the run was trained on" in caveats(run, other)


def test_statistics_of_another_size_are_refused_always(run: Run, windows: np.ndarray, tmp_path: Path) -> None:
    for name, corpus in (
        ("wide", build(windows, 61, _folder(tmp_path / "wide"))),
        ("short", build(windows[:, :-1], 60, _folder(tmp_path / "short"))),
    ):
        other = count(corpus, tmp_path / f"{name}-stats", workers=1)
        with pytest.raises(
            FirstlightError, match=r"61 tokens in the vocabulary, but 60|19 positions in a window, but 20"
        ):
            verify(run, other, same_corpus=False)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_a_run_on_some_of_the_windows_is_told_apart(corpus: Corpus, stats: Statistics, tmp_path: Path) -> None:
    run = fl.train(corpus, tmp_path / "run", layers=1, steps=1, batch_size="full", limit_windows=30)
    with pytest.raises(FirstlightError, match="trained on the first 30"):
        verify(run, stats)
    # With --other-corpus it may be, and is said to be.
    assert caveats(run, stats) == ["trained on the first 30 of the 200 windows that the statistics are of"]


def test_the_corpus_of_a_run_must_be_as_it_was(run: Run, corpus: Corpus, windows: np.ndarray, tmp_path: Path) -> None:
    assert corpus_of(run).fingerprint == corpus.fingerprint
    with pytest.raises(FirstlightError, match=r"not the corpus .* was trained on"):
        corpus_of(run, build(windows[:5], 60, tmp_path).path)


def test_weights_that_are_not_finite_are_named(run: Run, stats: Statistics, tmp_path: Path) -> None:
    weights = run.load(2)
    weights["layers.1.V"] = torch.full_like(weights["layers.1.V"], torch.nan)
    write_tensors(tmp_path / "step-000002.safetensors", weights, {"step": "2"})
    broken = replace(run, checkpoints={2: tmp_path / "step-000002.safetensors"})
    with pytest.raises(FirstlightError, match=r"layers\.1\.V has entries that are not finite: the training diverged"):
        verify(broken, stats)


def test_caveats_are_said(run: Run, gaussian_runs: list[Run], stats: Statistics) -> None:
    assert caveats(run, stats) == []
    said = " ".join(caveats(gaussian_runs[0], stats))
    assert "batches of 50 windows" in said
    assert "Gaussian weights (v = 0.001)" in said
    found = verify(gaussian_runs[0], stats)
    assert found.theorem.name == "D.12"
    assert "full-batch gradient descent" in [each.text for each in found.theorem.conditions if not each.holds]
    assert not any(row.in_proved_range for row in found.rows)


def test_a_batch_of_all_windows_is_the_whole_corpus(run: Run, gaussian_runs: list[Run], stats: Statistics) -> None:
    # As `firstlight train` does with its 2,048 windows a batch on a corpus of fewer.
    whole = replace(run, manifest={**run.manifest, "settings": {**run.settings, "batch_size": 2048}})
    assert caveats(whole, stats) == []
    assert not seed_matters(whole)
    assert setting_of(whole, stats).full_batch
    assert not setting_of(gaussian_runs[0], stats).full_batch


def test_a_run_that_did_not_end_well_is_said_to_be_so(run: Run, stats: Statistics) -> None:
    cut = replace(run, manifest={**run.manifest, "status": "running"})
    assert caveats(cut, stats) == ["the training is not finished; the same `firstlight train` goes on with it"]
    broken = replace(run, manifest={**run.manifest, "status": "diverged", "message": "the loss is nan after step 3"})
    assert caveats(broken, stats) == ["the training diverged: the loss is nan after step 3"]


def test_horizons_of_several_runs_are_told_from_least_to_largest() -> None:
    def found(*steps: int | None) -> list[Horizon]:
        return [
            Horizon("W_O", threshold, step, None if step is None else step / 10, False, False)
            for threshold, step in zip(THRESHOLDS, steps, strict=True)
        ]

    table = horizon_table([found(2, 4, 8, 8), found(None, 8, 8, 8), found(1, 2, 8, 8)])
    assert table.rows == [
        ["W_O", "never to 0.2 (step 2)", "0.2 (step 2) to 0.8 (step 8)", "0.8 (step 8)", "0.8 (step 8)"]
    ]
    assert horizon_table([found(2, 4, 8, 8)]).rows[0][1] == "0.2 (step 2)"


def test_the_spread_over_seeds_is_least_middle_and_largest(gaussian_runs: list[Run], stats: Statistics) -> None:
    found = [verify(run, stats).rows for run in gaussian_runs]
    for row in spread(found):
        values = sorted(
            each.cosine for rows in found for each in rows
            if (each.step, each.weight) == (row.step, row.weight) and each.cosine is not None
        )  # fmt: skip
        assert row.runs == 3
        assert [row.cosine.low, row.cosine.middle, row.cosine.high] == (values or [None] * 3)
        assert row.deviation.low is not None
        assert row.deviation.low < row.deviation.high  # type: ignore[operator]


def test_runs_must_differ_in_their_seed_alone(run: Run, gaussian_runs: list[Run]) -> None:
    check_alike(gaussian_runs)
    with pytest.raises(FirstlightError, match="layers is 1, but 3 in"):
        check_alike([run, gaussian_runs[0]])
    with pytest.raises(FirstlightError, match="seeds 1, 1; expected distinct"):
        check_alike([gaussian_runs[1], open_run(gaussian_runs[1].path)])
    assert seed_matters(gaussian_runs[0])
    assert not seed_matters(run)
