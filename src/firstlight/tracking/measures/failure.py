"""The length at which roll-outs fail: predicted from short sentences alone, measured by roll-outs, and both compared.

A roll-out of L steps is right if each of its steps is. Before the first mistake everything that was written is right,
so a step fails as often as an answer after true answers does. How often that is at place l of a sentence of L actions
follows from what a query reads among so many strangers (`crowd`), and from the margin that the feed-forward network
has there: the logit of the right token over the next. Of each query the margin has a mean, and a spread from the
strangers that happen to be there, which is taken to be normal and the same for all. Nothing is fitted to roll-outs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from firstlight.report.progress import say
from firstlight.tracking.measures.accuracy import check_measurable, measured_sentences
from firstlight.tracking.measures.crowd import SHORT, Crowd, crowd_of
from firstlight.tracking.measures.measured import SentenceModel
from firstlight.tracking.measures.shares import Share, all_values

SHARES = (0.9, 0.5)
LONGEST = 2**16  # predicted lengths end here
TOGETHER = 1024  # queries that are held at once
CLOSE = 1.05  # lengths a search ends at are no further apart than by this factor


@dataclass(frozen=True)
class Dilution:
    """What queries read at one length, on average over the places of answers.

    Attributes:
        length: L.
        epsilon: attention on neither the right predicate nor the query's clause, a mean over heads.
        margin: mean logit of the right token over the next, in the slot where it is least.
        weakest: the least of the queries' margins.
        spread: standard deviation of a margin by the strangers that happen to be there.
        step: share of steps that fail.
        rollout: share of sentences of which no step fails.
    """

    length: int
    epsilon: float
    margin: float
    weakest: float
    spread: float
    step: float
    rollout: float


@dataclass(frozen=True)
class FailurePrediction:
    """Where roll-outs of a model would fail.

    Attributes:
        lengths: for each share, the length at which as many roll-outs are still right: 0 if not even at three actions,
            infinity if they still are at `LONGEST`.
        curve: what the lengths were read off, in order of length.
    """

    lengths: dict[float, float]
    curve: tuple[Dilution, ...]

    @property
    def epsilon(self) -> float:
        """Unattended share at the shortest length, which a simple prediction could be made from."""
        return self.curve[0].epsilon


@dataclass(frozen=True)
class FailureLength:
    """Where roll-outs were seen to fail.

    Attributes:
        share: of roll-outs that are right.
        length: at which it is reached: 0 if not at any length, infinity if it is exceeded at the longest there is.
        low: the longest length tried at which the share is certainly exceeded (95 %), or 0.
        high: the shortest at which it is certainly not, or infinity.
    """

    share: float
    length: float
    low: float
    high: float


def failure_prediction(
    model: SentenceModel, *, shares: Sequence[float] = SHARES, queries: int = 2048, seed: int = 0
) -> FailurePrediction:
    """Predict the lengths at which roll-outs fail, from sentences of three actions and without any roll-out.

    Arguments:
        model: a theory model, or a practical one without positions.
        shares: of roll-outs that are right.
        queries: how many short sentences. A length of L at 90 % means that one step in 10 L fails, so for long lengths
            there have to be thousands.
        seed: of the sentences.
    """
    parts = -(-queries // TOGETHER)
    crowds = [crowd_of(model, queries=-(-queries // parts), seed=seed, part=part) for part in range(parts)]
    known: dict[int, Dilution] = {}

    def rollout(length: int) -> float:
        if length not in known:
            known[length] = dilution(crowds, length)
        return known[length].rollout

    rollout(SHORT)
    lengths = {share: crossing(rollout, share, SHORT, LONGEST) for share in shares}
    return FailurePrediction(lengths, tuple(known[length] for length in sorted(known)))


def dilution(crowds: Sequence[Crowd], length: int) -> Dilution:
    """Return what queries would read in sentences of a length, and how often they would fail."""
    # Simpson's rule over the places of the answers: all that is averaged changes smoothly with the place.
    places = ((0, 1 / 6), ((length - 1) // 2, 4 / 6), (length - 1, 1 / 6))
    epsilon = margin = spread = step = survival = 0.0
    weakest = math.inf
    for place, weight in places:
        signs = [[crowd.margins(crowd.read(length, place, sign)) for crowd in crowds] for sign in (1.0, -1.0)]
        up, down = (torch.cat(margins) for margins in signs)
        middle = (up + down) / 2
        deviation = float(((up - down) / 2).square().mean().sqrt())
        fails = _fails(middle, deviation)
        epsilon += weight * float(torch.cat([crowd.epsilon(length, place) for crowd in crowds]).mean())
        margin += weight * float(middle.mean())
        spread += weight * deviation
        step += weight * fails
        survival += weight * math.log1p(-min(fails, 1 - 1e-12))
        weakest = min(weakest, float(middle.min()))
    return Dilution(length, epsilon, margin, weakest, spread, step, math.exp(length * survival))


def _fails(margins: torch.Tensor, deviation: float) -> float:
    """Return the mean probability that a normal variable with one of these means is below zero."""
    if deviation == 0:
        return float((margins <= 0).double().mean())
    return float(torch.special.ndtr(-margins / deviation).mean())


def failure_measured(
    model: SentenceModel,
    *,
    shares: Sequence[float] = SHARES,
    count: int = 200,
    seed: int = 0,
    longest: int | None = None,
    show: bool = False,
) -> dict[float, FailureLength]:
    """Measure the lengths at which roll-outs fail, by halving the distance between longer and shorter ones.

    Arguments:
        model: any.
        shares: of roll-outs that are right.
        count: sentences of each length that is tried.
        seed: of the sentences.
        longest: the longest length to try, |X| - 1 if not given.
        show: whether to show progress on stderr.
    """
    longest = model.variables - 1 if longest is None else longest
    check_measurable(model, [longest], count)
    tried: dict[int, Share] = {}

    def right(length: int) -> float:
        if length not in tried:
            tried[length] = _right(model, length, count, seed)
            if show:
                say(f"L = {length}: {tried[length].right} of {count} roll-outs are right")
        return tried[length].value

    found = {}
    for share in shares:
        length = crossing(right, share, 1, longest)
        low = max([length for length, seen in tried.items() if seen.low > share], default=0)
        high = min([length for length, seen in tried.items() if seen.high < share], default=math.inf)
        found[share] = FailureLength(share, length, low, high)
    return found


def _right(model: SentenceModel, length: int, count: int, seed: int) -> Share:
    """Return the share of roll-outs that are right, and nothing else: teacher-forced probabilities cost more."""
    seen = [all_values(some, model.rollout(some)) for some in measured_sentences(model, length, count, seed)]
    return Share(sum(each.right for each in seen), sum(each.of for each in seen))


def crossing(share_at: Callable[[int], float], share: float, shortest: int, longest: int) -> float:
    """Return the length at which a falling share crosses a value, looking at as few lengths as it can.

    Arguments:
        share_at: what is right at a length.
        share: the value.
        shortest: the first length; 0 is returned if the share is not above the value even there.
        longest: the last; infinity is returned if it is above it even there.
    """
    above, below = shortest, shortest
    if share_at(shortest) <= share:
        return 0.0
    while share_at(below) > share:
        if below == longest:
            return math.inf
        above, below = below, min(2 * below, longest)
    while below > above + 1 and below > CLOSE * above:
        middle = min(max(round(math.sqrt(above * below)), above + 1), below - 1)
        if share_at(middle) > share:
            above = middle
        else:
            below = middle
    # Between the two the share is taken to fall evenly with the logarithm of the length.
    part = (share_at(above) - share) / (share_at(above) - share_at(below))
    return float(above * (below / above) ** part)
