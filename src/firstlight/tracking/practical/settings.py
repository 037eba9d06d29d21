"""Every choice of the practical model and its training; the defaults are those that learn C6 and S5."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from firstlight.errors import FirstlightError
from firstlight.tracking.language.tokens import SLOTS

POSITIONS = ("none", "sinusoidal", "learned", "rope", "alibi")
DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Settings:
    """Everything that decides a trajectory but the action.

    Attributes:
        variables: |X|.
        length: L, actions in each training sentence.
        steps: updates.
        batch_size: sentences an update.
        lr: rate of Adam.
        betas: its decay rates.
        adam_eps: what it adds to the root of the second moment.
        heads: of the attention.
        embedding: numbers a slot.
        embedding_std: standard deviation of their initial values. It decides whether S5 is learnt.
        width: hidden units of the feed-forward part, as a multiple of the width of a clause.
        residual: whether attention and feed-forward part add to what they read, or replace it.
        layer_norm: whether there is one before each part and before the read-out.
        slot_weights: weight of each slot in the loss; a slot of weight 0 has no read-out and counts as blank.
        positions: `none`, `sinusoidal`, `learned`, `rope` or `alibi`.
        position_rows: rows of learned positions; a longer sequence is an error.
        position_std: standard deviation of their initial values.
        convolution: clauses that a causal convolution before the block reads, its own included; 0 for none.
        dtype: `float32` or `float64`.
        seed: of the initial weights and of all sentences.
        checkpoint_every: checkpoints are kept at 0, 1, 2, 4, ..., 512, at multiples of this, and at the last step.
        accuracy_every: steps between roll-outs at the training length, for the metrics.
    """

    variables: int = 170
    length: int = 5
    steps: int = 1500
    batch_size: int = 128
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    adam_eps: float = 1e-8
    heads: int = 2
    embedding: int = 16
    embedding_std: float = 1.0
    width: int = 4
    residual: bool = True
    layer_norm: bool = True
    slot_weights: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 1.0, 1.0)
    positions: str = "none"
    position_rows: int = 1024
    position_std: float = 0.02
    convolution: int = 0
    dtype: str = "float32"
    seed: int = 0
    checkpoint_every: int = 500
    accuracy_every: int = 100

    def __post_init__(self) -> None:
        for name in ("length", "batch_size", "heads", "embedding", "width", "checkpoint_every", "accuracy_every"):
            _at_least(name, getattr(self, name), 1)
        for name in ("steps", "convolution", "seed"):
            _at_least(name, getattr(self, name), 0)
        for name in ("lr", "adam_eps", "embedding_std", "position_std"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise FirstlightError(f"{option(name)} {value}: expected a positive number")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise FirstlightError(f"--betas {self.betas}: expected two numbers from 0 to below 1")
        if self.length >= self.variables:
            raise FirstlightError(
                f"--length {self.length} with --variables {self.variables}: expected a length of at most "
                f"{self.variables - 1}, for a sentence has one variable more"
            )
        if self.clause_width % self.heads:
            raise FirstlightError(
                f"--heads {self.heads}: expected a divisor of {self.clause_width}, the width of a clause"
            )
        if self.positions == "rope" and self.clause_width // self.heads % 2:
            raise FirstlightError(
                f"--positions rope: expected heads of even width, got {self.clause_width}/{self.heads}"
            )
        if self.positions not in POSITIONS:
            raise FirstlightError(f"--positions {self.positions!r}: expected one of {', '.join(POSITIONS)}")
        if self.dtype not in DTYPES:
            raise FirstlightError(f"--dtype {self.dtype!r}: expected one of {', '.join(DTYPES)}")
        weights = self.slot_weights
        if len(weights) != SLOTS or not all(math.isfinite(w) and w >= 0 for w in weights) or not all(weights[3:]):
            raise FirstlightError(
                f"--slot-weights {weights}: expected five numbers of at least 0, those of variable and value positive"
            )

    @property
    def clause_width(self) -> int:
        """Numbers of a clause: the slots' embeddings one after the other."""
        return SLOTS * self.embedding

    @property
    def read_out_slots(self) -> tuple[int, ...]:
        """The slots that are predicted, from 0."""
        return tuple(slot for slot, weight in enumerate(self.slot_weights) if weight)

    def as_json(self) -> dict[str, Any]:
        """Return the settings as a manifest holds them."""
        return {**asdict(self), "betas": list(self.betas), "slot_weights": list(self.slot_weights)}


def settings_from(document: dict[str, Any]) -> Settings:
    """Return the settings that `as_json` wrote."""
    return Settings(**{**document, "betas": tuple(document["betas"]), "slot_weights": tuple(document["slot_weights"])})


def option(name: str) -> str:
    """Return how the command line spells a setting."""
    return "--" + name.replace("_", "-")


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise FirstlightError(f"{option(name)} {value}: expected at least {least}")
