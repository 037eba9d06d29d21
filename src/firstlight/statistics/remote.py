"""Stores at fsspec URLs: what is there, and putting a finished store there."""

from pathlib import Path
from typing import Any

import fsspec

from firstlight.errors import FirstlightError
from firstlight.statistics import layout


def filesystem_of(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it."""
    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise FirstlightError(f"{url}: {' '.join(str(error).split())}") from None
    return filesystem, str(path)


def holds_store(url: str) -> bool:
    """Whether a Zarr group is at a URL; a folder of anything else there is an error, since it is not replaced."""
    filesystem, path = filesystem_of(url)
    if filesystem.exists(f"{path}/zarr.json"):
        return True
    listed = filesystem.ls(path, detail=False) if filesystem.isdir(path) else []
    names = {name.rstrip("/").rsplit("/", 1)[-1] for name in listed if name.rstrip("/") != path.rstrip("/")}
    # Arrays without a group are what an upload leaves that was stopped.
    foreign = sorted(names - layout.MEANINGS.keys())
    if foreign:
        raise FirstlightError(f"--out {url}: not empty and not statistics, so it is not replaced ({foreign[0]})")
    return False


def upload(folder: Path, url: str) -> None:
    """Copy a finished store to a URL, the group's own metadata last: until then nothing opens there.

    An older store goes first: its chunks would be read where the new one has only zeros, which are not stored.
    """
    filesystem, target = filesystem_of(url)
    for name in ("zarr.json", *layout.MEANINGS):
        if filesystem.exists(f"{target}/{name}"):
            filesystem.rm(f"{target}/{name}", recursive=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / "zarr.json")
    for path in [*files, folder / "zarr.json"]:
        remote = f"{target}/{path.relative_to(folder).as_posix()}"
        filesystem.makedirs(remote.rsplit("/", 1)[0], exist_ok=True)
        filesystem.put_file(str(path), remote)
