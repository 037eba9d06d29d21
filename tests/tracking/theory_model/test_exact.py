"""Gathers, bags and written-out gradients against the dense model of the paper, in float64, to 1e-10."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.theory_model import feed_forward, updates
from firstlight.tracking.theory_model.attention import context_of
from firstlight.tracking.theory_model.feed_forward import activation
from firstlight.tracking.theory_model.labelling import true_examples
from firstlight.tracking.theory_model.losses import accuracy, clause_loss, token_loss
from firstlight.tracking.theory_model.parameters import in_blocks, in_words
from firstlight.tracking.theory_model.shape import VALUE_SLOT
from tests.tracking.theory_model import dense
from tests.tracking.theory_model.conftest import sentences_of, tiny_model
from tests.tracking.theory_model.dense import dense_weights, input_columns, losses, query_rows, srelu

CASES: list[dict[str, Any]] = [
    {"name": "S3"},
    {"name": "C5", "leak": 0.05, "power": 6},
    {"name": "D4", "restricted": False},
    {"name": "S3", "restricted": False, "leak": 0.1, "power": 6, "variables": 12},
]


def close(one: Any, other: Any) -> None:
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("changes", CASES)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_probabilities_and_attention_equal_the_dense_model(changes: dict[str, Any], length: int) -> None:
    model = tiny_model(**changes)
    sentences = sentences_of(model, length, 7)
    W, Q = dense_weights(model)
    found, mass = model.log_probabilities(sentences), model.attention(sentences)
    clauses = []
    for last in range(1, length + 1):
        loss, attention = losses(W, Q, sentences, model.shape, last)
        close(found[:, last - 1], -loss)
        close(mass.predicate[0, :, last - 1], attention[:, last - 1])
        close(mass.answer[0, :, last - 1], attention[:, -1])
        clauses.append(loss)
    every = torch.stack(clauses, dim=1)
    close(clause_loss(model, sentences), every.sum(2).mean(0).sum())
    close(token_loss(model, sentences, VALUE_SLOT), every[:, :, VALUE_SLOT].mean(0))
    close(accuracy(model, sentences), (-every.sum(2)).exp().mean())
    close(model.teacher_forced(sentences).value, (-every[:, :, VALUE_SLOT]).exp())


@pytest.mark.parametrize("changes", CASES)
@pytest.mark.parametrize("compiled", [True, False])
def test_an_update_of_the_ffn_is_the_dense_gradient(changes: dict[str, Any], compiled: bool, monkeypatch: Any) -> None:
    if not compiled:
        monkeypatch.setattr(updates, "_descend_compiled", updates._descend_by_product)
    model = tiny_model(**changes).with_attention(torch.zeros_like(tiny_model(**changes).weights.Q))
    shape, sentences = model.shape, sentences_of(model, 1, 40)
    W, Q = dense_weights(model)
    W.requires_grad_()
    expected = losses(W, Q, sentences, shape, 1)[0].sum(1).mean()
    expected.backward()  # type: ignore[no-untyped-call]
    assert W.grad is not None
    gradient = W.grad[..., input_columns(shape)].permute(0, 3, 2, 1)
    rows = np.concatenate([shape.predicates(sentences)[:, 0], shape.answers(sentences)[:, 0]], axis=1)
    before = in_words(model.weights.W, shape).clone()
    targets = torch.from_numpy(shape.targets(sentences)[:, 1])
    loss = updates.descend_ffn(model.weights.W, torch.from_numpy(rows), targets, shape, 5 * [0.25])
    close(loss, expected.detach())
    close((before - in_words(model.weights.W, shape)) / 0.25, gradient)
    # Nothing else of the dense W has a gradient: only inputs are kept.
    assert torch.count_nonzero(W.grad) == torch.count_nonzero(gradient)


@pytest.mark.parametrize("changes", CASES)
@pytest.mark.parametrize(("length", "queries"), [(2, (0, 1)), (2, (1,)), (6, (1,)), (5, (0, 2, 4))])
@pytest.mark.parametrize("bags", [True, False])
def test_the_gradient_of_attention_is_the_dense_one(
    changes: dict[str, Any], length: int, queries: tuple[int, ...], bags: bool, monkeypatch: Any
) -> None:
    monkeypatch.setattr(feed_forward, "BAG_CLAUSES", 100 if bags else 0)
    model = tiny_model(**changes)
    shape, sentences = model.shape, sentences_of(model, length, 9)
    W, Q = dense_weights(model)
    Q.requires_grad_()
    parts = [losses(W, Q, sentences, shape, query + 1)[0][:, VALUE_SLOT].mean() for query in queries]
    expected = torch.stack(parts).sum()
    expected.backward()  # type: ignore[no-untyped-call]
    assert Q.grad is not None
    context, targets = true_examples(model, sentences, queries)
    loss, gradient, attention = updates.attention_gradients(model.weights, context, targets, model.reach)
    close(loss, expected.detach())
    dense = Q.grad[query_rows(shape)[:, None], input_columns(shape)[None, :]]
    if model.restricted:
        blocks = model.with_attention(gradient)
        close(blocks.Q43, model.with_attention(dense).Q43)
        close(blocks.Q44, model.with_attention(dense).Q44)
        assert torch.count_nonzero(gradient) == sum(map(torch.count_nonzero, (blocks.Q43, blocks.Q44)))
    else:
        close(gradient, dense)
        assert torch.count_nonzero(Q.grad) == torch.count_nonzero(gradient)
    close(attention.sum(2), torch.ones(9, len(queries)))


def test_all_cases_of_the_activation_occur_in_these_tests() -> None:
    model = tiny_model(**CASES[1])
    shape, sentences = model.shape, sentences_of(model, 2, 40)
    x = torch.linspace(-shape.ceiling - 1, 2, 4001, dtype=torch.float64, requires_grad=True)
    value = srelu(x, shape)
    value.sum().backward()  # type: ignore[no-untyped-call]
    ours, slope = activation(x.detach(), shape)
    close(ours, value.detach())
    close(slope, x.grad)
    logs = model.log_probabilities(sentences)
    assert np.ptp(logs) > 0.1
    W, Q = dense_weights(model)
    answers = torch.from_numpy(dense.answer_clauses(sentences, shape.tokens))
    predicates = torch.from_numpy(dense.predicate_clauses(sentences, shape.tokens))
    Z = torch.cat([dense.embedded(predicates, shape), dense.embedded(answers[:, :1], shape)], dim=1)
    clipped = dense.logits(W, Q, Z, shape)[0] >= shape.ceiling
    assert 0 < clipped.double().mean() < 1


def test_smooth_relu_and_its_leak_are_continuously_differentiable() -> None:
    shape = tiny_model(leak=0.1).shape
    for bend in (0.0, -shape.leak, shape.radius):
        points = torch.tensor([bend - 1e-9, bend + 1e-9], dtype=torch.float64)
        values, slopes = activation(points, shape)
        assert abs(float(values[1] - values[0])) < 1e-8
        assert abs(float(slopes[1] - slopes[0])) < 1e-7


def test_weights_in_memory_and_in_words_are_the_same() -> None:
    shape = tiny_model().shape
    natural = torch.randn(SLOTS, shape.inputs, shape.neurons, shape.size)
    assert torch.equal(in_words(in_blocks(natural), shape), natural)


def test_float32_is_float64_rounded() -> None:
    double = tiny_model()
    single = tiny_model(dtype="float32")
    sentences = sentences_of(double, 4, 20)
    np.testing.assert_allclose(
        single.log_probabilities(sentences), double.log_probabilities(sentences), rtol=2e-4, atol=2e-5
    )


def test_queries_see_no_later_answer() -> None:
    model = tiny_model()
    sentences = sentences_of(model, 4, 6)
    early = context_of(model.shape, sentences, (1,), model.device)
    assert early.answers.shape[1] == 2
    other = replace(sentences, values=np.where(np.arange(5) > 1, (sentences.values + 1) % 3, sentences.values))
    targets: Tensor = torch.from_numpy(sentences.values[:, 1:3] + model.shape.tokens.first_value)
    both = [true_examples(model, each, (0, 1))[0] for each in (sentences, other)]
    first, second = (updates.attention_gradients(model.weights, each, targets, model.reach) for each in both)
    assert first[0] == second[0]
    assert torch.equal(first[1], second[1])
