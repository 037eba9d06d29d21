"""Windows: where a document of n tokens is cut, and what of it no window covers."""

from dataclasses import dataclass

BEYOND_FIRST = "beyond the first window"
REMAINDER = "remainder of a document"


@dataclass(frozen=True)
class Cuts:
    """The windows of one document.

    Attributes:
        starts: the token each window starts at.
        lengths: how many tokens each holds.
        covered: tokens of the document in at least one window; they are its first ones.
    """

    starts: list[int]
    lengths: list[int]
    covered: int


def cut(n: int, window: int, windows: str, min_tokens: int) -> Cuts:
    """Cut a document of n tokens into windows of T + 1 tokens, the last one shorter if it may be.

    `first` takes the first window alone. `chunk` takes windows at a stride of T: neighbours share one token, so that
    each step from a token to the next is predicted in exactly one window.

    Arguments:
        n: tokens of the document, what was added to it included.
        window: T.
        windows: first or chunk.
        min_tokens: the fewest tokens of a document, and of a short window.
    """
    if n < min_tokens:
        return Cuts([], [], 0)
    if windows == "first":
        length = min(n, window + 1)
        return Cuts([0], [length], length)
    full = (n - 1) // window
    starts = [k * window for k in range(full)]
    lengths = [window + 1] * full
    rest = n - full * window  # the token shared with the last full window included
    if rest >= min_tokens:
        return Cuts([*starts, full * window], [*lengths, rest], n)
    return Cuts(starts, lengths, full * window + 1 if full else 0)


def remainder_reason(windows: str) -> str:
    """Return the ledger's name for tokens of a kept document that no window covers."""
    return BEYOND_FIRST if windows == "first" else REMAINDER
