"""Products of value matrices along the paths through the layers, formed once a step, and the gradients through them.

The model is linear but for its attention: a token's contribution that goes through the layers S = {l1 < l2 < ...}
is multiplied by V_S = V^l1 V^l2 ... . Paths are numbered by the bits of the layers they go through: layer l (from 0)
is bit l, so path 0 goes through none. Each product is one V x V product from another one.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

Matrix = Float[Tensor, "token token"]
Paths = Float[Tensor, "path token token"]
PathPairs = Float[Tensor, "path path token token"]


def path_products(base: Matrix | None, values: Sequence[Matrix]) -> Paths:
    """Return V_S Z of every path S through the layers of `values`.

    Arguments:
        base: Z; None is the identity, whose own place (path 0) is then left unwritten.
        values: V^l of each layer.
    """
    products = values[0].new_empty(1 << len(values), *values[0].shape) if values else _only(base)
    if values and base is not None:
        products[0] = base
    for layer in reversed(range(len(values))):
        bit = 1 << layer
        for path in range(0, len(products), 2 * bit):
            if path == 0 and base is None:
                products[bit] = values[layer]
            else:
                torch.mm(values[layer], products[path], out=products[path + bit])
    return products


def path_gradients(
    base: Matrix | None,
    values: Sequence[Matrix],
    products: Paths,
    products_gradient: Paths,
    values_gradient: Sequence[Matrix],
) -> None:
    """Bring the gradient of all `path_products` to the value matrices, and to the base, which is path 0 of it after.

    Arguments:
        base: as given to `path_products`.
        values: as given to it.
        products: what it returned.
        products_gradient: the gradient of that; overwritten.
        values_gradient: is added to.
    """
    for layer in range(len(values)):
        bit = 1 << layer
        for path in range(0, len(products), 2 * bit):
            after = products_gradient[path + bit]
            if path == 0 and base is None:
                values_gradient[layer].add_(after)
            else:
                values_gradient[layer].addmm_(after, products[path].T)
                products_gradient[path].addmm_(values[layer].T, after)


def pair_products(base: Matrix, values: Sequence[Matrix]) -> PathPairs:
    """Return V_S Z V_S'^T of every pair of paths S, S'.

    Arguments:
        base: Z.
        values: V^l of each layer.
    """
    count = 1 << len(values)
    products = base.new_empty(count, count, *base.shape) if values else _only(_only(base))
    if values:
        products[0, 0] = base
    for layer in reversed(range(len(values))):
        bit, V = 1 << layer, values[layer]
        for path in range(0, count, 2 * bit):
            for other in range(0, count, 2 * bit):
                torch.mm(V, products[path, other], out=products[path + bit, other])
                torch.mm(products[path, other], V.T, out=products[path, other + bit])
                torch.mm(V, products[path, other + bit], out=products[path + bit, other + bit])
    return products


def pair_gradients(
    values: Sequence[Matrix],
    products: PathPairs,
    products_gradient: PathPairs,
    values_gradient: Sequence[Matrix],
) -> None:
    """Bring the gradient of all `pair_products` to the value matrices, and to the base: pair (0, 0) of it after.

    Arguments:
        values: as given to `pair_products`.
        products: what it returned.
        products_gradient: the gradient of that; overwritten.
        values_gradient: is added to.
    """
    for layer in range(len(values)):
        bit, V, gradient = 1 << layer, values[layer], values_gradient[layer]
        for path in range(0, len(products), 2 * bit):
            for other in range(0, len(products), 2 * bit):
                both = products_gradient[path + bit, other + bit]
                right = products_gradient[path, other + bit]
                left = products_gradient[path + bit, other]
                gradient.addmm_(both, products[path, other + bit].T)
                right.addmm_(V.T, both)
                gradient.addmm_(right.T, products[path, other])
                products_gradient[path, other].addmm_(right, V)
                gradient.addmm_(left, products[path, other].T)
                products_gradient[path, other].addmm_(V.T, left)


def _only(matrix: Tensor | None) -> Tensor:
    assert matrix is not None  # without layers there is nothing but the base
    return matrix[None]
