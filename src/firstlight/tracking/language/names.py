"""Actions by the names users write: `C6`, `S5`, `A4xC5`, `regular:S3`, `S4/S3`, `6T9`, cycles, a table file."""

import re
from collections.abc import Callable
from functools import reduce
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.tracking.language import constructions, families, tables
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.cycles import looks_like_permutations, permutations_from
from firstlight.tracking.language.permutations import Images, generated
from firstlight.tracking.language.transitive import TRANSITIVE, transitive_name

_FAMILIES: dict[str, Callable[[int, str], Images]] = {
    "C": families.cyclic,
    "Z": families.cyclic,
    "D": families.dihedral,
    "S": families.symmetric,
    "A": families.alternating,
    "Q": families.dicyclic,
    "F": families.frobenius,
}
_EXPECTED = (
    "a name such as C6, D5, S5, A5, V4, Q8, F20, C2xC3, regular:S3, S4/S3, 6T9, "
    "cycles such as (1 2 3),(1 2), or a file of a table (.json, .npy, .csv)"
)


def action_named(text: str) -> Action:
    """Return the action a name stands for; its elements are in the lexicographic order of their images.

    C, V4 and Q act on themselves; S, A, D, F, PSL, PGL and permutations on their points; `GxH` on pairs, `GwrH` on
    copies, `G/H` on the cosets of H; and `regular:` before any name stands for that group acting on itself.
    """
    name = text.strip()
    return Action(name, _images(name))


def _images(name: str) -> Images:
    if name.startswith("regular:"):
        return constructions.on_itself(_images(name.removeprefix("regular:").strip()), name)
    if name.endswith(tables.SUFFIXES):
        return tables.images_from_file(Path(name))
    if looks_like_permutations(name):
        return generated(permutations_from(name), name)
    group, slash, subgroup = name.partition("/")
    images = _product(group, name)
    if not slash:
        return images
    part = _subgroup(subgroup.strip(), name)
    return constructions.on_cosets(images, constructions.embedded(part, images, name), name)


def _subgroup(text: str, name: str) -> Images:
    return generated(permutations_from(text), name) if looks_like_permutations(text) else _product(text, name)


def _product(text: str, name: str) -> Images:
    factors = [_wreath(factor, name) for factor in text.replace("×", "x").split("x")]
    return reduce(lambda first, second: constructions.product(first, second, name), factors)


def _wreath(text: str, name: str) -> Images:
    factors = [_letter(factor.strip(), name) for factor in text.split("wr")]
    return reduce(lambda inner, outer: constructions.wreath(inner, outer, name), factors)


def _letter(text: str, name: str) -> Images:
    if text == "V4":
        return families.klein()
    if text[:1].isdigit() or re.match(r"T\d", text):
        return _images(_transitive(text, name))
    if found := re.fullmatch(r"(PSL|PGL|GL)\((\d+), ?(\d+)\)", text):
        return _matrices(found[1], int(found[2]), int(found[3]), name)
    found = re.fullmatch(r"([A-Z])(\d{1,9})", text)
    if not found or found[1] not in _FAMILIES:
        raise _unknown(text, name)
    return _FAMILIES[found[1]](int(found[2]), name)


def _transitive(text: str, name: str) -> str:
    found = transitive_name(text)
    if found is None:
        counts = ", ".join(str(len(groups)) for groups in TRANSITIVE.values())
        raise FirstlightError(
            f"group {name!r}: no transitive group {text!r} is known; expected nTk or Tn.k with a degree n of "
            f"1..{max(TRANSITIVE)}, for which there are {counts}"
        )
    return found


def _matrices(kind: str, dimension: int, field: int, name: str) -> Images:
    if dimension == 2 and kind != "GL":
        return families.projective(field, name, special=kind == "PSL")
    if field == 2:
        return families.linear(dimension, name)
    raise FirstlightError(f"group {name!r}: expected PSL(2,p), PGL(2,p), or PSL(n,2) = GL(n,2)")


def _unknown(text: str, name: str) -> FirstlightError:
    part = "" if text == name else f" {text!r} is"
    return FirstlightError(f"group {name!r}:{part} unknown; expected {_EXPECTED}")
