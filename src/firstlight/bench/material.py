"""What benchmarks count: windows of real text when a file is given, of embedded stories or Zipf draws when not."""

import json
from pathlib import Path

import numpy as np

from firstlight.corpus import Corpus, build_corpus


def corpus_of(windows: np.ndarray, vocabulary: int, folder: Path, name: str) -> Corpus:
    """Make a corpus of given windows."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.npy", windows)
    (folder / f"{name}.json").write_text(json.dumps([f"w{i}" for i in range(vocabulary)]))
    return build_corpus([f"tokens:{folder / name}.npy"], folder / name, vocab=folder / f"{name}.json")


def word_windows(text: str, vocabulary: int, steps: int, count: int, folder: Path) -> np.ndarray:
    """Return windows of words from a source, overlapping as much as it takes to make `count` of them."""
    corpus = build_corpus(
        [text], folder / "words", vocab_size=vocabulary - 1, window=64, windows="chunk", oov="unk", min_tokens=2
    )
    return _overlapping(corpus, steps, count)


def subword_windows(text: str, tokenizer: str, steps: int, count: int, folder: Path) -> np.ndarray:
    """Return windows of a tokenizer's tokens from a source, overlapping as much as it takes."""
    corpus = build_corpus([text], folder / "subwords", tokenizer=tokenizer, window=64, windows="chunk", min_tokens=2)
    return _overlapping(corpus, steps, count)


def zipf_windows(vocabulary: int, steps: int, count: int, seed: int = 0) -> np.ndarray:
    """Draw windows with Zipf frequencies in which, as in text, what occurred once is likely to occur again."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(vocabulary) + 2.7)
    cumulative = np.cumsum(weights / weights.sum())
    windows = np.searchsorted(cumulative, rng.random((count, steps + 1))).clip(max=vocabulary - 1)
    # Half of the rarer tokens repeat an earlier one: about 230 distinct tokens in windows of 512, as text has.
    earlier = np.take_along_axis(windows, (rng.random(windows.shape) * np.arange(1, steps + 2)).astype(int), axis=1)
    again = (windows > 100) & (rng.random(windows.shape) < 0.5)
    return np.where(again, earlier, windows)


def _overlapping(corpus: Corpus, steps: int, count: int) -> np.ndarray:
    tokens = np.concatenate(
        [np.asarray(row[: length - 1]) for row, length in zip(corpus.windows, corpus.lengths, strict=True)]
    )
    stride = max(1, (len(tokens) - steps - 1) // count)
    starts = np.arange(count) * stride
    starts = starts[starts + steps + 1 <= len(tokens)]
    # Windows that overlap do not follow each other: as in a corpus, the next window is of other text.
    apart = -(-steps // stride)
    starts = np.concatenate([starts[first::apart] for first in range(apart)])
    return np.stack([tokens[start : start + steps + 1] for start in starts])
