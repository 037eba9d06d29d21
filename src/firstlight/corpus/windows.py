"""Windows: where documents of n tokens are cut, and what of them no window covers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

BEYOND_FIRST = "beyond the first window"
REMAINDER = "remainder of a document"


@dataclass(frozen=True)
class Cuts:
    """The windows of some documents, document by document.

    Attributes:
        documents: the document of each window, by its place among those that were cut.
        starts: the token each window starts at.
        lengths: how many tokens each holds.
        covered: for each document, its tokens in at least one window; they are its first ones.
    """

    documents: Int64[np.ndarray, " window"]
    starts: Int64[np.ndarray, " window"]
    lengths: Int64[np.ndarray, " window"]
    covered: Int64[np.ndarray, " document"]


def cut(n: Int64[np.ndarray, " document"], window: int, windows: str, min_tokens: int) -> Cuts:
    """Cut documents into windows of T + 1 tokens, the last one of a document shorter if it may be.

    `first` takes the first window alone. `chunk` takes windows at a stride of T: neighbours share one token, so that
    each step from a token to the next is predicted in exactly one window.

    Arguments:
        n: tokens of each document, what was added to it included.
        window: T.
        windows: first or chunk.
        min_tokens: the fewest tokens of a document, and of a short window.
    """
    long_enough = n >= min_tokens
    if windows == "first":
        documents = np.flatnonzero(long_enough)
        lengths = np.minimum(n[documents], window + 1)
        return Cuts(documents, np.zeros_like(lengths), lengths, np.where(long_enough, np.minimum(n, window + 1), 0))
    full = (n - 1) // window * long_enough
    # The rest shares its first token with the last full window.
    has_rest = long_enough & (n - full * window >= min_tokens)
    counts = full + has_rest
    documents = np.repeat(np.arange(len(n)), counts)
    starts = (np.arange(len(documents)) - np.repeat(counts.cumsum() - counts, counts)) * window
    covered = np.where(has_rest, n, np.where(full > 0, full * window + 1, 0))
    return Cuts(documents, starts, np.minimum(window + 1, n[documents] - starts), covered)


def remainder_reason(windows: str) -> str:
    """Return the ledger's name for tokens of a kept document that no window covers."""
    return BEYOND_FIRST if windows == "first" else REMAINDER
