"""Documents: what every kind of source delivers, and how one too long to hold is delivered in parts."""

from collections.abc import Iterator
from typing import NamedTuple

PART_BYTES = 4 * 2**20
"""A document longer than this, in bytes of UTF-8, is delivered in parts, each a document of its own."""

INVALID_UTF8 = "invalid UTF-8"
NO_TEXT = "no text"
NOT_JSON = "not JSON"

_WHITE_SPACE = b" \t\n\r\f\v"


class Document(NamedTuple):
    """One document of a source, or the reason why there is none where one was expected.

    Attributes:
        place: where it starts: a byte offset in the decompressed stream, a row number, or the index of a story.
        text: the text; empty when `excluded` says why it could not be had.
        excluded: why there is no text, or empty.
        part: 0 for a whole document; 1, 2, ... for the parts of one that was too long.
    """

    place: int
    text: str
    excluded: str = ""
    part: int = 0


def decoded(data: bytes | bytearray, place: int, part: int = 0) -> Document:
    """Return the document some bytes of UTF-8 are, or its exclusion when they are something else."""
    try:
        return Document(place, data.decode("utf-8"), part=part)
    except UnicodeDecodeError:
        return Document(place, "", INVALID_UTF8, part)


def in_parts(text: str, place: int) -> Iterator[Document]:
    """Yield a document that was delivered as a string: whole, or in parts when it is too long."""
    if len(text) * 4 <= PART_BYTES and text.isascii():
        yield Document(place, text)
        return
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell and no text contains
        yield Document(place, "", INVALID_UTF8)
        return
    if len(data) <= PART_BYTES:
        yield Document(place, text)
        return
    start, part = 0, 0
    while start < len(data):
        end = start + cut_at(data[start : start + PART_BYTES + 1])
        part += 1
        yield decoded(data[start:end], place, part)
        start = end


def cut_at(data: bytes | bytearray) -> int:
    """Return where to cut the first part off some bytes: before the last white space that leaves at most `PART_BYTES`.

    Without white space the cut falls between two characters; bytes that fit are not cut.
    """
    if len(data) <= PART_BYTES:
        return len(data)
    cut = max(data.rfind(space, 1, PART_BYTES + 1) for space in _WHITE_SPACE)
    if cut > 0:
        return cut
    cut = PART_BYTES
    while cut > PART_BYTES - 4 and data[cut] & 0b1100_0000 == 0b1000_0000:  # inside a character of several bytes
        cut -= 1
    return cut
