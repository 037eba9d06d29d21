"""`firstlight bench training`: one step of the reference model against a plain one-hot model in PyTorch."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from firstlight.bench.material import word_windows
from firstlight.bench.rows import Row
from firstlight.errors import FirstlightError
from firstlight.files import format_bytes, parse_bytes
from firstlight.reference.parameters import Shape
from firstlight.report.progress import say
from firstlight.runs.tensors import read_tensors

SHAPE = Shape(vocabulary=3000, window=200, layers=3)
SPEED_GOAL, MEMORY_GOAL = 3, 4
EQUAL = 1e-4
# What the plain model was measured to hold: numbers of V x T a window and of V x V a weight, and PyTorch itself.
PLAIN_WINDOW, PLAIN_WEIGHT, PLAIN_FIXED = 13, 2, 2**29


def bench_training(threads: int, text: str | None = None, memory: str = "12GiB") -> list[Row]:
    """Compare one step on as many windows as the plain model can hold.

    Arguments:
        threads: of PyTorch, in both.
        text: a source for the words; the embedded stories when None.
        memory: what the plain model may hold.
    """
    limit = parse_bytes(memory, "--training-memory")
    batch = plain_batch(limit)
    shape = f"{SHAPE.vocabulary},{SHAPE.window},{SHAPE.layers}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        windows = word_windows(text or "stories:2000", SHAPE.vocabulary, SHAPE.window, batch, folder)[:batch]
        np.save(folder / "windows.npy", windows)

        def child(name: str, room: int) -> dict[str, Any]:
            say(f"{name}: one step of {len(windows):,} windows")
            arguments = [name, folder / "windows.npy", shape, room, threads, folder / f"{name}.json"]
            command = [sys.executable, "-m", "firstlight.bench.training_child", *map(str, arguments)]
            if subprocess.run(command, check=False).returncode:
                raise FirstlightError(f"{name}: the step failed; expected {format_bytes(limit)} to be enough for it")
            facts: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
            say(f"{name}: {facts['seconds']:.1f} s, {format_bytes(facts['peak_bytes'])}, loss {facts['loss']:.6f}")
            return facts

        ours, plain = child("ours", limit // MEMORY_GOAL), child("onehot", limit)
        say(f"ours: {ours['plan']}")
        difference = _difference(folder, ours["loss"], plain["loss"])
    work = f"a step, V = {SHAPE.vocabulary:,}, T = {SHAPE.window}, {SHAPE.layers} layers, {len(windows):,} windows"
    baseline = f"one-hot PyTorch, loss and gradients equal to {difference:.1e}"
    seconds = (ours["seconds"], plain["seconds"])
    return [
        Row("training", work, baseline, *seconds, SPEED_GOAL, ours["peak_bytes"]),
        Row("training", f"memory of {work}", baseline, *seconds, MEMORY_GOAL, ours["peak_bytes"], plain["peak_bytes"]),
    ]


def plain_batch(limit: int) -> int:
    """Return how many windows the plain model can hold."""
    V, T, L = SHAPE.vocabulary, SHAPE.window, SHAPE.layers
    fixed = PLAIN_FIXED + 4 * PLAIN_WEIGHT * (2 * L + 1) * V * V
    window = 4 * PLAIN_WINDOW * V * T
    if limit < fixed + window:
        raise FirstlightError(
            f"--training-memory {format_bytes(limit)}: expected at least {format_bytes(fixed + window)}"
        )
    return (limit - fixed) // window


def _difference(folder: Path, loss: float, plain_loss: float) -> float:
    """Return the largest relative difference of the losses and of each gradient, which must be small."""
    ours, plain = (read_tensors(folder / f"{name}.safetensors")[0] for name in ("ours", "onehot"))
    differences = {"loss": abs(loss - plain_loss) / plain_loss}
    for name, gradient in plain.items():
        differences[name] = float((ours[name] - gradient).norm() / gradient.norm())
    worst = max(differences, key=differences.__getitem__)
    say(", ".join(f"{name} {difference:.1e}" for name, difference in differences.items()))
    if not differences[worst] <= EQUAL:
        raise RuntimeError(f"{worst} differs from the plain model by {differences[worst]:.1e}, expected {EQUAL:.0e}")
    return differences[worst]
