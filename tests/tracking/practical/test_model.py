"""What is measured of a model: against the plain dense model, and in batches of any size."""

import numpy as np
import pytest
import torch

from firstlight.bench.plain_practical import plain_logits
from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.interleaved import Interleaved, interleaved, laid_out
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import answer_clauses
from firstlight.tracking.measures.measured import SentenceModel
from firstlight.tracking.practical import model as module
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.model import PracticalModel
from tests.tracking.practical.conftest import clauses_of, model_of, sentences_of


def mixed(action: Action, length: int = 5) -> Interleaved:
    return interleaved(sentences_of(action, length), 6, variables=30, rng=np.random.default_rng(1))


def test_it_is_a_sentence_model(action: Action) -> None:
    model: SentenceModel = model_of(action)
    assert model.rollout(sentences_of(action, 3)).values.shape == (7, 3)


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0, 1.0)])
def test_probabilities_are_those_of_the_plain_model(action: Action, weights: tuple[float, ...]) -> None:
    model, each = model_of(action, slot_weights=weights), mixed(action)
    predicates, _ = laid_out(each, model.block.tokens)
    answers = answer_clauses(each.sentences, model.block.tokens)
    clauses = torch.from_numpy(np.concatenate([predicates, answers[:, :-1]], 1))
    probabilities = plain_logits(model.settings, model.block.parameters, clauses)[:, -5:].softmax(-1).numpy()
    slots = model.settings.read_out_slots
    targets = answers[:, 1:, list(slots)]
    chosen = np.take_along_axis(probabilities, targets[..., None], -1)[..., 0]
    found = model.teacher_forced(each)
    np.testing.assert_allclose(found.value, chosen[..., -1], rtol=1e-9)
    np.testing.assert_allclose(found.clause, chosen.prod(-1), rtol=1e-9)


def test_attention_is_where_the_map_says(action: Action) -> None:
    model, each = model_of(action), mixed(action)
    whole, masses = model.attention_map(each), model.attention(each)
    assert whole.shape == (2, 7, 5, 16)
    np.testing.assert_allclose(whole.sum(-1), 1)
    for sentence in range(7):
        for answer in range(5):
            assert np.array_equal(
                masses.predicate[:, sentence, answer], whole[:, sentence, answer, each.places[sentence, answer]]
            )
            assert np.array_equal(masses.answer[:, sentence, answer], whole[:, sentence, answer, 11 + answer])
            assert (whole[:, sentence, answer, 11 + answer + 1 :] == 0).all()
    np.testing.assert_allclose(masses.epsilon, 1 - masses.predicate - masses.answer)


def test_the_size_of_batches_changes_nothing(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    model, each = model_of(action), mixed(action)
    written, forced, looked = model.rollout(each), model.teacher_forced(each), model.attention(each)
    monkeypatch.setattr(module, "CLAUSES", 33)
    assert np.array_equal(model.rollout(each).variables, written.variables)
    assert np.array_equal(model.rollout(each).values, written.values)
    np.testing.assert_allclose(model.teacher_forced(each).clause, forced.clause, rtol=1e-12)
    np.testing.assert_allclose(model.attention(each).predicate, looked.predicate, rtol=1e-12)


def writes(action: Action, *tokens: int) -> PracticalModel:
    """Return a model that writes the same clause always."""
    model = model_of(action)
    for name in ("read_out", "read_out.bias"):
        model.block.parameters[name].zero_()
    bias = model.block.parameters["read_out.bias"].view(5, -1)
    for slot, token in enumerate(tokens):
        bias[slot, token] = 1
    return model


@pytest.mark.parametrize(
    ("clause", "variable", "value"),
    [
        ((39, 39, 39, 7, 38), 7, 2),  # x7 = 2
        ((39, 39, 39, 36, 38), -1, 2),  # a value where a variable belongs
        ((39, 39, 39, 7, 35), 7, -1),  # an element where a value belongs
        ((39, 39, 39, 7, 39), 7, -1),
        ((39, 39, 39, 39, 7), -1, -1),
        ((7, 39, 39, 7, 38), -1, -1),  # no answer at all
        ((39, 39, 0, 7, 38), -1, -1),
    ],
)
def test_a_clause_of_another_form_is_wrong(action: Action, clause: tuple[int, ...], variable: int, value: int) -> None:
    written = writes(action, *clause).rollout(sentences_of(action, 3))
    assert (written.variables == variable).all()
    assert (written.values == value).all()


def test_a_model_that_copies_the_answer_is_right_where_nothing_moves(action: Action) -> None:
    plain = sentences_of(action, 3)
    still = Sentences(action, plain.variables, np.zeros_like(plain.elements), np.full_like(plain.values, 2))
    written = writes(action, 39, 39, 39, 7, 38).rollout(still)
    assert np.array_equal(written.values, still.values[:, 1:])


def test_sentences_it_cannot_read(action: Action) -> None:
    model = model_of(action)
    with pytest.raises(FirstlightError, match="sentences of C6: expected S3, which this model was taught"):
        model.rollout(sentences_of(action_named("C6"), 3))
    with pytest.raises(FirstlightError, match=r"variable 49: the model knows 0\.\.29"):
        model.rollout(sentences_of(action, 45, variables=50))
    with pytest.raises(FirstlightError, match="no sentences"):
        model.attention(sentences_of(action, 3)[:0])


def test_rollouts_cost_a_query_an_answer(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work a written answer is linear in the clauses before it: one query, and one projection of one clause."""
    model, looks, projections = model_of(action), [], []
    look, project = Block.look, Block.project

    def seen_look(block: Block, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        looks.append((queries.shape[2], keys.shape[2]))
        return look(block, queries, keys)

    def seen_project(block: Block, embedded: torch.Tensor) -> torch.Tensor:
        projections.append(embedded.shape[1])
        return project(block, embedded)

    monkeypatch.setattr(Block, "look", seen_look)
    monkeypatch.setattr(Block, "project", seen_project)
    model.rollout(sentences_of(action, 6))
    assert looks == [(1, 7 + step) for step in range(6)]
    assert projections == [7, *[1] * 5]


def test_clauses_are_those_of_the_language(action: Action) -> None:
    sentences, model = sentences_of(action, 3), model_of(action)
    predicates, answers = clauses_of(sentences, model.block)
    assert torch.equal(predicates, torch.from_numpy(laid_out(sentences, model.block.tokens)[0]))
    assert answers.shape == (7, 4, 5)
