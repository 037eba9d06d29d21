"""Theorems 4.1, 5.1, B.1 and C.1 as data: what they ask for, what they say, and what a training had and did.

All four speak of the limit of large d, with constants that are not given. A condition can be compared with its bound at
the d at hand; a conclusion can only be measured, and what is measured stands beside it without a verdict.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from firstlight.runs.run import Run
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.facts import facts_of
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.features import Features, features_of
from firstlight.tracking.theory_model.loading import load_theory, settings_of, stage_begin
from firstlight.tracking.theory_model.losses import accuracy
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.settings import TheorySettings
from firstlight.tracking.theory_model.shapes import Distance, imbalance, simply_transitive_shape, symmetric_shape

SOLVED = 0.95  # of ACC_L, from where a length counts as solved in the exponent that is reported


@dataclass(frozen=True)
class Condition:
    """One thing a theorem asks for.

    Attributes:
        text: what it is.
        found: what the training has.
        holds: whether that is it, with every unknown constant taken as 1.
    """

    text: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Measured:
    """One thing a theorem says, and what was measured for it.

    Attributes:
        claim: what it says.
        found: what was measured, in words.
        value: the number.
    """

    claim: str
    found: str
    value: float


@dataclass(frozen=True)
class Statement:
    """A theorem beside a training.

    Attributes:
        theorem: its number.
        says: what it is about.
        conditions: what it asks for.
        measured: what it says.
    """

    theorem: str
    says: str
    conditions: tuple[Condition, ...]
    measured: tuple[Measured, ...]

    @property
    def applies(self) -> bool:
        """Whether all conditions hold at this d."""
        return all(condition.holds for condition in self.conditions)


def statements(run: Run, *, count: int = 50, seed: int = 0) -> list[Statement]:
    """Return the four theorems with what a finished run of either algorithm had and did.

    Arguments:
        run: of `train_theory` or `self_train_theory`.
        count: sentences of each length that accuracies and attention are measured on.
        seed: of these sentences.
    """
    settings, stages = settings_of(run), run.manifest["stages"]
    trained = load_theory(run, stage_begin(run, 1))
    after = [load_theory(run, stage_begin(run, number + 1)) for number in range(1, len(stages))]
    lengths = [int(stage["length"]) for stage in stages[1:]]
    algorithm = run.settings["algorithm"]
    asked_1, asked_2 = (Condition(f"Algorithm {each}", f"Algorithm {algorithm}", algorithm == each) for each in "12")
    simple = _simply_transitive(trained.action, settings)
    symmetric = _symmetric(trained.action, settings)
    return [
        Statement(
            "Theorem 4.1",
            "trained at L = 1 and 2, it solves every L up to d^c, and attention concentrates",
            (asked_1, *simple),
            tuple(_generalisation(after[0], count, seed)),
        ),
        Statement(
            "Theorem 5.1",
            "self-trained at L = 2^k, it solves L = 2^(k+1), and attention is within 0.01 of concentrated",
            (asked_2, *symmetric),
            tuple(found for L, each in zip(lengths, after, strict=True) for found in _doubling(each, L, count, seed)),
        ),
        Statement(
            "Theorem B.1",
            "right features of simply transitive actions reach B, and mixtures cancel",
            simple,
            tuple(_shape(trained, simply_transitive_shape, "1, in balance")),
        ),
        Statement(
            "Theorem C.1",
            "right features of symmetric groups reach B, elements weighing n times as much as values",
            symmetric,
            tuple(_shape(trained, symmetric_shape, f"of the order of n = {trained.action.degree}")),
        ),
    ]


def _simply_transitive(action: Action, settings: TheorySettings) -> tuple[Condition, ...]:
    facts, n, log_d = facts_of(action), action.degree, math.log(settings.shape(action).size)
    what = f"{'transitive' if facts.transitive else 'not transitive'}, {'free' if facts.free else 'not free'}"
    return (
        Condition("the action is simply transitive (Assumption 4.1)", what, facts.simply_transitive),
        Condition(
            "log log d <= n <= log d",
            f"{math.log(log_d):.2f} <= {n} <= {log_d:.2f}",
            math.log(log_d) <= n <= log_d,
        ),
        *_common(action, settings),
    )


def _symmetric(action: Action, settings: TheorySettings) -> tuple[Condition, ...]:
    n, log_d = action.degree, math.log(settings.shape(action).size)
    bound = math.log(log_d) / math.log(math.log(log_d)) if log_d > math.e else math.nan
    return (
        Condition(
            "the group is all permutations of the values (Assumption 5.1)",
            f"order {action.order:,}, n! = {math.factorial(n):,}",
            action.order == math.factorial(n),
        ),
        Condition("n of the order of log log d / log log log d", f"{n} <= {bound:.2f}", n <= bound),
        *_common(action, settings),
    )


def _common(action: Action, settings: TheorySettings) -> tuple[Condition, ...]:
    shape = settings.shape(action)
    n, m, square = action.degree, settings.neurons, math.log(shape.size) ** 2
    return (
        Condition("n <= m <= log^2 d", f"{n} <= {m} <= {square:.1f}", n <= m <= square),
        Condition(
            "Q trained in blocks (4,3) and (4,4) alone (Assumption 3.5)",
            "as asked" if settings.restricted else "free",
            settings.restricted,
        ),
        Condition(
            "radius of the order of 1 / polylog d",
            f"{settings.radius:g}",
            settings.radius < 1,
        ),
    )


def _generalisation(model: TheoryModel, count: int, seed: int) -> Iterator[Measured]:
    """What Theorem 4.1 says, for all lengths its variables allow."""
    log_d, most = math.log(model.shape.size), model.shape.tokens.variables - 1
    lengths = [L for L in (2, 5, 10, 20, 40, 80, 160) if most >= L]
    found = {L: accuracy(model, _drawn(model, L, count, seed)) for L in lengths}
    for L, value in found.items():
        yield Measured("ACC_L >= 1 - 1/poly(d)", f"L = {L}: {value:.4f}", value)
    solved = max([L for L, value in found.items() if value >= SOLVED], default=0)
    reached = math.log(solved) / log_d if solved else float("nan")
    yield Measured("for L up to d^c", f"at least {SOLVED} up to L = {solved}: c = {reached:.2f}", reached)
    mass = model.attention(_drawn(model, 2, count, seed))
    epsilon, gap = float(mass.epsilon.mean()), float(mass.gap.mean())
    yield Measured(
        "1 - attention on both right clauses <= d^-c, L = 2", f"{epsilon:.4f} = d^{_exponent(epsilon, log_d)}", epsilon
    )
    yield Measured("their difference <= d^-c, L = 2", f"{gap:.4f} = d^{_exponent(gap, log_d)}", gap)


def _doubling(model: TheoryModel, L: int, count: int, seed: int) -> Iterator[Measured]:
    """What Theorem 5.1 says after the stage of one length."""
    if model.shape.tokens.variables > 2 * L:
        value = accuracy(model, _drawn(model, 2 * L, count, seed))
        yield Measured("ACC of twice the length >= 1 - 1/poly(d)", f"after L = {L}, at L = {2 * L}: {value:.4f}", value)
    epsilon = float(model.attention(_drawn(model, L, count, seed)).epsilon.mean())
    yield Measured("1 - attention on both right clauses < 0.01", f"after L = {L}, at L = {L}: {epsilon:.4f}", epsilon)


def _shape(model: TheoryModel, shape: Callable[[Features, float], list[Distance]], ratio: str) -> Iterator[Measured]:
    features, B = features_of(model.weights.W, model.shape, model.action), model.shape.ceiling
    for each in shape(features, B):
        yield Measured(each.statement, f"{each.mean:.2f} B away, at worst {each.worst:.2f} B", each.mean)
    found = imbalance(features, B)
    yield Measured(f"mean V(g) / mean V(y) is {ratio}", f"{found:.2f}", found)


def _drawn(model: TheoryModel, L: int, count: int, seed: int) -> Sentences:
    rng = np.random.default_rng([seed, L])
    return draw(model.action, variables=model.shape.tokens.variables, length=L, count=count, rng=rng)


def _exponent(value: float, log_d: float) -> str:
    return f"{math.log(value) / log_d:.2f}" if value > 0 else "-inf"
