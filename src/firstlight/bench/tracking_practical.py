"""The practical model of state tracking beside a plain dense one: a training step, a roll-out, and what gained what."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  # as PyTorch's own documentation calls it
from torch import Tensor

from firstlight.bench.plain_practical import plain_loss, plain_rollout
from firstlight.bench.rows import Row, best_of, row
from firstlight.report.progress import say
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.tokens import answer_clauses, predicate_clauses, tokens_of
from firstlight.tracking.practical import matmul
from firstlight.tracking.practical.adam import new_adam
from firstlight.tracking.practical.generation import generate
from firstlight.tracking.practical.parameters import Parameters, initial
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.trainee import PracticalTrainee

STEP_GOAL, ROLLOUT_GOAL, SHARE_GOAL = 1.8, 20, 20
EQUAL = 1e-4
NAMES = ("C6", "S5")


def bench_practical(
    threads: int, *, repeats: int = 30, rollout_length: int = 160, rollout_count: int = 16, batch_size: int = 128
) -> list[Row]:
    """Compare steps and roll-outs with those of the plain model, which loss, gradients and answers must agree with.

    Arguments:
        threads: of PyTorch, in both.
        repeats: how often each piece of work is timed; the best counts.
        rollout_length: L of the roll-outs.
        rollout_count: their sentences.
        batch_size: sentences of a step.
    """
    torch.set_num_threads(threads)
    rows = []
    for name in NAMES:
        say(f"{name}: steps")
        rows += _steps(_Case(name, Settings(batch_size=batch_size, accuracy_every=10**9)), repeats)
    say(f"{NAMES[0]}: roll-outs of L = {rollout_length}")
    rows.append(_rollout(_Case(NAMES[0], Settings()), rollout_length, rollout_count))
    return rows


class _Case:
    """A model at its initial weights, and the batch of its step 1."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.action, self.settings = action_named(name), settings
        self.tokens = tokens_of(self.action, settings.variables)
        self.weights: Parameters = initial(settings, self.tokens)
        device = torch.device("cpu")
        options = {"before": 0, "adam": None, "teacher": None, "device": device}
        self.trainee = PracticalTrainee(self.action, settings, self.weights, **options)  # type: ignore[arg-type]
        self.predicates, self.answers = self.clauses(1, settings.length, settings.batch_size)

    def clauses(self, step: int, length: int, count: int) -> tuple[Tensor, Tensor]:
        """Return predicates and answers of the sentences of a step."""
        rng = np.random.default_rng([0, 0, step])
        sentences = draw(self.action, variables=self.settings.variables, length=length, count=count, rng=rng)
        predicates, answers = predicate_clauses(sentences, self.tokens), answer_clauses(sentences, self.tokens)
        return torch.from_numpy(predicates), torch.from_numpy(answers)

    def gradient(self) -> None:
        """Form loss and gradients our way."""
        self.trainee.gradient.zero_()
        torch.autograd.backward(self.trainee.block.loss(self.predicates, self.answers)[0])


def _steps(case: _Case, repeats: int) -> list[Row]:
    difference = _check(case)
    settings = case.settings
    plain = {name: weight.clone().requires_grad_() for name, weight in case.weights.items()}
    adam = torch.optim.Adam(plain.values(), lr=settings.lr, betas=settings.betas, eps=settings.adam_eps)

    def plain_step() -> None:
        predicates, answers = case.clauses(1, settings.length, settings.batch_size)
        adam.zero_grad()
        torch.autograd.backward(plain_loss(settings, plain, predicates, answers))
        adam.step()

    def drawing() -> object:
        return case.clauses(1, settings.length, settings.batch_size)

    step, plain_seconds, drawn = _best(repeats, lambda: case.trainee.update(1), plain_step, drawing)
    shape = f"{case.action.name}, {settings.batch_size} sentences of L = {settings.length}"
    baseline = f"one-hots, all clauses ask, PyTorch's Adam; loss and gradients equal to {difference:.1e}"
    share = "the step they are for (20x is a share of 5%)"
    return [
        row("tracking", f"practical step, {shape}", baseline, step, plain_seconds, STEP_GOAL),
        row("tracking", f"drawing them, {shape}", share, drawn, step, SHARE_GOAL),
        *_gains(case, repeats, shape),
    ]


