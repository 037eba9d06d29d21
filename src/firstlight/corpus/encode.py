"""The pass that writes: documents are chosen, tokenised in batches and cut into windows, each entered in the ledger."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from firstlight.corpus.documents import Document
from firstlight.corpus.ledger import Ledger
from firstlight.corpus.remembered import Remembered
from firstlight.corpus.settings import TextSettings
from firstlight.corpus.shards import WindowWriter
from firstlight.corpus.sources import Source
from firstlight.corpus.tokenizers import Tokenizer
from firstlight.corpus.windows import cut, remainder_reason
from firstlight.report.progress import Advance

BATCH_DOCUMENTS = 256
BATCH_CHARACTERS = 2**20
ROWS_TOKENS = 2**20
"""Tokens of windows written at once: short documents in long windows are mostly padding."""

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


def selected(
    sources: list[Source], settings: TextSettings, position: Position, remembered: Remembered
) -> Iterator[Selected]:
    """Yield the documents long enough, from a position on, moving the position along and entering all others.

    When a document is yielded the position is just after it, and nothing further has been read.
    """
    ledger = position.ledger
    too_short = f"fewer than {settings.min_chars} characters"
    while len(position.finished) < len(sources):
        at = len(position.finished)
        if position.passed == settings.limit:
            return
        column, seed = settings.text_column, settings.seed
        for document in remembered.documents(at, sources[at], column, seed, position.documents):
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
    remembered: Remembered,
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
        remembered: what the pass before this one read, if there was one.
    """
    recorded = time.monotonic()
    for batch in _batches(selected(sources, settings, position, remembered)):
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
    """Cut a batch of documents into windows and write them; all documents are done at once, as arrays."""
    coded = tokenizer.encode([each.document.text for each in batch])
    ids, sizes = np.concatenate(coded), np.array([len(each) for each in coded], np.int64)
    begins = sizes.cumsum() - sizes
    is_unknown = np.zeros(len(ids), bool) if tokenizer.unknown is None else ids == tokenizer.unknown
    unknown_before = np.concatenate([[0], is_unknown.cumsum()])
    unknown = unknown_before[begins + sizes] - unknown_before[begins]
    added = 0 if tokenizer.bos is None else 1

    ledger.tokens_read += len(ids)
    too_short = sizes + added < settings.min_tokens
    ledger.exclude_documents(f"fewer than {settings.min_tokens} tokens", sizes[too_short])
    outside = np.zeros(len(batch), bool)
    if settings.oov == "exclude" or tokenizer.unknown == tokenizer.size:
        outside = ~too_short & (unknown > 0)
    ledger.exclude_documents(OUTSIDE, sizes[outside])

    kept = np.flatnonzero(~too_short & ~outside)
    begins, sizes = begins[kept], sizes[kept]
    cuts = cut(sizes + added, settings.window, settings.windows, settings.min_tokens)
    ledger.documents_kept += len(kept)
    ledger.tokens_kept += int((cuts.covered - added).sum())
    ledger.tokens_added += added * len(kept)
    ledger.tokens_unknown += int((unknown_before[begins + cuts.covered - added] - unknown_before[begins]).sum())
    ledger.exclude_tokens(remainder_reason(settings.windows), int((sizes + added - cuts.covered).sum()))
    ledger.windows += len(cuts.starts)
    ledger.positions += int((cuts.lengths - 1).sum())
    ledger.short_windows += int((cuts.lengths <= settings.window).sum())
    if not len(cuts.starts):
        return

    chosen = [batch[i] for i in kept]
    of_document = np.array([(each.source, each.number, each.document.place) for each in chosen], np.int64)
    place = np.arange(settings.window + 1)
    step = max(1, ROWS_TOKENS // len(place))
    for first in range(0, len(cuts.starts), step):
        part = slice(first, first + step)
        documents, starts, lengths = cuts.documents[part], cuts.starts[part], cuts.lengths[part]
        # A token that was added stands before the first one of the document's text.
        at = (begins[documents] + starts - added)[:, None] + place
        rows = ids[at.clip(0, len(ids) - 1)]
        if tokenizer.bos is not None:
            rows[starts == 0, 0] = tokenizer.bos
        rows[place >= lengths[:, None]] = 0
        origins = np.column_stack([of_document[documents], starts])
        writer.append(rows.astype(writer.dtype), lengths.astype(np.int32), origins)
