"""What neurons of the value slot respond to: features of elements, of values, and of pairs (Defs. B.2, C.3)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64
from torch import Tensor

from firstlight.tracking.language.action import Action
from firstlight.tracking.theory_model.shape import BLOCK, VALUE_SLOT, Shape


@dataclass(frozen=True, eq=False)
class Features:
    """Features of all neurons of all values j.

    Attributes:
        action: of the group.
        element: V_{j,r}(g) = <W_{5,j,r} in slot 2, e_g>.
        value: V_{j,r}(y) = <W_{5,j,r} in slot 5, e_y>.
    """

    action: Action
    element: Float64[np.ndarray, "to neuron element"]
    value: Float64[np.ndarray, "to neuron value"]

    @property
    def pairs(self) -> Float64[np.ndarray, "to neuron element value"]:
        """Composites V_{j,r}(φ) of φ = (g, y): half the sum of both."""
        return np.asarray((self.element[:, :, :, None] + self.value[:, :, None, :]) / 2)

    @property
    def fibres(self) -> Float64[np.ndarray, "to neuron value"]:
        """Means of V_{j,r}(φ) over φ = (g, y) with g in Fiber_{j,y}, so that g(y) = j; -inf where there is none.

        In a simply transitive action a fibre has one element, so this is the composite of the right pair itself.
        """
        inside = fibres_of(self.action)
        sums = np.einsum("jrg,gjy->jry", self.element, inside.astype(np.float64))
        sizes = inside.sum(0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (sums / sizes[:, None, :] + self.value) / 2
        return np.where(sizes[:, None, :] > 0, means, -np.inf)

    @property
    def right(self) -> Float64[np.ndarray, "element value"]:
        """The largest composite of each pair among the neurons of the value it leads to."""
        g, y = np.indices(self.action.images.shape)
        j = self.action.images
        return np.asarray((self.element[j, :, g] + self.value[j, :, y]).max(2) / 2)


def features_of(W: Tensor, shape: Shape, action: Action) -> Features:
    """Return the features in W, as it lies in memory."""
    blocks = W[VALUE_SLOT].reshape(W.shape[1], shape.inputs, shape.neurons, BLOCK)
    tokens = np.arange(shape.tokens.first_value, shape.tokens.blank)
    kept = np.r_[shape.first_element : shape.first_third, shape.first_value : shape.inputs]
    found = blocks[tokens // BLOCK, :, :, tokens % BLOCK][:, kept].cpu().numpy().astype(np.float64)
    found = found.transpose(0, 2, 1)
    return Features(action, found[:, :, : action.order], found[:, :, action.order :])


def fibres_of(action: Action) -> Bool[np.ndarray, "element to value"]:
    """Return which elements are in which Fiber_{j,y} = {g : g(y) = j}."""
    return np.asarray(action.images[:, None, :] == np.arange(action.degree)[None, :, None])
