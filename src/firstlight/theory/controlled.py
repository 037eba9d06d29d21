"""The theory where the truth is known: predictions from true statistics, from counts of growing N, and training."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from jaxtyping import Float64

from firstlight.corpus import story_truth
from firstlight.reference.training import train
from firstlight.statistics import count
from firstlight.theory.agreement import agreement
from firstlight.theory.closed_form import compare_losses
from firstlight.theory.controlled_corpora import (
    Sampler,
    copy_windows,
    corpus_of,
    some_topics,
    story_windows,
    true_directions,
)
from firstlight.theory.directions import Directions
from firstlight.theory.passes import spread_windows
from firstlight.theory.terms import KINDS, Kind, names_of
from firstlight.theory.trained import weights_at

Truth = dict[Kind, Float64[np.ndarray, "row column"]]
LOSS_WINDOWS = 256


@dataclass(frozen=True)
class Scale:
    """How large the experiments are.

    Attributes:
        topics: of the stories; all when None.
        counts: growing numbers of windows.
        window: T of the stories.
        layers: L.
        lr: the rate for stories.
        steps: for stories.
        symbols: of the copies.
        half: length of the string that is copied.
        copies: windows of copies.
        copy_lr: the rate for copies.
        copy_steps: for copies.
        seeds: of the windows that are drawn; each experiment is done once for every one.
    """

    topics: int | None = None
    counts: tuple[int, ...] = (125, 500, 2000)
    window: int = 64
    layers: int = 2
    lr: float = 0.4
    steps: int = 8
    symbols: int = 16
    half: int = 8
    copies: int = 512
    copy_lr: float = 8.0
    copy_steps: int = 128
    seeds: tuple[int, ...] = (0, 1, 2)


SMOKE = Scale(topics=1, counts=(30, 120), window=20, steps=8, copies=256, copy_steps=64, seeds=(0, 1))
LAPTOP = Scale()


@dataclass(frozen=True)
class Comparison:
    """Cosines of one kind of weight, the mean over layers where weights are trained.

    Attributes:
        corpus: stories or copies.
        seed: of its windows.
        windows: N.
        kind: of the weight.
        step: of the checkpoint that is trained.
        s_eta: step times rate.
        counted_true: of what is counted and the truth; None where the truth is zero or not known.
        counted_other: of what is counted, and counted on as many other windows of the same source.
        trained_counted: of the trained weight and what is counted on the windows it was trained on.
        trained_other: of the trained weight and what is counted on the other windows.
        trained_true: of the trained weight and the truth.
    """

    corpus: str
    seed: int
    windows: int
    kind: Kind
    step: int
    s_eta: float
    counted_true: float | None
    counted_other: float | None
    trained_counted: float | None
    trained_other: float | None
    trained_true: float | None


@dataclass(frozen=True)
class Losses:
    """Mean losses in nats at one checkpoint of one experiment.

    Attributes:
        corpus: stories or copies.
        seed: of its windows.
        windows: N.
        step: of the checkpoint.
        s_eta: step times rate.
        trained: of the trained model.
        closed_form: of the predicted one.
        uniform: of equal probabilities.
        unigram: of token frequencies.
        bigram: of frequencies after the current token.
    """

    corpus: str
    seed: int
    windows: int
    step: int
    s_eta: float
    trained: float
    closed_form: float
    uniform: float
    unigram: float
    bigram: float


@dataclass(frozen=True)
class Controlled:
    """What came of both experiments.

    Attributes:
        scale: how large they were.
        comparisons: at every checkpoint.
        losses: at every checkpoint.
    """

    scale: Scale
    comparisons: tuple[Comparison, ...]
    losses: tuple[Losses, ...]

    def last(self, corpus: str) -> list[Comparison]:
        """Return the comparisons at the last checkpoint of each experiment, of all seeds."""
        rows = [row for row in self.comparisons if row.corpus == corpus]
        end = max(row.step for row in rows)
        return [row for row in rows if row.step == end]


def controlled(folder: Path, scale: Scale = LAPTOP) -> Controlled:
    """Run both experiments; what is in the folder already is not done again.

    Arguments:
        folder: for corpora, statistics and runs.
        scale: how large, and for which seeds.
    """
    grammar = some_topics(scale.topics)
    truth, words = true_directions(grammar, scale.window), list(story_truth.vocabulary(grammar))
    sample = story_windows(grammar, scale.window)
    told = _Source("stories", sample, words, truth, scale.lr, scale.steps)
    symbols = [f"s{number}" for number in range(scale.symbols)]
    copied = copy_windows(scale.symbols, scale.half)
    copies = _Source("copies", copied, symbols, {}, scale.copy_lr, scale.copy_steps)
    sizes = [(told, n, f"stories-{n}") for n in scale.counts] + [(copies, scale.copies, "copies")]
    results = [
        _experiment(folder / f"seed-{seed}" / name, source, n, scale.layers, seed)
        for seed in scale.seeds
        for source, n, name in sizes
    ]
    return Controlled(
        scale, tuple(row for rows, _ in results for row in rows), tuple(row for _, rows in results for row in rows)
    )


@dataclass(frozen=True)
class _Source:
    """Where windows come from, what is true of them, and how a model of them is trained."""

    name: str
    sample: Sampler
    vocabulary: list[str]
    truth: Truth
    lr: float
    steps: int


def _experiment(
    folder: Path, source: _Source, windows: int, layers: int, seed: int
) -> tuple[list[Comparison], list[Losses]]:
    """Count two samples of one source, train on the first, and compare all with all."""
    own, other = (
        corpus_of(source.sample(windows, 2 * seed + number), source.vocabulary, folder / part)
        for number, part in enumerate(("corpus", "other"))
    )
    stats, other_stats = count(own, folder / "statistics"), count(other, folder / "other-statistics")
    run = train(
        own,
        folder / "run",
        layers=layers,
        lr=source.lr,
        steps=source.steps,
        checkpoint_every=source.steps,
        batch_size="full",
        dtype="float64",
    )
    counted, elsewhere, rows = Directions(stats), Directions(other_stats), []
    for step in run.checkpoints:
        weights = {key: tensor.numpy() for key, tensor in weights_at(run, step).items()}
        for kind in KINDS:
            trained = [weights[key] for key in names_of(kind, layers)]
            here, there, true = counted.whole(kind), elsewhere.whole(kind), source.truth.get(kind)
            rows.append(
                Comparison(
                    corpus=source.name,
                    seed=seed,
                    windows=windows,
                    kind=kind,
                    step=step,
                    s_eta=step * source.lr,
                    counted_true=_cosine([here], true),
                    counted_other=_cosine([here], there),
                    trained_counted=_cosine(trained, here),
                    trained_other=_cosine(trained, there),
                    trained_true=_cosine(trained, true),
                )
            )
    chosen = spread_windows(own, LOSS_WINDOWS)
    losses = compare_losses(run, stats, own, list(run.checkpoints), chosen, "leading", lambda amount: None)
    return rows, [Losses(source.name, seed, windows, **row) for row in losses]


def _cosine(
    weights: Sequence[Float64[np.ndarray, "*axes"]], direction: Float64[np.ndarray, "row column"] | None
) -> float | None:
    if direction is None:
        return None
    cosines = [agreement(weight.reshape(direction.shape), direction).cosine for weight in weights]
    known = [cosine for cosine in cosines if cosine is not None]
    return mean(known) if known else None
