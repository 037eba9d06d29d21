"""Associations of a token: the entries of a basis function, ranked for reproduction (raw) or for reading (lift)."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from firstlight.errors import FirstlightError
from firstlight.statistics import layout
from firstlight.statistics.basis import ROWS_AT_ONCE, columns_of, context_sums, rows_of

if TYPE_CHECKING:
    from firstlight.statistics.statistics import Basis, Statistics


def associations(
    stats: "Statistics", token: str, basis: "Basis", k: int, score: str, direction: str, min_count: int
) -> list[tuple[str, float]]:
    """Return the k best (token, score); see `Statistics.top`."""
    if score not in ("lift", "raw"):
        raise FirstlightError(f"score {score!r}: expected lift or raw")
    if direction not in ("out", "in"):
        raise FirstlightError(f"direction {direction!r}: expected out or in")
    if k < 1:
        raise FirstlightError(f"k = {k}: expected at least 1")
    chosen = stats.tokens.id_of(token)
    candidates = np.flatnonzero(stats.token_count >= min_count)
    if score == "lift":
        candidates = candidates[candidates != chosen]
    scores = np.full(len(stats.vocabulary), -np.inf)
    if score == "raw":
        scores[candidates] = _line(stats, basis, chosen, direction)[candidates]
    elif basis in ("bigram", "context"):
        scores[candidates] = _lift(stats, basis, chosen, direction)[candidates]
    elif basis == "interchangeability":
        scores[candidates] = _normalised(stats, chosen)[candidates]
    else:
        scores[candidates] = _cosines(stats, basis, chosen, direction, candidates)
    best = np.argsort(-scores, kind="stable")[: min(k, len(candidates))]
    return [(stats.vocabulary[index], float(scores[index])) for index in best]


def _line(stats: "Statistics", basis: "Basis", token: int, direction: str) -> Float64[np.ndarray, " token"]:
    one = np.array([token])
    return np.ravel(rows_of(stats, basis, one) if direction == "out" else columns_of(stats, basis, one))


def _lift(stats: "Statistics", basis: "Basis", token: int, direction: str) -> Float64[np.ndarray, " token"]:
    """Divide the uncentred entries by the product of their margins: 1 is what independence gives."""
    if basis == "bigram":
        counts = stats.bigrams.counts
        line = (counts[[token]] if direction == "out" else counts[:, [token]]).toarray().ravel().astype(float)
        rows, columns = stats.token_count.astype(float), stats.bigrams.next_count.astype(float)
    else:
        line = context_sums(stats, np.array([token]), by_row=direction == "out").ravel()
        # A prefix's shares sum to 1, so the row margins are the counts of next tokens.
        rows, columns = stats.bigrams.next_count.astype(float), layout.read(stats.group, "context_column_sum")
    own, others = (rows[token], columns) if direction == "out" else (columns[token], rows)
    expected = own * others / stats.positions
    scores: np.ndarray = np.divide(line, expected, out=np.zeros_like(line), where=expected > 0)
    return scores


def _normalised(stats: "Statistics", token: int) -> Float64[np.ndarray, " token"]:
    """Return Sigma_ij / sqrt(Sigma_ii Sigma_jj): the cosine of what comes before each of two tokens."""
    counts, size = stats.bigrams.counts, len(stats.alpha)
    beta = (counts.T @ stats.alpha) / stats.positions
    squares = np.asarray(counts.multiply(counts).sum(axis=0)).ravel() / float(stats.positions) ** 2
    diagonal = squares - 2 * beta / size + float(stats.alpha @ stats.alpha) / size**2
    line = _line(stats, "interchangeability", token, "out")
    deviation = np.sqrt(np.maximum(diagonal, np.finfo(float).tiny))
    return np.asarray(line / deviation / deviation[token])


def _cosines(
    stats: "Statistics", basis: "Basis", token: int, direction: str, candidates: np.ndarray
) -> Float64[np.ndarray, " candidate"]:
    """Compare the token's row (or column) with each candidate's, a piece of the matrix at a time."""
    own = _line(stats, basis, token, direction)
    scores = np.zeros(len(candidates))
    for start in range(0, len(candidates), ROWS_AT_ONCE):
        part = candidates[start : start + ROWS_AT_ONCE]
        lines = rows_of(stats, basis, part) if direction == "out" else columns_of(stats, basis, part).T
        size = np.linalg.norm(lines, axis=1) * np.linalg.norm(own)
        scores[start : start + ROWS_AT_ONCE] = np.divide(lines @ own, size, out=np.zeros(len(part)), where=size > 0)
    return scores
