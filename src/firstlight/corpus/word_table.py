"""Words to ids, compiled: one pass over the characters of a text, with a hash table of the words seen.

A word is looked up by a hash of its characters and compared with them, so two words are never taken for one. What kind
of character a character is (letter, white space, or a token by itself) is asked of the regular expressions that define
words, once for each character that ever occurs.
"""

import re
from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

OTHER, LETTER, SPACE, UNASKED = 0, 1, 2, 3

LONGEST = 1_000
"""A run of more letters is no word of a table: it would hold the memory of all others."""

_LETTER = re.compile(r"[^\W\d_]")
_SPACE = re.compile(r"\s")


class WordTable:
    """Numbers words in the order of their first appearance and counts them."""

    def __init__(self, words: list[str] | None = None) -> None:
        """Start empty, or with given words numbered in their order."""
        self._kinds = np.full(0x110000, UNASKED, np.uint8)
        self._clear()
        if words:
            self.scan(words, insert=True)

    def _clear(self) -> None:
        self.types = 0
        self._slots = np.full(1 << 16, -1, np.int32)
        self._hashes = np.zeros(1 << 15, np.uint64)
        self._ends = np.zeros((1 << 15) + 1, np.int64)
        self._pool = np.zeros(1 << 18, np.uint32)
        self._counts = np.zeros(1 << 15, np.int64)

    def scan(self, texts: list[str], insert: bool) -> tuple[Array, Array]:
        """Look up the words of lower-case texts; a word not in the table is added to it, or is -1.

        Arguments:
            texts: some texts; they are scanned together, which is much faster than one by one.
            insert: whether new words are added, and all words counted.

        Returns:
            The ids of all texts, and where those of each text begin, with the end of the last.
        """
        characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        edges = np.cumsum([0, *(len(text) for text in texts)])
        ids, bounds = np.empty(len(characters), np.int32), np.zeros(len(edges), np.int64)
        text, at, filled = 0, 0, 0
        while True:
            text, at, filled, self.types = _scan(
                characters, edges, self._kinds, text, at, filled, ids, bounds, insert, self.types,
                self._slots, self._hashes, self._ends, self._pool, self._counts,
            )  # fmt: skip
            if text == len(texts):
                return ids[:filled], bounds
            if not self._ask(characters[at:]):
                self._grow(len(characters))

    def words(self) -> list[tuple[str, int]]:
        """Return the words with their counts in the order of first appearance."""
        characters = self._pool[: self._ends[self.types]].tobytes().decode("utf-32-le", "surrogatepass")
        ends = self._ends[: self.types + 1].tolist()
        counts = self._counts[: self.types].tolist()
        return [(characters[ends[i] : ends[i + 1]], counts[i]) for i in range(self.types)]

    def take(self) -> list[tuple[str, int]]:
        """Return the words with their counts and forget them."""
        words = self.words()
        self._clear()
        return words

    @property
    def characters(self) -> int:
        """How many characters the words have together."""
        return int(self._ends[self.types])

    def _ask(self, characters: Array) -> bool:
        """Find the kinds of characters met for the first time, and return whether there were any."""
        unasked = set(characters[self._kinds[characters] == UNASKED].tolist())
        for code in unasked:
            character = chr(code)
            kind = LETTER if _LETTER.fullmatch(character) else SPACE if _SPACE.fullmatch(character) else OTHER
            self._kinds[code] = kind
        return bool(unasked)

    def _grow(self, characters: int) -> None:
        """Make room for twice the words, and for the characters of a text whose words are all new."""
        if self.types + 1 >= len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
            self._ends = np.concatenate([self._ends, np.zeros_like(self._ends[1:])])
            self._slots = np.full(2 * len(self._slots), -1, np.int32)
            _refill(self._hashes, self.types, self._slots)
        needed = self.characters + characters
        if needed >= len(self._pool):
            self._pool = np.concatenate([self._pool, np.zeros(max(needed, len(self._pool)), np.uint32)])


@njit(cache=True, nogil=True)
def _scan(
    characters: Array,
    edges: Array,
    kinds: Array,
    text: int,
    at: int,
    filled: int,
    ids: Array,
    bounds: Array,
    insert: bool,
    types: int,
    slots: Array,
    hashes: Array,
    ends: Array,
    pool: Array,
    counts: Array,
) -> tuple[int, int, int, int]:
    """Go on from a character of a text; return early before a word that has no room, or a character of unknown kind."""
    mask = np.uint64(len(slots) - 1)
    while text < len(edges) - 1:
        length = edges[text + 1]
        if at == length:
            text += 1
            bounds[text] = filled
            continue
        kind = kinds[characters[at]]
        if kind == SPACE:
            at += 1
            continue
        end = at + 1
        if kind == LETTER:
            while end < length and kinds[characters[end]] == LETTER:
                end += 1
            kind = kinds[characters[end]] if end < length else LETTER
        if kind == UNASKED:
            return text, at, filled, types
        code = np.uint64(1469598103934665603)
        for place in range(at, end):
            code = (code ^ np.uint64(characters[place])) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
        slot = code & mask
        found = -1
        while slots[slot] >= 0:
            word = slots[slot]
            if hashes[word] == code and _same(characters, at, end, pool, ends[word], ends[word + 1]):
                found = word
                break
            slot = (slot + np.uint64(1)) & mask
        if insert and end - at <= LONGEST:
            if found < 0:
                if types + 1 >= len(hashes) or ends[types] + end - at > len(pool):
                    return text, at, filled, types
                found = types
                slots[slot] = types
                hashes[types] = code
                for place in range(at, end):
                    pool[ends[types] + place - at] = characters[place]
                ends[types + 1] = ends[types] + end - at
                types += 1
            counts[found] += 1
        ids[filled] = found
        filled += 1
        at = end
    return text, at, filled, types


@njit(cache=True, nogil=True)
def _same(characters: Array, at: int, end: int, pool: Array, begin: int, stop: int) -> bool:
    """Whether a word of the text is a word of the table."""
    if end - at != stop - begin:
        return False
    for place in range(end - at):  # noqa: SIM110
        if characters[at + place] != pool[begin + place]:
            return False
    return True


@njit(cache=True, nogil=True)
def _refill(hashes: Array, types: int, slots: Array) -> None:
    """Put all words into an empty, larger table."""
    mask = np.uint64(len(slots) - 1)
    for word in range(types):
        slot = hashes[word] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word
