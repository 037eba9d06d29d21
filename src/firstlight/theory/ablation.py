"""What each weight's leading term is worth: the loss without it, beside as much of something random taken away."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float64

from firstlight.reference.model import Batch, logits, windows_at_a_time
from firstlight.report.progress import Advance, progress
from firstlight.theory.directions import Directions
from firstlight.theory.passes import Weights, batches, spread_windows
from firstlight.theory.terms import kind_of, weight_names
from firstlight.theory.trained import check_belongs, chosen_checkpoints, layers_of, weights_at

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.runs import Run
    from firstlight.statistics import Statistics


@dataclass(frozen=True)
class AblationRow:
    """The model with something removed from one weight.

    Attributes:
        weight: its name in the checkpoint, or `none` for the model as it is.
        removed: `leading term`, `random` (a random direction, as much of it), or `nothing`.
        seed: of the random direction.
        norm: the norm of what was removed.
        share: that over the norm of the weight.
        loss: mean cross-entropy.
        loss_change: loss - loss of the model as it is.
        kl: mean KL divergence, in nats, from the model as it is to this one.
    """

    weight: str
    removed: str
    seed: int | None
    norm: float
    share: float
    loss: float
    loss_change: float
    kl: float


@dataclass(frozen=True)
class _Variant:
    removed: str
    seed: int | None
    norm: float
    share: float
    weights: Weights


def ablate(
    run: "Run",
    stats: "Statistics",
    corpus: "Corpus",
    *,
    step: int | None = None,
    seeds: int = 3,
    seed: int = 0,
    windows: int | None = None,
    show_progress: bool = False,
) -> list[AblationRow]:
    """Remove each weight's projection on its leading term, one weight at a time, and measure what that does.

    The control takes a random direction of the same norm away from the same weight instead, for several seeds. All
    is computed in float64.

    Arguments:
        run: the training.
        stats: of its corpus.
        corpus: that corpus.
        step: of the checkpoint; the last one when None.
        seeds: how many random directions for each weight.
        seed: the first of their seeds.
        windows: how many windows of the corpus to measure on, at equal distances; all when None.
        show_progress: whether to show a bar on stderr.
    """
    check_belongs(run, stats)
    chosen_step = chosen_checkpoints(run, None if step is None else [step])[-1]
    # What attention does early is below the rounding of float32.
    weights = {name: tensor.double() for name, tensor in weights_at(run, chosen_step).items()}
    directions = Directions(stats)
    chosen = spread_windows(corpus, windows)
    rows: list[AblationRow] = []
    passes = 1 + len(weights) * (2 + seeds)
    with progress("ablations", passes * len(chosen), "windows", show_progress) as advance:
        ((loss, _),) = _measured(weights, [weights], corpus, chosen, advance)
        rows.append(AblationRow("none", "nothing", None, 0.0, 0.0, loss, 0.0, 0.0))
        for name in weight_names(layers_of(run)):
            variants = list(_variants(name, weights, directions, range(seed, seed + seeds)))
            results = _measured(weights, [variant.weights for variant in variants], corpus, chosen, advance)
            rows += [
                AblationRow(name, each.removed, each.seed, each.norm, each.share, changed, changed - loss, kl)
                for each, (changed, kl) in zip(variants, results, strict=True)
            ]
    return rows


def _variants(name: str, weights: Weights, directions: Directions, seeds: range) -> Iterator[_Variant]:
    own = weights[name]
    direction = torch.from_numpy(directions.whole(kind_of(name))).reshape(own.shape)
    removed = projection(own, direction)
    norm, total = float(removed.norm()), float(own.norm())
    share = norm / total if total else 0.0

    def without(part: torch.Tensor) -> Weights:
        return {**weights, name: own - part}

    yield _Variant("leading term", None, norm, share, without(removed))
    for seed in seeds:
        random = torch.randn(own.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        yield _Variant("random", seed, norm, share, without(random * (norm / float(random.norm()))))


def projection(
    weight: Float64[torch.Tensor, "*axes"], direction: Float64[torch.Tensor, "*axes"]
) -> Float64[torch.Tensor, "*axes"]:
    """Return the part of a weight that lies along a direction; nothing does where the direction is zero."""
    length = float(direction.norm())
    if length == 0:
        return torch.zeros_like(weight)
    unit = direction / length
    return unit * (weight * unit).sum()


def _measured(
    weights: Weights, variants: list[Weights], corpus: "Corpus", windows: np.ndarray, advance: Advance
) -> list[tuple[float, float]]:
    """Return the mean loss of each variant and the mean KL divergence of it from the model as it is."""
    losses, divergences, positions = [0.0] * len(variants), [0.0] * len(variants), 0
    # Logits and probabilities of two models are held at once.
    for batch in batches(corpus, windows, max(1, windows_at_a_time(weights) // 4)):
        own = _log_probabilities(weights, batch)
        targets = batch.targets[batch.valid][:, None]
        for number, variant in enumerate(variants):
            theirs = own if variant is weights else _log_probabilities(variant, batch)
            losses[number] -= float(theirs.gather(1, targets).sum())
            divergences[number] += float(divergence(own, theirs))
        positions += batch.positions
        advance(len(batch.inputs) * (1 + len(variants) - (variants[0] is weights)))
    return [(loss / positions, kl / positions) for loss, kl in zip(losses, divergences, strict=True)]


def divergence(
    own: Float64[torch.Tensor, "position token"], theirs: Float64[torch.Tensor, "position token"]
) -> Float64[torch.Tensor, ""]:
    """Return the summed KL divergence from one model's probabilities to another's, both given as logarithms."""
    # As the mean of e^d - 1 - d, d the difference of logarithms: no term is negative, and no sum cancels.
    gap = theirs - own
    # Where d is large e^d may overflow, but not its product with a probability.
    large = gap > 1
    near = own.exp() * (torch.expm1(gap.masked_fill(large, 0)) - gap.masked_fill(large, 0))
    return torch.where(large, theirs.exp() - own.exp() * (1 + gap), near).sum()


@torch.no_grad()
def _log_probabilities(weights: Weights, batch: Batch) -> Float64[torch.Tensor, "position token"]:
    return torch.log_softmax(logits(weights, batch.inputs)[batch.valid], dim=-1)
