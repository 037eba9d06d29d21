"""Training follows an independent dense descent, and goes on after any kill as if there had been none."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import firstlight as fl
from firstlight.corpus import Corpus, build_corpus
from firstlight.errors import Diverged, FirstlightError
from firstlight.reference.batches import Order
from firstlight.reference.evaluation import loss_and_gradient
from firstlight.reference.parameters import Parameters, Shape, gaussian_parameters, names
from firstlight.reference.training import train
from firstlight.runs import Run, open_run, recorder
from tests.reference.conftest import MakeCorpus
from tests.reference.dense import STEPS, VOCABULARY, WINDOWS, dense_gradients, draw_windows, largest_difference

FAST: dict[str, Any] = {"layers": 2, "lr": 2.0, "steps": 6, "batch_size": 8, "checkpoint_every": 3}


def dense_descent(
    corpus: Corpus, start: Parameters, lr: float, steps: int, order: Order
) -> tuple[list[float], Parameters]:
    weights, losses = {name: weight.clone() for name, weight in start.items()}, []
    windows, lengths = np.asarray(corpus.windows).astype(np.int64), np.asarray(corpus.lengths)
    for step in range(steps + 1):
        batch = order.batch(step)
        loss, gradients = dense_gradients(weights, windows[batch], lengths[batch])
        losses.append(loss)
        if step < steps:
            weights = {name: weight - lr * gradients[name] for name, weight in weights.items()}
    return losses, weights


def same_bits(one: Run, other: Run) -> bool:
    """Whether two runs have the same metrics but for their times, and the same weights at the same steps."""
    a, b = one.metrics(), other.metrics()
    kept = [name for name in a if name not in ("seconds", "tokens_per_second", "peak_bytes")]
    return (
        list(one.checkpoints) == list(other.checkpoints)
        and all(np.array_equal(a[name], b[name]) for name in kept)
        and all(
            torch.equal(weight, other.load(step)[name])
            for step in one.checkpoints
            for name, weight in one.load(step).items()
        )
    )


# --- the descent


@pytest.mark.parametrize("batch_size", ["full", 8])
def test_descent_from_zero_equals_a_dense_one(corpus: Corpus, tmp_path: Path, batch_size: int | str) -> None:
    steps, lr = 10, 3.0
    run = train(corpus, tmp_path / "run", lr=lr, steps=steps, batch_size=batch_size, dtype="float64")
    zero = {name: torch.zeros(weight.shape, dtype=torch.float64) for name, weight in run.load(0).items()}
    assert all(torch.equal(run.load(0)[name], weight) for name, weight in zero.items())
    order = Order(WINDOWS, None if batch_size == "full" else 8, 0)
    losses, weights = dense_descent(corpus, zero, lr, steps, order)
    np.testing.assert_allclose(run.metrics()["loss"], losses, rtol=1e-12)
    assert largest_difference(run.load(steps), weights) < 1e-10


def test_descent_from_a_gaussian_on_short_windows_equals_a_dense_one(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(
        "\n\n".join(" ".join(f"{'abcdefgh'[t]}" for t in row[: 2 + k % 8] % 8) for k, row in enumerate(draw_windows()))
    )
    corpus = build_corpus([str(text)], tmp_path / "corpus", window=STEPS, min_tokens=2)
    assert corpus.manifest["short_windows"]
    options: dict[str, Any] = {"init": "gaussian", "init_scale": 2.0, "init_exponent": 0.1, "seed": 5}
    run = train(corpus, tmp_path / "run", layers=2, lr=0.5, steps=4, batch_size=7, dtype="float64", **options)
    start = gaussian_parameters(Shape(len(corpus.vocabulary), STEPS, 2), 2.0, 0.1, 5, torch.float64)
    assert largest_difference(run.load(0), start) == 0
    losses, weights = dense_descent(corpus, start, 0.5, 4, Order(len(corpus.windows), 7, 5))
    np.testing.assert_allclose(run.metrics()["loss"], losses, rtol=1e-12)
    assert largest_difference(run.load(4), weights) < 1e-10


def test_the_gaussian_has_the_variance_of_the_theorem() -> None:
    drawn = gaussian_parameters(Shape(400, 10, 1), 3.0, 0.25, 0, torch.float64)
    for name in ("W_O", "layers.0.W", "layers.0.V"):
        assert float(drawn[name].std()) == pytest.approx(3.0 / 400**1.25, rel=0.01)
        assert abs(float(drawn[name].mean())) < 3.0 / 400**1.25 * 0.01
    single = gaussian_parameters(Shape(400, 10, 1), 3.0, 0.25, 0, torch.float32)
    assert all(torch.equal(single[name], drawn[name].float()) for name in drawn)


def test_an_epoch_sees_every_window_once_and_each_its_own_order() -> None:
    order = Order(30, 8, 1)
    assert order.steps_per_epoch == 4
    epochs = [np.concatenate([order.batch(step) for step in range(4 * k, 4 * k + 4)]) for k in range(2)]
    assert all(sorted(epoch) == list(range(30)) for epoch in epochs)
    assert epochs[0].tolist() != epochs[1].tolist()
    assert epochs[0].tolist() != np.concatenate([Order(30, 8, 2).batch(step) for step in range(4)]).tolist()


def test_metrics_have_a_row_for_each_step(corpus: Corpus, tmp_path: Path) -> None:
    metrics = train(corpus, tmp_path / "run", **FAST).metrics()
    assert metrics["step"].tolist() == list(range(7))
    assert metrics["epoch"].tolist() == [step / 4 for step in range(7)]
    assert metrics["s_eta"].tolist() == [2.0 * step for step in range(7)]
    assert (metrics["tokens_per_second"] > 0).all()
    assert (metrics["peak_bytes"] > 2**20).all()


def test_epochs_are_steps(corpus: Corpus, tmp_path: Path) -> None:
    assert train(corpus, tmp_path / "run", **{**FAST, "steps": None, "epochs": 2}).settings["steps"] == 8
    limited = train(corpus, tmp_path / "few", **FAST, limit_windows=8)
    assert limited.settings["windows"] == 8
    assert limited.metrics()["epoch"].tolist() == list(range(7))


def test_the_gradient_of_a_corpus(corpus: Corpus) -> None:
    parameters = gaussian_parameters(Shape(VOCABULARY, STEPS, 2), 5.0, 0.0, 0, torch.float64)
    chosen = np.array([3, 1, 4])
    loss, gradients = loss_and_gradient(corpus, parameters, windows=chosen)
    expected_loss, expected = dense_gradients(
        parameters, np.asarray(corpus.windows).astype(np.int64)[chosen], np.asarray(corpus.lengths)[chosen]
    )
    assert loss == pytest.approx(expected_loss, rel=1e-12)
    assert largest_difference(gradients, expected) < 1e-10


# --- kills


class Killed(BaseException):
    """What a test raises in place of a kill."""


def test_a_kill_at_any_write_changes_nothing(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train(corpus, tmp_path / "whole", **FAST)
    monkeypatch.setattr(recorder, "SECONDS_BETWEEN_STATES", 0.0)
    writes, at, after = 0, 0, False

    def interrupted(real: Callable[..., None]) -> Callable[..., None]:
        def write(*arguments: Any) -> None:
            nonlocal writes
            writes += 1
            if writes == at and not after:
                raise Killed
            real(*arguments)
            if writes == at:
                raise Killed

        return write

    for name, home in (("write_tensors", recorder), ("write_json", recorder), ("write_metrics", recorder.metrics)):
        monkeypatch.setattr(home, name, interrupted(getattr(home, name)))
    train(corpus, tmp_path / "counted", **FAST)
    total = writes
    assert total > 20
    for at in range(1, total + 1):
        for after in (False, True):
            out, writes = tmp_path / f"killed-{at}-{after}", 0
            with pytest.raises(Killed):
                train(corpus, out, **FAST)
            writes = total  # no more kills
            resumed = train(corpus, out, **FAST)
            assert same_bits(resumed, whole), (at, after)
            assert resumed.finished


def test_kill_9_in_the_middle_changes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    options = {**FAST, "steps": 400, "checkpoint_every": 50, "threads": 1}
    whole = train(corpus, tmp_path / "whole", **options)
    out = tmp_path / "killed"
    code = (
        "import sys, firstlight as fl\n"
        "from firstlight.runs import recorder\n"
        "recorder.SECONDS_BETWEEN_STATES = 0.0\n"
        f"fl.train(fl.open_corpus(sys.argv[1]), sys.argv[2], **{options!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(corpus.path), str(out)])
    while not (out / "checkpoints" / "step-000064.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not open_run(out).finished
    resumed = train(corpus, out, **options)
    assert same_bits(resumed, whole)
    assert len(resumed.manifest["sessions"]) == 2


def test_a_finished_run_is_left_as_it_is(corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    train(corpus, out, **FAST)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    capsys.readouterr()
    train(corpus, out, **FAST, show=True)
    assert capsys.readouterr().err == f"{out}: already trained, nothing to do\n"
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()} == before


# --- what is refused


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lr": 1.0}, "lr is 2.0 there and 1.0 here"),
        ({"batch_size": "full"}, "batch_size is 8 there and 'full' here"),
        ({"dtype": "float64"}, "dtype is 'float32' there and 'float64' here"),
        ({"seed": 1, "lr": 1.0}, "lr is 2.0 there and 1.0 here"),
    ],
)
def test_a_run_with_other_settings_is_refused(
    corpus: Corpus, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    train(corpus, tmp_path / "run", **FAST)
    with pytest.raises(FirstlightError, match=said) as refused:
        train(corpus, tmp_path / "run", **{**FAST, **change})
    assert "\n" not in str(refused.value)


def test_a_run_on_another_corpus_is_refused(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    train(make_corpus(draw_windows(0), "one"), tmp_path / "run", **FAST)
    with pytest.raises(FirstlightError, match=r"corpus is '[0-9a-f]{64}' there"):
        train(make_corpus(draw_windows(1), "two"), tmp_path / "run", **FAST)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layers": 0}, "--layers 0: expected at least 1"),
        ({"lr": 0.0}, "--lr 0.0: expected a positive number"),
        ({"lr": float("nan")}, "--lr nan: expected a positive number"),
        ({"epochs": 1}, "--epochs and --steps: expected one of the two"),
        ({"batch_size": "half"}, "--batch-size 'half': expected a number of windows or full"),
        ({"batch_size": 0}, "--batch-size 0: expected at least 1"),
        ({"init": "ones"}, "--init 'ones': expected zero or gaussian"),
        ({"init_scale": 1.0}, "--init-scale and --init-exponent: expected only with --init gaussian"),
        ({"dtype": "float16"}, "--dtype 'float16': expected one of float32, float64"),
        ({"device": "tpu9"}, "--device 'tpu9': expected cpu, cuda or cuda:N"),
        ({"memory": "1MiB"}, "needs at least"),
        ({"threads": 0}, "--threads 0: expected at least 1"),
        ({"limit_windows": 0}, "--limit-windows 0: expected at least 1"),
        ({"checkpoint_every": 0}, "--checkpoint-every 0: expected at least 1"),
    ],
)
def test_what_cannot_be_done_is_one_line(corpus: Corpus, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(FirstlightError, match=said) as refused:
        train(corpus, tmp_path / "run", **{**FAST, **change})
    assert "\n" not in str(refused.value)


def test_what_does_not_fit_in_memory_leaves_nothing_behind(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="needs at least"):
        train(corpus, tmp_path / "run", **FAST, memory="1MiB")
    assert not (tmp_path / "run").exists()
    # So the same folder is free for what does fit.
    train(corpus, tmp_path / "run", **{**FAST, "steps": 0})


def test_less_memory_than_a_run_was_planned_with(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder.Recorder, "finish", lambda *_, **__: None)
    run = train(corpus, tmp_path / "run", **FAST)
    with pytest.raises(FirstlightError, match="this run was planned with"):
        train(corpus, tmp_path / "run", **FAST, memory=run.manifest["plan"]["bytes"] - 1)


# --- divergence


def test_divergence_keeps_what_is_known_and_says_where(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = {**FAST, "lr": 2000.0, "steps": 50}
    with pytest.raises(Diverged) as ended:
        train(corpus, out, **options)
    run = open_run(out)
    step = run.manifest["step"]
    assert 0 < step < 50
    assert run.manifest["status"] == "diverged"
    assert f"after step {step} (s*eta = {2000.0 * step:g})" in str(ended.value)
    metrics = run.metrics()
    assert metrics["step"].tolist() == list(range(step + 1))
    assert np.isfinite(metrics["loss"][:-1]).all()
    assert all(bool(torch.isfinite(weight).all()) for at in run.checkpoints for weight in run.load(at).values())
    with pytest.raises(Diverged, match="expected a smaller --lr than 2000") as again:
        train(corpus, out, **options)
    assert str(again.value) == str(ended.value)


def test_names_of_the_package(corpus: Corpus, tmp_path: Path) -> None:
    run = fl.train(corpus, tmp_path / "run", **FAST)
    assert isinstance(fl.open_run(tmp_path / "run"), fl.Run)
    assert tuple(sorted(run.load(6))) == tuple(sorted(names(2)))
