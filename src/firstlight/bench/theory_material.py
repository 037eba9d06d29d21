"""What the benchmark of the theory model works on, and other ways to do the same."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.parameters import Weights, in_blocks, in_words, initial_weights
from firstlight.tracking.theory_model.settings import settings_for
from firstlight.tracking.theory_model.shape import VALUE_SLOT


class Case:
    """A model whose neurons are active in all parts of sReLU, the dense model of the same weights, and sentences."""

    def __init__(self, name: str, variables: int, batch: int | None) -> None:
        self.action = action_named(name)
        self.settings = replace(settings_for(self.action), variables=variables)
        if batch is not None:
            self.settings = replace(self.settings, ffn_batch=batch, attention_batch=batch)
        self.shape = self.settings.shape(self.action)
        weights = initial_weights(self.shape, 0, torch.float32)
        weights.W.mul_(6)
        draws = torch.Generator().manual_seed(0)
        self.model = TheoryModel(self.action, self.shape, weights)
        for block in (self.model.Q43, self.model.Q44):
            block.copy_(torch.randn(block.shape, generator=draws))

    def sentences(self, length: int, count: int) -> Sentences:
        """Draw sentences."""
        rng = np.random.default_rng(length)
        return draw(self.action, variables=self.settings.variables, length=length, count=count, rng=rng)

    def dense(self, slots: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Return W of some slots as rows of 5d numbers, Q as 5d x 5d, and which of the 5d numbers sentences meet."""
        shape, d = self.shape, self.shape.size
        tokens, variables = shape.tokens, torch.arange(shape.tokens.variables)
        elements, values = torch.arange(tokens.elements), torch.arange(tokens.values)
        met = torch.cat(
            [
                variables,
                d + tokens.first_element + elements,
                2 * d + variables,
                3 * d + variables,
                4 * d + tokens.first_value + values,
            ]
        )
        W = torch.zeros(len(slots), d, shape.neurons, SLOTS * d)
        W[..., met] = in_words(self.model.weights.W[list(slots)], shape).permute(0, 3, 2, 1)
        Q = torch.zeros(SLOTS * d, SLOTS * d)
        Q[met[shape.first_fourth :, None], met] = self.model.weights.Q
        return W.reshape(-1, SLOTS * d), Q, met


class GatherUpdate:
    """An update of W by gathers and autograd, as PyTorch offers them."""

    def __init__(self, W: Tensor, case: Case, inputs: Tensor, targets: Tensor) -> None:
        self.case, self.inputs, self.targets = case, inputs, targets
        self.tables = [
            in_words(W, case.shape)[slot].transpose(1, 2).flatten(1).requires_grad_() for slot in range(SLOTS)
        ]
        self.loss: Callable[[Tensor, Tensor, Tensor], Tensor] = self._loss

    def compile(self) -> None:
        """Let PyTorch fuse what it can."""
        self.loss = torch.compile(self._loss)

    def _loss(self, table: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        shape = self.case.shape
        x = shape.bias + 0.5 * functional.embedding(inputs, table).sum(1)
        t = x.clamp(0, shape.radius)
        neurons = t**shape.power / (shape.power * shape.radius ** (shape.power - 1)) + (x - shape.radius).clamp(min=0)
        logits = neurons.reshape(len(inputs), shape.size, shape.neurons).sum(2).clamp(max=shape.ceiling)
        return functional.cross_entropy(logits, targets)

    def step(self) -> None:
        """Update all slots."""
        for slot, table in enumerate(self.tables):
            (gradient,) = torch.autograd.grad(self.loss(table, self.inputs, self.targets[:, slot]), table)
            with torch.no_grad():
                table.sub_(gradient, alpha=1e-3)


def following_model(case: Case) -> TheoryModel:
    """Return a model that does what a trained one does: a neuron copies each variable, and one has each (j, y)."""
    shape, action = case.shape, case.action
    natural = in_words(initial_weights(shape, 0, torch.float32).W, shape)
    B = shape.ceiling
    natural[: VALUE_SLOT - 1, :, 0, shape.tokens.blank] = 2 * B
    for x in range(shape.tokens.variables):
        natural[VALUE_SLOT - 1, x, 0, x] = 4 * B
    for y in range(action.degree):
        token = shape.tokens.first_value + torch.arange(action.degree)
        right = torch.from_numpy(action.images[:, y, None] == np.arange(action.degree)[None, :])
        natural[VALUE_SLOT, shape.first_element : shape.first_third, y, token] = torch.where(right, 1.0, -1.0) * 2 * B
        natural[VALUE_SLOT, shape.first_value : shape.inputs, y, token] = -2 * B
        natural[VALUE_SLOT, shape.first_value + y, y, token] = 2 * B
    model = TheoryModel(action, shape, Weights(in_blocks(natural), torch.zeros_like(case.model.weights.Q)))
    model.Q43.fill_diagonal_(9.0)
    model.Q44.fill_diagonal_(9.0)
    return model
