"""A run on disk, opened to be read: what was trained, how it went, and the weights at its checkpoints."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from firstlight.errors import FirstlightError
from firstlight.files import read_json

if TYPE_CHECKING:
    import torch

FORMAT = "firstlight run"
FORMAT_VERSION = 1
MANIFEST = "run.json"
METRICS = "metrics.parquet"
STATE = "state.safetensors"
CHECKPOINTS = "checkpoints"

_NAME = re.compile(r"step-(\d{6,})\.safetensors")


@dataclass(frozen=True)
class Run:
    """A training, finished or not.

    Attributes:
        path: the folder.
        manifest: what its run.json says: kind, settings, seed, versions, provenance, status.
        checkpoints: the file of each checkpoint by its step, in order; step 0 is the initial model.
    """

    path: Path
    manifest: dict[str, Any]
    checkpoints: dict[int, Path]

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for."""
        settings: dict[str, Any] = self.manifest["settings"]
        return settings

    @property
    def finished(self) -> bool:
        """Whether it reached its last step."""
        return bool(self.manifest["status"] == "finished")

    def metrics(self) -> dict[str, np.ndarray]:
        """Return the columns of the metrics, one row for each recorded step."""
        from firstlight.runs.metrics import read_columns

        return read_columns(self.path / METRICS)

    def load(self, step: int) -> "dict[str, torch.Tensor]":
        """Return the weights after so many updates."""
        from firstlight.runs.tensors import read_tensors

        if step not in self.checkpoints:
            raise FirstlightError(
                f"{self.path}: no checkpoint of step {step}; expected one of {_listed(list(self.checkpoints))}"
            )
        tensors, metadata = read_tensors(self.checkpoints[step])
        if metadata.get("step") != str(step):
            raise FirstlightError(f"{self.checkpoints[step]}: damaged: its header says step {metadata.get('step')}")
        return tensors


def open_run(path: str | Path) -> Run:
    """Open the folder of a run; no weights are read."""
    path = Path(path)
    if not path.exists():
        raise FirstlightError(f"{path}: no run here; `firstlight train CORPUS --out {path}` makes one")
    return Run(path, read_manifest(path), find_checkpoints(path))


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a folder, or raise an error that says why the folder is not a run."""
    if not (path / MANIFEST).is_file():
        raise FirstlightError(f"{path}: not a run: it has no {MANIFEST}")
    manifest = read_json(path / MANIFEST, "the manifest of the run")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FirstlightError(f"{path}: not a run: its {MANIFEST} is of something else")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise FirstlightError(
            f"{path}: format version {manifest.get('format_version')}, this firstlight reads {FORMAT_VERSION}"
        )
    return manifest


def checkpoint_path(path: Path, step: int) -> Path:
    """Return where the weights after so many updates are."""
    return path / CHECKPOINTS / f"step-{step:06d}.safetensors"


def find_checkpoints(path: Path) -> dict[int, Path]:
    """Return the checkpoints of a folder by step."""
    found = {
        int(match[1]): file
        for file in (path / CHECKPOINTS).glob("step-*.safetensors")
        if (match := _NAME.fullmatch(file.name))
    }
    return dict(sorted(found.items()))


def _listed(steps: list[int]) -> str:
    if len(steps) > 8:
        return f"{', '.join(map(str, steps[:6]))}, ..., {steps[-1]}"
    return ", ".join(map(str, steps)) or "none: no checkpoint has been written"