def _gains(case: _Case, repeats: int, shape: str) -> list[Row]:
    """Time loss and gradients with one thing done the usual way, and the update of Adam."""

    def otherwise(manager: Callable[[_Case], AbstractContextManager[None]]) -> None:
        with manager(case):
            case.gradient()

    usual = (
        ("cross-entropy in the array of the logits", "PyTorch's, slot by slot", _usual_loss),
        ("products by oneDNN", "PyTorch's choice", _usual_products),
    )
    rows = []
    for what, instead, manager in usual:
        ours, usually = _best(repeats, case.gradient, partial(otherwise, manager))
        rows.append(row("tracking", f"{what}, {shape}", instead, ours, usually, None))
    vector, gradient = case.trainee.vector.clone(), case.trainee.gradient.clone()
    adam = new_adam(vector)
    apart = [weight.clone().requires_grad_() for weight in case.weights.values()]
    for weight in apart:
        weight.grad = torch.ones_like(weight)
    usual_adam = torch.optim.Adam(apart, lr=case.settings.lr)
    ours, usually = _best(repeats, lambda: adam.update(vector, gradient, case.settings), usual_adam.step)
    rows.append(row("tracking", f"Adam on one vector, {shape}", "PyTorch's", ours, usually, None))
    return rows


@contextmanager
def _usual_products(_: _Case) -> Iterator[None]:
    with _replaced(matmul, "_LINEAR", None):
        yield


@contextmanager
def _usual_loss(case: _Case) -> Iterator[None]:
    def loss(predicates: Tensor, answers: Tensor) -> tuple[Tensor]:
        block = case.trainee.block
        logits = block.logits(predicates, answers[:, :-1])
        slots = zip(block.settings.read_out_slots, logits.unbind(2), strict=True)
        parts = [F.cross_entropy(each.flatten(0, 1), answers[:, 1:, slot].flatten()) for slot, each in slots]
        return (torch.stack(parts).sum(),)

    with _replaced(type(case.trainee.block), "loss", lambda _, *clauses: loss(*clauses)):
        yield


@contextmanager
def _replaced(owner: object, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _rollout(case: _Case, length: int, count: int) -> Row:
    predicates, answers = case.clauses(2, length, count)
    weights = dict(case.trainee.block.parameters)
    found: list[Tensor] = []

    def plain() -> None:
        found.append(plain_rollout(case.settings, weights, predicates, answers[:, 0], length))

    plain_seconds = best_of(1, plain)
    ours = best_of(3, lambda: found.append(generate(case.trainee.block, predicates, answers[:, 0], length)))
    alike = float((found[0] == found[-1]).all(-1).double().mean())
    # Untrained, some of the likeliest tokens lead by no more than the rounding, and what follows one differs.
    if alike < 0.5:
        raise RuntimeError(f"{alike:.0%} of the answers are those of the plain model, expected nearly all")
    baseline = f"everything read again for each answer; {alike:.1%} of the answers the same"
    return row("tracking", f"practical roll-out, {count} of L = {length}", baseline, ours, plain_seconds, ROLLOUT_GOAL)


def _check(case: _Case) -> float:
    """Return the largest relative difference of loss and gradients from the plain model, which must be small."""
    plain = {name: weight.clone().requires_grad_() for name, weight in case.weights.items()}
    expected = plain_loss(case.settings, plain, case.predicates, case.answers)
    torch.autograd.backward(expected)
    case.gradient()
    loss = case.trainee.block.loss(case.predicates, case.answers)[0]
    differences = {"loss": abs(loss.item() / expected.item() - 1)}
    for name, weight in plain.items():
        found, dense = case.trainee.block.parameters[name].grad, weight.grad
        assert found is not None
        assert dense is not None
        differences[name] = float((found - dense).norm() / dense.norm())
    worst = max(differences, key=differences.__getitem__)
    if not differences[worst] <= EQUAL:
        raise RuntimeError(f"{worst} differs from the plain model by {differences[worst]:.1e}, expected {EQUAL:.0e}")
    return differences[worst]


def _best(times: int, *works: Callable[[], object]) -> list[float]:
    """Return the shortest time of each piece of work, done in turns: what else the machine does meets all alike."""
    for work in works:
        work()  # PyTorch chooses and compiles some things when it first meets a shape
    rounds = [[best_of(1, work) for work in works] for _ in range(times)]
    return [min(each) for each in zip(*rounds, strict=True)]
