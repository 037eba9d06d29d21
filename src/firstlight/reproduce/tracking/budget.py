"""What is trained at which scale: the groups, the seeds, the lengths and the steps of every run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from firstlight.reproduce.outcome import Scale
from firstlight.reproduce.tracking.material import Practical, Theory
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.transitive import TRANSITIVE
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.theory_model.settings import settings_for

# Clauses that a convolution reads, the last its own.
CONVOLUTION = 4


@dataclass(frozen=True)
class Budget:
    """The trainings of one scale.

    Attributes:
        simple: the simply transitive action.
        symmetric: the action of a symmetric group on its points.
        other_simple: another simply transitive action, of a group that is not cyclic.
        ladders: transitive groups of equal degree, by rising order; one ladder for each degree.
        partners: for some groups of the ladders, a simply transitive action with about as many pairs (g, y) to learn.
        seeds: of every curve.
        practical: settings of the practical model, of seed 0; its steps are those before anything is continued.
        more: steps that a training is continued for.
        stages: lengths of self-training, one after the other; they share the steps of a continuation.
        lengths: at which accuracy is measured.
        looked_at: lengths at which attention is drawn.
        count: sentences of each length.
        irrelevant: numbers of irrelevant clauses.
        positions: kinds of position; `convolution` has none of the others, but reads neighbouring clauses.
        shown_every: updates between the checkpoints that figure 1a shows.
        theory: what settings of the theory model differ from those that work for each action.
        doublings: K of Algorithm 2.
        theory_ladder: groups of equal degree on which the theory model is trained, by rising order.
    """

    simple: str
    symmetric: str
    other_simple: str
    ladders: tuple[tuple[str, ...], ...]
    partners: Mapping[str, str]
    seeds: tuple[int, ...]
    practical: Settings
    more: int
    stages: tuple[int, ...]
    lengths: tuple[int, ...]
    looked_at: tuple[int, ...]
    count: int
    irrelevant: tuple[int, ...]
    positions: tuple[str, ...]
    shown_every: int
    theory: Mapping[str, Any] = field(default_factory=dict)
    doublings: int = 4
    theory_ladder: tuple[str, ...] = ("C5", "D5", "F20", "A5", "S5")


BUDGETS: dict[Scale, Budget] = {
    "smoke": Budget(
        simple="C3",
        symmetric="S3",
        other_simple="V4",
        ladders=(("C3", "S3"),),
        partners={"S3": "C4"},
        seeds=(0, 1),
        practical=Settings(
            variables=26, length=3, steps=60, batch_size=32, lr=5e-3, embedding=8, width=2, checkpoint_every=20,
            accuracy_every=10,
        ),
        more=40,
        stages=(6, 12),
        lengths=(3, 6, 12, 24),
        looked_at=(6, 12),
        count=20,
        irrelevant=(0, 4, 16),
        positions=("none", "rope", "convolution"),
        shown_every=20,
        theory={
            "variables": 26, "neurons": 6, "ffn_steps": 60, "ffn_batch": 64, "attention_steps": 30,
            "attention_batch": 32, "level_window": 5, "stage_limit": 10,
        },
        doublings=2,
        theory_ladder=("C3", "S3"),
    ),
    "laptop": Budget(
        simple="C6",
        symmetric="S5",
        other_simple="regular:S3",
        ladders=(("C5", "D5", "F20", "A5", "S5"),),
        partners={"F20": "C10", "A5": "C17", "S5": "regular:S4"},
        seeds=(0, 1, 2, 3, 4),
        practical=Settings(checkpoint_every=100, accuracy_every=50),
        more=1500,
        stages=(10, 20, 40),
        lengths=(5, 10, 20, 40, 80, 160),
        looked_at=(10, 20),
        count=200,
        irrelevant=(0, 5, 10, 20, 40, 80, 160),
        positions=("none", "sinusoidal", "learned", "rope", "alibi", "convolution"),
        shown_every=500,
        # The ends of the ladder: stage 1 takes minutes for each of the others.
        theory_ladder=("C5", "S5"),
    ),
    "paper": Budget(
        simple="C6",
        symmetric="S5",
        other_simple="regular:S3",
        ladders=(("C5", "D5", "F20", "A5", "S5"), tuple(name for name, _ in TRANSITIVE[6])),
        partners={"F20": "C10", "A5": "C17", "S5": "regular:S4"},
        seeds=(0, 1, 2, 3, 4),
        # 300 epochs at the published rate; the size of the published data set, and so of an epoch, is not known.
        practical=Settings(lr=1e-4, steps=30_000, checkpoint_every=500, accuracy_every=500),
        more=30_000,
        stages=(10, 20, 40),
        lengths=(5, 10, 20, 40, 80, 160),
        looked_at=(10, 20),
        count=1000,
        irrelevant=(0, 5, 10, 20, 40, 80, 160),
        positions=("none", "sinusoidal", "learned", "rope", "alibi", "convolution"),
        shown_every=10_000,
        doublings=7,
    ),
}  # fmt: skip


def base(budget: Budget, group: str, seed: int, **changes: object) -> Practical:
    """Return the training that others go on from."""
    return Practical(group, replace(budget.practical, seed=seed, **changes))  # type: ignore[arg-type]


def continued(budget: Budget, group: str, seed: int, **changes: object) -> Practical:
    """Return the base trained on at its length, without any interruption."""
    before = base(budget, group, seed, **changes)
    return Practical(group, replace(before.settings, steps=budget.more), after=before)


def positioned(budget: Budget, group: str, seed: int, name: str) -> Practical:
    """Return the base with a kind of position."""
    changes = {"convolution": CONVOLUTION} if name == "convolution" else {"positions": name}
    return base(budget, group, seed, **changes)


def stage(budget: Budget, before: Practical, length: int, labels: str) -> Practical:
    """Return one stage of self-training after another training, or of its control: each with a new state of Adam."""
    steps = budget.more // len(budget.stages)
    settings = replace(before.settings, steps=steps, length=length)
    return Practical(before.group, settings, after=before, adam="new", labels=labels)  # type: ignore[arg-type]


def self_trained(budget: Budget, group: str, seed: int) -> list[Practical]:
    """Return the base and the stages on answers of the model's own, at growing length."""
    line = [base(budget, group, seed)]
    for length in budget.stages:
        line.append(stage(budget, line[-1], length, "own"))
    return line


def restarted(budget: Budget, group: str, seed: int) -> Practical:
    """Return the control of self-training: as many steps and new states of Adam, at the first length, true answers."""
    last = base(budget, group, seed)
    for _ in budget.stages:
        last = stage(budget, last, budget.practical.length, "true")
    return last


def theory(budget: Budget, group: str, seed: int, algorithm: str = "1") -> Theory:
    """Return a training of the theory model at the settings that work for the action."""
    settings = replace(settings_for(action_named(group)), **budget.theory, seed=seed)
    if algorithm == "1":
        return Theory(group, settings)
    # The rungs of a ladder do one stage on answers of their own; the symmetric group, whose theorem it is, does all.
    trained = Theory(group, settings, "2", budget.doublings if group == budget.symmetric else 2)
    return trained if algorithm == "2" else Theory(group, settings, "control", after=trained)
