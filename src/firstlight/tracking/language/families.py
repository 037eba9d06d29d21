"""The groups that have a letter and a number, each with the action its name stands for."""

from itertools import permutations
from math import factorial

import numpy as np

from firstlight.errors import FirstlightError
from firstlight.tracking.language.permutations import Images, check_size, generated, in_order, odd


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
    starts = np.array(list(permutations(range(n), n - 2)), np.int64)
    missing = np.ones((len(starts), n), bool)
    np.put_along_axis(missing, starts, False, axis=1)
    # Two points are left, and one order of them is even.
    rows = np.hstack([starts, np.nonzero(missing)[1].reshape(-1, 2)])
    rows[odd(rows), -2:] = rows[odd(rows), :-3:-1]
    return np.asarray(rows)


def klein() -> Images:
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
    prime = max((p for p in range(2, min(order, 10_000) + 1) if order % p == 0 and _is_prime(p)), default=1)
    factor = order // prime
    if factor < 2 or (prime - 1) % factor:
        raise FirstlightError(
            f"group {name!r}: expected F and p times k, p a prime and k > 1 a divisor of p - 1, such as F20 or F21"
        )
    check_size(order, prime, name)
    scales = np.array([a for a in range(1, prime) if pow(a, factor, prime) == 1])
    points = np.arange(prime)
    scaled = np.multiply.outer(scales, points)
    return in_order((scaled[:, None, :] + points[:, None]).reshape(-1, prime) % prime)


def projective(prime: int, name: str, special: bool) -> Images:
    """PGL(2,p), or PSL(2,p) where special, on the projective line: p + 1 values, the last of them infinity."""
    if not (prime < 10_000 and _is_prime(prime)):
        raise FirstlightError(f"group {name!r}: expected a prime, such as PSL(2,5)")
    check_size(prime * (prime**2 - 1) // (2 if special and prime > 2 else 1), prime + 1, name)
    points = np.arange(prime)
    shift = np.append((points + 1) % prime, prime)
    turn = np.array([prime, *(-pow(y, -1, prime) % prime for y in range(1, prime)), 0])
    scales = {pow(a, 2, prime) if special else a for a in range(1, prime)}
    return generated(np.array([shift, turn, *(np.append(points * a % prime, prime) for a in scales)]), name)


def linear(dimension: int, name: str) -> Images:
    """PSL(n,2) = GL(n,2) on the nonzero vectors of n bits: 2^n - 1 values, value y being the vector of bits y + 1."""
    _at_least(dimension, 2, name)
    size = 2 ** min(dimension, 20)
    order = 1
    for power in range(min(dimension, 20)):
        order *= size - 2**power
    check_size(order, size - 1, name)
    # A map is known by the images of the unit vectors, each outside what those before it span.
    maps = np.zeros((1, 1), np.int64)
    for _ in range(dimension):
        maps = np.concatenate([np.hstack([each[None], each[None] ^ new]) for each, new in _extensions(maps, size)])
    return in_order(maps[:, 1:] - 1)


def _extensions(maps: Images, size: int) -> list[tuple[np.ndarray, int]]:
    return [(each, new) for each in maps for new in sorted(set(range(size)) - set(each.tolist()))]


def _at_least(n: int, least: int, name: str) -> None:
    if n < least:
        raise FirstlightError(f"group {name!r}: expected a number of at least {least}")


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
