"""Permutations as users write them: cycles such as `(1 2 3)(4 5),(1 2)`, or lists of images."""

import json
import re
from itertools import pairwise

import numpy as np
from jaxtyping import Int64

from firstlight.errors import FirstlightError

_LARGEST = 10_000


def looks_like_permutations(text: str) -> bool:
    """Return whether a text is meant as permutations rather than as a name."""
    return bool(re.match(r"\(\s*[\d)]|\[", text))


def permutations_from(text: str) -> Int64[np.ndarray, "generator value"]:
    """Read generators: permutations in cycles with commas between them, or a JSON list of lists of images.

    Points of cycles are counted from 0 where a 0 occurs anywhere, and else from 1 as in books; images from 0 always.
    """
    return _from_images(text) if text.startswith("[") else _from_cycles(text)


def in_cycles(permutation: Int64[np.ndarray, " value"]) -> str:
    """Write one permutation of 0..n-1 in cycles, `()` being the identity."""
    images, seen, parts = permutation.tolist(), set(), []
    for start in range(len(images)):
        cycle = []
        while start not in seen:
            seen.add(start)
            cycle.append(start)
            start = images[start]
        if len(cycle) > 1:
            parts.append(f"({' '.join(map(str, cycle))})")
    return "".join(parts) or "()"


def _from_cycles(text: str) -> Int64[np.ndarray, "generator value"]:
    if not re.fullmatch(r"\s*\([\d\s,]*\)(\s*,?\s*\([\d\s,]*\))*\s*", text):
        raise _bad(text, "expected cycles such as (1 2 3)(4 5),(1 2)")
    parts = re.split(r"(?<=\))\s*,\s*(?=\()", text)
    generators = [
        [[int(point) for point in re.findall(r"\d+", cycle)] for cycle in re.findall(r"\(([^)]*)\)", part)]
        for part in parts
    ]
    points = [point for cycles in generators for cycle in cycles for point in cycle]
    first = 0 if 0 in points else 1
    degree = max(points, default=1) - first + 1
    if degree > _LARGEST:
        raise _bad(text, f"expected points of at most {_LARGEST:,}")
    rows = np.tile(np.arange(degree), (len(generators), 1))
    for row, cycles in zip(rows, generators, strict=True):
        moved = [point for cycle in cycles for point in cycle]
        if len(moved) > len(set(moved)):
            twice = next(point for point in moved if moved.count(point) > 1)
            raise _bad(text, f"{twice} occurs twice in one permutation; expected disjoint cycles")
        for cycle in cycles:
            for point, image in pairwise([*cycle, *cycle[:1]]):
                row[point - first] = image - first
    return rows


def _from_images(text: str) -> Int64[np.ndarray, "generator value"]:
    expected = "expected lists of images of one length, such as [[1,2,0],[1,0,2]]"
    try:
        rows = np.array(json.loads(text))
    except ValueError:
        raise _bad(text, expected) from None
    if rows.ndim != 2 or not rows.size or not np.issubdtype(rows.dtype, np.integer):
        raise _bad(text, expected)
    for row in rows:
        if sorted(row.tolist()) != list(range(len(row))):
            raise _bad(text, f"{row.tolist()} is no permutation of 0..{len(row) - 1}")
    return rows.astype(np.int64)


def _bad(text: str, reason: str) -> FirstlightError:
    return FirstlightError(f"permutations {text!r}: {reason}")
