"""The block is the plain dense model: loss, gradients, logits and what it writes, with every option."""

from typing import Any

import pytest
import torch

from firstlight.bench.plain_practical import plain_logits, plain_loss, plain_rollout
from firstlight.tracking.language.action import Action
from firstlight.tracking.practical.generation import generate
from tests.tracking.practical.conftest import block_of, clauses_of, sentences_of

OPTIONS: list[dict[str, Any]] = [
    {},
    {"heads": 1},
    {"heads": 4, "width": 1},
    {"residual": False},
    {"layer_norm": False},
    {"residual": False, "layer_norm": False, "positions": "rope"},
    {"slot_weights": (0.0, 0.0, 0.0, 1.0, 2.0)},
    {"slot_weights": (0.5, 0.0, 0.0, 1.0, 2.0)},
    {"positions": "sinusoidal"},
    {"positions": "learned", "position_rows": 24},
    {"positions": "rope"},
    {"positions": "alibi"},
    {"convolution": 1},
    {"convolution": 3},
    {"convolution": 4, "positions": "learned", "layer_norm": False, "position_rows": 24},
    {"convolution": 4, "positions": "alibi", "residual": False},
    {"convolution": 12, "positions": "rope"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_loss_and_gradients_are_those_of_the_plain_model(action: Action, options: dict[str, Any]) -> None:
    block = block_of(action, **options)
    predicates, answers = clauses_of(sentences_of(action, 4), block)
    found = [weight.requires_grad_() for weight in block.parameters.values()]
    plain = {name: weight.detach().clone().requires_grad_() for name, weight in block.parameters.items()}
    loss, by_slot = block.loss(predicates, answers)
    expected = plain_loss(block.settings, plain, predicates, answers)
    weights = torch.tensor([weight for weight in block.settings.slot_weights if weight], dtype=torch.float64)
    assert (loss - expected).item() == pytest.approx(0, abs=1e-12)
    assert (by_slot @ weights - expected).item() == pytest.approx(0, abs=1e-12)
    gradients = torch.autograd.grad(3 * loss, found)
    for (name, weight), gradient in zip(plain.items(), gradients, strict=True):
        (dense,) = torch.autograd.grad(3 * expected, weight, retain_graph=True)
        assert float((gradient - dense).abs().max()) < 1e-10 * max(1, float(dense.abs().max())), name


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_logits_are_those_of_the_plain_model(action: Action, options: dict[str, Any]) -> None:
    block = block_of(action, **options)
    predicates, answers = clauses_of(sentences_of(action, 6), block)
    expected = plain_logits(block.settings, block.parameters, torch.cat([predicates, answers], 1))[:, 6:]
    torch.testing.assert_close(block.logits(predicates, answers), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_kept_keys_write_what_reading_everything_again_writes(action: Action, options: dict[str, Any]) -> None:
    block = block_of(action, **options)
    predicates, answers = clauses_of(sentences_of(action, 9), block)
    # Untrained, it writes any tokens into any slot: the answers read back are of no form.
    written = generate(block, predicates, answers[:, 0], 9)
    assert torch.equal(written, plain_rollout(block.settings, block.parameters, predicates, answers[:, 0], 9))
    assert len(written.unique()) > 5
    assert torch.equal(generate(block, predicates, answers[:, 0], 1), written[:, :1])


def test_answers_of_any_form_are_read(action: Action) -> None:
    block = block_of(action)
    predicates, _ = clauses_of(sentences_of(action, 4), block)
    anything = torch.randint(0, block.tokens.size, (7, 4, 5), generator=torch.Generator().manual_seed(0))
    expected = plain_logits(block.settings, block.parameters, torch.cat([predicates, anything], 1))[:, 4:]
    torch.testing.assert_close(block.logits(predicates, anything), expected, rtol=0, atol=1e-10)


def test_single_precision_follows_double(action: Action) -> None:
    double = block_of(action)
    single = block_of(action, dtype="float32")
    for name, weight in double.parameters.items():
        single.parameters[name].copy_(weight)
    predicates, answers = clauses_of(sentences_of(action, 4), double)
    loss, expected = single.loss(predicates, answers)[0], double.loss(predicates, answers)[0]
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_probability_of_nought_is_a_large_loss_and_no_infinity(action: Action) -> None:
    block = block_of(action, dtype="float32")
    block.parameters["read_out.bias"][0] += 1000.0
    predicates, answers = clauses_of(sentences_of(action, 4), block)
    assert 900 < float(block.loss(predicates, answers)[0]) < 1100
