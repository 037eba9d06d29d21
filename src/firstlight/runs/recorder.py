"""Writing a run: everything on disk is whole at any moment, so a kill loses time and nothing else."""

import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from firstlight.errors import FirstlightError
from firstlight.files import locked, write_json
from firstlight.runs import metrics
from firstlight.runs.run import (
    CHECKPOINTS,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    METRICS,
    STATE,
    checkpoint_path,
    read_manifest,
)
from firstlight.runs.tensors import read_tensors, write_tensors
from firstlight.version import __version__

SECONDS_BETWEEN_STATES = 30.0


class Recorder:
    """Writes metrics, checkpoints and the state of one training.

    Attributes:
        path: the folder.
        manifest: what run.json says now.
        rows: the metrics so far.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self.rows: list[metrics.Row] = []
        self._saved = time.monotonic()

    def resume(self) -> tuple[int, dict[str, torch.Tensor], dict[str, Any]] | None:
        """Return the step, tensors and values of the last state, if there is one, and drop the metrics after it."""
        if not (self.path / STATE).exists():
            return None
        tensors, metadata = read_tensors(self.path / STATE)
        step, count = int(metadata["step"]), int(metadata["rows"])
        kept = metrics.read_rows(self.path / METRICS)[:count] if count else []
        # The metrics are written before the state that counts them, so fewer are damage and not a kill.
        if len(kept) < count or any(row["step"] > step for row in kept):
            raise FirstlightError(
                f"{self.path / METRICS}: damaged: expected {count} rows of steps up to {step}, as the state says"
            )
        self.rows = kept
        return step, tensors, json.loads(metadata["values"])

    def record(self, row: metrics.Row) -> None:
        """Add a row of metrics, which is on disk once the next state is."""
        self.rows.append(row)

    def checkpoint(self, step: int, tensors: Mapping[str, torch.Tensor]) -> None:
        """Keep the weights after so many updates."""
        write_tensors(checkpoint_path(self.path, step), tensors, {"step": str(step), "kind": self.manifest["kind"]})

    def save_state(self, step: int, tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
        """Write what is needed to go on from here: before it the metrics, which it counts.

        Arguments:
            step: updates done.
            tensors: weights, and whatever else the training needs.
            values: whatever else it needs that JSON can hold.
        """
        if self.rows:
            metrics.write_metrics(self.path / METRICS, self.rows)
        metadata = {"step": str(step), "rows": str(len(self.rows)), "values": json.dumps(dict(values))}
        write_tensors(self.path / STATE, tensors, metadata)
        self._saved = time.monotonic()

    def state_is_due(self) -> bool:
        """Whether the last state is old enough for another."""
        return time.monotonic() - self._saved > SECONDS_BETWEEN_STATES

    def finish(self, status: str, **facts: Any) -> None:
        """Write the metrics and say in the manifest how the training ended; the state is not needed any more."""
        metrics.write_metrics(self.path / METRICS, self.rows)
        self.update(status=status, **facts)
        (self.path / STATE).unlink(missing_ok=True)

    def update(self, **facts: Any) -> None:
        """Change entries of the manifest."""
        self.manifest.update(facts)
        write_json(self.path / MANIFEST, self.manifest)


@contextmanager
def recording(
    path: Path,
    kind: str,
    settings: Mapping[str, Any],
    *,
    provenance: Mapping[str, Any],
    session: Mapping[str, Any],
) -> Iterator[Recorder]:
    """Hold the lock of a run's folder, made if it is not there, and yield what writes to it.

    A folder of the same settings is gone on with; one of other settings is refused.

    Arguments:
        path: the folder.
        kind: what is trained.
        settings: everything that decides the trajectory, as JSON holds it; `seed` is one of them.
        provenance: where the data came from; recorded, not compared.
        session: what may differ between a start and a resume, such as the device; the manifest lists all sessions.
    """
    if (path.exists() and not path.is_dir()) or (path.is_dir() and not _ours(path)):
        raise FirstlightError(f"{path}: not a run, and not empty; expected a new folder")
    (path / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
    try:
        with locked(path):
            manifest = _open_or_start(path, kind, json.loads(json.dumps(dict(settings))), dict(provenance))
            recorder = Recorder(path, manifest)
            if manifest["status"] == "running":
                now = {**session, "versions": versions(), "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                recorder.update(sessions=[*manifest["sessions"], now], **session)
            yield recorder
    except BlockingIOError:
        raise FirstlightError(f"{path}: another process is training here") from None


def _ours(path: Path) -> bool:
    inside = {each.name for each in path.iterdir()}
    # A kill between making the folder and writing the manifest leaves this much.
    return MANIFEST in inside or inside <= {CHECKPOINTS, MANIFEST + ".tmp"}


def _open_or_start(path: Path, kind: str, settings: dict[str, Any], provenance: dict[str, Any]) -> dict[str, Any]:
    if not (path / MANIFEST).exists():
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "kind": kind,
            "status": "running",
            "settings": settings,
            "seed": settings["seed"],
            "versions": versions(),
            "provenance": provenance,
            "sessions": [],
        }
        write_json(path / MANIFEST, manifest)
        return manifest
    manifest = read_manifest(path)
    if manifest["kind"] != kind:
        raise FirstlightError(f"{path}: a run of kind {manifest['kind']!r}, expected {kind!r}")
    difference = first_difference(manifest["settings"], settings)
    if difference:
        raise FirstlightError(f"{path}: a run with other settings: {difference}; give another --out")
    return manifest


def first_difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """Name the first setting in which a run differs from what is asked for."""
    for name in [*here, *there]:
        if name not in there or name not in here or there[name] != here[name]:
            return f"{name} is {there.get(name, 'absent')!r} there and {here.get(name, 'absent')!r} here"
    return None


def versions() -> dict[str, str]:
    """Return the versions a run depends on."""
    return {
        "firstlight": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": version("numpy"),
    }
