"""The groups that have a letter and a number, each with the action its name stands for."""

from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Int64

from firstlight.errors import FirstlightError
from firstlight.tracking.language.permutations import check_size, in_order

Images = Int64[np.ndarray, "element value"]


def cyclic(n: int, name: str) -> Images:
    """C_n on itself: element k sends y to y + k modulo n."""
    _at_least(n, 1, name)
    check_size(n, n, name)
    return np.asarray(np.add.outer(np.arange(n), np.arange(n)) % n)


def dihedral(n: int, name: str) -> Images:
    """D_n on the corners of an n-gon: 2n elements, y to k + y or k - y modulo n."""
    _at_least(n, 3, name)
    check_size(2 * n, n, name)
    corners, turns = np.arange(n), np.arange(n)
    return in_order(np.concatenate([np.add.outer(turns, corners), np.subtract.outer(turns, corners)]) % n)


def symmetric(n: int, name: str) -> Images:
    """S_n on n points: all permutations."""
    _at_least(n, 1, name)
    check_size(factorial(min(n, 20)), n, name)
    return np.array(list(permutations(range(n))), np.int64)


def alternating(n: int, name: str) -> Images:
    """A_n on n points: the even permutations."""
    _at_least(n, 3, name)
    check_size(factorial(min(n, 20)) // 2, n, name)
    everything = symmetric(n, name)
    return np.asarray(everything[~odd(everything)])


def klein(name: str) -> Images:
    """V4 on itself: addition of two bits."""
    return np.asarray(np.bitwise_xor.outer(np.arange(4), np.arange(4)))


def dicyclic(order: int, name: str) -> Images:
    """Q_4k on itself, Q8 the quaternions: a^2k = 1, b^2 = a^k, b a = a^-1 b; value 2k j + i stands for a^i b^j."""
    if order % 4 or order < 8:
        raise FirstlightError(f"group {name!r}: expected a multiple of 4 from 8 on after Q")
    check_size(order, order, name)
    half = order // 2
    power, flip = np.arange(order) % half, np.arange(order) // half
    # a^i b^j a^k b^l = a^(i ± k) b^(j + l), and b^2 = a^(half / 2) where both flip.
    powers = power[:, None] + np.where(flip[:, None], -power, power) + half // 2 * (flip[:, None] & flip)
    return np.asarray(powers % half + half * (flip[:, None] ^ flip))


def frobenius(order: int, name: str) -> Images:
    """F_pk on p points, p prime and k a divisor of p - 1: y to a y + b modulo p, with a^k = 1."""
    prime = max((p for p in range(2, order + 1) if order % p == 0 and _is_prime(p)), default=0)
    factor = order // prime if prime else 0
    if factor < 2 or (prime - 1) % factor:
        raise FirstlightError(
            f"group {name!r}: expected F and p times k, p a prime and k > 1 a divisor of p - 1, such as F20 or F21"
        )
    check_size(order, prime, name)
    scales = np.array([a for a in range(1, prime) if pow(a, factor, prime) == 1])
    points = np.arange(prime)
    scaled = np.multiply.outer(scales, points)
    return in_order((scaled[:, None, :] + points[:, None]).reshape(-1, prime) % prime)


def odd(rows: Images) -> np.ndarray:
    """Return which permutations are odd, by counting their inversions."""
    inversions = np.zeros(len(rows), np.int64)
    for place in range(rows.shape[1]):
        inversions += (rows[:, place, None] > rows[:, place + 1 :]).sum(1)
    return inversions % 2 == 1


def _at_least(n: int, least: int, name: str) -> None:
    if n < least:
        raise FirstlightError(f"group {name!r}: expected a number of at least {least}")


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
