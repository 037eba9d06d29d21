"""Rollouts against a slow greedy one, contenders against all logits, attention that is imposed, loading."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from firstlight.errors import FirstlightError
from firstlight.runs import Run
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.theory_model import contenders, feed_forward
from firstlight.tracking.theory_model.attention import attend, attended_inputs, context_of
from firstlight.tracking.theory_model.concentration import (
    diagonal_for,
    entries_of,
    imposed_epsilon,
    with_imposed_diagonals,
)
from firstlight.tracking.theory_model.feed_forward import clipped, raw_logits
from firstlight.tracking.theory_model.labelling import own_examples, true_examples
from firstlight.tracking.theory_model.loading import load_theory
from firstlight.tracking.theory_model.model import TheoryModel, well_formed
from tests.tracking.theory_model.conftest import sentences_of, tiny_model
from tests.tracking.theory_model.dense import dense_weights, embedded, logits, predicate_clauses


def slow_rollout(model: TheoryModel, sentences: Sentences) -> np.ndarray:
    """Write clauses with the dense model, each read back whole, as `sentence answer (variable, value)`."""
    shape = model.shape
    W, Q = dense_weights(model)
    out = np.full((len(sentences), sentences.length, 2), -1)
    for n in range(len(sentences)):
        one = Sentences(
            sentences.action, *(each[n : n + 1] for each in (sentences.variables, sentences.elements, sentences.values))
        )
        clauses = predicate_clauses(one, shape.tokens)[0].tolist()
        first = [shape.tokens.blank] * 3
        clauses.append([*first, int(one.variables[0, 0]), int(one.values[0, 0]) + shape.tokens.first_value])
        for place in range(sentences.length):
            Z = embedded(torch.tensor(clauses)[None], shape)
            clause = logits(W, Q, Z, shape)[0][0].argmax(1).tolist()
            variable, value = clause[3], clause[4] - shape.tokens.first_value
            if clause[:3] != first or variable >= shape.tokens.variables or not 0 <= value < model.action.degree:
                break
            out[n, place] = variable, value
            clauses.append(clause)
    return out


@pytest.mark.parametrize("step", [200, 400, 600])
def test_rollouts_equal_a_slow_greedy_one(learnt: Run, step: int) -> None:
    model = load_theory(learnt, step)
    sentences = sentences_of(model, 7, 12)
    rollout, slow = model.rollout(sentences), slow_rollout(model, sentences)
    np.testing.assert_array_equal(rollout.variables, slow[:, :, 0])
    np.testing.assert_array_equal(rollout.values, slow[:, :, 1])
    right = (rollout.values == sentences.values[:, 1:]) & (rollout.variables == sentences.variables[:, 1:])
    assert right.mean() == (1 if step == 600 else pytest.approx(right.mean()))
    assert not np.array_equal(slow, -np.ones_like(slow))


def test_a_sentence_ends_where_a_clause_is_no_answer(learnt: Run) -> None:
    model = load_theory(learnt, 0)  # untrained: whatever it writes
    rollout = model.rollout(sentences_of(model, 5, 40))
    assert ((rollout.values == -1) == (rollout.variables == -1)).all()
    ended = np.cumsum(rollout.values < 0, axis=1) > 0
    assert (rollout.values[ended] == -1).all()
    tokens = model.shape.tokens
    good = [tokens.blank, tokens.blank, tokens.blank, 0, tokens.first_value]
    bad = [
        [*good[:2], 0, *good[3:]],
        [*good[:3], tokens.first_element, good[4]],
        [*good[:4], 3],
        [*good[:4], tokens.blank],
    ]
    assert well_formed(torch.tensor([good, *bad]), model.shape).tolist() == [True, *[False] * 4]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
@pytest.mark.parametrize("step", [0, 400])
@pytest.mark.parametrize("bags", [True, False])
def test_contenders_find_what_all_logits_say(
    learnt: Run, step: int, share: float, bags: bool, monkeypatch: Any
) -> None:
    monkeypatch.setattr(contenders, "_SHARE", share)
    monkeypatch.setattr(feed_forward, "BAG_CLAUSES", 100 if bags else 0)
    model = load_theory(learnt, step)
    sentences = sentences_of(model, 6, 50)
    for place in (0, 3, 5):
        context = context_of(model.shape, sentences, (place,), model.device)
        attended = attended_inputs(attend(model.weights.Q, context, model.reach), context, model.shape.inputs)[:, 0]
        every = [clipped(raw_logits(W, attended, model.shape), model.shape).argmax(1) for W in model.weights.W]
        assert torch.equal(model.next_clauses(context), torch.stack(every, dim=1))


def test_bounds_hold_for_all_logits() -> None:
    model = tiny_model(clip=100.0)
    sentences = sentences_of(model, 5, 60)
    context = context_of(model.shape, sentences, tuple(range(5)), model.device)
    attended = attended_inputs(attend(model.weights.Q, context, model.reach), context, model.shape.inputs).flatten(0, 1)
    for slot in range(SLOTS):
        bounds = contenders.bounds_of(model.weights.W[slot], model.shape)
        found = raw_logits(model.weights.W[slot], attended, model.shape)[:, : model.shape.size]
        assert bool((found <= bounds + 1e-12).all())


def test_permuting_the_predicates_changes_nothing(learnt: Run) -> None:
    # One layer without positions: an identity.
    model = load_theory(learnt)
    sentences = sentences_of(model, 6, 5)
    context = context_of(model.shape, sentences, (2,), model.device)
    order = torch.tensor([3, 1, 5, 0, 4, 2])
    other = replace(context, predicates=context.predicates[:, order])
    first, second = attend(model.weights.Q, context, model.reach), attend(model.weights.Q, other, model.reach)
    torch.testing.assert_close(first[:, :, order], second[:, :, :6], rtol=1e-13, atol=0)


@pytest.mark.parametrize("q", [0.0, 1.5, 6.0])
@pytest.mark.parametrize("length", [1, 2, 7])
def test_imposed_diagonals_have_the_known_epsilon(q: float, length: int) -> None:
    model = with_imposed_diagonals(tiny_model(), q)
    mass = model.attention(sentences_of(model, length, 5))
    for place in range(length):
        others = length + place - 1
        np.testing.assert_allclose(mass.epsilon[0, :, place], imposed_epsilon(q, others), rtol=0, atol=1e-14)
        if others:
            assert diagonal_for(imposed_epsilon(q, others), others) == pytest.approx(q, abs=1e-12)
    np.testing.assert_allclose(mass.gap, 0, atol=1e-14)
    found = entries_of(model.Q44)
    assert (found.diagonal, found.diagonal_deviation, found.elsewhere_largest) == (
        pytest.approx(q),
        pytest.approx(0),
        0,
    )


def test_unequal_imposed_diagonals_leave_a_gap() -> None:
    mass = with_imposed_diagonals(tiny_model(), 2.0, 1.0).attention(sentences_of(tiny_model(), 3, 4))
    e = np.exp([2.0, 1.0])
    np.testing.assert_allclose(mass.gap[0, :, 1], (e[0] - e[1]) / (e.sum() + 3))


def test_labels_are_what_the_teacher_writes(learnt: Run) -> None:
    teacher = load_theory(learnt)
    sentences = sentences_of(teacher, 6, 30)
    (own, labels), (true, values) = own_examples(teacher, sentences, (1,)), true_examples(teacher, sentences, (1,))
    assert torch.equal(own.answers, true.answers)  # this teacher makes no mistakes
    assert torch.equal(labels, values)
    unsure = load_theory(learnt, 200)
    rollout = unsure.rollout(sentences)
    whole = rollout.values[:, 1] >= 0
    context, labels = own_examples(unsure, sentences, (1,))
    np.testing.assert_array_equal(labels[:, 0], rollout.values[whole, 1] + unsure.shape.tokens.first_value)
    np.testing.assert_array_equal(context.answers[:, 1, 0], rollout.variables[whole, 0] + unsure.shape.first_fourth)
    np.testing.assert_array_equal(context.answers[:, 1, 1], rollout.values[whole, 0] + unsure.shape.first_value)


def test_a_checkpoint_of_attention_finds_the_network_it_belongs_to(learnt: Run) -> None:
    assert set(learnt.load(500)) == {"Q"}
    middle, first = load_theory(learnt, 500), load_theory(learnt, 400)
    assert torch.equal(middle.weights.W, first.weights.W)
    assert not torch.equal(middle.weights.Q, first.weights.Q)
    assert not torch.equal(load_theory(learnt, 200).weights.W, first.weights.W)
    np.testing.assert_array_equal(middle.action.images, first.action.images)
    with pytest.raises(FirstlightError, match="no checkpoint of step 401"):
        load_theory(learnt, 401)
    with pytest.raises(FirstlightError, match="expected 'lego theory'"):
        load_theory(replace(learnt, manifest={**learnt.manifest, "kind": "reference"}))


def test_batches_change_nothing(learnt: Run, monkeypatch: Any) -> None:
    from firstlight.tracking.theory_model import model as module

    model = load_theory(learnt)
    sentences = sentences_of(model, 5, 23)
    whole, mass = model.log_probabilities(sentences), model.attention(sentences)
    monkeypatch.setattr(module, "_HELD", 1000)
    np.testing.assert_allclose(model.log_probabilities(sentences), whole, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(model.attention(sentences).predicate, mass.predicate)
