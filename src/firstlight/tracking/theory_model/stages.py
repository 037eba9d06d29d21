"""The stages of Algorithms 1 and 2: what is trained, on which sentences, until when."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from firstlight.errors import FirstlightError
from firstlight.tracking.theory_model.settings import TheorySettings


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes:
        name: as the algorithm calls it.
        trains: the weight that changes; the other does not.
        length: L of the sentences.
        queries: the answers after which the next one counts in the loss.
        limit: updates, at most.
        level: the averaged loss that ends it before, as a multiple of the one the stages of true answers ended with;
            None if only the limit ends it.
        labelled: whether the answers are those of the model as it was when the stage began.
    """

    name: str
    trains: Literal["W", "Q"]
    length: int
    queries: tuple[int, ...]
    limit: int
    level: float | None = None
    labelled: bool = False


def algorithm_1(settings: TheorySettings) -> list[Stage]:
    """Return the stages of Algorithm 1: W on one step, then Q on both answers of two steps."""
    return [
        Stage("1", "W", 1, (0,), settings.ffn_steps),
        Stage("2", "Q", 2, (0, 1), settings.attention_steps),
    ]


def algorithm_2(settings: TheorySettings, doublings: int) -> list[Stage]:
    """Return the stages of Algorithm 2: W, Q on the second answer at L = 2, then on its own at L = 4, 8, ...

    Arguments:
        settings: of the training.
        doublings: K; the last length is 2^K.
    """
    if doublings < 2:
        raise FirstlightError(f"stages {doublings}: expected at least 2, whose sentences have L = 4")
    if 2**doublings >= settings.variables:
        raise FirstlightError(
            f"stages {doublings}: sentences of L = {2**doublings} need more than {settings.variables} variables; "
            f"expected at most {(settings.variables - 1).bit_length() - 1}"
        )
    return [
        Stage("1.1", "W", 1, (0,), settings.ffn_steps),
        Stage("1.2", "Q", 2, (1,), settings.attention_steps),
        *(
            Stage(f"L = {2**k}", "Q", 2**k, (1,), settings.stage_limit, settings.level, labelled=True)
            for k in range(2, doublings + 1)
        ),
    ]


def control(updates: Sequence[int]) -> list[Stage]:
    """Return the stages of the control of a self-training: as many updates of Q as each of its stages, all at L = 2."""
    return [Stage(f"control {number}", "Q", 2, (1,), count) for number, count in enumerate(updates, start=1)]
