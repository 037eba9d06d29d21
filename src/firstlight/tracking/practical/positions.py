"""What tells the model where a clause stands: absolute positions, rotations, and a bias by distance.

The position of a clause is its index in the sequence, irrelevant clauses counted.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.errors import FirstlightError
from firstlight.tracking.practical.settings import Settings

BASE = 10_000.0


def absolute(settings: Settings, learned: Tensor | None, clauses: int, like: Tensor) -> Tensor | None:
    """Return what is added to the clauses at positions 0.., or None where nothing is.

    Learned positions that no training sentence reached still have their random initial values: nobody has told the
    model what they mean. Beyond their last row there is no value at all, which is an error.
    """
    if settings.positions == "sinusoidal":
        return sinusoids(clauses, settings.clause_width, like)
    if settings.positions == "learned":
        assert learned is not None
        if clauses > len(learned):
            raise FirstlightError(
                f"a sequence of {clauses} clauses: expected at most {len(learned)}, the learned positions"
            )
        return learned[:clauses]
    return None


def sinusoids(clauses: int, width: int, like: Tensor) -> Float[Tensor, "clause channel"]:
    """Return sines at even channels and cosines at odd ones, of wavelengths from 2 pi to 10,000 * 2 pi."""
    angle = _angles(torch.arange(clauses, device=like.device), width, like)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(clauses, -1)[:, :width].to(like.dtype)


def rotate(
    vectors: Float[Tensor, "sentence head clause channel"], positions: Int64[Tensor, " clause"]
) -> Float[Tensor, "sentence head clause channel"]:
    """Rotate channel i and channel i + half by position times a frequency, as RoPE does.

    A product of a rotated query and a rotated key depends on the difference of their positions alone.
    """
    half = vectors.shape[-1] // 2
    angle = _angles(positions, 2 * half, vectors)
    cos, sin = (values.to(vectors.dtype) for values in (angle.cos(), angle.sin()))
    first, second = vectors[..., :half], vectors[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def distance_bias(
    heads: int, queries: Int64[Tensor, " query"], keys: Int64[Tensor, " key"], like: Tensor
) -> Float[Tensor, "head query key"]:
    """Return the bias of ALiBi: minus the distance, times 2^(-8 h / heads) for heads h = 1.."""
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=torch.float64, device=like.device) / heads)
    distance = queries[:, None] - keys
    return (-slopes[:, None, None] * distance).to(like.dtype)


def _angles(positions: Int64[Tensor, " clause"], width: int, like: Tensor) -> Float[Tensor, "clause frequency"]:
    # In float64 whatever the model's type: positions times frequencies lose digits first.
    channels = torch.arange(0, width, 2, dtype=torch.float64, device=like.device)
    return positions.double()[:, None] * BASE ** (-channels / width)
