"""Loss and gradients by paths: a window's work is look-ups and products as wide as its distinct tokens.

With E_l the (position, path x token) weights that the first l layers give, h^l Z = E_l (V_S Z) for any matrix Z, so

    E_0 = X,   E_l = [E_(l-1), A^l E_(l-1)],   scores = E K E^T,   logits = E_L M,   M = (V_S W_O) over all paths S.

Only rows of M and entries of K that belong to tokens of the window are needed, each once however often the token
occurs. Gradients go back to those rows and entries, and from there, once a step, through the products to the weights.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.reference.model import Batch, causal_softmax, offsets_of
from firstlight.reference.parameters import Parameters, shape_of
from firstlight.reference.products import PathProducts, Tokens
from firstlight.reference.scores import ScoreForm, Workspace


class Composed:
    """Sums of loss and gradients over batches at fixed weights."""

    def __init__(self, parameters: Parameters, with_gradient: bool = True) -> None:
        """Form the products.

        Arguments:
            parameters: the weights.
            with_gradient: False computes the loss alone.
        """
        self._parameters = parameters
        self._with_gradient = with_gradient
        self._layers = range(shape_of(parameters).layers)
        values = self._values = [parameters[f"layers.{layer}.V"] for layer in self._layers]
        self._outputs = PathProducts(parameters["W_O"], values, with_gradient)
        self._left = PathProducts(None, values[:-1], with_gradient) if len(values) > 1 else None
        self._forms = [
            ScoreForm(parameters[f"layers.{layer}.W"], values[:layer], self._left if layer else None, with_gradient)
            for layer in self._layers
        ]
        self._bias_gradients = [torch.zeros_like(parameters[f"layers.{layer}.P"]) for layer in self._layers]
        self._workspace = Workspace(parameters["W_O"].new_empty(0))

    def add(self, batch: Batch) -> float:
        """Return the summed loss of a batch, and add its gradient to the sums."""
        tokens, places = distinct_tokens(batch.inputs)
        self._reserve(batch.inputs, tokens)
        one_hot = self._workspace.buffer.new_zeros(*places.shape, tokens.shape[1])
        one_hot.scatter_(2, places[:, :, None], 1)
        forms = [form.read(tokens, self._workspace) for form in self._forms]
        biases = [self._parameters[f"layers.{layer}.P"].detach() for layer in self._layers]
        for leaf in (*forms, *biases):
            leaf.requires_grad_(self._with_gradient)
        with torch.set_grad_enabled(self._with_gradient):
            weights = path_weights(one_hot, forms, biases)
        loss, weights_gradient = self._output(batch, tokens, weights.detach())
        if weights_gradient is not None:
            weights.backward(weights_gradient)  # type: ignore[no-untyped-call]
            for source, form, bias, total in zip(self._forms, forms, biases, self._bias_gradients, strict=True):
                assert form.grad is not None
                assert bias.grad is not None
                source.add(tokens, form.grad, self._workspace)
                total.add_(bias.grad)
        return loss

    def finish(self) -> Parameters:
        """Return the gradient of the summed loss of all batches; nothing can be added after."""
        values = [torch.zeros_like(V) for V in self._values]
        gradients = {"W_O": self._outputs.finish(values)}
        for layer in self._layers:
            gradients[f"layers.{layer}.W"] = self._forms[layer].finish(values[:layer])
            gradients[f"layers.{layer}.P"] = self._bias_gradients[layer]
        if self._left is not None:
            self._left.finish(values[:-1])
        return gradients | {f"layers.{layer}.V": values[layer] for layer in self._layers}

    def _output(
        self, batch: Batch, tokens: Tokens, weights: Float[Tensor, "window position path_distinct"]
    ) -> tuple[float, Tensor | None]:
        """Return the summed loss, and its gradient by the path weights; add that by the output products."""
        windows, T, width = weights.shape
        V, paths = self._outputs.size, self._outputs.paths
        output, scores, residual = self._workspace.take((windows, width, V), (windows, T, V), (windows, T, V))
        self._outputs.read(tokens, paths, output)
        torch.bmm(weights, output, out=scores)
        torch.log_softmax(scores, -1, out=residual)
        chosen = residual.gather(2, batch.targets[:, :, None])[:, :, 0]
        loss = -float(chosen.masked_fill(~batch.valid, 0).sum(dtype=torch.float64))
        if not self._with_gradient:
            return loss, None
        residual.exp_().scatter_add_(2, batch.targets[:, :, None], residual.new_full((windows, T, 1), -1))
        residual.mul_(batch.valid[:, :, None])
        gradient = residual @ output.mT
        torch.bmm(weights.mT, residual, out=output)
        self._outputs.add(tokens, paths, output)
        return loss, gradient

    def _reserve(self, inputs: Tensor, tokens: Tokens) -> None:
        windows, T = inputs.shape
        needed = windows * self._outputs.size * (len(self._outputs.paths) * tokens.shape[1] + 2 * T)
        if len(self._workspace.buffer) < needed:
            self._workspace = Workspace(self._workspace.buffer.new_empty(needed))


def path_weights(
    one_hot: Float[Tensor, "window position distinct"],
    forms: Sequence[Float[Tensor, "window query_path key_path"]],
    biases: Sequence[Float[Tensor, " offset"]],
) -> Float[Tensor, "window position path_distinct"]:
    """Return E_L: for each position the weight of every token of the window along every path."""
    weights = one_hot
    for form, bias in zip(forms, biases, strict=True):
        scores = weights @ form @ weights.mT + offsets_of(bias, one_hot.shape[1])
        weights = torch.cat([weights, causal_softmax(scores) @ weights], -1)
    return weights


def distinct_tokens(
    inputs: Int64[Tensor, "window position"],
) -> tuple[Tokens, Int64[Tensor, "window position"]]:
    """Return the distinct tokens of each window, filled up with token 0, and which of them each position holds."""
    ordered, order = inputs.sort(dim=1, stable=True)
    is_new = torch.ones_like(ordered, dtype=torch.bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rank = is_new.cumsum(1) - 1
    places = torch.empty_like(inputs).scatter_(1, order, rank)
    tokens = inputs.new_zeros(len(inputs), int(rank.max()) + 1).scatter_(1, rank, ordered)
    return tokens, places
