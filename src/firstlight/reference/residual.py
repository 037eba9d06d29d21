"""Loss and gradients layer by layer: dense products with the weights, which nothing is formed for beforehand.

As `model.logits`, with the first layer all look-ups. Gradients of what is looked up are added in place to those of
the weights: autograd alone would make a V x V matrix for each look-up.
"""

import torch
from torch import Tensor
from torch.nn import functional

from firstlight.reference.model import Batch, causal_softmax, offsets_of
from firstlight.reference.parameters import Parameters, shape_of


class Residual:
    """Sums of loss and gradients over batches at fixed weights."""

    def __init__(self, parameters: Parameters, with_gradient: bool = True) -> None:
        """Take the weights.

        Arguments:
            parameters: the weights.
            with_gradient: False computes the loss alone.
        """
        self._layers = shape_of(parameters).layers
        self._with_gradient = with_gradient
        self._leaves = {name: tensor.detach() for name, tensor in parameters.items()}
        if with_gradient:
            for leaf in self._leaves.values():
                leaf.requires_grad_()
                leaf.grad = torch.zeros_like(leaf)
        self._looked_up: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, batch: Batch) -> float:
        """Return the summed loss of a batch, and add its gradient to the sums."""
        with torch.set_grad_enabled(self._with_gradient):
            loss = self._summed_loss(batch)
        if self._with_gradient:
            loss.backward()  # type: ignore[no-untyped-call]
            for rows, index, looked_up in self._looked_up:
                assert looked_up.grad is not None
                rows.index_add_(0, index.reshape(-1), looked_up.grad.reshape(-1, *rows.shape[1:]))
            self._looked_up.clear()
        return float(loss.detach())

    def finish(self) -> Parameters:
        """Return the gradient of the summed loss of all batches; nothing can be added after."""
        return {name: leaf.grad for name, leaf in self._leaves.items() if leaf.grad is not None}

    def _summed_loss(self, batch: Batch) -> Tensor:
        x, T = batch.inputs, batch.inputs.shape[1]
        across = x[:, None, :].expand(-1, T, -1)
        R = torch.zeros(())
        for layer in range(self._layers):
            W, V, P = (self._leaves[f"layers.{layer}.{weight}"] for weight in "WVP")
            if layer == 0:
                scores = self._entries(W, x[:, :, None] * len(W) + x[:, None, :])
                attention = causal_softmax(scores + offsets_of(P, T))
                R = attention @ self._rows(V, x)
                continue
            u = self._rows(W, x) + R @ W
            scores = u.gather(2, across) + u @ R.mT + offsets_of(P, T)
            R = R + causal_softmax(scores) @ (self._rows(V, x) + R @ V)
        W_O = self._leaves["W_O"]
        logits = self._rows(W_O, x) + R @ W_O
        losses = functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), reduction="none")
        return losses.masked_fill(~batch.valid.flatten(), 0).sum(dtype=torch.float64)

    def _rows(self, matrix: Tensor, index: Tensor) -> Tensor:
        return self._look_up(matrix.detach(), matrix.grad, index)

    def _entries(self, matrix: Tensor, index: Tensor) -> Tensor:
        return self._look_up(matrix.detach().view(-1), None if matrix.grad is None else matrix.grad.view(-1), index)

    def _look_up(self, rows: Tensor, gradient: Tensor | None, index: Tensor) -> Tensor:
        looked_up = rows[index]
        if gradient is not None:
            looked_up.requires_grad_()
            self._looked_up.append((gradient, index, looked_up))
        return looked_up
