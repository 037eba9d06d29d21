"""The end of a build: the books are checked, the manifest is written, and the folder gets its name."""

from pathlib import Path
from typing import Any

from firstlight.corpus.encode import Position
from firstlight.corpus.manifest import checksum, describe, write_manifest
from firstlight.corpus.shards import WindowWriter
from firstlight.corpus.sources import Source
from firstlight.corpus.staging import JOURNAL, write_journal
from firstlight.errors import FirstlightError
from firstlight.files import publish, write_json
from firstlight.report.progress import say


def finish(
    out: Path,
    staging: Path,
    sources: list[Source],
    position: Position,
    writer: WindowWriter,
    vocabulary: list[str],
    facts: dict[str, Any],
) -> None:
    """Close the files, check that the ledger adds up, write the manifest and publish the folder."""
    ledger = position.ledger
    for source in sources:
        if source.changed():
            write_journal(staging, {})
            raise FirstlightError(f"{source.name}: changed while it was read; build again when it is complete")
    shards = writer.close()
    if not ledger.windows:
        write_journal(staging, {})
        raise FirstlightError(f"{out}: no window left of {', '.join(s.name for s in sources)}: {_why(position)}")
    ledger.check()
    write_json(staging / "vocabulary.json", vocabulary)
    kept = ["vocabulary.json", *shards, "origins.npy"]
    kept += ["lengths.npy"] if ledger.short_windows else []
    kept += ["tokenizer.json"] if (staging / "tokenizer.json").exists() else []
    write_manifest(
        staging,
        kept,
        {
            "vocabulary_size": len(vocabulary),
            "windows": ledger.windows,
            "window": writer.window,
            "positions": ledger.positions,
            "short_windows": ledger.short_windows,
            "dtype": writer.dtype.name,
            **facts,
            "sources": _described(sources, position),
            "ledger": ledger.as_dict(),
            "shards": shards,
        },
    )
    # The journal first: a folder with a manifest and no journal is complete, whatever else lies in it.
    (staging / JOURNAL).unlink()
    for path in staging.iterdir():
        if path.name not in (*kept, "manifest.json"):
            path.unlink()
    publish(staging, out)
    if ledger.split_documents:
        say(
            f"{out}: {ledger.split_documents:,} documents too long to hold were split into {ledger.split_parts:,} parts"
        )


def _described(sources: list[Source], position: Position) -> list[dict[str, Any]]:
    described = []
    for number, source in enumerate(sources):
        complete = number < len(position.finished)
        documents = position.finished[number] if complete else 0
        if number == len(position.finished):  # --limit was reached in this one
            documents = position.documents
        if complete and not documents:
            say(f"{source.name}: holds no documents")
        described.append({**describe(source), "documents": documents, **checksum(source, complete)})
    return described


def _why(position: Position) -> str:
    ledger = position.ledger
    if not ledger.documents_read:
        return "no document was found there"
    reasons = sorted(ledger.documents_excluded.items(), key=lambda item: -item[1])[:3]
    counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
    return f"{ledger.documents_read:,} documents read, excluded: {counts}; {_advice(reasons[0][0])}"


def _advice(reason: str) -> str:
    if "vocabulary" in reason:
        return "a larger --vocab-size or --oov unk would keep them"
    if "tokens" in reason:
        return "a smaller --window, or --min-tokens for short windows, would keep them"
    if "characters" in reason:
        return "a smaller --min-chars would keep them"
    if reason == "no text":
        return "--text-column names the column with the text"
    return "expected text in UTF-8 and one JSON object a line in .jsonl"
