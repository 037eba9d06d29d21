"""Counting words exactly in bounded memory: what does not fit is spilled as sorted runs and merged at the end."""

import heapq
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TYPES = 2_000_000
"""Different words held in memory; more are spilled."""

CHARACTERS = 32 * 2**20
"""Characters of different words held in memory; more are spilled."""


class _Entry(NamedTuple):
    word: str
    times: int
    first: tuple[int, int]  # the run it first appeared in, and its rank there


class WordCounts:
    """Counts words in the order of their first appearance, however many different ones there are."""

    def __init__(self, folder: Path, types: int = TYPES) -> None:
        """Count with at most about `types` different words in memory and the rest in files in the folder."""
        # Imported here: compiled loops take a moment that `import firstlight.corpus` should not.
        from firstlight.corpus.word_table import WordTable

        self._folder = folder
        self._types = types
        self._table = WordTable()
        self._runs: list[Path] = []
        self._any_too_long = False

    def add(self, texts: list[str]) -> None:
        """Count the words of some documents, few enough to be held together."""
        ids, _ = self._table.scan([text.lower() for text in texts], insert=True)
        self._any_too_long = self._any_too_long or bool((ids < 0).any())
        if self._table.types > self._types or self._table.characters > CHARACTERS:
            self._spill()

    def most_frequent(self, number: int) -> tuple[list[str], bool]:
        """Return the most frequent words, ties in the order of first appearance, and whether there are others."""
        types = 0

        def counted() -> Iterator[_Entry]:
            nonlocal types
            for entry in self._entries():
                types += 1
                yield entry

        top = heapq.nsmallest(number, counted(), key=lambda entry: (-entry.times, entry.first))
        for path in self._runs:
            path.unlink()
        return [entry.word for entry in top], types > number or self._any_too_long

    def _entries(self) -> Iterator[_Entry]:
        if not self._runs:
            for rank, (word, count) in enumerate(self._table.words()):
                yield _Entry(word, count, (0, rank))
            return
        if self._table.types:
            self._spill()
        runs = [_read_run(path, number) for number, path in enumerate(self._runs)]
        for word, entries in itertools.groupby(heapq.merge(*runs), key=lambda entry: entry.word):
            same = list(entries)
            yield _Entry(word, sum(entry.times for entry in same), min(entry.first for entry in same))

    def _spill(self) -> None:
        path = self._folder / f"words-{len(self._runs):05d}.run"
        ranked = sorted((word, count, rank) for rank, (word, count) in enumerate(self._table.take()))
        with path.open("w", encoding="utf-8", newline="\n") as file:
            # A word is letters or one visible character, so neither tabs nor line ends occur in it.
            file.writelines(f"{word}\t{count}\t{rank}\n" for word, count, rank in ranked)
        self._runs.append(path)


def _read_run(path: Path, number: int) -> Iterator[_Entry]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            word, count, rank = line.rstrip("\n").split("\t")
            yield _Entry(word, int(count), (number, int(rank)))
