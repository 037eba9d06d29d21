"""Both ways to compute a step equal an independent dense model, whatever the chunks, the padding and the depth."""

import numpy as np
import pytest
import torch

from firstlight.errors import FirstlightError
from firstlight.reference.composed import Composed, distinct_tokens
from firstlight.reference.model import batch_of, chunks_of, mean_loss
from firstlight.reference.parameters import Parameters, Shape, shape_of, zero_parameters
from firstlight.reference.plan import Load, make_plan
from firstlight.reference.residual import Residual
from tests.reference.dense import (
    STEPS,
    VOCABULARY,
    dense_gradients,
    dense_loss,
    draw_lengths,
    draw_windows,
    largest_difference,
    random_parameters,
)

FORMS = (Composed, Residual)
Form = type[Composed] | type[Residual]


def evaluate(
    form: Form, parameters: Parameters, windows: np.ndarray, lengths: np.ndarray, chunk: int = 7
) -> tuple[float, Parameters]:
    sums = form(parameters)
    loss = sum(sums.add(batch) for batch in chunks_of(windows, lengths, chunk))
    positions = int(np.sum(lengths - 1))
    return loss / positions, {name: gradient / positions for name, gradient in sums.finish().items()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_loss_and_gradients_equal_the_dense_model(form: Form, layers: int) -> None:
    windows, lengths = draw_windows(layers), draw_lengths(layers)
    parameters = random_parameters(layers, seed=layers)
    expected_loss, expected = dense_gradients(parameters, windows, lengths)
    for chunk in (1, 7, len(windows)):
        loss, gradients = evaluate(form, parameters, windows, lengths, chunk)
        assert loss == pytest.approx(expected_loss, rel=1e-12)
        assert largest_difference(gradients, expected) < 1e-10  # seen: 2e-14


@pytest.mark.parametrize("form", FORMS)
def test_float32_is_as_good_as_float32_can_be(form: Form) -> None:
    windows, lengths = draw_windows(), draw_lengths()
    exact = {name: weight.float().double() for name, weight in random_parameters(3).items()}
    expected_loss, expected = dense_gradients(exact, windows, lengths)
    loss, gradients = evaluate(form, {n: weight.float() for n, weight in exact.items()}, windows, lengths)
    assert loss == pytest.approx(expected_loss, rel=1e-6)
    assert largest_difference(gradients, expected) < 1e-5  # seen: 2e-6


@pytest.mark.parametrize("form", FORMS)
def test_nothing_underflows_in_the_first_steps(form: Form) -> None:
    """Weights as a small rate leaves them: the attention around 1e-20, and products of two around 1e-40."""
    scales = {"W_O": 1e-5, "V": 1e-12, "W": 1e-21, "P": 1e-21}
    exact = {
        name: (weight * scales[name if name == "W_O" else name[-1]]).float().double()
        for name, weight in random_parameters(3).items()
    }
    windows, lengths = draw_windows(), draw_lengths()
    _, expected = dense_gradients(exact, windows, lengths)
    _, gradients = evaluate(form, {name: weight.float() for name, weight in exact.items()}, windows, lengths)
    assert float(expected["layers.2.W"].abs().max()) < 1e-12  # the second order of small weights
    assert largest_difference(gradients, expected) < 1e-3


@pytest.mark.parametrize("form", FORMS)
def test_what_padding_holds_does_not_matter(form: Form) -> None:
    windows, lengths = draw_windows(), draw_lengths()
    padded = np.where(np.arange(STEPS + 1) < lengths[:, None], windows, 65_535)
    loss, gradients = evaluate(form, random_parameters(2), windows, lengths)
    other_loss, others = evaluate(form, random_parameters(2), padded, lengths)
    assert other_loss == loss
    assert all(torch.equal(gradients[name], others[name]) for name in gradients)


@pytest.mark.parametrize("form", FORMS)
def test_the_loss_alone_is_the_same_loss(form: Form) -> None:
    windows, lengths = draw_windows(), draw_lengths()
    parameters = random_parameters(3)
    sums = form(parameters, with_gradient=False)
    alone = sum(sums.add(batch) for batch in chunks_of(windows, lengths, 7)) / int(np.sum(lengths - 1))
    assert alone == evaluate(form, parameters, windows, lengths)[0]
    assert mean_loss(parameters, windows, lengths) == pytest.approx(
        float(dense_loss(parameters, windows, lengths)), rel=1e-12
    )


@pytest.mark.parametrize("form", FORMS)
def test_the_same_sums_have_the_same_bits(form: Form) -> None:
    windows, lengths, parameters = draw_windows(), draw_lengths(), random_parameters(3, torch.float32)
    loss, gradients = evaluate(form, parameters, windows, lengths)
    again_loss, again = evaluate(form, parameters, windows, lengths)
    assert loss == again_loss
    assert all(torch.equal(gradients[name], again[name]) for name in gradients)


def test_a_loss_beyond_what_probabilities_can_say() -> None:
    parameters = zero_parameters(Shape(VOCABULARY, STEPS, 1), torch.float32)
    parameters["W_O"][:, 0] = 1000.0
    windows = np.full((1, STEPS + 1), 3)
    for form in FORMS:
        loss, _ = evaluate(form, parameters, windows, np.array([STEPS + 1]))
        assert loss == 1000.0


def test_distinct_tokens_give_the_window_back() -> None:
    windows = draw_windows()
    inputs = batch_of(windows, draw_lengths()).inputs
    tokens, places = distinct_tokens(inputs)
    assert torch.equal(tokens.gather(1, places), inputs)
    assert tokens.shape[1] == max(len(row.unique()) for row in inputs)


# --- plans


def load(windows: int, layers: int = 3, vocabulary: int = 3000) -> Load:
    return Load(Shape(vocabulary, 200, layers), windows, 120.0, 4)


def test_the_cheaper_way_is_taken() -> None:
    memory = 8 * 2**30
    assert make_plan(load(2048), memory).form == "paths"
    assert make_plan(load(8), memory).form == "layers"  # products would cost more than the windows
    assert make_plan(load(64, layers=8), memory).form == "layers"  # 256 paths


def test_memory_bounds_the_windows_at_a_time() -> None:
    plenty, little = make_plan(load(2048), 8 * 2**30), make_plan(load(2048), int(2.2 * 2**30))
    assert plenty.chunk > little.chunk >= 1
    assert little.bytes <= 2.2 * 2**30
    assert make_plan(load(1), 8 * 2**30).chunk == 1


def test_too_little_memory_is_one_clear_line() -> None:
    with pytest.raises(FirstlightError, match=r"3 layers and 3,000 tokens at T = 200 needs at least \d\.\d GiB"):
        make_plan(load(2048), 2**29)


# --- parameters


def test_weights_that_do_not_fit_are_named() -> None:
    parameters = random_parameters(2)
    assert shape_of(parameters) == Shape(VOCABULARY, STEPS, 2)
    with pytest.raises(FirstlightError, match=r"layers\.1\.V is missing"):
        shape_of({name: weight for name, weight in parameters.items() if name != "layers.1.V"})
    with pytest.raises(FirstlightError, match="bias is unexpected"):
        shape_of({**parameters, "bias": parameters["W_O"]})
    with pytest.raises(FirstlightError, match=r"layers\.0\.W: shape \(3, 3\), expected \(25, 25\)"):
        shape_of({**parameters, "layers.0.W": torch.zeros(3, 3)})
