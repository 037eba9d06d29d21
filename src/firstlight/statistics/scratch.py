"""The staging folder of a count: a Zarr group being filled, scratch beside it, and the journal of what is finished.

Work is finished in units (the columns of one row of chunks), each written before the journal says so. A killed count
goes on from there with the same command, whatever memory or workers it is then given.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from firstlight.errors import FirstlightError
from firstlight.files import locked, read_json, recover, staging_folder, write_json
from firstlight.statistics import layout

JOURNAL = "journal.json"
SCRATCH = "scratch"
REMOVED = "removed"


@dataclass(frozen=True)
class Scratch:
    """A staging folder.

    Attributes:
        folder: the folder; it becomes the store by a rename.
        group: the Zarr group at its root.
    """

    folder: Path
    group: zarr.Group

    def path(self, name: str) -> Path:
        """Return the path of a scratch file."""
        return self.folder / SCRATCH / name

    def done(self, stage: str) -> list[int]:
        """Return the finished units of a stage; a stage without units is finished when it lists 0."""
        return list(self._journal()["done"].get(stage, []))

    def has(self, name: str) -> bool:
        """Whether a matrix has been begun: in the store, or in scratch files."""
        return name in self.group or any(self.path("").glob(f"{name}-*"))

    def finish(self, stage: str, units: list[int]) -> None:
        """Record units as finished, after everything they wrote."""
        journal = self._journal()
        journal["done"][stage] = sorted({*journal["done"].get(stage, []), *units})
        write_json(self.path(JOURNAL), journal)

    def save(self, name: str, values: np.ndarray) -> None:
        """Write a scratch array, whole or not at all."""
        path = self.path(f"{name}.npy")
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as file:
            np.save(file, values)
        temporary.replace(path)

    def exists(self, name: str) -> bool:
        """Whether a scratch array has been saved."""
        return self.path(f"{name}.npy").exists()

    def load(self, name: str) -> np.ndarray:
        """Read a scratch array."""
        array: np.ndarray = np.load(self.path(f"{name}.npy"))
        return array

    def map(self, name: str) -> np.ndarray:
        """Map a scratch array: its pages are not the process's once the map is gone."""
        array: np.ndarray = np.load(self.path(f"{name}.npy"), mmap_mode="r")
        return np.asarray(array)

    def load_units(self, name: str, units: int) -> list[np.ndarray]:
        """Read the arrays saved for each unit."""
        return [self.load(f"{name}-{unit}") for unit in range(units)]

    def remove(self) -> None:
        """Remove everything that is not part of the store, which is complete: from the rename on nothing is resumed."""
        # Zarr writes beside a file and renames; a kill leaves what was not renamed.
        for path in self.folder.rglob("*.partial"):
            path.unlink()
        (self.folder / SCRATCH).rename(self.folder / REMOVED)
        shutil.rmtree(self.folder / REMOVED)

    def _journal(self) -> dict[str, Any]:
        journal: dict[str, Any] = read_json(self.path(JOURNAL), "the journal of the count")
        return journal


def deliver_complete(out: Path, deliver: Callable[[Path], None]) -> None:
    """Deliver a store that was complete when its count was killed, if there is one.

    Arguments:
        out: where the store was to be.
        deliver: publishes or uploads the folder.
    """
    staging = staging_folder(out)
    if (staging / SCRATCH).exists() or not (staging / "zarr.json").is_file():
        return
    try:
        with locked(staging):
            layout.attributes(zarr.open_group(staging, mode="r"))
            shutil.rmtree(staging / REMOVED, ignore_errors=True)
            deliver(staging)
    except BlockingIOError:
        raise FirstlightError(f"{out}: another count of it is running; wait for it or stop it") from None


@contextmanager
def claimed(out: Path, key: str) -> Iterator[tuple[Scratch, bool]]:
    """Yield the staging folder for `out`, held for this process alone, and whether it goes on from a killed count.

    Arguments:
        out: where the store will be.
        key: what is being counted; scratch of anything else is removed.
    """
    staging = staging_folder(out)
    if staging.exists() and any(staging.iterdir()) and not (staging / SCRATCH).is_dir():
        raise FirstlightError(f"{staging}: in the way and not left by a count; move it")
    try:
        (staging / SCRATCH).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"--out {out}: {staging} cannot be made: {error.strerror}") from None
    try:
        with locked(staging):
            recover(out)
            journal = staging / SCRATCH / JOURNAL
            resumed = journal.exists() and read_json(journal, "the journal of the count")["key"] == key
            if not resumed:
                _clear(staging)
                zarr.create_group(staging, zarr_format=3)
                write_json(journal, {"key": key, "done": {}})
            yield Scratch(staging, zarr.open_group(staging, mode="r+")), resumed
    except BlockingIOError:
        raise FirstlightError(f"{out}: another count of it is running; wait for it or stop it") from None


def _clear(staging: Path) -> None:
    """Remove what another count left, in an order that a kill leaves neither something to resume nor to deliver."""
    (staging / SCRATCH / JOURNAL).unlink(missing_ok=True)
    (staging / "zarr.json").unlink(missing_ok=True)
    others = [path for path in staging.iterdir() if path.name != SCRATCH]
    for path in [*others, *(staging / SCRATCH).iterdir()]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
