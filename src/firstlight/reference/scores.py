"""The bilinear form of a layer's attention scores between the tokens of a window, by path.

Entry (S, i; S', j) is (V_S W V_S'^T)[i, j] for paths S, S' through the layers below: row i of V_S W against row j of
V_S'. Both are products formed once a step. Forming V_S W V_S'^T as well would leave nothing but look-ups, and was
measured to save a fifth of the time at 2,048 windows of 200 for half as much memory again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from firstlight.reference.products import Matrix, PathProducts, Rows, Tokens

Form = Float[Tensor, "window query_path_distinct key_path_distinct"]


@dataclass(frozen=True)
class Workspace:
    """A buffer used again and again: fresh memory costs the system more than what is done in it."""

    buffer: Tensor

    def take(self, *shapes: tuple[int, ...]) -> list[Tensor]:
        """Return tensors of these shapes, apart from each other but in the place of those taken before."""
        sizes = [math.prod(shape) for shape in shapes]
        parts = torch.split(self.buffer[: sum(sizes)], sizes)
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


class ScoreForm:
    """The form of one layer: read between the tokens of windows, and given gradients at the same places."""

    def __init__(self, W: Matrix, values: Sequence[Matrix], left: PathProducts | None, with_gradient: bool) -> None:
        """Form the products.

        Arguments:
            W: of the layer.
            values: V^l of the layers below.
            left: V_S of at least those; none is needed below the first layer.
            with_gradient: whether a gradient will be summed.
        """
        self._products = PathProducts(W, values, with_gradient)
        self._left = left

    def read(self, tokens: Tokens, workspace: Workspace) -> Form:
        """Return the entries between all (path, token) of each window, path by path."""
        distinct = tokens.shape[1]
        own, other = self._take(tokens, workspace)
        self._products.read(tokens, self._products.paths, own)
        form = own.new_empty(*own.shape[:2], own.shape[1])
        # Path 0 is the identity: against it, a column is read.
        form[:, :, :distinct] = own.gather(2, tokens[:, None, :].expand(-1, own.shape[1], -1))
        if self._left is not None:
            self._left.read(tokens, self._products.paths[1:], other)
            form[:, :, distinct:] = own @ other.mT
        return form

    def add(self, tokens: Tokens, gradient: Form, workspace: Workspace) -> None:
        """Add the gradient of what `read` returned."""
        distinct = tokens.shape[1]
        self._products.add_entries(tokens, gradient[:, :, :distinct])
        if self._left is None:
            return
        rest = gradient[:, :, distinct:]
        own, other = self._take(tokens, workspace)
        self._left.read(tokens, self._products.paths[1:], other)
        torch.bmm(rest, other, out=own)
        self._products.add(tokens, self._products.paths, own)
        self._products.read(tokens, self._products.paths, own)
        torch.bmm(rest.mT, own, out=other)
        self._left.add(tokens, self._products.paths[1:], other)

    def finish(self, values_gradient: Sequence[Matrix]) -> Matrix:
        """Add to the gradients of the value matrices and return that of W."""
        return self._products.finish(values_gradient)

    def _take(self, tokens: Tokens, workspace: Workspace) -> tuple[Rows, Rows]:
        windows, distinct = tokens.shape
        paths, V = len(self._products.paths), self._products.size
        own, other = workspace.take((windows, paths * distinct, V), (windows, (paths - 1) * distinct, V))
        return own, other
