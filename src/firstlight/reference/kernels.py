"""The bilinear form of a layer's attention scores between the tokens of a window, by path.

Entry (S, i; S', j) is (V_S W V_S'^T)[i, j] for paths S, S' through the layers below. Two ways to the same numbers:
all products formed once a step, for many windows; or rows of V_S W against rows of V_S', for fewer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.reference.products import (
    Matrix,
    PathPairs,
    Paths,
    pair_gradients,
    pair_products,
    path_gradients,
    path_products,
)

Tokens = Int64[Tensor, "window distinct"]
Forms = Float[Tensor, "window query_path key_path"]


class Kernel(Protocol):
    """The form of one layer: read between the tokens of windows, and given gradients at the same places."""

    def read(self, tokens: Tokens, workspace: "Workspace") -> Forms:
        """Return the entries between all (path, token) of each window, path by path."""

    def add(self, tokens: Tokens, gradient: Forms, workspace: "Workspace") -> None:
        """Add the gradient of what `read` returned."""

    def finish(self, values_gradient: Sequence[Matrix]) -> Matrix:
        """Add to the gradients of the value matrices and return that of W."""


@dataclass
class Workspace:
    """A buffer used again and again: fresh memory costs the system more than the products in it."""

    buffer: Tensor

    def take(self, *shapes: tuple[int, ...]) -> list[Tensor]:
        """Return tensors of these shapes that share nothing with each other, and everything with those taken before."""
        taken, start = [], 0
        for shape in shapes:
            size = 1
            for length in shape:
                size *= length
            taken.append(self.buffer[start : start + size].view(shape))
            start += size
        return taken


def rows_of(tokens: Tokens, paths: int, size: int) -> Int64[Tensor, "window path_distinct"]:
    """Return the row of each (path, token) when matrices of `size` rows are stacked by path."""
    starts = size * torch.arange(paths, device=tokens.device)
    return (starts[None, :, None] + tokens[:, None, :]).flatten(1)


class PairKernel:
    """All products of a layer at hand: reading is one look-up an entry."""

    def __init__(self, W: Matrix, values: Sequence[Matrix], with_gradient: bool) -> None:
        self._values = values
        self._products: PathPairs = pair_products(W, values)
        self._gradient = torch.zeros_like(self._products) if with_gradient else None

    def read(self, tokens: Tokens, workspace: Workspace) -> Forms:
        """Return the entries between all (path, token) of each window, path by path."""
        return self._products.take(self._places(tokens))

    def add(self, tokens: Tokens, gradient: Forms, workspace: Workspace) -> None:
        """Add the gradient of what `read` returned."""
        assert self._gradient is not None
        self._gradient.view(-1).index_add_(0, self._places(tokens).view(-1), gradient.reshape(-1))

    def finish(self, values_gradient: Sequence[Matrix]) -> Matrix:
        """Add to the gradients of the value matrices and return that of W."""
        assert self._gradient is not None
        pair_gradients(self._values, self._products, self._gradient, values_gradient)
        return self._gradient[0, 0]

    def _places(self, tokens: Tokens) -> Int64[Tensor, "window path_distinct path_distinct"]:
        paths, size = self._products.shape[1:3]
        # Entry (S, S', i, j) of the stacked products is at ((S paths + S') size + i) size + j.
        across = rows_of(tokens, paths, size * size)
        down = rows_of(tokens * size, paths, paths * size * size)
        return down[:, :, None] + across[:, None, :]


class RowKernel:
    """Rows of V_S W against rows of V_S': fewer products a step, and more work a window."""

    def __init__(self, W: Matrix, values: Sequence[Matrix], left: Paths, left_gradient: Paths | None) -> None:
        self._values = values
        self._products = path_products(W, values)
        self._gradient = None if left_gradient is None else torch.zeros_like(self._products)
        self._left, self._left_gradient = left, left_gradient

    def read(self, tokens: Tokens, workspace: Workspace) -> Forms:
        """Return the entries between all (path, token) of each window, path by path."""
        windows, distinct = tokens.shape
        paths, size = self._products.shape[:2]
        own, other = workspace.take((windows, paths * distinct, size), (windows, (paths - 1) * distinct, size))
        self._gather(tokens, own, other)
        form = own.new_empty(windows, paths * distinct, paths * distinct)
        # Path 0 is the identity: against it, a column is read.
        form[:, :, :distinct] = own.gather(2, tokens[:, None, :].expand(-1, paths * distinct, -1))
        if paths > 1:
            form[:, :, distinct:] = own @ other.mT
        return form

    def add(self, tokens: Tokens, gradient: Forms, workspace: Workspace) -> None:
        """Add the gradient of what `read` returned."""
        assert self._gradient is not None
        assert self._left_gradient is not None
        windows, distinct = tokens.shape
        paths, size = self._products.shape[:2]
        own_rows = rows_of(tokens, paths, size)
        places = own_rows[:, :, None] * size + tokens[:, None, :]
        self._gradient.view(-1).index_add_(0, places.view(-1), gradient[:, :, :distinct].reshape(-1))
        if paths == 1:
            return
        rest = gradient[:, :, distinct:]
        own, other = workspace.take((windows, paths * distinct, size), (windows, (paths - 1) * distinct, size))
        self._gather(tokens, None, other)
        torch.bmm(rest, other, out=own)
        self._gradient.view(-1, size).index_add_(0, own_rows.view(-1), own.view(-1, size))
        self._gather(tokens, own, None)
        torch.bmm(rest.mT, own, out=other)
        other_rows = own_rows[:, distinct:].reshape(-1)
        self._left_gradient.view(-1, size).index_add_(0, other_rows, other.view(-1, size))

    def finish(self, values_gradient: Sequence[Matrix]) -> Matrix:
        """Add to the gradients of the value matrices and return that of W."""
        assert self._gradient is not None
        W = self._products[0]
        path_gradients(W, self._values, self._products, self._gradient, values_gradient)
        return self._gradient[0]

    def _gather(self, tokens: Tokens, own: Tensor | None, other: Tensor | None) -> None:
        paths, size = self._products.shape[:2]
        rows = rows_of(tokens, paths, size)
        if own is not None:
            torch.index_select(self._products.view(-1, size), 0, rows.view(-1), out=own.view(-1, size))
        if other is not None and paths > 1:
            chosen = rows[:, tokens.shape[1] :].reshape(-1)
            torch.index_select(self._left.view(-1, size), 0, chosen, out=other.view(-1, size))
