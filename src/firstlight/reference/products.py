"""Products of value matrices along the paths through the layers, formed once a step, and the gradients through them.

The model is linear but for its attention: a token's contribution that goes through the layers S = {l1 < l2 < ...}
is multiplied by V_S = V^l1 V^l2 ... . Paths are numbered by the bits of the layers they go through: layer l (from 0)
is bit l, so path 0 goes through none. Each product is one V x V product from another one.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

Matrix = Float[Tensor, "token token"]
Rows = Float[Tensor, "window path_distinct token"]
Tokens = Int64[Tensor, "window distinct"]


class PathProducts:
    """V_S Z of every path S through some layers, and the gradient by them while it is being summed.

    Attributes:
        paths: all paths.
        size: V.
    """

    def __init__(self, base: Matrix | None, values: Sequence[Matrix], with_gradient: bool) -> None:
        """Form the products.

        Arguments:
            base: Z; None is the identity, whose own place (path 0) is then never to be read.
            values: V^l of each layer; none is enough with a base.
            with_gradient: whether a gradient will be summed.
        """
        self._base, self._values = base, values
        self.paths = range(1 << len(values))
        like = values[0] if base is None else base
        self.size = len(like)
        self._products = like.new_empty(len(self.paths), *like.shape)
        if base is not None:
            self._products[0] = base
        for layer in reversed(range(len(values))):
            bit = 1 << layer
            for path in self.paths[:: 2 * bit]:
                if path == 0 and base is None:
                    self._products[bit] = values[layer]
                else:
                    torch.mm(values[layer], self._products[path], out=self._products[path + bit])
        self._gradient = torch.zeros_like(self._products) if with_gradient else None

    def read(self, tokens: Tokens, paths: range, out: Rows) -> None:
        """Read the rows of some tokens, path by path, into a tensor."""
        rows = self._products.view(-1, self.size)
        torch.index_select(rows, 0, self._places(tokens, paths), out=out.view(-1, self.size))

    def add(self, tokens: Tokens, paths: range, gradient: Rows) -> None:
        """Add the gradient of what `read` read."""
        assert self._gradient is not None
        rows = self._gradient.view(-1, self.size)
        rows.index_add_(0, self._places(tokens, paths), gradient.view(-1, self.size))

    def add_entries(self, tokens: Tokens, gradient: Float[Tensor, "window path_distinct distinct"]) -> None:
        """Add the gradient of those columns of the rows of some tokens that belong to the tokens themselves."""
        assert self._gradient is not None
        rows = self._places(tokens, self.paths).view(len(tokens), -1, 1)
        entries = rows * self.size + tokens[:, None, :]
        self._gradient.view(-1).index_add_(0, entries.view(-1), gradient.reshape(-1))

    def finish(self, values_gradient: Sequence[Matrix]) -> Matrix:
        """Add to the gradients of the value matrices and return that of the base; nothing can be added after."""
        assert self._gradient is not None
        for layer, V in enumerate(self._values):
            bit = 1 << layer
            for path in self.paths[:: 2 * bit]:
                after = self._gradient[path + bit]
                if path == 0 and self._base is None:
                    values_gradient[layer].add_(after)
                else:
                    values_gradient[layer].addmm_(after, self._products[path].T)
                    self._gradient[path].addmm_(V.T, after)
        return self._gradient[0]

    def _places(self, tokens: Tokens, paths: range) -> Int64[Tensor, " window_path_distinct"]:
        starts = self.size * torch.arange(paths.start, paths.stop, device=tokens.device)
        return (starts[None, :, None] + tokens[:, None, :]).view(-1)
