"""The associations paper made again at the smallest scale: every report says what it found, from numbers on disk."""

import json
import re
from pathlib import Path

import pytest

from firstlight.cli.main import main
from firstlight.reproduce import catalogue
from firstlight.reproduce.associations import figure3, table3
from firstlight.reproduce.associations.experiment import EXPERIMENTS, least_cosines
from firstlight.reproduce.associations.table2 import BPE
from firstlight.reproduce.outcome import SCALES, Scale
from firstlight.theory.ablation import AblationRow
from firstlight.theory.verification import Row


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproductions")
    assert main(["reproduce", "associations", "--scale", "smoke", "--out", str(out), "--json"]) == 0
    return out


def report(folder: Path, name: str) -> str:
    return (folder / name / "smoke" / "report.md").read_text(encoding="utf-8")


def numbers(folder: Path, name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / name / "smoke" / "numbers.json").read_text())["numbers"]
    return found


@pytest.mark.parametrize("name", catalogue.chosen("associations"))
def test_each_writes_a_report_with_claim_verdict_tables_plots_and_settings(folder: Path, name: str) -> None:
    text = report(folder, name)
    assert "**The paper:**" in text
    assert "**Here:**" in text
    assert "## Settings" in text
    assert "| scale | smoke |" in text
    assert text.count("|---") >= 2
    pictures = re.findall(r"!\[.*\]\((.*\.png)\)", text)
    assert pictures
    for picture in pictures:
        assert (folder / name / "smoke" / picture).read_bytes().startswith(b"\x89PNG")
    if name != "associations/controlled":
        assert re.search(r"\*\*Here:\*\* (Reproduced|Partly|Not reproduced)", text)


def test_the_verdict_of_table_1_is_that_of_its_numbers(folder: Path) -> None:
    rows = [row for row in numbers(folder, "associations/table1") if "full batch" in str(row["run"])]
    cosines = [float(str(row["cosine"])) for row in rows if row["cosine"] is not None]
    assert min(cosines) > 0.9999
    said = report(folder, "associations/table1")
    assert "none is below the paper's" in said
    # The paper's own way is told too, though with so few windows a batch it is far from reproducing the figures.
    least = re.search(r"batches of 24 beside terms of the first of them, gives .*output ([\d.]+)", said)
    assert least is not None
    first = [row for row in numbers(folder, "associations/table1") if row["leading terms of"] == "first batch"]
    ends = [row for row in first if row["weight"] == "W_O" and row["step"] and int(str(row["step"])) % 4 == 0]
    assert float(least[1]) == pytest.approx(min(float(str(row["cosine"])) for row in ends), abs=5e-5)
    assert float(least[1]) < 0.98
    assert "**Here:** Reproduced" in report(folder, "associations/table1")
    assert "| 0.998486 |" in said


def test_a_larger_rate_leaves_the_leading_terms_first(folder: Path) -> None:
    rows = numbers(folder, "associations/figure4")
    runs = {str(row["run"]) for row in rows}
    last = {
        run: min(float(str(row["cosine"])) for row in rows if row["run"] == run and row["step"] == 40) for run in runs
    }
    assert last["rate 0.4, full batch"] < last["rate 0.04, full batch"]


def test_removing_the_output_hurts_more_than_its_control(folder: Path) -> None:
    rows = [row for row in numbers(folder, "associations/table3") if row["weight"] == "W_O"]
    own = [float(str(row["loss_change"])) for row in rows if row["removed"] == "leading term"]
    control = [float(str(row["loss_change"])) for row in rows if row["removed"] == "random"]
    assert min(own) > 10 * max(map(abs, control))
    assert {row["seed of the run"] for row in rows} == {0, 1}


