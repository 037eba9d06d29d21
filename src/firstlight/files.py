"""Files that are whole or absent: atomic writes, checksums, and results published by a rename.

A long job works in a staging folder `OUT.partial` and becomes `OUT` by a rename at its very end. So whatever
moment it is killed at, `OUT` is the old result or the new one, and the staging folder can be resumed.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firstlight.errors import FirstlightError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a small file so that a reader, or a kill, sees the old content or the new one and nothing between."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON document atomically, indented for people."""
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path, what: str) -> Any:
    """Read a JSON document; `what` names it in the error when it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FirstlightError(f"{path}: {what} not found") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FirstlightError(f"{path}: {what} is damaged: {error}") from None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(value: Any) -> str:
    """Return a SHA-256 of a JSON-like value that does not depend on the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def named(out: Path) -> Path:
    """Return the folder of a result under a name that others can be made beside: `.` and `..` have none."""
    out = out.resolve() if out.name in ("", "..") else out
    if not out.name:
        raise FirstlightError(f"--out {out}: expected a folder that can be replaced")
    return out


def staging_folder(out: Path) -> Path:
    """Return the folder a job works in before its result becomes `out`."""
    return out.with_name(out.name + ".partial")


def _replaced_folder(out: Path) -> Path:
    return out.with_name(out.name + ".replaced")


def recover(out: Path) -> None:
    """Undo the one half-step a kill can leave: the old result moved aside and the new one not yet in its place."""
    replaced = _replaced_folder(out)
    if replaced.exists():
        if out.exists():
            shutil.rmtree(replaced)
        else:
            replaced.rename(out)


def publish(staging: Path, out: Path) -> None:
    """Give the finished staging folder its final name; an older result there is removed only afterwards."""
    recover(out)
    if out.exists():
        out.rename(_replaced_folder(out))
    staging.rename(out)
    shutil.rmtree(_replaced_folder(out), ignore_errors=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which ends with the process however it ends.

    Raises:
        BlockingIOError: if another process holds it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", start=1):
    _UNITS[f"{_letter}B"] = 1000**_power
    _UNITS[f"{_letter}iB"] = 1024**_power
    _UNITS[_letter] = 1024**_power


def parse_bytes(text: str, what: str = "size") -> int:
    """Read a size such as `8GiB`, `500MB`, `2G` (binary) or a plain number of bytes; `what` names it in errors."""
    stripped = text.strip()
    digits = len(stripped.rstrip("KMGTiB "))
    number, unit = stripped[:digits], stripped[digits:].strip()
    try:
        size = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise FirstlightError(f"{what} {text!r} is not a number with a unit such as 8GiB or 500MB") from None
    if not 0 < size < float("inf"):
        raise FirstlightError(f"{what} {text!r} must be positive")
    return int(size)


def format_bytes(size: float) -> str:
    """Write a size for people: `1.5 GiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
