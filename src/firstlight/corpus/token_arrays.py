"""`tokens:FILE.npy`: windows of token ids somebody else made, checked and copied."""

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Integer

from firstlight.corpus.encode import Position
from firstlight.corpus.settings import is_text
from firstlight.corpus.shards import WindowWriter
from firstlight.corpus.sources import Source
from firstlight.errors import FirstlightError
from firstlight.files import read_json
from firstlight.report.progress import Advance

_BLOCK_TOKENS = 2**22


def read_vocabulary(path: Path) -> list[str]:
    """Return the tokens a JSON list names, each at the place of its id."""
    vocabulary: Any = read_json(path, "the vocabulary (--vocab)")
    if not isinstance(vocabulary, list) or not vocabulary:
        raise FirstlightError(
            f"{path}: expected a JSON list with the token of each id, came {type(vocabulary).__name__}"
        )
    seen: dict[str, int] = {}
    for number, token in enumerate(vocabulary):
        if not isinstance(token, str):
            raise FirstlightError(f"{path}: entry {number} is {type(token).__name__}, expected a string")
        if not is_text(token):
            raise FirstlightError(f"{path}: entry {number} is {token!r}, which has half of a character: not text")
        if token in seen:
            raise FirstlightError(f"{path}: {token!r} is both entry {seen[token]} and entry {number}")
        seen[token] = number
    return vocabulary


def open_token_array(source: Source, window: int | None) -> Integer[np.ndarray, "window place"]:
    """Open an array of N x (T+1) integers, memory-mapped."""
    if source.path is None:
        raise AssertionError("a tokens: source is a file")
    name = source.name
    try:
        array = np.load(source.path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FirstlightError(f"{name}: not a complete .npy file: {' '.join(str(error).split())}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise FirstlightError(f"{name}: an archive of arrays, expected one array of N x (T+1) integers")
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.integer):
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise FirstlightError(f"{name}: {shape} of {array.dtype}, expected an array of N x (T+1) integers")
    if array.shape[1] < 2:
        raise FirstlightError(f"{name}: windows of {array.shape[1]} tokens, expected at least 2")
    if window is not None and array.shape[1] != window + 1:
        raise FirstlightError(
            f"{name}: windows of {array.shape[1]} tokens, expected {window + 1} for --window {window} (T + 1)"
        )
    return array


def width_of(source: Source) -> int:
    """Return T + 1 as an array has it."""
    return int(open_token_array(source, None).shape[1])


def copy_token_arrays(
    sources: list[Source],
    window: int,
    vocabulary_size: int,
    limit: int | None,
    writer: WindowWriter,
    position: Position,
    advance: Advance,
) -> None:
    """Write the windows of all sources, each entered in the ledger as a document."""
    ledger = position.ledger
    step = max(1, _BLOCK_TOKENS // (window + 1))
    for number, source in enumerate(sources):
        array = open_token_array(source, window)
        rows = len(array) if limit is None else min(len(array), limit - ledger.windows)
        for start in range(0, rows, step):
            block = np.asarray(array[start : min(start + step, rows)])
            _check_ids(block, start, source.name, vocabulary_size)
            place = np.arange(start, start + len(block))
            origins = np.stack([np.full_like(place, number), place, place, np.zeros_like(place)], axis=1)
            writer.append(block, np.full(len(block), window + 1, np.int32), origins)
            ledger.windows += len(block)
            advance(len(block))
        if rows < len(array):
            position.documents = rows
            break
        position.finished.append(rows)
    ledger.documents_read = ledger.documents_kept = ledger.windows
    ledger.positions = ledger.windows * window
    ledger.tokens_read = ledger.tokens_kept = ledger.windows * (window + 1)


def _check_ids(block: Integer[np.ndarray, "row place"], start: int, name: str, vocabulary_size: int) -> None:
    if block.size == 0 or (block.min() >= 0 and block.max() < vocabulary_size):
        return
    row, column = np.argwhere((block < 0) | (block >= vocabulary_size))[0]
    raise FirstlightError(
        f"{name}: token id {block[row, column]} in row {start + row}, column {column} is outside the vocabulary "
        f"of {vocabulary_size:,} entries (ids 0..{vocabulary_size - 1})"
    )
