"""The benchmark's own check: what it times agrees, and a difference is an error."""

import pytest
import torch

from firstlight.bench import tracking_practical
from firstlight.bench.tracking_practical import bench_practical
from firstlight.tracking.practical import block


def test_every_row_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    threads = torch.get_num_threads()
    rows = bench_practical(threads, repeats=1, rollout_length=6, rollout_count=2, batch_size=4)
    capsys.readouterr()
    assert [row.goal for row in rows] == [1.8, 20, None, None, None, 1.8, 20, None, None, None, 20]
    assert all(row.seconds > 0 and row.baseline_seconds > 0 for row in rows)


def test_a_wrong_gradient_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "EPS", 1e-2)
    with pytest.raises(RuntimeError, match="differs from the plain model by"):
        tracking_practical.bench_practical(torch.get_num_threads(), repeats=1, batch_size=4)
