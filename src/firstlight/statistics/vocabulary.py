"""Finding a token the way people write it."""

import difflib
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

from firstlight.errors import FirstlightError

# How byte-level and SentencePiece vocabularies write a leading space.
_SPACES = ("\u0120", "\u2581")


@dataclass(frozen=True)
class TokenIndex:
    """The ids of a vocabulary.

    Attributes:
        vocabulary: the tokens in order.
    """

    vocabulary: tuple[str, ...]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: index for index, token in reversed(list(enumerate(self.vocabulary)))}

    @property
    def known(self) -> Set[str]:
        """The tokens as the vocabulary writes them."""
        return self._ids.keys()

    def id_of(self, token: str) -> int:
        """Return the id of a token.

        A leading space finds the form in which subword vocabularies write it; so does a word without a space, when the
        vocabulary has no other.
        """
        spaced = [mark + token.removeprefix(" ") for mark in _SPACES]
        candidates = spaced if token.startswith(" ") else [token, token.lower(), *spaced]
        for candidate in candidates:
            if candidate in self._ids:
                return self._ids[candidate]
        near = difflib.get_close_matches(token, self.vocabulary, n=3)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise FirstlightError(f"token {token!r} is not among the {len(self.vocabulary):,} of the vocabulary{hint}")
