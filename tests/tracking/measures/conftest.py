"""Small trained runs of both models, made once."""

from dataclasses import replace

import numpy as np
import pytest

from firstlight.runs import Run
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.training import train_practical
from firstlight.tracking.theory_model.settings import settings_for
from firstlight.tracking.theory_model.training import train_theory

VARIABLES = 40


@pytest.fixture(scope="session")
def c3() -> Action:
    return action_named("C3")


@pytest.fixture(scope="session")
def practical_run(c3: Action, tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = Settings(variables=VARIABLES, length=3, steps=160, embedding=8, width=2, checkpoint_every=80)
    return train_practical(c3, tmp_path_factory.mktemp("practical") / "run", settings, threads=1)


@pytest.fixture(scope="session")
def theory_run(c3: Action, tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = replace(
        settings_for(c3), variables=VARIABLES, ffn_steps=400, attention_steps=100, neurons=6, checkpoint_every=20
    )
    return train_theory(c3, tmp_path_factory.mktemp("theory") / "run", settings, threads=1)


def sentences_of(action: Action, length: int, count: int, seed: int = 0) -> Sentences:
    return draw(action, variables=VARIABLES, length=length, count=count, rng=np.random.default_rng(seed))
