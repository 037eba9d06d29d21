"""When the features of the feed-forward network appeared, and in which neurons."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from firstlight.tracking.language.action import Action
from firstlight.tracking.theory_model.features import features_of
from firstlight.tracking.theory_model.shape import Shape

EVERY = 10  # updates of W between two looks


@dataclass(eq=False)
class Emergence:
    """The order in which features were learnt.

    A feature is the mean composite over Fiber_{j,y} in a neuron of value j (the composite of a pair, if the action is
    simply transitive). It has appeared when it exceeds ln(d)/2 in some neuron, as phases are told apart in the proofs.

    Attributes:
        action: of the group.
        step: updates of W before the look at which it had, or -1.
        neuron: the neuron with the largest one then, or -1.
    """

    action: Action
    step: Int64[np.ndarray, "to value"]
    neuron: Int64[np.ndarray, "to value"]

    @staticmethod
    def of(action: Action) -> "Emergence":
        """Return that nothing has appeared."""
        nothing = np.full((action.degree, action.degree), -1, np.int64)
        return Emergence(action, nothing, nothing.copy())

    def watch(self, step: int, W: Tensor, shape: Shape) -> None:
        """Look at W after so many updates, at some of them."""
        if step % EVERY:
            return
        fibres = features_of(W, shape, self.action).fibres
        new = (fibres.max(1) > math.log(shape.size) / 2) & (self.step < 0)
        self.step[new] = step
        self.neuron[new] = fibres.argmax(1)[new]

    def tensors(self) -> dict[str, Tensor]:
        """Return what checkpoints and states hold of it."""
        return {"appeared.step": torch.from_numpy(self.step), "appeared.neuron": torch.from_numpy(self.neuron)}

    def restored(self, tensors: Mapping[str, Tensor]) -> "Emergence":
        """Return what `tensors` returned, of the same action."""
        return Emergence(self.action, tensors["appeared.step"].numpy(), tensors["appeared.neuron"].numpy())
