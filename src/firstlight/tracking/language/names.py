"""Actions by the names users write: `C6`, `S5`, `F20`, `regular:S3`."""

import re
from collections.abc import Callable

from firstlight.errors import FirstlightError
from firstlight.tracking.language import families
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.permutations import check_size, in_order, rows_of

_FAMILIES: dict[str, Callable[[int, str], families.Images]] = {
    "C": families.cyclic,
    "Z": families.cyclic,
    "D": families.dihedral,
    "S": families.symmetric,
    "A": families.alternating,
    "Q": families.dicyclic,
    "F": families.frobenius,
}


def action_named(text: str) -> Action:
    """Return the action a name stands for; elements are in the lexicographic order of their images."""
    return Action(text.strip(), _images(text.strip()))


def _images(text: str) -> families.Images:
    if text.startswith("regular:"):
        images = _images(text.removeprefix("regular:"))
        check_size(len(images), len(images), text)
        products = images[:, images]
        return in_order(rows_of(products.reshape(-1, images.shape[1]), images).reshape(len(images), -1))
    if text == "V4":
        return families.klein(text)
    found = re.fullmatch(r"([A-Z])(\d+)", text)
    if not found or found[1] not in _FAMILIES:
        raise FirstlightError(
            f"group {text!r}: unknown; expected a name such as C6, D5, S5, A5, V4, Q8, F20, regular:S3"
        )
    return _FAMILIES[found[1]](int(found[2]), text)
