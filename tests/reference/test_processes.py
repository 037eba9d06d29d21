"""Two processes that torchrun starts follow the trajectory of one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from firstlight.corpus import Corpus
from firstlight.runs import open_run
from tests.reference.dense import largest_difference

OPTIONS = ["--layers", "2", "--lr", "2", "--steps", "6", "--batch-size", "7", "--dtype", "float64", "--threads", "1"]


def torchrun(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["--no-python", str(Path(sys.executable).parent / "firstlight"), *map(str, arguments)]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


@pytest.fixture
def alone(corpus: Corpus, tmp_path: Path) -> Path:
    command = [
        str(Path(sys.executable).parent / "firstlight"),
        "train",
        str(corpus.path),
        "--out",
        str(tmp_path / "one"),
    ]
    subprocess.run([*command, *OPTIONS], check=True, capture_output=True)
    return tmp_path / "one"


def test_two_processes_follow_one(corpus: Corpus, alone: Path, tmp_path: Path) -> None:
    out = tmp_path / "two"
    first = torchrun("train", corpus.path, "--out", out, *OPTIONS)
    assert first.returncode == 0, first.stderr
    together, one = open_run(out), open_run(alone)
    assert together.manifest["world_size"] == 2
    np.testing.assert_allclose(together.metrics()["loss"], one.metrics()["loss"], rtol=1e-12)
    for step in one.checkpoints:
        assert largest_difference(together.load(step), one.load(step)) < 1e-10
    assert first.stdout.count("checkpoints in") == 1
    again = torchrun("train", corpus.path, "--out", out, *OPTIONS)
    assert again.returncode == 0, again.stderr
    assert "already trained" in again.stderr
