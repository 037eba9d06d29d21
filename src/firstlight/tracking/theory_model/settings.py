"""What a training of the theory model is asked for, and what worked for each size of action."""

import math
from dataclasses import dataclass

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.tokens import SLOTS, tokens_of
from firstlight.tracking.theory_model.shape import VARIABLE_SLOT, Shape

POWERS = (2, 4, 6, 8)


@dataclass(frozen=True)
class TheorySettings:
    """Everything that decides the trajectory of a training, beside the action.

    Attributes:
        variables: |X|.
        power: q of the smooth ReLU, even.
        radius: ρ, where it becomes straight.
        neurons: m, neurons of each output token.
        clip: C_B; logits are clipped above at C_B ln d.
        leak: ϖ, the slope below zero of Assumption B.2; 0 for none.
        restricted: whether Q is trained in its blocks (4,3) and (4,4) alone (Assumption 3.5), or everywhere.
        ffn_steps: updates of W on one-step sentences.
        ffn_batch: sentences an update of W.
        ffn_rate: of W, but for slot 4.
        variable_rate: of W's slot 4. Each of |X| variables is met |X| times as seldom as the blank and |X| / n times as
            seldom as a value, so at one rate for all slots, as Algorithm 1 has it, slot 4 is learnt long after the
            others. Slots share no weight, so a rate of its own changes nothing but the time that slot takes.
        attention_steps: updates of Q at L = 2.
        attention_batch: sentences an update of Q.
        attention_rate: of Q, once it has warmed up.
        attention_rate_first: of Q at first.
        attention_rate_growth: how much the rate grows a step until it is reached.
        level: a stage of self-training ends when its loss is below this many times the loss that L = 2 ended with,
            both averaged over `level_window` updates: when L is solved as well as L = 2 was. (Algorithm 2 asks for
            1/d^E with an E that is not given; what W has not learnt bounds the loss from below at all lengths.)
        level_window: updates of that average, and the fewest of a stage.
        stage_limit: the most updates of a stage of self-training.
        dtype: `float32` or `float64`.
        seed: of initial weights and sentences.
        checkpoint_every: steps between checkpoints of Q; those of W are a hundred times as large and kept where stages
            begin and end, and at multiples of `ffn_checkpoint_every` if that is not 0.
        ffn_checkpoint_every: steps between further checkpoints of W.
    """

    variables: int = 170
    power: int = 6
    radius: float = 1.5
    neurons: int = 12
    clip: float = 2.0
    leak: float = 0.0
    restricted: bool = True
    ffn_steps: int = 3000
    ffn_batch: int = 1024
    ffn_rate: float = 10.0
    variable_rate: float = 200.0
    attention_steps: int = 1200
    attention_batch: int = 512
    attention_rate: float = 200.0
    attention_rate_first: float = 10.0
    attention_rate_growth: float = 1.0
    level: float = 1.0
    level_window: int = 50
    stage_limit: int = 1500
    dtype: str = "float32"
    seed: int = 0
    checkpoint_every: int = 200
    ffn_checkpoint_every: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        if self.power not in POWERS:
            raise FirstlightError(f"power q = {self.power}: expected one of {', '.join(map(str, POWERS))}")
        if self.dtype not in ("float32", "float64"):
            raise FirstlightError(f"--dtype {self.dtype!r}: expected float32 or float64")
        if self.seed < 0:
            raise FirstlightError(f"--seed {self.seed}: expected 0 or more")
        if not 0 <= self.leak < math.inf:
            raise FirstlightError(f"leak {self.leak}: expected 0 or more")
        for name in ("radius", "clip", "ffn_rate", "variable_rate", "attention_rate", "attention_rate_first", "level"):
            if not 0 < getattr(self, name) < math.inf:
                raise FirstlightError(f"{name} {getattr(self, name)}: expected a positive number")
        for name in ("neurons", "ffn_batch", "attention_batch", "level_window", "stage_limit", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise FirstlightError(f"{name} {getattr(self, name)}: expected at least 1")
        for name in ("ffn_steps", "attention_steps", "attention_rate_growth", "ffn_checkpoint_every"):
            if getattr(self, name) < 0:
                raise FirstlightError(f"{name} {getattr(self, name)}: expected 0 or more")
        if self.variables < 3:
            raise FirstlightError(f"--variables {self.variables}: expected at least 3, for sentences of two actions")

    def shape(self, action: Action) -> Shape:
        """Return the sizes of the model for sentences over an action."""
        tokens = tokens_of(action, self.variables)
        return Shape(tokens, self.neurons, self.power, self.radius, self.leak, self.clip)

    def attention_rate_at(self, update: int) -> float:
        """Return the rate of the update of Q that follows so many updates of Q."""
        return min(self.attention_rate, self.attention_rate_first + update * self.attention_rate_growth)

    @property
    def slot_rates(self) -> tuple[float, ...]:
        """The rate of each slot of W."""
        return tuple(self.variable_rate if slot == VARIABLE_SLOT else self.ffn_rate for slot in range(SLOTS))


def settings_for(action: Action) -> TheorySettings:
    """Return settings that work for an action of its size.

    The number of pairs (g, y) to learn decides: each is met in 1/(|G| n) of the sentences, so more of them need a
    larger rate and more updates. Seen to work for 36 pairs with C6 and regular S3, 50 with D5, 96 with S4, 100 with
    F20 and 600 with S5; what lies between goes with the next larger. Neurons are two for each value, so that each of
    the n pairs (or fibres) of an output finds a neuron of its own, and at least 12.
    """
    pairs = action.order * action.degree
    if pairs <= 60:
        rate, steps = 10.0, 3000
    elif pairs <= 120:
        rate, steps = 20.0, 3000
    else:
        rate, steps = 40.0, 4000
    return TheorySettings(ffn_rate=rate, ffn_steps=steps, neurons=max(12, 2 * action.degree))
