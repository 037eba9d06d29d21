"""Sources: what a name on the command line stands for, and the one stream of documents behind all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.corpus.documents import Document, in_parts
from firstlight.corpus.settings import is_text
from firstlight.corpus.tabular_files import hub_documents, parquet_documents
from firstlight.corpus.text_files import find_separator, json_lines_documents, text_documents
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint, sha256_of

ACCEPTED = (
    ".txt, .jsonl (each also .gz or .zst), .parquet, stories:N, hf:DATASET[:CONFIG][:SPLIT], tokens:FILE.npy, or -"
)


@dataclass(frozen=True)
class Source:
    """Where documents come from.

    Attributes:
        name: as the user wrote it.
        kind: text, jsonl, parquet, stories, hf or tokens.
        path: the file, or the local folder of a data set, if it is one.
        detail: for text what separates its documents, for hf the data set, for stories how many.
        size: bytes of the file or of all files in the folder.
        stamp: their last time of change in nanoseconds, to notice that one changed while or since it was read.
    """

    name: str
    kind: str
    path: Path | None = None
    detail: str = ""
    size: int = 0
    stamp: int = field(default=0, compare=False)

    def identity(self) -> tuple[str, str, str, int, int | str]:
        """Return what a resumed build compares to tell whether this is still the same source."""
        # Standard input is copied anew each time, so its content tells rather than the time of the copy.
        stamp = self.checksum() if self.name == "-" else self.stamp
        return self.name, self.kind, self.detail, self.size, stamp

    def changed(self) -> bool:
        """Tell whether the file is no longer the one that was found at the start."""
        if self.path is None:
            return False
        return _size_and_stamp(self.path) != (self.size, self.stamp)

    def checksum(self) -> str:
        """Return a SHA-256 of the content of the file, or of all files in the folder and their names."""
        if self.path is None:
            raise AssertionError(f"source {self.name} has no file")
        if self.path.is_file():
            return sha256_of(self.path)
        return fingerprint([[str(file.relative_to(self.path)), sha256_of(file)] for file in _files_in(self.path)])


def parse_sources(names: Sequence[str | Path], stdin: Path | None = None) -> list[Source]:
    """Return the sources that names stand for; what is not there or not accepted is an error.

    Arguments:
        names: as on the command line.
        stdin: the file that standard input was copied to, if `-` is among the names.
    """
    if not names:
        raise FirstlightError(f"no source given; expected {ACCEPTED}")
    sources = [_parse(str(name), stdin) for name in names]
    if len({source.kind == "tokens" for source in sources}) > 1:
        raise FirstlightError("tokens: files cannot be mixed with sources of text")
    return sources


def _parse(name: str, stdin: Path | None) -> Source:
    if name == "-":
        if stdin is None:
            raise AssertionError("standard input was not copied before it was parsed")
        return _file(name, "text", stdin)
    if not is_text(name):
        raise FirstlightError(f"{name}: a name that is not UTF-8; the manifest could not hold it, rename the file")
    prefix, colon, rest = name.partition(":")
    if colon and prefix == "stories":
        if not rest.isdecimal() or len(rest) > 18 or int(rest) < 1:
            raise FirstlightError(f"{name}: expected stories:N with a number of stories, such as stories:20000")
        return Source(name, "stories", detail=str(int(rest)))
    if colon and prefix == "hf":
        if not rest:
            raise FirstlightError(f"{name}: expected hf:DATASET[:CONFIG][:SPLIT]")
        folder = Path(rest.partition(":")[0])
        if not folder.is_dir():
            return Source(name, "hf", detail=rest)
        return Source(name, "hf", folder, rest, *_size_and_stamp(folder))
    if colon and prefix == "tokens":
        return _file(name, "tokens", Path(rest))
    path = Path(name)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    kind = {".txt": "text", ".jsonl": "jsonl", ".parquet": "parquet"}.get(suffixes[-1] if suffixes else "")
    if kind is None or (kind == "parquet" and path.suffix.lower() != ".parquet"):
        what = "a folder" if path.is_dir() else "an unknown kind of source" if path.exists() else "not found"
        raise FirstlightError(f"{name}: {what}; expected {ACCEPTED}")
    return _file(name, kind, path)


def _file(name: str, kind: str, path: Path) -> Source:
    if path.is_dir():
        raise FirstlightError(f"{name}: a folder; expected {ACCEPTED}")
    if path.exists() and not path.is_file():
        raise FirstlightError(f"{name}: not a regular file, and sources are read twice; use - to read a stream")
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise FirstlightError(f"{name}: file not found") from None
    except OSError as error:
        raise FirstlightError(f"{name}: cannot be read: {error.strerror}") from None
    separator = find_separator(path, name) if kind == "text" else ""
    return Source(name, kind, path, separator, *_size_and_stamp(path))


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _size_and_stamp(path: Path) -> tuple[int, int]:
    states = [file.stat() for file in (_files_in(path) if path.is_dir() else [path])]
    return sum(state.st_size for state in states), max((state.st_mtime_ns for state in states), default=0)


def documents_of(source: Source, column: str, seed: int, start: int) -> Iterator[Document]:
    """Yield the documents of a source from number `start` on, of whatever kind it is."""
    if source.kind == "stories":
        # Only sources that ask for the grammar pay for importing it.
        from firstlight.corpus.stories import stories

        count = int(source.detail)
        for index, text in enumerate(stories(count - start, seed=seed, start=start), start):
            yield from in_parts(text, index)
        return
    documents = _read(source, column)
    for _ in range(start):
        if next(documents, None) is None:
            raise FirstlightError(
                f"{source.name}: ends before document {start:,}, where the build was stopped; "
                "remove the .partial folder beside --out and build again"
            )
    yield from documents


def _read(source: Source, column: str) -> Iterator[Document]:
    if source.kind == "hf":
        return hub_documents(source.detail, source.name, column)
    if source.path is None:
        raise AssertionError(f"source {source.name} of kind {source.kind} has no file")
    if source.kind == "text":
        return text_documents(source.path, source.name, source.detail)
    if source.kind == "jsonl":
        return json_lines_documents(source.path, source.name, column)
    return parquet_documents(source.path, source.name, column)
