"""Linear layers are what they are in double precision, by either of the two products."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as PyTorch's own documentation calls it

from firstlight.tracking.practical import matmul


@pytest.mark.parametrize("one_dnn", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(7,), (2, 3, 4), (1, 1)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_and_its_gradients(
    monkeypatch: pytest.MonkeyPatch, one_dnn: bool, dtype: torch.dtype, shape: tuple[int, ...], bias: bool
) -> None:
    if not one_dnn:
        monkeypatch.setattr(matmul, "_LINEAR", None)
    generator = torch.Generator().manual_seed(0)

    def drawn(*size: int) -> Any:
        return torch.randn(size, generator=generator, dtype=torch.float64)

    exact = [drawn(*shape, 5).requires_grad_(), drawn(6, 5).requires_grad_(), drawn(6).requires_grad_()]
    given = [each.detach().to(dtype).requires_grad_() for each in exact]
    if not bias:
        exact, given = exact[:2], given[:2]
    found, expected = matmul.linear(*given), F.linear(*exact)
    weight = drawn(*shape, 6)
    close: dict[str, float] = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 0, "atol": 1e-13}
    torch.testing.assert_close(found.double(), expected, **close)
    gradients = torch.autograd.grad(found, given, weight.to(dtype))
    for gradient, dense in zip(gradients, torch.autograd.grad(expected, exact, weight), strict=True):
        torch.testing.assert_close(gradient.double(), dense, **close)
