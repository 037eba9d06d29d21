"""The staging folder of a build: claimed by one process at a time, with a journal that a killed build resumes from."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firstlight.corpus.corpus import MANIFEST, read_manifest
from firstlight.errors import FirstlightError
from firstlight.files import locked, read_json, recover, staging_folder, write_json

JOURNAL = "journal.json"
JOB = "corpus build"
STDIN = "stdin.txt"


@contextmanager
def claimed(out: Path) -> Iterator[Path]:
    """Yield the staging folder for `out`, locked, after checking that `out` may be replaced.

    An error of the user's removes the folder, unless a journal in it lets the same command go on.
    """
    _check_replaceable(out)
    staging = staging_folder(out)
    try:
        staging.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FirstlightError(f"--out {out}: {staging} cannot be made: {error.strerror}") from None
    if not _is_ours(staging):
        raise FirstlightError(f"{staging}: in the way and not left by a build of a corpus; move it")
    try:
        with locked(staging):
            if not staging.exists():
                raise FirstlightError(f"{out}: another build of it ended just now; run again to see what it left")
            recover(out)
            if not (staging / JOURNAL).exists():
                write_journal(staging, {})
            try:
                yield staging
            except FirstlightError:
                if staging.exists() and "encoding" not in read_journal(staging):
                    shutil.rmtree(staging)
                raise
    except BlockingIOError:
        raise FirstlightError(f"{out}: another build of it is running; wait for it or stop it") from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise FirstlightError(f"{staging}: the disk is full; make room and run again to go on") from None


def _is_ours(staging: Path) -> bool:
    names = [path.name for path in staging.iterdir()]
    if JOURNAL in names:
        return bool(read_journal(staging).get("job") == JOB)
    if MANIFEST in names:
        read_manifest(staging)  # complete but for its name
        return True
    return all(name.startswith(JOURNAL) for name in names)


def _check_replaceable(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise FirstlightError(f"--out {out}: a file; expected a folder that is new or holds a corpus")
    if any(out.iterdir()):
        try:
            read_manifest(out)
        except FirstlightError as error:
            raise FirstlightError(f"--out {out}: not empty and not a corpus, so it is not replaced ({error})") from None


def read_journal(staging: Path) -> dict[str, Any]:
    """Return the journal: nothing yet, or `request`, `tokenizer` and, while windows are written, `encoding`."""
    journal: dict[str, Any] = read_json(staging / JOURNAL, "the journal of the build")
    return journal


def write_journal(staging: Path, journal: dict[str, Any]) -> None:
    """Replace the journal."""
    write_json(staging / JOURNAL, {"job": JOB, **journal})


def empty(staging: Path) -> None:
    """Remove what an earlier build left, except a copy of standard input."""
    write_journal(staging, {})
    for path in staging.iterdir():
        if path.name not in (JOURNAL, STDIN):
            path.unlink()
