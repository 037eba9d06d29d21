import json
from pathlib import Path

import numpy as np
import pytest

from firstlight.corpus import Corpus, build_corpus
from firstlight.reference.training import train
from firstlight.runs import Run
from firstlight.statistics import Statistics, count

VOCABULARY, STEPS, WINDOWS, LAYERS = 60, 20, 200, 3


def zipf_windows(rng: np.random.Generator, count: int, steps: int, vocabulary: int) -> np.ndarray:
    """Draw windows of a chain whose next token depends on the current one, with frequent ids anywhere."""
    weights = 1 / np.arange(1, vocabulary + 1)
    own = rng.permuted(np.tile(weights, (vocabulary, 1)), axis=1)
    transition = own * rng.gamma(0.3, size=own.shape)
    transition /= transition.sum(axis=1, keepdims=True)
    tokens = np.empty((count, steps + 1), np.int32)
    tokens[:, 0] = rng.choice(vocabulary, count, p=weights / weights.sum())
    for t in range(steps):
        draw = rng.random((count, 1))
        tokens[:, t + 1] = np.minimum((transition[tokens[:, t]].cumsum(axis=1) < draw).sum(axis=1), vocabulary - 1)
    return tokens


def corpus_of(windows: np.ndarray, vocabulary: int, folder: Path) -> Corpus:
    np.save(folder / "tokens.npy", windows)
    (folder / "vocabulary.json").write_text(json.dumps([f"w{i}" for i in range(vocabulary)]))
    return build_corpus([f"tokens:{folder / 'tokens.npy'}"], folder / "corpus", vocab=folder / "vocabulary.json")


@pytest.fixture(scope="session")
def windows() -> np.ndarray:
    return zipf_windows(np.random.default_rng(0), WINDOWS, STEPS, VOCABULARY)


@pytest.fixture(scope="session")
def corpus(windows: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of(windows, VOCABULARY, tmp_path_factory.mktemp("theory"))


@pytest.fixture(scope="session")
def stats(corpus: Corpus) -> Statistics:
    return count(corpus, corpus.path.parent / "stats", workers=1)


@pytest.fixture(scope="session")
def run(corpus: Corpus) -> Run:
    """A training the theory speaks about: from zero, full batch, float64."""
    return train(
        corpus, corpus.path.parent / "run", layers=LAYERS, lr=0.01, steps=10, batch_size="full", dtype="float64"
    )


@pytest.fixture(scope="session")
def gaussian_runs(corpus: Corpus) -> list[Run]:
    """Trainings that differ in their seed: from small Gaussian weights, in batches."""
    return [
        train(
            corpus, corpus.path.parent / f"gaussian-{seed}", layers=1, lr=0.5, steps=8, batch_size=50, init="gaussian",
            init_scale=1e-3, dtype="float64", seed=seed,
        )
        for seed in range(3)
    ]  # fmt: skip
