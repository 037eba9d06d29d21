import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from firstlight.corpus import Corpus, build_corpus
from tests.reference.dense import VOCABULARY, draw_windows

MakeCorpus = Callable[..., Corpus]


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Small products are slower in several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def make_corpus(tmp_path: Path) -> MakeCorpus:
    """Return a function that builds a corpus from rows of token ids, with windows of T+1 tokens or shorter."""

    def make(windows: np.ndarray, name: str = "corpus", **options: object) -> Corpus:
        np.save(tmp_path / f"{name}.npy", windows)
        (tmp_path / "vocabulary.json").write_text(json.dumps([f"w{i}" for i in range(VOCABULARY)]))
        return build_corpus(
            [f"tokens:{tmp_path / f'{name}.npy'}"],
            tmp_path / name,
            vocab=tmp_path / "vocabulary.json",
            **options,  # type: ignore[arg-type]
        )

    return make


@pytest.fixture
def corpus(make_corpus: MakeCorpus) -> Corpus:
    return make_corpus(draw_windows())
