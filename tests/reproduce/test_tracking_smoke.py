"""The state-tracking reproductions run at their smallest scale, share what they train, and say what they found."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstlight.cli.main import main
from firstlight.reproduce import catalogue
from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.budget import BUDGETS, base, continued, restarted, self_trained
from firstlight.reproduce.tracking.material import At, run_of
from firstlight.reproduce.tracking.measure import Imposed, imposed_dilution
from firstlight.reproduce.tracking.pool import work_off
from firstlight.reproduce.tracking.rungs import model_with_loss, reach, rung, smoothed, whole_history
from firstlight.reproduce.tracking.spread import Curve, difference, spread

NAMES = [name for name in catalogue.NAMES if name.startswith("tracking/")]
BUDGET = BUDGETS["smoke"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproductions")
    assert main(["reproduce", "tracking", "--scale", "smoke", "--out", str(out), "--json"]) == 0
    return out


@pytest.fixture(scope="module")
def place(folder: Path) -> Place:
    return Place(folder, "smoke", None)


def document(folder: Path, name: str) -> Any:
    return json.loads((folder / name / "smoke" / "numbers.json").read_text(encoding="utf-8"))["numbers"]


@pytest.mark.parametrize("name", NAMES)
def test_each_writes_a_report_with_claim_verdict_tables_plots_and_settings(folder: Path, name: str) -> None:
    text = (folder / name / "smoke" / "report.md").read_text(encoding="utf-8")
    assert "**The paper:**" in text
    assert re.search(r"\*\*Here:\*\* (Reproduced|Partly|Not reproduced)", text)
    assert "| scale | smoke |" in text
    assert "| seeds | 0, 1 |" in text
    assert text.count("|---") >= 2
    pictures = re.findall(r"!\[.*\]\((.*\.png)\)", text)
    assert pictures
    for picture in pictures:
        assert (folder / name / "smoke" / picture).read_bytes().startswith(b"\x89PNG")
    # What has no end is null: strict readers of JSON know no infinity.
    assert not re.search(r"\b(NaN|-?Infinity)\b", (folder / name / "smoke" / "numbers.json").read_text())


def test_a_second_call_trains_and_measures_nothing_anew(folder: Path) -> None:
    work = [path for path in (folder / "work").rglob("*") if path.is_file()]
    stamps = {path: path.stat().st_mtime_ns for path in work}
    assert main(["reproduce", "tracking/figure1b", "--scale", "smoke", "--out", str(folder), "--json"]) == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "work").rglob("*") if path.is_file()} == stamps


def test_curves_of_figure_1a_are_the_rows_of_its_models(folder: Path) -> None:
    found = document(folder, "tracking/figure1a")
    rows = {(row["model"], row["length"]): row for row in found["rows"]}
    assert len(rows) == len(found["rows"])
    every = {row["rollout"] for row in rows.values()}
    for curve in found["curves"]:
        assert {value for seed in curve["seeds"] for value in seed} <= every
    for row in rows.values():
        assert row["rollout_low"] <= row["rollout"] <= row["rollout_high"]


def test_controls_have_as_many_updates_as_self_training(place: Place) -> None:
    for seed in BUDGET.seeds:
        ends = (self_trained(BUDGET, "S3", seed)[-1], restarted(BUDGET, "S3", seed), continued(BUDGET, "S3", seed))
        done = []
        for training in ends:
            run = run_of(place, training)
            done.append(run.settings["start"]["before"] + max(run.checkpoints))
        assert len(set(done)) == 1
        first = run_of(place, ends[1]).settings["start"]
        assert first["adam"] == "new"
        assert first["labels"] == "true"


def test_models_of_equal_loss_have_just_reached_it(place: Place) -> None:
    history = whole_history(place, BUDGET, "C3", 0)
    level = float(smoothed(history).min())
    model = model_with_loss(BUDGET, "C3", 0, history, level)
    before = 0 if model.training.after is None else BUDGET.practical.steps
    assert model.step is not None
    updates = before + model.step
    every = BUDGET.practical.checkpoint_every
    reached = [step for step, loss in zip(history["step"] + 1, smoothed(history), strict=True) if loss <= level]
    assert updates - every < reached[0] <= updates
    assert model.step in run_of(place, model.training).checkpoints


def test_imposing_the_attention_that_a_model_has_changes_nothing_where_there_is_one_way_to_attend(place: Place) -> None:
    # At L = 1 a query sees its predicate and itself alone: no ε but 0 can be, and what is imposed is what it has.
    at = At(continued(BUDGET, "C3", 0))
    short = imposed_dilution(place, Imposed(at.training, length=2, count=200, shares=(0.0, 0.5, 0.9)))
    assert [row["epsilon"] for row in short] == [0.0, 0.5, 0.9]
    assert short[0]["right"] >= short[-1]["right"]


def test_permuted_predicates_are_an_identity_without_positions(folder: Path) -> None:
    rows = document(folder, "tracking/figure5")
    found = {(row["group"], row["model"], row["permuted"], row["seed"]): row["predicate"] for row in rows}
    for (group, model, permuted, seed), masses in found.items():
        if permuted and "residual" in model:
            np.testing.assert_allclose(masses, found[group, model, False, seed], atol=1e-5)


def test_pairs_are_the_square_of_n_times_the_stabiliser() -> None:
    for budget in BUDGETS.values():
        names = [name for ladder in budget.ladders for name in ladder] + list(budget.partners.values())
        for each in map(rung, names):
            assert each.pairs == each.degree**2 * each.stabiliser
        for group, partner in budget.partners.items():
            assert rung(partner).stabiliser == 1
            assert 0.8 <= rung(group).pairs / rung(partner).pairs <= 1.25
        for ladder in budget.ladders:
            assert len({rung(name).degree for name in ladder}) == 1


def test_enough_seeds_and_one_training_for_one_setting() -> None:
    assert len(BUDGETS["laptop"].seeds) >= 5
    assert base(BUDGET, "C3", 0) == base(BUDGET, "C3", 0)
    assert base(BUDGET, "C3", 0) != base(BUDGET, "C3", 0, residual=False)
    assert continued(BUDGET, "C3", 1).after == base(BUDGET, "C3", 1)


def test_the_length_of_half_is_between_the_measured_ones_on_a_logarithmic_scale() -> None:
    assert reach([5, 10, 20], [1.0, 0.75, 0.25], 0.5) == pytest.approx(math.sqrt(200))
    assert reach([5, 10, 20], [1.0, 0.9, 0.8], 0.5) == 20
    assert reach([5, 10, 20], [0.4, 0.9, 0.8], 0.5) == 1
    # The first crossing counts, whatever comes after it.
    assert reach([5, 10, 20], [1.0, 0.0, 1.0], 0.5) == pytest.approx(math.sqrt(50))


def test_a_mean_of_seeds_has_the_interval_of_student() -> None:
    # 1, 2, 3: mean 2, deviation 1, t of two degrees of freedom at 97.5 % is 4.303.
    found = spread([1.0, 2.0, 3.0])
    assert (found.low, found.high) == (
        pytest.approx(2 - 4.302653 / math.sqrt(3)),
        pytest.approx(2 + 4.302653 / math.sqrt(3)),
    )
    assert spread([0.9, 1.0], (0, 1)).high == 1
    assert difference([3.0, 4.0], [1.0, 2.0]).mean == 2
    assert difference([3.0, 4.0], [1.0, 2.0]).low == 2
    curve = Curve("a", [5, 10], [[1.0, 0.5], [0.8, 0.3]])
    assert curve.at(10) == [0.5, 0.3]
    assert curve.line().high == [1.0, 0.5]
    assert len(curve.line().points) == 4


def _twice(number: int) -> int:
    if number == 13:
        raise ValueError("thirteen")
    return 2 * number


@pytest.mark.parametrize("workers", [1, 2])
def test_work_is_done_once_and_after_what_it_waits_for(workers: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = work_off(
        _twice, [3, 2, 1, 3], after=lambda item: item - 1 if item > 1 else None, workers=workers, show=True
    )
    assert found == {1: 2, 2: 4, 3: 6}
    assert list(found) == [1, 2, 3]
    assert "3/3" in capsys.readouterr().err


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_another_process_is_raised_here(workers: int) -> None:
    with pytest.raises(ValueError, match="thirteen"):
        work_off(_twice, [1, 13, 2], workers=workers)
