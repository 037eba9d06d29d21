"""Groups and actions from files: a Cayley table, or the images of all elements."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.tracking.language.cayley import check_group
from firstlight.tracking.language.cycles import in_cycles
from firstlight.tracking.language.permutations import Images, check_size, in_order, rows_of

SUFFIXES = (".json", ".npy", ".csv")
_EXPECTED = "expected a table of whole numbers, its rows of one length"


def images_from_file(path: Path) -> Images:
    """Read an action, in order.

    A square table is the Cayley table of a group, which acts on itself: entry (g, h) is g h. Any other has a row of
    images for each element. A JSON file may say which: {"cayley": ...}, {"images": ...}, or both, and then row g of
    the images is what element g of the Cayley table does.
    """
    content = _read(path)
    if isinstance(content, dict):
        unknown = set(content) - {"cayley", "images"}
        if unknown or not content:
            came = ", ".join(sorted(unknown)) or "nothing"
            raise FirstlightError(f"{path}: has {came}; expected cayley, images or both")
        cayley, images = (_table(content[key], path) if key in content else None for key in ("cayley", "images"))
    else:
        table = _table(content, path)
        square = table.shape[0] == table.shape[1]
        cayley, images = (table, None) if square else (None, table)
    if cayley is not None:
        if cayley.shape[0] != cayley.shape[1]:
            raise FirstlightError(f"{path}: a Cayley table of {cayley.shape[0]} rows and {cayley.shape[1]} columns")
        check_size(len(cayley), len(cayley), str(path))
        check_group(cayley, str(path))
        if images is None:
            return in_order(cayley)
    assert images is not None  # for the type checker: one of the two is there
    check_size(len(images), images.shape[1], str(path))
    _check_permutations(images, path)
    if cayley is not None:
        _check_homomorphism(cayley, images, path)
    _check_faithful(images, path)
    return _closed(images, path)


def _read(path: Path) -> Any:
    try:
        if path.suffix == ".json":
            return json.loads(path.read_text(encoding="utf-8"))
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty file, which `_table` refuses
            return np.loadtxt(path, delimiter=",", dtype=np.int64, ndmin=2)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise FirstlightError(f"{path}: file not found; expected a table, or a name such as C6 or S5") from None
    except (ValueError, EOFError) as error:
        raise FirstlightError(f"{path}: {_EXPECTED}: {error}") from None


def _table(content: Any, path: Path) -> Int64[np.ndarray, "row column"]:
    try:
        table = np.array(content)
    except ValueError:  # rows of different lengths
        raise FirstlightError(f"{path}: {_EXPECTED}") from None
    if table.ndim != 2 or not table.size or not np.issubdtype(table.dtype, np.integer):
        raise FirstlightError(f"{path}: {_EXPECTED}")
    return table.astype(np.int64)


def _check_permutations(images: Images, path: Path) -> None:
    degree = images.shape[1]
    wrong = np.flatnonzero((np.sort(images, axis=1) != np.arange(degree)).any(1))
    if len(wrong):
        raise FirstlightError(
            f"{path}: not an action: row {wrong[0]} of the images is {_short(images[wrong[0]])}; "
            f"expected each of 0..{degree - 1} once"
        )


def _check_homomorphism(cayley: np.ndarray, images: Images, path: Path) -> None:
    if len(cayley) != len(images):
        raise FirstlightError(f"{path}: {len(cayley)} elements, but images of {len(images)}; expected as many")
    for g in range(len(cayley)):
        done, stated = images[g][images], images[cayley[g]]  # element value
        wrong = np.argwhere(done != stated)
        if len(wrong):
            h, y = wrong[0].tolist()
            raise FirstlightError(
                f"{path}: not an action: {g} * {h} = {cayley[g, h]} sends value {y} to {stated[h, y]}, "
                f"but {h} and then {g} send it to {done[h, y]}"
            )


def _check_faithful(images: Images, path: Path) -> None:
    distinct, first = np.unique(images, axis=0, return_index=True)
    if len(distinct) < len(images):
        again = int(np.setdiff1d(np.arange(len(images)), first)[0])
        before = int(np.flatnonzero((images == images[again]).all(1))[0])
        raise FirstlightError(
            f"{path}: not faithful: elements {before} and {again} have the same images, {_short(images[again])}; "
            "expected a row for each element, all different"
        )


def _closed(images: Images, path: Path) -> Images:
    ordered = in_order(images)
    if (ordered[0] != np.arange(images.shape[1])).any():
        raise FirstlightError(f"{path}: not an action of a group: no row of the images is the identity")
    for g, row in enumerate(images):
        missing = np.flatnonzero(rows_of(row[images], ordered) < 0)
        if len(missing):
            h = int(missing[0])
            raise FirstlightError(
                f"{path}: not an action of a group: rows {h} and then {g} of the images make "
                f"{in_cycles(row[images[h]])}, which is no row"
            )
    return ordered


def _short(row: np.ndarray) -> str:
    return str(row.tolist()) if len(row) <= 12 else f"[{', '.join(map(str, row[:10].tolist()))}, ...]"
