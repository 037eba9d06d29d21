"""Text files and JSON lines, plain or compressed, read as a stream of documents in bounded memory."""

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from firstlight.corpus.documents import INVALID_UTF8, NO_TEXT, NOT_JSON, Document, cut_at, decoded, in_parts
from firstlight.errors import FirstlightError

END_OF_TEXT = b"<|endoftext|>"
LINE_BYTES = 256 * 2**20
"""A JSON line longer than this is excluded without being held."""

_PIECE = 2**20
_BOM = b"\xef\xbb\xbf"
_SPACES_AROUND = 64  # a separator with more white space around it than this is not looked for

# Where a separator may be: the mark, or a line of bytes that white space can consist of.
_MARK = re.compile(re.escape(END_OF_TEXT))
_MAYBE_BLANK = re.compile(rb"(?m)^[\s\x1c-\x1f\x80-\xff]*?$")

BLANK_LINES = "blank lines"
END_OF_TEXT_LINES = "lines <|endoftext|>"


@contextmanager
def open_stream(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file for reading the bytes inside it, undoing gzip or Zstandard, told by content or by suffix."""
    with path.open("rb") as raw:
        magic = raw.peek(4)[:4]
        if magic[:2] == b"\x1f\x8b" or (path.suffix.lower() == ".gz" and magic):
            with io.BufferedReader(gzip.GzipFile(fileobj=raw), _PIECE) as stream:
                yield stream
        elif magic == b"\x28\xb5\x2f\xfd" or (path.suffix.lower() == ".zst" and magic):
            # Arrow's reader notices a truncated frame; the stream reader of `zstandard` ends silently there.
            import pyarrow as pa

            opened = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
            with io.BufferedReader(cast(io.RawIOBase, opened), _PIECE) as stream:
                yield stream
        else:
            yield raw


@contextmanager
def damage_named(name: str, seen: Callable[[], int]) -> Iterator[None]:
    """Turn the errors of a damaged or unreadable file into one line that says how far the reading got."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FirstlightError(
            f"{name}: damaged or cut short after {seen():,} documents ({reason}); expected a complete file"
        ) from None


def pieces(stream: io.BufferedIOBase) -> Iterator[tuple[int, bytes, bool, bool]]:
    """Yield (offset, bytes, starts a line, ends it) for the lines of a stream, long ones in pieces, without a BOM."""
    offset, starts = 0, True
    while piece := stream.readline(_PIECE):
        ends = piece.endswith(b"\n") or len(piece) < _PIECE
        if offset == 0 and piece.startswith(_BOM):
            yield len(_BOM), piece[len(_BOM) :], starts, ends
        else:
            yield offset, piece, starts, ends
        offset += len(piece)
        starts = ends


def stretches(
    stream: io.BufferedIOBase, candidate: re.Pattern[bytes], is_separator: Callable[[bytes], bool]
) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (offset, bytes, False) for what is between separator lines and (offset, line, True) for those, in order.

    Lines are looked at one by one only where a candidate was found: the rest goes by in blocks.
    """
    for offset, block, whole in _blocks(stream):
        begin = 0
        for match in candidate.finditer(block) if whole else ():
            start = block.rfind(b"\n", 0, match.start()) + 1
            end = block.find(b"\n", match.end()) + 1 or len(block)
            if begin <= start < len(block) and is_separator(block[start:end]):
                if start > begin:
                    yield offset + begin, block[begin:start], False
                yield offset + start, block[start:end], True
                begin = end
        if begin < len(block):
            yield offset + begin, block[begin:], False


def _blocks(stream: io.BufferedIOBase) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (offset, bytes, are whole lines): many lines at a time, or a piece of a long line; without a BOM."""
    offset = 0
    while block := stream.read(_PIECE):
        ended = block.endswith(b"\n")
        if not ended:
            rest = stream.readline(_PIECE)
            block += rest
            ended = rest.endswith(b"\n") or len(rest) < _PIECE
        read = len(block)
        skipped = len(_BOM) if offset == 0 and block.startswith(_BOM) else 0
        whole = len(block) if ended else block.rfind(b"\n") + 1
        if whole > skipped:
            yield offset + skipped, block[skipped:whole], True
        if not ended:
            start = max(whole, skipped)
            yield offset + start, block[start:], False
        offset += read
        while not ended:
            piece = stream.readline(_PIECE)
            ended = piece.endswith(b"\n") or len(piece) < _PIECE
            if piece:
                yield offset, piece, False
            offset += len(piece)


