"""The lemmas' gradients equal autograd through an independent dense model."""

import numpy as np
import pytest
import torch

from firstlight.reference.gradients import analytic_gradients, softmax_jacobian
from tests.reference.dense import dense_gradients, draw_lengths, draw_windows, largest_difference, random_parameters

BOUND = 1e-10


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
@pytest.mark.parametrize("short", [False, True])
def test_the_lemmas_agree_with_autograd(layers: int, short: bool) -> None:
    windows = draw_windows(layers)
    lengths = draw_lengths(layers) if short else np.full(len(windows), windows.shape[1])
    parameters = random_parameters(layers, seed=layers)
    _, expected = dense_gradients(parameters, windows, lengths)
    assert largest_difference(analytic_gradients(parameters, windows, lengths), expected) < BOUND


def test_the_weights_of_the_tests_use_the_whole_model() -> None:
    """A gradient that ignored the paths through two layers would not pass at these weights."""
    windows, parameters = draw_windows(), random_parameters(3)
    lengths = np.full(len(windows), windows.shape[1])
    _, whole = dense_gradients(parameters, windows, lengths)
    _, without = dense_gradients({**parameters, "layers.0.V": 0 * parameters["layers.0.V"]}, windows, lengths)
    assert all(float((whole[n] - without[n]).norm() / whole[n].norm()) > 0.01 for n in whole if n != "layers.0.V")


def test_the_jacobian_of_the_softmax() -> None:
    generator = torch.Generator().manual_seed(0)
    scores, direction = torch.randn(2, 4, 6, dtype=torch.float64, generator=generator)
    scores.requires_grad_()
    # It is symmetric, so the backward derivative is the forward one.
    (expected,) = torch.autograd.grad(scores.softmax(-1), scores, direction)
    assert torch.allclose(softmax_jacobian(scores.detach().softmax(-1), direction), expected, atol=1e-14)
