"""Small models, sentences of them, and runs that take a second."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import answer_clauses, predicate_clauses, tokens_of
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.model import PracticalModel
from firstlight.tracking.practical.parameters import Parameters, initial
from firstlight.tracking.practical.settings import Settings

SMALL: dict[str, Any] = {
    "variables": 30,
    "length": 4,
    "batch_size": 6,
    "embedding": 4,
    "slot_weights": (1.0, 1.0, 1.0, 1.0, 1.0),
    "dtype": "float64",
}


@pytest.fixture(scope="session")
def action() -> Action:
    return action_named("S3")


def sentences_of(action: Action, length: int, count: int = 7, seed: int = 0, variables: int = 30) -> Sentences:
    return draw(action, variables=variables, length=length, count=count, rng=np.random.default_rng(seed))


def weights_of(action: Action, settings: Settings) -> Parameters:
    """Return weights of which none is at a value that hides a mistake: scales that are not 1, shifts that are not 0."""
    generator = torch.Generator().manual_seed(1)
    return {
        name: weight + (0.3 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype))
        for name, weight in initial(settings, tokens_of(action, settings.variables)).items()
    }


def block_of(action: Action, **changes: Any) -> Block:
    settings = Settings(**{**SMALL, **changes})
    return Block(settings, tokens_of(action, settings.variables), weights_of(action, settings))


def model_of(action: Action, **changes: Any) -> PracticalModel:
    return PracticalModel(action, block_of(action, **changes))


def clauses_of(sentences: Sentences, block: Block) -> tuple[Tensor, Tensor]:
    predicates, answers = predicate_clauses(sentences, block.tokens), answer_clauses(sentences, block.tokens)
    return torch.from_numpy(predicates), torch.from_numpy(answers)
