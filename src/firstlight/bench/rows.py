"""A benchmark's result: a row with the time of our work, the time of a baseline, their ratio, and the goal."""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import llvmlite.binding
import numba

from firstlight.files import format_bytes
from firstlight.memory import peak_bytes
from firstlight.report.tables import format_table


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        bench: the benchmark.
        work: what is done, and how much of it.
        baseline: what it is compared with.
        seconds: the time of our work.
        baseline_seconds: the time of the baseline for the same work; scaled up from less where `baseline` says so.
        goal: the ratio aimed at, or None where the row only informs.
        peak_bytes: the most this process had held when the row was finished, or our work held in a process of its own.
        baseline_peak_bytes: what the baseline held at most, in a row whose ratio is of memory.
    """

    bench: str
    work: str
    baseline: str
    seconds: float
    baseline_seconds: float
    goal: float | None
    peak_bytes: int
    baseline_peak_bytes: int | None = None

    @property
    def ratio(self) -> float:
        """How many times faster our work is, or how many times less memory it takes."""
        if self.baseline_peak_bytes is not None:
            return self.baseline_peak_bytes / self.peak_bytes
        return self.baseline_seconds / self.seconds

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached."""
        return None if self.goal is None else self.ratio >= self.goal


def row(bench: str, work: str, baseline: str, seconds: float, baseline_seconds: float, goal: float | None) -> Row:
    """Make a row with the memory used so far."""
    return Row(bench, work, baseline, seconds, baseline_seconds, goal, peak_bytes())


def best_of(times: int, work: Callable[[], object]) -> float:
    """Run a piece of work several times and return the shortest time: what else the machine does only adds."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def machine() -> dict[str, Any]:
    """Return what the figures were taken on."""
    return {
        "cpu": str(llvmlite.binding.get_host_cpu_name()),
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": numba.__version__,
    }


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Return the document of `--json`."""
    return {"machine": machine(), "rows": [{**asdict(r), "ratio": r.ratio, "met": r.met} for r in rows]}


def as_table(rows: list[Row]) -> str:
    """Return the table for people."""
    cells = [
        [
            r.work,
            r.baseline,
            *_compared(r),
            f"{r.ratio:.3g}x",
            "" if r.goal is None else f"{r.goal:g}x",
            {None: "", True: "yes", False: "NO"}[r.met],
        ]
        for r in rows
    ]
    return format_table(["work", "baseline", "ours", "baseline", "ratio", "goal", "met"], cells, "llrrrrl")


def _compared(r: Row) -> tuple[str, str]:
    if r.baseline_peak_bytes is not None:
        return format_bytes(r.peak_bytes), format_bytes(r.baseline_peak_bytes)
    return f"{r.seconds:.3g} s", f"{r.baseline_seconds:.3g} s"
