"""`firstlight corpus`: build a corpus, and show what is in one."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from firstlight.cli.output import Json, print_json
from firstlight.corpus import Corpus, build_corpus, open_corpus
from firstlight.report.tables import format_table

app = typer.Typer(help="Turn text into windows of tokens, with a ledger of what was left out.", no_args_is_help=True)

_SHOWN_TOKENS = 2**24  # token frequencies are counted over at most this many, so that `show` stays quick


@app.command()
def build(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Files (.txt, .jsonl, each also .gz or .zst; .parquet), stories:N, hf:DATASET[:CONFIG][:SPLIT], "
            "tokens:FILE.npy, or - for standard input.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the corpus.")],
    tokenizer: Annotated[str, typer.Option(help="words, bpe, hf:ID, or the path of a tokenizer.json.")] = "words",
    vocab_size: Annotated[int | None, typer.Option(help="Words, or entries of the BPE vocabulary. [3000]")] = None,
    window: Annotated[int | None, typer.Option(help="T: a window has T+1 tokens. [200, or as in tokens:]")] = None,
    windows: Annotated[
        str, typer.Option(help="first: the first window of a document; chunk: all, at a stride of T.")
    ] = "first",
    oov: Annotated[
        str, typer.Option(help="exclude documents with a token outside the vocabulary, or keep it as unk.")
    ] = "exclude",
    limit: Annotated[int | None, typer.Option(help="Stop after this many documents.")] = None,
    min_chars: Annotated[int, typer.Option(help="Leave out documents of fewer characters.")] = 0,
    min_tokens: Annotated[
        int | None, typer.Option(help="Leave out documents of fewer tokens; below T+1 windows may be short. [T+1]")
    ] = None,
    bos: Annotated[str | None, typer.Option(help="A token to put before each document; none unless given.")] = None,
    text_column: Annotated[str, typer.Option(help="Column of the text in .jsonl, .parquet and hf:.")] = "text",
    vocab: Annotated[Path | None, typer.Option(help="JSON list with the token of each id, for tokens:.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of stories:.")] = 0,
    as_json: Json = False,
) -> None:
    """Build a corpus; a build that was killed goes on with the same command."""
    corpus = build_corpus(
        sources,
        out,
        tokenizer=tokenizer,
        vocab_size=vocab_size,
        window=window,
        windows=windows,
        oov=oov,
        limit=limit,
        min_chars=min_chars,
        min_tokens=min_tokens,
        bos=bos,
        text_column=text_column,
        vocab=vocab,
        seed=seed,
        progress=True,
    )
    if as_json:
        print_json(_facts(corpus))
    else:
        print(_summary(corpus))


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the corpus.")],
    number: Annotated[int, typer.Option("-k", min=0, help="How many of the most frequent tokens to show.")] = 20,
    verify: Annotated[bool, typer.Option("--verify", help="Read every file and check its checksum first.")] = False,
    as_json: Json = False,
) -> None:
    """Show counts, the most frequent tokens, and the ledger of what was left out and why."""
    corpus = open_corpus(path)
    if verify:
        corpus.verify()
    counts, counted = _frequencies(corpus)
    order = np.argsort(-counts, kind="stable")[:number].tolist()
    top = [{"id": i, "token": corpus.vocabulary[i], "count": int(counts[i])} for i in order if counts[i]]
    if as_json:
        print_json({**_facts(corpus), "verified": verify, "counted_windows": counted, "tokens": top})
        return
    print(_summary(corpus))
    if top:
        where = "" if counted == len(corpus.windows) else f" in the first {counted:,} windows"
        print(f"\nmost frequent tokens{where}")
        print(format_table(["id", "token", "count"], [[t["id"], repr(t["token"]), t["count"]] for t in top], "rlr"))
    if verify:
        print("\nall files are what the manifest recorded")


def _frequencies(corpus: Corpus) -> tuple[np.ndarray, int]:
    """Count the tokens in the first windows, and return how many windows that was."""
    rows = min(len(corpus.windows), max(1, _SHOWN_TOKENS // (corpus.window + 1)))
    tokens = np.asarray(corpus.windows[:rows])
    if corpus.manifest["short_windows"]:
        tokens = tokens[np.arange(corpus.window + 1) < corpus.lengths[:rows, None]]
    return np.bincount(tokens.reshape(-1), minlength=len(corpus.vocabulary)), rows


def _facts(corpus: Corpus) -> dict[str, Any]:
    names = (
        *("windows", "window", "positions", "short_windows", "vocabulary_size", "dtype"),
        *("tokenizer", "added", "stride", "settings", "sources", "ledger"),
    )
    return {
        "path": str(corpus.path),
        "fingerprint": corpus.fingerprint,
        **{name: corpus.manifest[name] for name in names},
    }


def _summary(corpus: Corpus) -> str:
    manifest = corpus.manifest
    added = manifest["added"].get("bos")
    facts = [
        ["windows", f"{manifest['windows']:,} of {corpus.window + 1:,} tokens"],
        ["short windows", manifest["short_windows"]],
        ["positions", corpus.positions],
        ["vocabulary", f"{manifest['vocabulary_size']:,} ({manifest['tokenizer']['kind']})"],
        ["added", f"{added['token']} at the {added['where']}" if added else "nothing"],
        ["sources", ", ".join(f"{each['name']} ({each['documents']:,} documents)" for each in manifest["sources"])],
    ]
    return f"{format_table(['corpus', str(corpus.path)], facts)}\n\n{_ledger_table(corpus.ledger)}"


def _ledger_table(ledger: dict[str, Any]) -> str:
    documents, tokens = ledger["documents"], ledger["tokens"]
    rows: list[list[Any]] = [["read", documents["read"], tokens["read"]], ["kept", documents["kept"], tokens["kept"]]]
    reasons = [
        *documents["excluded"],
        *(reason for reason in tokens["excluded"] if reason not in documents["excluded"]),
    ]
    rows += [
        [f"excluded: {reason}", documents["excluded"].get(reason, 0), tokens["excluded"].get(reason, 0)]
        for reason in reasons
    ]
    notes = []
    if tokens["added"]:
        notes.append(f"added beside those: {tokens['added']:,} tokens")
    if tokens["unknown"]:
        notes.append(f"kept as unknown: {tokens['unknown']:,} tokens")
    if ledger["split"]["documents"]:
        notes.append(
            f"too long to hold: {ledger['split']['documents']:,} documents, read as {ledger['split']['parts']:,} parts"
        )
    return "\n".join([format_table(["ledger", "documents", "tokens"], rows, "lrr"), *notes])
