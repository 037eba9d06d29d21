"""`firstlight bench bigrams`: bigram counts from text, end to end."""

import tempfile
from pathlib import Path

from firstlight.bench.rows import Row, best_of, row
from firstlight.corpus import build_corpus
from firstlight.corpus.sources import documents_of, parse_sources
from firstlight.errors import FirstlightError
from firstlight.report.progress import say
from firstlight.statistics.bigrams import Bigrams, add, count_segment, no_bigrams
from firstlight.statistics.segments import Workers, segments


def bench_bigrams(workers: int, text: str | None = None) -> list[Row]:
    """Count the bigrams of all documents of a source.

    Arguments:
        workers: threads for ours; the baseline has no use for more than one.
        text: a source; 5,000 of the embedded stories when None.
    """
    source = text or "stories:5000"
    texts = [document.text or "" for document in documents_of(parse_sources([source])[0], "text", 0, 0)]
    with tempfile.TemporaryDirectory() as scratch:
        say("ours: corpus and bigrams")
        found: list[int] = []
        seconds = best_of(3, lambda: found.append(int(_ours(source, Path(scratch), workers).counts.sum())))
    say("baseline: CountVectorizer")
    baseline_seconds = best_of(2, lambda: found.append(_baseline(texts)))
    theirs = found[-1]
    if set(found) != {theirs}:
        raise FirstlightError(f"bench bigrams: the two did not count the same pairs: {sorted(set(found))}")
    work = f"bigram counts of {source.rsplit('/', 1)[-1]}, {len(texts):,} documents, {theirs:,} pairs, from text"
    return [
        row(
            "bigrams",
            work,
            "scikit-learn CountVectorizer(ngram_range=(2, 2)), same tokens",
            seconds,
            baseline_seconds,
            5,
        )
    ]


def _ours(source: str, folder: Path, workers: int) -> Bigrams:
    out = Path(tempfile.mkdtemp(dir=folder)) / "corpus"  # a place of its own: clearing one is no part of counting
    corpus = build_corpus([source], out, vocab_size=2**20, windows="chunk", min_tokens=2)
    total = no_bigrams(len(corpus.vocabulary))
    with Workers(workers) as pool:
        for segment in segments([corpus], 8192):
            total = add(total, count_segment(segment, len(corpus.vocabulary), pool))
    return total


def _baseline(texts: list[str]) -> int:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(ngram_range=(2, 2), token_pattern=r"[^\W\d_]+|[^\s]", lowercase=True)
    return int(vectorizer.fit_transform(texts).sum())
