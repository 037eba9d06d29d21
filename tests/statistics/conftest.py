import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firstlight.corpus import Corpus, build_corpus

MakeCorpus = Callable[..., Corpus]


@pytest.fixture
def make_corpus(tmp_path: Path) -> MakeCorpus:
    """Return a function that builds a corpus from rows of token ids."""
    made = 0

    def make(windows: np.ndarray, vocabulary: int, **options: object) -> Corpus:
        nonlocal made
        made += 1
        np.save(tmp_path / f"tokens-{made}.npy", windows)
        (tmp_path / "vocabulary.json").write_text(json.dumps([f"w{i}" for i in range(vocabulary)]))
        source = f"tokens:{tmp_path / f'tokens-{made}.npy'}"
        return build_corpus([source], tmp_path / f"corpus-{made}", vocab=tmp_path / "vocabulary.json", **options)  # type: ignore[arg-type]

    return make


def zipf_windows(rng: np.random.Generator, count: int, steps: int, vocabulary: int) -> np.ndarray:
    """Draw windows whose tokens have a Zipf distribution, with frequent ids anywhere in the vocabulary."""
    weights = 1 / np.arange(1, vocabulary + 1)
    tokens = rng.choice(vocabulary, (count, steps + 1), p=weights / weights.sum())
    return rng.permutation(vocabulary)[tokens]
