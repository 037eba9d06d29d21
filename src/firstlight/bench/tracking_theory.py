"""The theory model of state tracking beside a plain dense one: both stages, roll-outs, and what gained what."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from firstlight.bench import onehot_theory
from firstlight.bench.rows import Row, best_of, row
from firstlight.bench.theory_material import Case, GatherUpdate, following_model
from firstlight.report.progress import say
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS, answer_clauses, predicate_clauses
from firstlight.tracking.theory_model import feed_forward, updates
from firstlight.tracking.theory_model.attention import Context, attend, attended_inputs, context_of
from firstlight.tracking.theory_model.feed_forward import clipped, raw_logits
from firstlight.tracking.theory_model.labelling import true_examples
from firstlight.tracking.theory_model.parameters import in_words
from firstlight.tracking.theory_model.shape import VALUE_SLOT

W_GOAL, Q_GOAL, ROLLOUT_GOAL, SHARE_GOAL = 6, 9, 20, 20
EQUAL = 1e-4
RATE = 1e3  # so large that rounding the weights does not hide their gradient
NAMES = ("C6", "S5")


def bench_theory(
    threads: int,
    *,
    repeats: int = 5,
    variables: int = 170,
    batch: int | None = None,
    length: int = 160,
    count: int = 16,
    compiled: bool = True,
) -> list[Row]:
    """Compare updates with those of a plain dense model of the same type, which loss and gradients must agree with.

    Arguments:
        threads: of PyTorch, in both.
        repeats: how often our work is timed; the best counts.
        variables: |X|.
        batch: sentences of an update; those of a training when None.
        length: L of the roll-outs.
        count: their sentences.
        compiled: whether torch.compile is tried as well, which takes a while.
    """
    torch.set_num_threads(threads)
    rows = []
    for name in NAMES:
        case = Case(name, variables, batch)
        say(f"{name}: updates of W")
        rows += _stage_1(case, repeats, compiled and name == NAMES[0])
        say(f"{name}: updates of Q")
        rows += _stage_2(case, repeats, length)
    say(f"{NAMES[0]}: roll-outs of L = {length}")
    return rows + _rollouts(Case(NAMES[0], variables, batch), length, count)


def _stage_1(case: Case, repeats: int, compiled: bool) -> list[Row]:
    shape, settings, model = case.shape, case.settings, case.model
    sentences = case.sentences(1, settings.ffn_batch)
    predicates = torch.from_numpy(predicate_clauses(sentences, shape.tokens))
    answers = torch.from_numpy(answer_clauses(sentences, shape.tokens))
    rows = np.concatenate([shape.predicates(sentences)[:, 0], shape.answers(sentences)[:, 0]], axis=1)
    inputs, targets = torch.from_numpy(rows), torch.from_numpy(shape.targets(sentences)[:, 1])
    W, Q, met = case.dense(tuple(range(SLOTS)))
    W.requires_grad_()
    rate = settings.ffn_rate

    def plain() -> Tensor:
        W.grad = None
        Z = onehot_theory.embedded(torch.cat([predicates, answers[:, :1]], dim=1), shape, W.dtype)
        seen = onehot_theory.attended(torch.zeros_like(Q), Z)
        value = onehot_theory.loss(onehot_theory.logits(W, seen, shape), answers[:, 1])
        torch.autograd.backward(value)
        return value.detach()

    def plain_step() -> None:
        plain()
        with torch.no_grad():
            assert W.grad is not None
            W.sub_(W.grad, alpha=rate)

    expected = float(plain())
    assert W.grad is not None
    gradient = W.grad[:, met].reshape(SLOTS, shape.size, shape.neurons, -1).permute(0, 3, 2, 1)
    changed = model.weights.W.clone()
    loss = updates.descend_ffn(changed, inputs, targets, shape, SLOTS * [RATE])
    difference = _difference(loss, expected, in_words((model.weights.W - changed) / RATE, shape), gradient)
    del gradient
    plain_seconds = best_of(2, plain_step)
    ours = _best(repeats, lambda: updates.descend_ffn(changed, inputs, targets, shape, SLOTS * [1e-3]))
    drawing = _best(repeats, lambda: case.sentences(1, settings.ffn_batch))
    what = f"{case.action.name}, {settings.ffn_batch:,} sentences"
    baseline = f"dense one-hots, autograd; loss and gradients equal to {difference:.1e}"
    found = [
        row("tracking", f"theory stage 1, an update of W, {what}", baseline, ours, plain_seconds, W_GOAL),
        row("tracking", f"drawing them, {what} of L = 1", "that update (20x is 5%)", drawing, ours, SHARE_GOAL),
    ]
    del W
    with _replaced(updates, "_descend_compiled", updates._descend_by_product):
        product = _best(2, lambda: updates.descend_ffn(changed, inputs, targets, shape, SLOTS * [1e-3]))
    say_so = "loops fused over neurons, blocks and the update"
    found.append(row("tracking", f"{say_so}, {what}", "products over the inputs that occur", ours, product, None))
    bag = GatherUpdate(changed, case, inputs, targets)
    found.append(row("tracking", f"{say_so}, {what}", "gathers in PyTorch", ours, _best(2, bag.step), None))
    if compiled and shutil.which("g++"):
        bag.compile()
        found.append(
            row("tracking", f"{say_so}, {what}", "gathers under torch.compile", ours, _best(2, bag.step), None)
        )
    return found


def _stage_2(case: Case, repeats: int, length: int) -> list[Row]:
    shape, settings, model = case.shape, case.settings, case.model
    W, Q, met = case.dense((VALUE_SLOT,))
    Q.requires_grad_()

    def plain(sentences: Sentences, queries: tuple[int, ...]) -> Tensor:
        Q.grad = None
        predicates = torch.from_numpy(predicate_clauses(sentences, shape.tokens))
        answers = torch.from_numpy(answer_clauses(sentences, shape.tokens))
        parts = []
        for query in queries:
            Z = onehot_theory.embedded(torch.cat([predicates, answers[:, : query + 1]], dim=1), shape, W.dtype)
            logits = onehot_theory.logits(W, onehot_theory.attended(Q, Z), shape)
            parts.append(onehot_theory.loss(logits, answers[:, query + 1, VALUE_SLOT:]))
        value = torch.stack(parts).sum()
        torch.autograd.backward(value)
        return value.detach()

    def ours(sentences: Sentences, queries: tuple[int, ...]) -> tuple[float, Tensor, Tensor]:
        context, targets = true_examples(model, sentences, queries)
        return updates.attention_gradients(model.weights, context, targets, model.reach)

    found = []
    far = min(128, length, settings.variables - 1)
    for L, queries, count in (
        (2, (0, 1), settings.attention_batch),
        (far, (1,), max(1, settings.attention_batch // 8)),
    ):
        sentences = case.sentences(L, count)
        expected = float(plain(sentences, queries))
        assert Q.grad is not None
        loss, gradient, _ = ours(sentences, queries)
        dense = torch.zeros_like(gradient)
        for block in ("Q43", "Q44"):
            whole = model.with_attention(Q.grad[met[shape.first_fourth :, None], met])
            getattr(model.with_attention(dense), block).copy_(getattr(whole, block))
        difference = _difference(loss, expected, gradient, dense)
        what = f"{case.action.name}, {count} sentences of L = {L}"
        plain_seconds = best_of(2, lambda chosen=(sentences, queries): plain(*chosen))  # type: ignore[misc]
        seconds = _best(repeats, lambda chosen=(sentences, queries): ours(*chosen))  # type: ignore[misc]
        with _replaced(feed_forward, "BAG_CLAUSES", 0 if feed_forward.BAG_CLAUSES >= L + 2 else 10**9):
            other = _best(repeats, lambda chosen=(sentences, queries): ours(*chosen))  # type: ignore[misc]
        baseline = f"dense one-hots, autograd; loss and gradients equal to {difference:.1e}"
        ways = ("a bag", "a product") if feed_forward.BAG_CLAUSES >= L + 2 else ("a product", "a bag")
        goal = Q_GOAL if L == 2 else None
        found.append(
            row("tracking", f"theory stage 2, a gradient of Q, {what}", baseline, seconds, plain_seconds, goal)
        )
        found.append(row("tracking", f"{ways[0]}, {what}", ways[1], seconds, other, None))
        if L == 2:
            drawing = _best(repeats, lambda: case.sentences(2, settings.attention_batch))
            found.append(
                row("tracking", f"drawing them, {what}", "that gradient (20x is 5%)", drawing, seconds, SHARE_GOAL)
            )
    return found


def _rollouts(case: Case, length: int, count: int) -> list[Row]:
    """Time roll-outs of a model that follows, made by hand: recomputing all answers, then forming all logits."""
    model, shape = following_model(case), case.shape
    sentences = case.sentences(min(length, case.settings.variables - 1), count)
    rollout = model.rollout(sentences)
    if not (rollout.values == sentences.values[:, 1:]).all():
        raise RuntimeError("the model made to follow did not; expected every value right")
    ours = _best(3, lambda: model.rollout(sentences))
    L = sentences.length
    sampled = range(0, L, max(1, L // 8))

    def recompute(places: range) -> None:
        for place in places:
            context = context_of(shape, sentences, tuple(range(place + 1)), model.device)
            attended = attended_inputs(attend(model.weights.Q, context, model.reach), context, shape.inputs)
            for W in model.weights.W:
                clipped(raw_logits(W, attended.flatten(0, 1), shape), shape).argmax(1)

    def all_logits(context: Context) -> Tensor:
        attended = attended_inputs(attend(model.weights.Q, context, model.reach), context, shape.inputs)[:, 0]
        every = [clipped(raw_logits(W, attended, shape), shape).argmax(1) for W in model.weights.W]
        return torch.stack(every, dim=1)

    scaled = L / len(sampled) * best_of(1, lambda: recompute(sampled))
    with _replaced(model, "next_clauses", all_logits):
        every = best_of(2, lambda: model.rollout(sentences))
    what = f"{case.action.name}, {count} of L = {L}"
    return [
        row(
            "tracking",
            f"theory roll-out, {what}",
            f"everything read again for each answer (scaled up from {len(sampled)})",
            ours,
            scaled,
            ROLLOUT_GOAL,
        ),
        row("tracking", f"logits of contenders alone, {what}", "all logits", ours, every, None),
    ]


def _difference(loss: float, expected: float, gradient: Tensor, dense: Tensor) -> float:
    """Return the larger relative difference of loss and gradient from those of the plain model, which must be small."""
    differences = (abs(loss / expected - 1), float((gradient - dense).norm() / dense.norm()))
    if not max(differences) <= EQUAL:
        raise RuntimeError(f"loss and gradient differ from the plain model by {differences}, expected {EQUAL:.0e}")
    return max(differences)


@contextmanager
def _replaced(owner: object, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _best(times: int, work: Callable[[], object]) -> float:
    work()  # loops are compiled when they first meet a type
    return best_of(times, work)
