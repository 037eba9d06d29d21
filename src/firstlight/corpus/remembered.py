"""Documents of the first pass, remembered for the second while they are few.

To learn a vocabulary the text is read twice, and reading and splitting a small file takes longer than counting its
words. What is remembered is bounded, so a large corpus needs no more memory than a small one: it is read again.
"""

import sys
from collections.abc import Iterator

from firstlight.corpus.documents import Document
from firstlight.corpus.sources import Source, documents_of

ROOM = 32 * 2**20
"""Bytes of text that are remembered at most."""


class Remembered:
    """The first documents of every source, or nothing once they were too many."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._open = True
        self._held: dict[int, list[Document]] = {}
        self._whole: set[int] = set()

    def documents(self, number: int, source: Source, column: str, seed: int, start: int) -> Iterator[Document]:
        """Yield the documents of a source from number `start` on, and remember those that continue what is held.

        Arguments:
            number: of the source.
            source: the source.
            column: of the text, in sources that have columns.
            seed: of stories.
            start: the number of the first document.
        """
        held = self._held.setdefault(number, [])
        while start < len(held):
            yield held[start]
            start += 1
        if number in self._whole:
            return
        for document in documents_of(source, column, seed, start):
            if self._open and start == len(held):
                self._remember(held, document)
            start += 1
            yield document
        if self._open and start == len(held):
            self._whole.add(number)

    def close(self) -> None:
        """Remember nothing more; what is held stays."""
        self._open = False

    def _remember(self, held: list[Document], document: Document) -> None:
        self._room -= sys.getsizeof(document.text)
        if self._room >= 0:
            held.append(document)
            return
        # Too much for all: a part of it would save nothing, for the rest has to be found by reading from the start.
        self.close()
        self._whole.clear()
        for documents in self._held.values():
            documents.clear()