def find_separator(path: Path, name: str) -> str:
    """Tell what separates the documents of a text file, from all of it: `<|endoftext|>` lines, or else blank lines."""
    with damage_named(name, lambda: 0), open_stream(path) as stream:
        tail = b""
        while block := stream.read(_PIECE):
            if END_OF_TEXT in tail + block:
                break
            tail = block[-len(END_OF_TEXT) :]
        else:
            return BLANK_LINES
    # The mark occurs; whether ever as a line of its own takes the slower look at lines.
    with damage_named(name, lambda: 0), open_stream(path) as stream:
        marked = any(_is_end_of_text(piece) for _, piece, starts, ends in pieces(stream) if starts and ends)
    return END_OF_TEXT_LINES if marked else BLANK_LINES


def text_documents(path: Path, name: str, separator: str) -> Iterator[Document]:
    """Yield the documents of a text file, without the white space around them.

    White space before the first separator and after the last is no document; between two `<|endoftext|>` lines it is
    an empty one. What a document's place points at is its first byte that is not white space.
    """
    seen = 0
    with damage_named(name, lambda: seen), open_stream(path) as stream:
        marked = separator == END_OF_TEXT_LINES
        found = stretches(stream, *((_MARK, _is_end_of_text) if marked else (_MAYBE_BLANK, _is_blank)))
        for document in _separated(found, empty_counts=marked):
            yield document
            seen += 1


def _separated(found: Iterator[tuple[int, bytes, bool]], empty_counts: bool) -> Iterator[Document]:
    held = bytearray()
    place = part = 0
    separated = False
    for offset, piece, is_separator in found:
        if is_separator:
            if held:
                yield _trimmed(held, place, part + 1 if part else 0)
            elif empty_counts and separated and not part:
                yield Document(offset, "")
            held, part, separated = bytearray(), 0, True
            continue
        if held:
            held += piece
        else:
            held += piece.lstrip()
            place = offset + len(piece) - len(held)
        while (cut := cut_at(held)) < len(held):
            part += 1
            yield _trimmed(held[:cut], place, part)
            rest = held[cut:].lstrip()
            place += len(held) - len(rest)
            held = rest
    if held:
        yield _trimmed(held, place, part + 1 if part else 0)


def _trimmed(data: bytearray, place: int, part: int) -> Document:
    # As in Python's text mode, the line ends of Windows are plain line ends.
    return decoded(data.rstrip().replace(b"\r\n", b"\n"), place, part)


def _is_blank(line: bytes) -> bool:
    return _stripped(line) == ""


def _is_end_of_text(line: bytes) -> bool:
    return END_OF_TEXT in line and _stripped(line) == END_OF_TEXT.decode()


def _stripped(line: bytes) -> str | None:
    """Return a line without the white space around it, or None when it is too long to be a separator."""
    bare = line.strip()
    return bare.decode("utf-8", "replace").strip() if len(bare) <= _SPACES_AROUND else None


def json_lines_documents(path: Path, name: str, column: str) -> Iterator[Document]:
    """Yield the texts in a column of a file of JSON lines; its blank lines are no documents."""
    seen = 0
    with damage_named(name, lambda: seen), open_stream(path) as stream:
        for offset, line in _lines(stream):
            for document in _json_document(offset, line, column):
                yield document
                seen += 1


def _lines(stream: io.BufferedIOBase) -> Iterator[tuple[int, bytearray | None]]:
    """Yield (offset, line) for the lines that are not blank, with None in place of a line longer than `LINE_BYTES`."""
    place, held, too_long = 0, bytearray(), False
    for offset, piece, starts, _ in pieces(stream):
        if starts:
            if too_long or held.strip():
                yield place, None if too_long else held
            place, held, too_long = offset, bytearray(), False
        if not too_long:
            held += piece
            if len(held) > LINE_BYTES:
                held, too_long = bytearray(), True
    if too_long or held.strip():
        yield place, None if too_long else held


def _json_document(place: int, line: bytearray | None, column: str) -> Iterator[Document]:
    if line is None:
        yield Document(place, "", f"line longer than {LINE_BYTES // 2**20} MiB")
        return
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        yield Document(place, "", INVALID_UTF8)
        return
    except (ValueError, RecursionError):  # RecursionError: brackets nested thousands deep
        yield Document(place, "", NOT_JSON)
        return
    text = record.get(column) if isinstance(record, dict) else None
    if isinstance(text, str):
        yield from in_parts(text, place)
    else:
        yield Document(place, "", NO_TEXT)
