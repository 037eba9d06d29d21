"""Features, the curriculum, shapes and theorems, against small cases worked out by hand."""

import numpy as np
import pytest

from firstlight.runs import Run
from firstlight.tracking.language.names import action_named
from firstlight.tracking.theory_model.curriculum import agreement, curriculum_of
from firstlight.tracking.theory_model.emergence import Emergence
from firstlight.tracking.theory_model.features import Features, features_of, fibres_of
from firstlight.tracking.theory_model.loading import load_theory
from firstlight.tracking.theory_model.parameters import in_words
from firstlight.tracking.theory_model.shapes import imbalance, simply_transitive_shape, symmetric_shape
from firstlight.tracking.theory_model.statements import statements
from tests.tracking.theory_model.conftest import tiny_model


def test_features_are_the_columns_of_the_value_slot() -> None:
    model = tiny_model("S3")
    shape, W = model.shape, in_words(model.weights.W, model.shape)
    features = features_of(model.weights.W, shape, model.action)
    for j, r, g, y in ((0, 0, 0, 0), (2, 3, 5, 1), (1, 2, 4, 2)):
        token = shape.tokens.first_value + j
        element = W[4, shape.first_element + g, r, token]
        value = W[4, shape.first_value + y, r, token]
        assert features.element[j, r, g] == element
        assert features.value[j, r, y] == value
        assert features.pairs[j, r, g, y] == pytest.approx(float(element + value) / 2)
    inside = fibres_of(model.action)
    assert (inside.sum(0) == 2).all()
    for j, y in ((0, 1), (2, 2)):
        mean = features.pairs[j, :, inside[:, j, y], y].mean(0)
        np.testing.assert_allclose(features.fibres[j, :, y], mean)
    for g, y in ((1, 0), (3, 2)):
        assert features.right[g, y] == features.pairs[model.action.images[g, y], :, g, y].max()


def test_a_fibre_without_elements_is_never_learnt() -> None:
    action = action_named("(1 2)(3)")
    features = Features(action, np.zeros((3, 2, 2)), np.zeros((3, 2, 3)))
    assert np.isneginf(features.fibres[0, :, 2]).all()
    assert len(curriculum_of(features)) == 5


def test_the_curriculum_takes_the_largest_that_is_left() -> None:
    action = action_named("C2")
    element = np.zeros((2, 2, 2))
    value = np.array([[[0.8, 0.6], [0.7, 0.1]], [[0.2, 0.3], [0.9, 1.0]]])  # [j, neuron, y]
    found = curriculum_of(Features(action, element, value))
    # (1, y=1) in neuron 1; then (0, y=0) in neuron 0; neuron 1 of 0 is left for y=1 although it likes y=0 more.
    assert found.to.tolist() == [1, 0, 1, 0]
    assert found.value.tolist() == [1, 0, 0, 1]
    assert found.neuron.tolist() == [1, 0, 0, 1]
    np.testing.assert_allclose(found.initial, [0.5, 0.4, 0.1, 0.05])
    seen = Emergence(action, np.array([[20, -1], [40, 10]]), np.array([[0, -1], [1, 1]]))
    compared = agreement(found, seen, 2)
    assert (compared.features, compared.appeared) == (4, 3)
    assert compared.same_neuron == pytest.approx(2 / 3)
    assert compared.rank_correlation == pytest.approx(1)
    assert np.isnan(agreement(found, Emergence.of(action), 2).rank_correlation)


@pytest.mark.parametrize("name", ["C4", "S3", "S4"])
def test_exact_shapes_have_no_distance(name: str) -> None:
    action, B = action_named(name), 3.0
    n, inside = action.degree, fibres_of(action)
    simple = n == action.order
    up, down = (B, -B) if simple else (2 * B, -2 * B / n)
    # Neuron y of value j has learnt Fiber_{j,y}.
    element = np.where(inside.transpose(1, 2, 0), up, down).astype(float)
    value = np.where(np.eye(n, dtype=bool), -down, -up)[None].repeat(n, axis=0).astype(float)
    features = Features(action, element, value)
    distances = (simply_transitive_shape if simple else symmetric_shape)(features, B)
    for each in distances:
        if " D:" in each.statement or each.statement.startswith(("C.1 A", "B.1 C")):
            continue
        assert each.mean == pytest.approx(0, abs=1e-12), each.statement
        assert each.worst == pytest.approx(0, abs=1e-12), each.statement
        assert each.count > 0
    assert imbalance(features, B) == pytest.approx(1 if simple else n)


def test_distances_are_not_nothing() -> None:
    action = action_named("C3")
    features = Features(action, np.zeros((3, 3, 3)), np.zeros((3, 3, 3)))
    found = {each.statement.split(":")[0]: each for each in simply_transitive_shape(features, 2.0)}
    assert found["B.1 A"].mean == 1
    assert found["17b"].worst == 1
    assert found["17c, B.1 B"].mean == 0


def test_what_was_learnt_is_seen_and_predicted(learnt: Run) -> None:
    first, last = load_theory(learnt, 0), load_theory(learnt, 400)
    tensors = learnt.load(400)
    seen = Emergence(last.action, tensors["appeared.step"].numpy(), tensors["appeared.neuron"].numpy())
    assert (seen.step >= 0).all()
    predicted = curriculum_of(features_of(first.weights.W, first.shape, first.action))
    assert len(predicted) == 9
    compared = agreement(predicted, seen, first.shape.neurons)
    assert compared.appeared == 9
    assert 0 <= compared.same_neuron <= 1


def test_theorems_stand_beside_what_was_measured(learnt: Run) -> None:
    found = {each.theorem: each for each in statements(learnt, count=10)}
    assert list(found) == ["Theorem 4.1", "Theorem 5.1", "Theorem B.1", "Theorem C.1"]
    conditions = {each.text: each.holds for each in found["Theorem 4.1"].conditions}
    assert conditions["the action is simply transitive (Assumption 4.1)"]
    assert conditions["Algorithm 1"]
    assert not {each.text: each.holds for each in found["Theorem 5.1"].conditions}["Algorithm 2"]
    values = [each for each in found["Theorem 4.1"].measured if each.claim.startswith("ACC_L")]
    assert values[0].found.startswith("L = 2: 0.9")
    assert all(np.isfinite(each.value) for each in found["Theorem B.1"].measured)
