"""Linear layers by the fastest product at hand.

PyTorch multiplies matrices of single precision on a CPU with MKL, which keeps to AVX2 on processors that are not
Intel's. oneDNN, which PyTorch carries for compiled graphs, uses what the processor has: twice the speed on an AMD
processor with AVX-512. Its operation is called here if this PyTorch has it in the form known; everything else (double
precision, GPUs) goes PyTorch's usual way. Which of the two it is depends on nothing else, so runs stay reproducible.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

_KNOWN = "(Tensor X, Tensor W, Tensor? B, str attr, Scalar?[] scalars, str? algorithm) -> Tensor Y"


def _one_dnn() -> Any:
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return None
    operation = torch.ops.mkldnn._linear_pointwise.default
    return operation if str(operation._schema).endswith(_KNOWN) else None


_LINEAR = _one_dnn()


def product(
    rows: Float[Tensor, "row inner"],
    columns: Float[Tensor, "column inner"],
    bias: Float[Tensor, " column"] | None = None,
) -> Float[Tensor, "row column"]:
    """Return the products of all rows of one matrix with all rows of another, without a gradient."""
    if _LINEAR is not None and rows.dtype == torch.float32 and rows.device.type == "cpu":
        found: Tensor = _LINEAR(rows, columns, bias, "none", [], "")
        return found
    return rows @ columns.T if bias is None else torch.addmm(bias, rows, columns.T)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, read: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(read, weight)
        ctx.with_bias = bias is not None
        return product(read, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        read, weight = ctx.saved_tensors
        return product(gradient, weight.T), product(gradient.T, read.T), gradient.sum(0) if ctx.with_bias else None


def linear(
    read: Float[Tensor, "*rows input"],
    weight: Float[Tensor, "output input"],
    bias: Float[Tensor, " output"] | None = None,
) -> Float[Tensor, "*rows output"]:
    """Return what a linear layer makes of what it reads."""
    flat: Tensor = _Linear.apply(read.reshape(-1, read.shape[-1]), weight, bias)  # type: ignore[no-untyped-call]
    return flat.view(*read.shape[:-1], -1)
