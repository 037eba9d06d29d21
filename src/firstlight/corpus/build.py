"""Building a corpus: documents → tokens → windows, with the ledger, resumable, published at its very end."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from firstlight.corpus.corpus import Corpus, open_corpus
from firstlight.corpus.encode import Position, encode, selected
from firstlight.corpus.finish import finish
from firstlight.corpus.manifest import unchanged
from firstlight.corpus.remembered import Remembered
from firstlight.corpus.settings import LEARNT, Settings, TextSettings, settings_for_text, settings_for_tokens
from firstlight.corpus.shards import SHARD_TOKENS, WindowWriter
from firstlight.corpus.sources import Source, parse_sources
from firstlight.corpus.staging import STDIN, claimed, empty, read_journal, write_journal
from firstlight.corpus.token_arrays import copy_token_arrays, read_vocabulary, width_of
from firstlight.corpus.tokenizers import Pieces, Words, learn_bpe, learn_words, load_pieces, reload
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint, named, sha256_of
from firstlight.report.progress import progress as progress_bar
from firstlight.report.progress import say


def build_corpus(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    tokenizer: str | Path = "words",
    vocab_size: int | None = None,
    window: int | None = None,
    windows: str = "first",
    oov: str = "exclude",
    limit: int | None = None,
    min_chars: int = 0,
    min_tokens: int | None = None,
    bos: str | None = None,
    text_column: str = "text",
    vocab: str | Path | None = None,
    seed: int = 0,
    progress: bool = False,
    shard_tokens: int = SHARD_TOKENS,
) -> Corpus:
    """Turn documents into windows of tokens on disk, and keep the ledger of what was left out and why.

    A build that was killed goes on where it was when called again in the same way; until it ends, `out` is what it
    was before. A corpus that is there already, of the same settings and sources, is opened and returned.

    Arguments:
        sources: files (.txt, .jsonl, .parquet; the first two also .gz or .zst), `stories:N`,
            `hf:DATASET[:CONFIG][:SPLIT]`, `tokens:FILE.npy` or `-` for standard input.
        out: the folder of the corpus.
        tokenizer: `words`, `bpe`, `hf:ID` or the path of a tokenizer.json.
        vocab_size: how many words, or entries of the BPE vocabulary (3000).
        window: T, the positions of a window, which has T+1 tokens (200).
        windows: `first` takes the first window of each document, `chunk` all of them, at a stride of T.
        oov: what happens to a document with a token outside the vocabulary: `exclude`, or `unk` to keep it.
        limit: stop after this many documents (that are not too short for `min_chars`).
        min_chars: leave out documents of fewer characters.
        min_tokens: leave out documents of fewer tokens (T+1); with less than T+1 there are short windows.
        bos: a token to put before each document; none is added unless asked for.
        text_column: the column of .jsonl, .parquet and hf: that holds the text.
        vocab: for `tokens:` a JSON file, the list with the token of each id.
        seed: of `stories:`.
        progress: show a bar on stderr.
        shard_tokens: the most tokens in one file of windows.
    """
    asked = Settings(
        tokenizer=str(tokenizer),
        vocab_size=vocab_size,
        window=window,
        windows=windows,
        oov=oov,
        limit=limit,
        min_chars=min_chars,
        min_tokens=min_tokens,
        bos=bos,
        text_column=text_column,
        vocab=None if vocab is None else str(vocab),
        seed=seed,
    )
    names = [str(name) for name in sources]
    with claimed(out := named(Path(out))) as staging:
        found = parse_sources(names, _copy_stdin(staging) if "-" in names else None)
        build = _build_from_tokens if found[0].kind == "tokens" else _build_from_text
        build(found, asked, out, staging, shard_tokens, progress)
    return open_corpus(out)


def _copy_stdin(staging: Path) -> Path:
    """Copy standard input to the disk: the text is read twice, once to learn the vocabulary."""
    if sys.stdin is None:
        raise FirstlightError("-: standard input is closed; expected text in it")
    path = staging / STDIN
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 2**20)
    return path


def _build_from_text(
    sources: list[Source], asked: Settings, out: Path, staging: Path, shard_tokens: int, show: bool
) -> None:
    settings = settings_for_text(asked)
    given = None if settings.tokenizer in LEARNT else load_pieces(settings.tokenizer, settings.bos)
    if _is_built(out, staging, settings.as_dict(), sources, tokenizer=given.facts["sha256"] if given else None):
        return
    request = fingerprint(
        [settings.as_dict(), [source.identity() for source in sources], given.facts if given else None, shard_tokens]
    )
    journal, remembered = read_journal(staging), Remembered()
    resumes = journal.get("request") == request
    if resumes:
        tokenizer = reload(staging, journal["tokenizer"], settings.oov, settings.bos)
    else:
        empty(staging)
        tokenizer = given or _learn(sources, settings, staging, remembered, show)
        tokenizer.save(staging)
        journal = {"request": request, "tokenizer": tokenizer.facts}
        write_journal(staging, journal)

    remembered.close()
    position = Position.from_dict(journal["encoding"]) if "encoding" in journal else Position()
    if resumes:
        say(f"{out}: resuming after {position.ledger.documents_read:,} documents, with the vocabulary of before")
    dtype = np.uint16 if tokenizer.size <= 2**16 else np.uint32
    added = {}
    if settings.bos is not None:
        added = {"bos": {"token": settings.bos, "id": tokenizer.bos, "where": "start of every document"}}
    facts = {
        "settings": settings.as_dict(),
        "tokenizer": tokenizer.facts,
        "added": added,
        "stride": settings.window if settings.windows == "chunk" else None,
    }
    with WindowWriter(staging, settings.window, dtype, shard_tokens, position.ledger.windows) as writer:

        def record() -> None:
            writer.flush()
            write_journal(staging, {**journal, "encoding": position.as_dict()})

        with progress_bar("writing windows", settings.limit, "documents", show) as advance:
            encode(sources, settings, tokenizer, position, writer, record, advance, remembered)
        finish(out, staging, sources, position, writer, tokenizer.vocabulary(), facts)


def _learn(
    sources: list[Source], settings: TextSettings, staging: Path, remembered: Remembered, show: bool
) -> Words | Pieces:
    size = settings.vocab_size or 0
    with progress_bar("learning the vocabulary", settings.limit, "documents", show) as advance:

        def texts() -> Iterator[str]:
            for chosen in selected(sources, settings, Position(), remembered):
                advance(1)
                yield chosen.document.text

        if settings.tokenizer == "bpe":
            return learn_bpe(texts(), size, settings.bos)
        return learn_words(texts(), staging, size, settings.oov, settings.bos)


def _build_from_tokens(
    sources: list[Source], asked: Settings, out: Path, staging: Path, shard_tokens: int, show: bool
) -> None:
    settings = settings_for_tokens(asked)
    vocabulary_file = Path(settings.vocab)
    vocabulary = read_vocabulary(vocabulary_file)
    checksum = sha256_of(vocabulary_file)
    if _is_built(out, staging, settings.as_dict(), sources, tokenizer=checksum):
        return
    # Copying is quick, so a copy that was interrupted starts again.
    empty(staging)
    window = settings.window or width_of(sources[0]) - 1
    dtype = np.uint16 if len(vocabulary) <= 2**16 else np.uint32
    position = Position()
    facts: dict[str, Any] = {
        "settings": settings.as_dict(),
        "tokenizer": {"kind": "tokens", "sha256": checksum},
        "added": {},
        "stride": None,
    }
    with WindowWriter(staging, window, dtype, shard_tokens) as writer:
        with progress_bar("copying windows", settings.limit, "windows", show) as advance:
            copy_token_arrays(sources, window, len(vocabulary), settings.limit, writer, position, advance)
        finish(out, staging, sources, position, writer, vocabulary, facts)


def _is_built(out: Path, staging: Path, settings: dict[str, Any], sources: list[Source], tokenizer: str | None) -> bool:
    if unchanged(out, settings, sources, tokenizer):
        note = "; the hub is not asked again, remove the folder for that" if _from_hub(sources) else ""
        say(f"{out}: already built{note}")
        shutil.rmtree(staging)
        return True
    if (out / "manifest.json").exists():
        say(f"{out}: holds another corpus, which is replaced when this one is complete")
    return False


def _from_hub(sources: list[Source]) -> bool:
    return any(source.kind == "hf" and source.path is None for source in sources)
