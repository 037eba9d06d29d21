"""The three theorems of the paper: when they hold, how far, and what they bound.

    theorem  layers, start                    valid while s lr <=               output, value, attention and position
    D.6      1, from zero                     3 / (8 T^(3/8))                   3x^2,  4x^3,   6x^5 T      x = s lr
    D.9      L <= sqrt(T) / 4, from zero      min(1 / (12 L), 5 / (8 sqrt T))   3x^2, 12x^3,  13x^5 T
    D.12     as D.9, from small Gaussians     as D.9                            as D.9, with a probability

Bounds are on the Frobenius norm of the deviation from the leading term.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from firstlight.theory.terms import Kind

# The same scale computed in another order differs in its last digit.
ROUNDING = 1e-12

_FACTORS: dict[str, dict[Kind, float]] = {
    "D.6": {"output": 3, "value": 4, "attention": 6, "position": 6},
    "D.9": {"output": 3, "value": 12, "attention": 13, "position": 13},
}
_FACTORS["D.12"] = _FACTORS["D.9"]
_POWERS: dict[Kind, int] = {"output": 2, "value": 3, "attention": 5, "position": 5}


@dataclass(frozen=True)
class Setting:
    """A corpus and a training, as far as the theorems ask.

    Attributes:
        vocabulary: V.
        window: T.
        layers: L.
        lr: the rate.
        init: where training starts.
        full_batch: whether every step sees the whole corpus, or None when nothing is trained.
        full_windows: whether every window has T positions, as the paper assumes.
        init_scale: v of the Gaussian start, whose variance is v^2 / V^(2 + 2 xi).
        init_exponent: xi.
    """

    vocabulary: int
    window: int
    layers: int
    lr: float
    init: Literal["zero", "gaussian"] = "zero"
    full_batch: bool | None = None
    full_windows: bool = True
    init_scale: float = 0.0
    init_exponent: float = 0.0


@dataclass(frozen=True)
class Condition:
    """One condition of a theorem.

    Attributes:
        text: what is asked.
        found: what this setting has.
        holds: whether that is enough.
    """

    text: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Theorem:
    """The theorem that speaks about a setting.

    Attributes:
        name: its number in the paper.
        conditions: all but the one on the number of steps.
        limit: the largest s lr it is proved for.
        lr: the rate of the setting.
        window: T.
        failure: at most how probable it is that the bounds do not hold; 0 from zero.
    """

    name: str
    conditions: tuple[Condition, ...]
    limit: float
    lr: float
    window: int
    failure: float

    @property
    def probability(self) -> float:
        """With which the bounds hold, at least."""
        return 1 - self.failure

    @property
    def applies(self) -> bool:
        """Whether every condition holds, the one on the steps aside."""
        return all(condition.holds for condition in self.conditions)

    @property
    def last_step(self) -> int:
        """The last step within the limit, whether or not the other conditions hold."""
        step = math.floor(self.limit / self.lr)
        # The quotient is rounded: the step is the largest with s lr <= limit, as `in_proved_range` has it.
        while step > 0 and step * self.lr > self.limit:
            step -= 1
        while (step + 1) * self.lr <= self.limit:
            step += 1
        return step

    def in_proved_range(self, steps: int) -> bool:
        """Return whether the theorem says anything about the model after some steps."""
        # Gaussian weights are not zero, as the bounds are at step 0: the proof begins with the first step.
        begun = steps >= 1 or self.name != "D.12"
        return self.applies and begun and steps * self.lr <= self.limit

    def bound(self, kind: Kind, steps: int) -> float:
        """Return the bound on the deviation of a weight, which is proved only in the proved range."""
        reach = steps * self.lr
        scale = self.window if kind in ("attention", "position") else 1
        return _FACTORS[self.name][kind] * scale * reach ** _POWERS[kind]


def theorem_for(setting: Setting) -> Theorem:
    """Return the theorem that speaks about a setting, with each of its conditions checked."""
    if setting.init == "gaussian":
        name = "D.12"
    else:
        name = "D.6" if setting.layers == 1 else "D.9"
    checks = [_at_least("|V|", setting.vocabulary, 500), _at_least("T", setting.window, 3 if name == "D.6" else 60)]
    root = math.sqrt(setting.window)
    if name == "D.6":
        limit = 3 / (8 * setting.window**0.375)
    else:
        limit = min(1 / (12 * setting.layers), 5 / (8 * root))
        checks.append(Condition("L <= sqrt(T)/4", f"{setting.layers} <= {root / 4:.4g}", setting.layers <= root / 4))
    if name == "D.12":
        checks += _gaussian_conditions(setting)
    checks.append(Condition("every window has T positions", _yes(setting.full_windows), setting.full_windows))
    if setting.full_batch is not None:
        checks.append(Condition("full-batch gradient descent", _yes(setting.full_batch), setting.full_batch))
    failure = _failure(setting) if name == "D.12" else 0.0
    return Theorem(name, tuple(checks), limit, setting.lr, setting.window, failure)


def _gaussian_conditions(setting: Setting) -> list[Condition]:
    largest = (setting.lr / setting.window) ** 2
    scale, lr = setting.init_scale, setting.lr
    return [
        Condition("v <= lr^2/T^2", f"{scale:.4g} <= {largest:.4g}", scale <= largest * (1 + ROUNDING)),
        Condition("xi >= 0", f"{setting.init_exponent:g}", setting.init_exponent >= 0),
        Condition("T <= |V|", f"{setting.window} <= {setting.vocabulary}", setting.window <= setting.vocabulary),
        Condition("lr >= 1/T", f"{lr:.4g} >= {1 / setting.window:.4g}", lr >= 1 / setting.window),
    ]


def _failure(setting: Setting) -> float:
    """Return what D.12 subtracts from 1, at most 1: for a small vocabulary it exceeds that."""

    def tail(power: float, divisor: float) -> float:
        # Beyond exp(700) there are no floats, and the tail is 0 long before.
        return math.exp(-math.exp(min(power * math.log(setting.vocabulary), 700)) / divisor)

    xi = setting.init_exponent
    return min(1.0, (3 * setting.layers + 1) * (tail(1 + 2 * xi, 2) + tail(2 + 2 * xi, 4)))


def _probability_text(failure: float) -> str:
    """Write a probability by what it lacks of 1, which is mostly below the rounding of 1 itself."""
    if failure >= 1:
        return "0 (so nothing is said)"
    return f"1 - {failure:.2g}" if failure else "1 (to the last digit of a float)"


def _at_least(name: str, value: int, least: int) -> Condition:
    return Condition(f"{name} >= {least}", f"{value:,}", value >= least)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def statement(theorem: Theorem) -> list[str]:
    """Return lines for people: which conditions hold, which do not, and what follows."""
    kept = [f"{each.text} ({each.found})" for each in theorem.conditions if each.holds]
    broken = [f"{each.text} ({each.found})" for each in theorem.conditions if not each.holds]
    lines = [
        f"theorem {theorem.name} holds while s*lr <= {theorem.limit:.4g}: up to step {theorem.last_step:,} at this rate"
    ]
    if kept:
        lines.append(f"conditions that hold: {', '.join(kept)}")
    if broken:
        lines.append(f"conditions that do NOT hold: {', '.join(broken)}; so nothing is proved for this setting")
    elif theorem.last_step < 1:
        lines.append("not even the first step is within that: nothing is proved for this rate")
    if theorem.name == "D.12":
        would = "if they all held, " if broken else ""
        lines.append(f"{would}with probability at least {_probability_text(theorem.failure)} over the start")
    return lines


def as_document(theorem: Theorem) -> dict[str, Any]:
    """Return what `--json` says about a theorem."""
    return {
        "theorem": theorem.name,
        "applies": theorem.applies,
        "limit_s_eta": theorem.limit,
        "last_step": theorem.last_step,
        "probability": theorem.probability,
        "failure_probability": theorem.failure,
        "conditions": [{"text": c.text, "found": c.found, "holds": c.holds} for c in theorem.conditions],
    }
