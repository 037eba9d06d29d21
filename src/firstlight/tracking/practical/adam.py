"""Adam on one vector of all weights: a handful of passes over it, and a state of two vectors and a count."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from firstlight.tracking.practical.settings import Settings


@dataclass(eq=False)
class Adam:
    """The state, as PyTorch's Adam has it.

    Attributes:
        first: decaying mean of the gradients.
        second: decaying mean of their squares.
        count: updates done.
    """

    first: Float[Tensor, " number"]
    second: Float[Tensor, " number"]
    count: int = 0

    @torch.no_grad()
    def update(self, weights: Float[Tensor, " number"], gradient: Float[Tensor, " number"], settings: Settings) -> None:
        """Move the weights by one step, in place."""
        self.count += 1
        fast, slow = settings.betas
        self.first.lerp_(gradient, 1 - fast)
        self.second.mul_(slow).addcmul_(gradient, gradient, value=1 - slow)
        spread = self.second.sqrt().div_(math.sqrt(1 - slow**self.count)).add_(settings.adam_eps)
        weights.addcdiv_(self.first, spread, value=-settings.lr / (1 - fast**self.count))


def new_adam(weights: Float[Tensor, " number"]) -> Adam:
    """Return the state before any update."""
    return Adam(torch.zeros_like(weights), torch.zeros_like(weights))
