"""The pass that writes: documents are chosen, tokenised in batches and cut into windows, each entered in the ledger."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from firstlight.corpus.documents import Document
from firstlight.corpus.ledger import Ledger
from firstlight.corpus.settings import TextSettings
from firstlight.corpus.shards import WindowWriter
from firstlight.corpus.sources import Source, documents_of
from firstlight.corpus.tokenizers import Tokenizer
from firstlight.corpus.windows import cut, remainder_reason
from firstlight.report.progress import Advance

BATCH_DOCUMENTS = 256
BATCH_CHARACTERS = 2**20
JOURNAL_SECONDS = 1.0

OUTSIDE = "a token outside the vocabulary"


@dataclass
class Position:
    """How far a pass over the sources is: all that is needed to go on from there.

    Attributes:
        finished: the documents of each source that was read to its end.
        documents: those consumed of the source after them.
        passed: documents that were long enough, which `--limit` counts.
        ledger: the account so far.
    """

    finished: list[int] = field(default_factory=list)
    documents: int = 0
    passed: int = 0
    ledger: Ledger = field(default_factory=Ledger)

    @staticmethod
    def from_dict(saved: dict[str, Any]) -> "Position":
        """Return the position that `as_dict` described."""
        return Position(**{**saved, "ledger": Ledger(**saved["ledger"])})

    def as_dict(self) -> dict[str, Any]:
        """Return the position in a form the journal can hold."""
        return asdict(self)


@dataclass(frozen=True)
class Selected:
    """A document to be tokenised, and where it stands: the number of its source, and its own number there."""

    source: int
    number: int
    document: Document


def selected(sources: list[Source], settings: TextSettings, position: Position) -> Iterator[Selected]:
    """Yield the documents long enough, from a position on, moving the position along and entering all others.

    When a document is yielded the position is just after it, and nothing further has been read.
    """
    ledger = position.ledger
    too_short = f"fewer than {settings.min_chars} characters"
    while len(position.finished) < len(sources):
        at = len(position.finished)
        if position.passed == settings.limit:
            return
        for document in documents_of(sources[at], settings.text_column, settings.seed, position.documents):
            position.documents += 1
            ledger.documents_read += 1
            ledger.split_parts += document.part > 0
            ledger.split_documents += document.part == 1
            if document.excluded:
                ledger.exclude_document(document.excluded)
            elif len(document.text) < settings.min_chars:
                ledger.exclude_document(too_short)
            else:
                position.passed += 1
                yield Selected(at, position.documents - 1, document)
                if position.passed == settings.limit:
                    return
        position.finished.append(position.documents)
        position.documents = 0


def encode(
    sources: list[Source],
    settings: TextSettings,
    tokenizer: Tokenizer,
    position: Position,
    writer: WindowWriter,
    record: Callable[[], None],
    advance: Advance,
) -> None:
    """Write the windows of all documents from a position on.

    Arguments:
        sources: where the documents come from.
        settings: which of them are kept, and how they are cut.
        tokenizer: turns texts into ids.
        position: where to start; it is at the end afterwards.
        writer: takes the windows.
        record: is called every few seconds, when what was written and the position agree.
        advance: moves the progress bar by a number of documents.
    """
    recorded = time.monotonic()
    for batch in _batches(selected(sources, settings, position)):
        _write(batch, tokenizer, settings, writer, position.ledger)
        advance(len(batch))
        if time.monotonic() - recorded >= JOURNAL_SECONDS:
            record()
            recorded = time.monotonic()


def _batches(documents: Iterator[Selected]) -> Iterator[list[Selected]]:
    """Group documents, reading no document that is not in the group yielded."""
    batch: list[Selected] = []
    characters = 0
    for chosen in documents:
        batch.append(chosen)
        characters += len(chosen.document.text)
        if len(batch) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _write(
    batch: list[Selected], tokenizer: Tokenizer, settings: TextSettings, writer: WindowWriter, ledger: Ledger
) -> None:
    rows: list[np.ndarray] = []
    lengths: list[int] = []
    origins: list[tuple[int, int, int, int]] = []
    added = np.array([] if tokenizer.bos is None else [tokenizer.bos], np.int32)
    width = settings.window + 1
    padding = np.zeros(width, writer.dtype)
    for chosen, ids in zip(batch, tokenizer.encode([each.document.text for each in batch]), strict=True):
        ledger.tokens_read += len(ids)
        n = len(added) + len(ids)
        if n < settings.min_tokens:
            ledger.exclude_document(f"fewer than {settings.min_tokens} tokens", len(ids))
            continue
        unknown = 0 if tokenizer.unknown is None else int(np.count_nonzero(ids == tokenizer.unknown))
        if unknown and (settings.oov == "exclude" or tokenizer.unknown == tokenizer.size):
            ledger.exclude_document(OUTSIDE, len(ids))
            continue
        cuts = cut(n, settings.window, settings.windows, settings.min_tokens)
        tokens = np.concatenate([added, ids[: cuts.covered - len(added)]]).astype(writer.dtype)
        for start, length in zip(cuts.starts, cuts.lengths, strict=True):
            row = tokens[start : start + length]
            if length < width:
                row = np.concatenate([row, padding[length:]])
            rows.append(row)
            origins.append((chosen.source, chosen.number, chosen.document.place, start))
        lengths += cuts.lengths
        ledger.documents_kept += 1
        ledger.tokens_kept += cuts.covered - len(added)
        ledger.tokens_added += len(added)
        if tokenizer.unknown is not None:
            ledger.tokens_unknown += int(np.count_nonzero(tokens == tokenizer.unknown))
        ledger.exclude_tokens(remainder_reason(settings.windows), n - cuts.covered)
        ledger.windows += len(cuts.lengths)
        ledger.positions += sum(cuts.lengths) - len(cuts.lengths)
        ledger.short_windows += sum(length < width for length in cuts.lengths)
    if rows:
        writer.append(np.stack(rows), np.array(lengths, np.int32), np.array(origins, np.int64))
