from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from firstlight.runs import Run
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.parameters import Weights, initial_weights
from firstlight.tracking.theory_model.settings import TheorySettings
from firstlight.tracking.theory_model.training import train_theory

TINY = TheorySettings(variables=9, neurons=8, power=4, radius=0.6, clip=0.4, dtype="float64")

# Learns C3 in two seconds: all of Algorithm 1, with the shapes of a real training.
SMALL = TheorySettings(
    variables=12,
    neurons=8,
    power=4,
    radius=1.0,
    clip=3.0,
    dtype="float64",
    ffn_steps=400,
    ffn_batch=256,
    ffn_rate=5.0,
    variable_rate=5.0,
    attention_steps=200,
    attention_batch=128,
    attention_rate=20.0,
    attention_rate_first=5.0,
    checkpoint_every=100,
    ffn_checkpoint_every=200,
)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Small products are slower in several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_theory(action_named("C3"), tmp_path_factory.mktemp("learnt") / "run", SMALL)


def tiny_model(name: str = "S3", *, scale: float = 2.0, seed: int = 0, **changes: object) -> TheoryModel:
    """Return an untrained model with weights large enough that all cases of sReLU and the clipping occur."""
    action, settings = action_named(name), replace(TINY, **changes)  # type: ignore[arg-type]
    shape = settings.shape(action)
    weights = initial_weights(shape, seed, getattr(torch, settings.dtype))
    draws = torch.Generator().manual_seed(seed)
    Q = torch.randn(weights.Q.shape, generator=draws, dtype=torch.float64).to(weights.Q.dtype)
    model = TheoryModel(action, shape, Weights(weights.W * scale, Q), settings.restricted)
    if settings.restricted:
        blocks = torch.zeros_like(Q)
        model.with_attention(blocks).Q43.copy_(model.Q43)
        model.with_attention(blocks).Q44.copy_(model.Q44)
        model = model.with_attention(blocks)
    return model


def sentences_of(model: TheoryModel, length: int, count: int, seed: int = 0) -> Sentences:
    rng = np.random.default_rng(seed)
    return draw(model.action, variables=model.shape.tokens.variables, length=length, count=count, rng=rng)
