"""The closed-form model as a language model (Eq. 12 and 13): the reference model with predicted weights.

    logits = (softmax(mask(X Q X^T + DM(Delta))) X Phi^T B^T + X) B     for one layer, each term times its growth

Beside it stand models that need no training either: equal probabilities, unigrams and bigrams of the same corpus.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.report.progress import Advance
from firstlight.theory.leading import LeadingTerms, Order, leading_terms_along
from firstlight.theory.passes import mean_loss
from firstlight.theory.trained import layers_of, lr_of, weights_at

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.runs import Run
    from firstlight.statistics import Statistics


@dataclass(frozen=True)
class Baselines:
    """Mean cross-entropies, in nats, of models that only count; on the corpus they were counted on.

    Attributes:
        uniform: every token with probability 1/V.
        unigram: next tokens by their frequency.
        bigram: next tokens by their frequency after the current one.
    """

    uniform: float
    unigram: float
    bigram: float


def baselines(stats: "Statistics") -> Baselines:
    """Return the losses of counting models, exactly, from the counts alone."""
    positions = stats.positions
    following = stats.bigrams.next_count[stats.bigrams.next_count > 0] / positions
    counts = stats.bigrams.counts.tocsr()
    current = np.repeat(stats.token_count, np.diff(counts.indptr))
    # Taken from 0, as what is certain has a loss of 0 and not of -0.
    bigram = 0 - float((counts.data / positions) @ np.log(counts.data / current))
    return Baselines(math.log(len(stats.vocabulary)), 0 - float(following @ np.log(following)), bigram)


def compare_losses(
    run: "Run",
    stats: "Statistics",
    corpus: "Corpus",
    steps: Sequence[int],
    windows: Int64[np.ndarray, " window"],
    order: Order,
    advance: Advance,
) -> list[dict[str, Any]]:
    """Return for each checkpoint the losses of the trained model, the closed form, and the models that count.

    Arguments:
        run: the training.
        stats: of its corpus.
        corpus: that corpus.
        steps: of the checkpoints.
        windows: what the first two are measured on.
        order: of the predicted output weight.
        advance: told of windows read.
    """
    counted, rows = asdict(baselines(stats)), []
    predictions = leading_terms_along(stats, steps, lr=lr_of(run), layers=layers_of(run), order=order)
    for step, terms in zip(steps, predictions, strict=True):
        trained = mean_loss(weights_at(run, step), corpus, windows, advance)
        closed = closed_form_loss(terms, corpus, windows, advance)
        rows.append({"step": step, "s_eta": step * lr_of(run), "trained": trained, "closed_form": closed, **counted})
    return rows


def check_readable(stats: "Statistics", corpus: "Corpus") -> None:
    """Raise an error unless weights predicted from statistics can read a corpus: its tokens, and windows as long."""
    if list(corpus.vocabulary) != list(stats.vocabulary):
        raise FirstlightError(
            f"{corpus.path}: its {len(corpus.vocabulary):,} tokens are not those of {stats.path} "
            f"({len(stats.vocabulary):,}); expected a corpus of the same vocabulary"
        )
    if corpus.window > stats.window:
        raise FirstlightError(
            f"{corpus.path}: windows of {corpus.window:,} positions, but {stats.path} has offsets for "
            f"{stats.window:,}; expected no more than that"
        )


def closed_form_loss(
    terms: LeadingTerms, corpus: "Corpus", windows: Int64[np.ndarray, " window"], advance: Advance
) -> float:
    """Return the mean cross-entropy of the reference model with predicted weights.

    Arguments:
        terms: the weights.
        corpus: what it reads.
        windows: which windows of it.
        advance: told of windows read.
    """
    return mean_loss({name: torch.from_numpy(tensor) for name, tensor in terms.items()}, corpus, windows, advance)
