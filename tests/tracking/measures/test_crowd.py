"""What is predicted for long sentences from short ones: without strangers the model itself, with them what is seen."""

import numpy as np
import pytest
import torch

from firstlight.errors import FirstlightError
from firstlight.runs import Run
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.tokens import tokens_of
from firstlight.tracking.measures.accuracy import accuracy_rows, attention_rows
from firstlight.tracking.measures.crowd import QUERY, SHORT, crowd_of
from firstlight.tracking.measures.failure import dilution
from firstlight.tracking.measures.loading import load_model
from firstlight.tracking.measures.look import look_of
from firstlight.tracking.measures.measured import SentenceModel
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.model import PracticalModel
from firstlight.tracking.practical.parameters import initial
from firstlight.tracking.practical.settings import Settings
from tests.tracking.measures.conftest import VARIABLES, sentences_of


@pytest.fixture(params=["practical", "theory"])
def model(request: pytest.FixtureRequest) -> SentenceModel:
    run: Run = request.getfixturevalue(f"{request.param}_run")
    return load_model(run)


@pytest.fixture(params=["practical", "theory"])
def begun(request: pytest.FixtureRequest) -> SentenceModel:
    """Models at their beginning, which are wrong half of the time and more."""
    run: Run = request.getfixturevalue(f"{request.param}_run")
    return load_model(run, 16 if request.param == "practical" else 0)


def test_shares_of_scores_are_the_attention(model: SentenceModel, c3: Action) -> None:
    sentences = sentences_of(c3, 5, 20)
    for place in (0, 2, 4):
        shares = look_of(model, sentences, place, sentences).own.scores.softmax(2).numpy()
        mass = model.attention(sentences)
        np.testing.assert_allclose(shares[:, :, place].T, mass.predicate[:, :, place], atol=2e-6)
        np.testing.assert_allclose(shares[:, :, 5 + place].T, mass.answer[:, :, place], atol=2e-6)


def test_margins_are_positive_where_the_next_answer_is_right(begun: SentenceModel, c3: Action) -> None:
    sentences = sentences_of(c3, 4, 300)
    look = look_of(begun, sentences, 0, sentences[:1])
    read = torch.einsum("qhk,qhkc->qhc", look.own.scores.softmax(2), look.own.offered)
    written = begun.rollout(sentences)
    value = written.values[:, 0] == sentences.values[:, 1]
    right = value & (written.variables[:, 0] == sentences.variables[:, 1])
    margins = look.margins(read).numpy()
    # Margins are those of variable and value; a slot that has to be blank can be wrong beside.
    assert right.sum() <= (margins > 0).sum()
    assert (margins[right] > -1e-6).all()
    if isinstance(begun, PracticalModel):
        np.testing.assert_array_equal(margins > 0, right)


def test_without_strangers_a_crowd_is_the_model(model: SentenceModel) -> None:
    crowd = crowd_of(model, queries=64)
    torch.testing.assert_close(crowd.read(SHORT, QUERY), crowd.own.content / crowd.own.weight[..., None])
    torch.testing.assert_close(crowd.read(SHORT, QUERY, 1.0), crowd.read(SHORT, QUERY))


@pytest.mark.parametrize("length", [12, VARIABLES - 1])
def test_attention_in_long_sentences_is_predicted_from_short_ones(model: SentenceModel, length: int) -> None:
    crowd = crowd_of(model, queries=400)
    predicted = np.mean([crowd.epsilon(length, place).mean(0).numpy() for place in range(length)], axis=0)
    seen = [row.epsilon for row in attention_rows(model, [length], count=100)]
    np.testing.assert_allclose(predicted, seen, rtol=0.06)


def test_fluctuations_are_as_large_as_in_long_sentences(model: SentenceModel, c3: Action) -> None:
    # Few of the variables: those that a sentence has already vary less than independent ones.
    length, place, count = 10, 8, 800
    crowd = crowd_of(model, queries=count)
    kinds = (crowd.predicates.fluctuation, length - SHORT), (crowd.answers.fluctuation, place - QUERY)
    predicted = sum(part.content * n**0.5 for part, n in kinds) / crowd.own.weight[..., None]
    sentences = sentences_of(c3, length, count)
    own = look_of(model, sentences, place, sentences[:1]).own
    weights, known = own.scores.exp(), [place - 1, place, place + 1, length + place - 1, length + place]
    of_own = weights[:, :, known].sum(2)[..., None]
    weights[:, :, known] = 0.0
    seen = torch.einsum("qhk,qhkc->qhc", weights, own.offered) / of_own
    # By how much sentences differ, their queries apart: those of one query differ from their mean.
    strangers = sum(part.content * n for part, n in ((crowd.predicates.mean, 7), (crowd.answers.mean, 7)))
    between = (strangers / crowd.own.weight[..., None]).var(0).mean()
    assert float(predicted.square().mean()) == pytest.approx(float(seen.var(0).mean() - between), rel=0.35)


def test_rollouts_are_predicted(theory_run: Run) -> None:
    model = load_model(theory_run)
    crowd = crowd_of(model, queries=512)
    for row in accuracy_rows(model, [4, 10, 20, VARIABLES - 1], count=300):
        predicted = dilution([crowd], row.length).rollout
        assert row.rollout_low - 0.1 < predicted < row.rollout_high + 0.1


def test_parts_of_a_crowd_are_other_sentences_and_count_alike(practical_run: Run) -> None:
    model = load_model(practical_run)
    first, second = (crowd_of(model, queries=200, part=part) for part in (0, 1))
    assert not torch.equal(first.own.weight, second.own.weight)
    alone, both = [dilution([each], 20) for each in (first, second)], dilution([first, second], 20)
    assert both.epsilon == pytest.approx((alone[0].epsilon + alone[1].epsilon) / 2)
    assert both.weakest == min(each.weakest for each in alone)


def test_models_with_positions_are_refused(c3: Action) -> None:
    for change in ({"positions": "rope"}, {"convolution": 2}):
        settings = Settings(variables=VARIABLES, **change)
        tokens = tokens_of(c3, VARIABLES)
        model = PracticalModel(c3, Block(settings, tokens, initial(settings, tokens)))
        with pytest.raises(FirstlightError, match="the order of clauses is nothing"):
            crowd_of(model)


def test_few_variables_have_no_strangers(c3: Action) -> None:
    settings = Settings(variables=10)
    tokens = tokens_of(c3, 10)
    model = PracticalModel(c3, Block(settings, tokens, initial(settings, tokens)))
    with pytest.raises(FirstlightError, match="10 variables: expected at least 19"):
        crowd_of(model)