def test_figure_4_has_the_papers_losses_and_the_range_over_seeds(folder: Path) -> None:
    said = report(folder, "associations/figure4")
    assert "| the paper, rate 0.05 | 8.00 | 5.35 |" in said
    rows = [row for row in numbers(folder, "associations/figure4") if row["leading terms of"] == "corpus"]
    last = [row for row in rows if row["run"] == "rate 0.4, batches of 24" and row["step"] == 40]
    losses = [float(str(row["loss"])) for row in last if row["weight"] == "W_O"]
    assert len(losses) == 2
    assert f"({min(losses):.3f} to {max(losses):.3f})" in said
    least: dict[object, float] = {}
    for row in last:
        if str(row["weight"]).endswith(".P"):
            least[row["seed"]] = min(least.get(row["seed"], 1.0), float(str(row["cosine"])))
    assert f"({min(least.values()):.4f} to {max(least.values()):.4f})" in said


def test_figure_3_has_every_token_of_the_paper(folder: Path) -> None:
    said = report(folder, "associations/figure3")
    for name in figure3.PUBLISHED["context"][figure3.TOKEN]:
        assert name == figure3.TOKEN or f"\n| {name} | large | " in said


def ablated(changes: dict[str, float], control: float) -> list[AblationRow]:
    rows = []
    for weight, change in changes.items():
        rows.append(AblationRow(weight, "leading term", None, 1.0, 0.5, 4 + change, change, 0.0))
        rows.append(AblationRow(weight, "random", 0, 1.0, 0.5, 4 + control, control, 0.0))
    return rows


def test_table_3_is_reproduced_only_if_every_loss_rises_in_every_seed() -> None:
    good = {"W_O": 3.0, "layers.0.V": 0.8, "layers.0.W": 0.01}
    assert table3._verdict([ablated(good, 0.001)] * 3).startswith("Reproduced")
    falling = table3._verdict([ablated(good, 0.001)] * 2 + [ablated({**good, "layers.0.W": -0.02}, 0.001)])
    assert falling.startswith("Partly")
    assert "-0.02 to +0.01 without an attention's" in falling
    assert "here, for layers.0.W, not in every seed" in falling
    noise = table3._verdict([ablated(good, 0.001)] * 2 + [ablated(good, -0.006)])
    assert noise.startswith("Partly")
    assert noise.endswith("as much of a random direction: layers.0.W.")
    assert table3._verdict([ablated({**good, "layers.0.V": 4.0}, 0.001)]).startswith("Not reproduced")


def test_the_papers_trainings_are_whole_epochs() -> None:
    for experiments, epochs in ((EXPERIMENTS, 100), (BPE, 10)):
        paper = experiments["paper"]
        assert paper.text.windows == 65_536
        for training in (paper.small, paper.large):
            assert training.steps * int(training.batch_size) == epochs * 65_536


def test_least_cosines_look_at_ends_of_epochs_alone() -> None:
    def row(step: int, cosine: float) -> Row:
        return Row(step, step * 0.1, "W_O", None, cosine, None, 0.0, None, False, None)

    others = [
        Row(4, 0.4, weight, None, 1.0, None, 0.0, None, False, None)
        for weight in ("layers.0.W", "layers.0.V", "layers.0.P")
    ]
    rows = [row(0, 0.0), row(1, 0.5), row(4, 0.9), row(8, 0.8), *others]
    assert least_cosines(rows, 4)["output"] == 0.8
    assert least_cosines(rows, 1)["output"] == 0.5


def test_a_second_call_trains_nothing_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = sorted((folder / "work").glob("run-*/checkpoints/*"))
    stamps = [path.stat().st_mtime_ns for path in runs]
    assert main(["reproduce", "associations/table1", "--scale", "smoke", "--out", str(folder)]) == 0
    assert [path.stat().st_mtime_ns for path in runs] == stamps
    assert "associations/table1/smoke/report.md" in capsys.readouterr().out


def test_names_are_listed_and_others_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in catalogue.NAMES)
    assert main(["reproduce", "associations/table9", "--out", str(tmp_path)]) == 2
    assert "expected one of associations/table1" in capsys.readouterr().err
    assert main(["reproduce", "all", "--scale", "huge", "--out", str(tmp_path)]) == 2
    assert "expected smoke, laptop, paper" in capsys.readouterr().err


@pytest.mark.parametrize("scale", SCALES)
def test_what_depends_on_a_seed_has_several_at_every_scale(scale: Scale) -> None:
    assert len(EXPERIMENTS[scale].seeds) > 1
    assert len(BPE[scale].seeds) > 1
