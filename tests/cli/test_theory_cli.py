"""`firstlight predict`, `verify` and `ablate`: what is printed and written, exit codes, one line for each mistake."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file

import firstlight as fl
from firstlight.cli.main import main
from firstlight.corpus import Corpus, build_corpus
from firstlight.runs import Run
from firstlight.statistics import Statistics, count

Output = tuple[int, str, str]
WEIGHTS = ["W_O", *(f"layers.{layer}.{letter}" for layer in range(2) for letter in "WVP")]
ROW = {"step", "s_eta", "weight", "loss", "cosine", "relative_error", "deviation", "bound", "in_proved_range",
       "within_bound"}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("theory")
    return build_corpus(["stories:40"], folder / "corpus", window=16, vocab_size=80, oov="unk")


@pytest.fixture(scope="module")
def stats(corpus: Corpus) -> Statistics:
    return count(corpus, corpus.path.parent / "stats", workers=1)


@pytest.fixture(scope="module")
def trained(corpus: Corpus) -> Run:
    return fl.train(corpus, corpus.path.parent / "run", layers=2, lr=0.1, steps=8, batch_size="full", threads=1)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> Output:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


def document(output: Output) -> dict[str, Any]:
    code, stdout, stderr = output
    assert code == 0, stderr
    parsed: dict[str, Any] = json.loads(stdout)
    return parsed


# --- predict


def test_predict_writes_the_names_of_checkpoints(run: Any, stats: Statistics, trained: Run, tmp_path: Path) -> None:
    to = tmp_path / "terms.safetensors"
    asked = ("predict", stats.path, "--steps", 8, "--lr", 0.1, "--layers", 2, "--to", to, "--dtype", "float64")
    code, stdout, stderr = run(*asked)
    assert (code, stderr) == (0, "")
    tensors = load_file(to)
    assert tensors.keys() == trained.load(8).keys()
    for name, tensor in fl.leading_terms(stats, steps=8, lr=0.1, layers=2).items():
        np.testing.assert_allclose(tensors[name], tensor, rtol=1e-13, atol=1e-300)
    assert "bound (D.9)" in stdout
    assert "s*lr = 0.8, outside the proved range" in stdout
    assert "conditions that do NOT hold: |V| >= 500" in stdout
    assert stdout.endswith(f"\n{to}: 7 tensors of float64\n")


def test_predict_json_has_settings_tensors_and_the_theorem(run: Any, stats: Statistics, tmp_path: Path) -> None:
    to = tmp_path / "terms.safetensors"
    found = document(run("predict", stats.path, "--steps", 3, "--lr", 0.01, "--layers", 1, "--to", to, "--json"))
    assert found["settings"] == {
        "statistics": stats.path, "steps": 3, "lr": 0.01, "layers": 1, "order": "leading", "dtype": "float32",
        "s_eta": pytest.approx(0.03),
    }  # fmt: skip
    assert [each["name"] for each in found["tensors"]] == ["W_O", "layers.0.W", "layers.0.V", "layers.0.P"]
    assert found["tensors"][0]["norm"] == pytest.approx(0.03 * np.linalg.norm(stats.bigram))
    assert found["theorem"]["theorem"] == "D.6"
    assert not found["theorem"]["in_proved_range"]
    assert {each["text"]: each["holds"] for each in found["theorem"]["conditions"]} == {
        "|V| >= 500": False, "T >= 3": True, "every window has T positions": True,
    }  # fmt: skip
    assert load_file(to)["W_O"].dtype == np.float32


def test_predict_can_say_the_loss_of_what_it_predicts(
    run: Any, stats: Statistics, corpus: Corpus, tmp_path: Path
) -> None:
    to = tmp_path / "terms.safetensors"
    asked = ("predict", stats.path, "--steps", 8, "--lr", 0.1, "--layers", 2, "--to", to, "--evaluate", corpus.path)
    losses = document(run(*asked, "--windows", 10, "--order", "flow", "--json"))["losses"]
    assert list(losses) == ["uniform", "unigram (statistics)", "bigram (statistics)", "closed form, 10 windows"]
    assert losses["bigram (statistics)"] < losses["unigram (statistics)"] < losses["closed form, 10 windows"]
    assert losses["closed form, 10 windows"] < losses["uniform"]
    assert "W_O is of order flow" in run(*asked, "--order", "flow")[1]


def test_predict_refuses_to_read_other_tokens_before_it_writes(run: Any, stats: Statistics, tmp_path: Path) -> None:
    to, other = tmp_path / "terms.safetensors", tmp_path / "other"
    built = ("corpus", "build", "stories:20", "--out", other, "--window", 10, "--vocab-size", 40, "--oov", "unk")
    assert run(*built)[0] == 0
    asked = ("predict", stats.path, "--steps", 8, "--lr", 0.1, "--layers", 2, "--to", to, "--evaluate", other)
    code, stdout, stderr = run(*asked)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert "are not those of" in stderr
    assert not to.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--steps", "-1"), "steps = -1"),
        (("--lr", "0"), "lr = 0.0"),
        (("--layers", "0"), "layers = 0"),
        (("--order", "third"), "order 'third': expected one of leading, second, flow"),
        (("--dtype", "half"), "dtype 'half'"),
        (("--to", "terms.npz"), "expected a name that ends in .safetensors"),
    ],
)
def test_predict_names_what_is_wrong(
    run: Any, stats: Statistics, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    to = tmp_path / "t.safetensors"
    code, stdout, stderr = run(
        "predict", stats.path, "--steps", 3, "--lr", 0.1, "--layers", 1, "--to", to, *change
    )  # fmt: skip
    assert (code, stdout) == (2, "")
    assert message in stderr
    assert stderr.count("\n") == 1
    assert not to.exists()


# --- verify


def test_verify_prints_cosines_horizons_bounds_and_what_is_proved(run: Any, stats: Statistics, trained: Run) -> None:
    code, stdout, stderr = run("verify", trained.path, "--stats", stats.path)
    assert (code, stderr) == (0, "")
    lines = stdout.splitlines()
    header = next(line.split() for line in lines if line.startswith("step  s*lr"))
    assert header == ["step", "s*lr", "loss", *WEIGHTS]
    assert "+ still above at the last checkpoint" in stdout
    assert "conditions that do NOT hold" in stdout
    written = trained.path / "verify"
    names = {"verify.json", "rows.parquet", "report.html", "cosine.png", "gap.png", "loss.png", "bounds.png",
             "relative_error.png"}  # fmt: skip
    assert {path.name for path in written.iterdir()} == names
    rows = pq.read_table(written / "rows.parquet").to_pylist()
    assert {*ROW, "run"} == rows[0].keys()
    assert [(row["step"], row["weight"]) for row in rows] == [(s, w) for s in (0, 1, 2, 4, 8) for w in WEIGHTS]


def test_verify_json_has_the_rows_of_the_interface(run: Any, stats: Statistics, trained: Run, tmp_path: Path) -> None:
    asked = ("verify", trained.path, "--stats", stats.path, "--out", tmp_path / "out", "--no-plots", "--json")
    found = document(run(*asked, "--checkpoints", "4,8", "--truncation", "--closed-form", "--windows", 8))
    assert len(found["rows"]) == 14
    assert found["rows"][0].keys() == ROW | {"run"}
    assert all(row["cosine"] > 0.9999 for row in found["rows"])
    assert {row["step"] for row in found["truncation"]} == {4, 8}
    assert found["closed_form"][0].keys() == {
        "run", "step", "s_eta", "trained", "closed_form", "uniform", "unigram", "bigram",
    }  # fmt: skip
    assert {each["threshold"] for each in found["horizons"]} == {0.999, 0.99, 0.9, 0.7}
    assert found["settings"]["seed"] == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "rows.parquet", "truncation.parquet", "verify.json",
    ]  # fmt: skip
    assert json.loads((tmp_path / "out" / "verify.json").read_text()) == {
        key: value for key, value in found.items() if key != "files"
    }
    document(run(*asked))
    assert not (tmp_path / "out" / "truncation.parquet").exists()  # of the call before, not of this one


def test_verify_prints_every_row_and_the_losses_on_request(
    run: Any, stats: Statistics, trained: Run, tmp_path: Path
) -> None:
    asked = ("verify", trained.path, "--stats", stats.path, "--out", tmp_path, "--rows", "--closed-form")
    code, stdout, _ = run(*asked, "--truncation", "--interactive", "--order", "second")
    assert code == 0
    assert sum(line.split()[2:3] == ["layers.1.P"] for line in stdout.splitlines()) == 5 + 5
    assert "closed form" in stdout
    assert "what the leading term of each gradient neglects" in stdout
    assert (tmp_path / "truncation.png").exists()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page) > 4e6
    assert "The closed form as a language model" in page


def test_several_runs_are_shown_with_their_spread(run: Any, corpus: Corpus, stats: Statistics, tmp_path: Path) -> None:
    for seed in (0, 1):
        fl.train(corpus, tmp_path / f"seed-{seed}", layers=1, lr=0.5, steps=4, batch_size=8, seed=seed)
    both = (tmp_path / "seed-0", tmp_path / "seed-1")
    found = document(run("verify", *both, "--stats", stats.path, "--json"))
    assert found["runs"] == [str(path) for path in both]
    assert found["spread"][-1]["cosine"].keys() == {"low", "middle", "high"}
    assert pq.read_table(both[0] / "verify" / "spread.parquet").num_rows == len(found["spread"]) == 4 * 4
    assert any("batches of 8 windows" in note for note in found["notes"])
    code, stdout, _ = run("verify", *both, "--stats", stats.path, "--no-plots")
    assert code == 0
    assert "the middle of 2 seeds" in stdout
    measured = ("--truncation", "--closed-form", "--checkpoints", "4", "--windows", 8)
    found = document(run("verify", *both, "--stats", stats.path, "--json", "--no-plots", *measured))
    for what in ("truncation", "closed_form"):
        assert [*dict.fromkeys(row["run"] for row in found[what])] == [str(path) for path in both]
    shares = [row["share"] for row in found["truncation"] if row["weight"] == "layers.0.W"]
    assert shares[0] != shares[1]
    code, stdout, _ = run("verify", *both, "--stats", stats.path, *measured)
    line = next(line for line in stdout.splitlines() if "layers.0.W" in line and line.count(" to ") >= 2)
    assert f"{min(shares):.4g} to {max(shares):.4g}" in line
    code, _, stderr = run("verify", both[0], both[0], "--stats", stats.path)
    assert (code, "expected distinct ones" in stderr) == (2, True)


def test_equal_runs_are_said_to_be_equal(run: Any, corpus: Corpus, stats: Statistics, tmp_path: Path) -> None:
    for seed in (0, 1):
        fl.train(corpus, tmp_path / str(seed), layers=1, lr=0.5, steps=2, batch_size="full", seed=seed)
    _, stdout, _ = run("verify", tmp_path / "0", tmp_path / "1", "--stats", stats.path, "--no-plots")
    assert "the seed decides nothing" in stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--checkpoints", "1,x"), "--checkpoints '1,x': expected steps separated by commas"),
        (("--checkpoints", "3"), "no checkpoint of step 3"),
        (("--order", "third"), "order 'third'"),
        (("--closed-form", "--corpus", "nowhere"), "nowhere: no corpus here"),
        (("--closed-form", "--windows", "0"), "windows = 0: expected at least 1"),
    ],
)
def test_verify_names_what_is_wrong(
    run: Any, stats: Statistics, trained: Run, options: tuple[str, ...], message: str
) -> None:
    code, stdout, stderr = run("verify", trained.path, "--stats", stats.path, "--no-plots", *options)
    assert (code, stdout) == (2, "")
    assert message in stderr


def test_what_is_not_there_or_not_a_run_is_named(run: Any, stats: Statistics, trained: Run, tmp_path: Path) -> None:
    assert run("verify", tmp_path / "none", "--stats", stats.path)[0] == 2
    assert run("verify", trained.path, "--stats", tmp_path / "none")[0] == 2
    copied = tmp_path / "copied"
    shutil.copytree(trained.path, copied, ignore=shutil.ignore_patterns("verify"))
    checkpoint = copied / "checkpoints" / "step-000004.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    code, _, stderr = run("verify", copied, "--stats", stats.path, "--no-plots")
    assert code == 2
    assert str(checkpoint) in stderr


# --- ablate


def test_ablate_prints_a_line_for_each_weight(run: Any, stats: Statistics, trained: Run, tmp_path: Path) -> None:
    code, stdout, _ = run("ablate", trained.path, "--stats", stats.path, "--out", tmp_path)
    assert code == 0
    assert stdout.startswith("step 8, on 40 of 40 windows;")
    assert [line.split()[0] for line in stdout.splitlines()[4 : 4 + 8]] == ["none", *WEIGHTS]
    names = {"ablation.json", "ablation.parquet", "ablation.png", "ablation_kl.png", "ablation.html"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_ablate_shows_the_spread_of_several_runs(run: Any, corpus: Corpus, stats: Statistics, tmp_path: Path) -> None:
    both = [tmp_path / f"seed-{seed}" for seed in (0, 1)]
    for seed, path in enumerate(both):
        fl.train(corpus, path, layers=1, lr=4.0, steps=4, batch_size=4, seed=seed)
    found = document(run("ablate", *both, "--stats", stats.path, "--json", "--seeds", 1))
    assert [row["run"] for row in found["rows"] if row["weight"] == "none"] == [str(path) for path in both]
    code, stdout, _ = run("ablate", *both, "--stats", stats.path, "--no-plots", "--seeds", 1)
    assert code == 0
    assert stdout.startswith("2 runs, the middle and in brackets their range; step 4")
    changes = [
        row["loss_change"] for row in found["rows"] if (row["weight"], row["removed"]) == ("W_O", "leading term")
    ]
    assert f"({min(changes):+.3g} to {max(changes):+.3g})" in stdout


def test_ablate_json_repeats_for_the_same_seed(run: Any, stats: Statistics, trained: Run, tmp_path: Path) -> None:
    asked = ("ablate", trained.path, "--stats", stats.path, "--out", tmp_path, "--no-plots", "--json", "--windows", 9)
    one, again, other = (
        document(run(*asked, "--checkpoint", 4, "--seeds", 1, "--seed", seed)) for seed in (5, 5, 6)
    )  # fmt: skip
    assert one == again
    assert one["settings"]["step"] == 4
    assert one["settings"]["windows"] == 9
    assert len(one["rows"]) == 1 + 2 * len(WEIGHTS)
    kept = [row for row in one["rows"] if row["removed"] != "random"]
    assert kept == [row for row in other["rows"] if row["removed"] != "random"]
    assert one["rows"] != other["rows"]
    assert run(*asked, "--checkpoint", 3)[0] == 2
