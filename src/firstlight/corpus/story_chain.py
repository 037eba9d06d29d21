"""How the stories of one topic go: where units begin, and how often one kind of slot comes before another.

Given the topic, a story is a Markov chain over places, pairs (turn, token at which a unit begins). With P its
transitions as long as the story goes on, (1 - P)^-1 holds the probability that a unit begins at one place given that
one begins at another. Slots in one unit precede each other at known distances; slots in different units are joined by
that matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm

import numpy as np
import scipy.linalg
from jaxtyping import Float

from firstlight.corpus.story_grammar import Slot, Topic
from firstlight.errors import FirstlightError


@dataclass(frozen=True)
class Chain:
    """The chain of one topic; where an axis says "place", its turn and its start are flattened.

    Attributes:
        kinds: The slots that differ.
        units: For each unit the kinds of its slots, as indices.
        offered: Probability of a unit, given that one begins at the place.
        begun: Probability that the unit begins at the place.
        ended: Probability that the unit ended just before the place, and the story goes on.
        later: Probability that a unit begins at the second place, given that one begins at the first.
    """

    kinds: tuple[Slot, ...]
    units: tuple[tuple[int, ...], ...]
    offered: Float[np.ndarray, "unit turn start"]
    begun: Float[np.ndarray, "unit turn start"]
    ended: Float[np.ndarray, "unit turn start"]
    later: Float[np.ndarray, "place place"]


def chain_of(topic: Topic) -> Chain:
    """Return the chain of a topic."""
    stages = topic.stages
    turns = lcm(*(len(stage.turns) for stage in stages))
    longest = max(len(unit) for stage in stages for turn in stage.turns for unit in turn.items)
    last = stages[-1].start
    # No unit begins later than one before the last stage can end.
    starts = last + longest
    ends = [*(stage.start for stage in stages[1:]), starts]
    kinds: dict[Slot, int] = {}
    units: list[tuple[int, ...]] = []
    offers = []
    for stage, end in zip(stages, ends, strict=True):
        for turn, choice in enumerate(stage.turns):
            for unit, probability in zip(choice.items, choice.probabilities, strict=True):
                units.append(tuple(kinds.setdefault(slot, len(kinds)) for slot in unit))
                offer = np.zeros((turns, starts))
                offer[turn :: len(stage.turns), stage.start : end] = probability
                offers.append(offer)
    offered = np.stack(offers)
    lengths = [len(unit) for unit in units]
    later = _later(lengths, offered, last)
    begun = offered * later[0].reshape(turns, starts)
    ended = np.zeros_like(begun)
    for unit_begun, unit_ended, length in zip(begun, ended, lengths, strict=True):
        # To the next turn, and as many tokens on; a unit of the last stage ends the story.
        unit_ended[:, length : last + length] = np.roll(unit_begun[:, :last], 1, axis=0)
    return Chain(tuple(kinds), tuple(units), offered, begun, ended, later)


def _later(
    lengths: Sequence[int], offered: Float[np.ndarray, "unit turn start"], last: int
) -> Float[np.ndarray, "place place"]:
    """Return (1 - P)^-1, P the probability to come from one place to the next as long as the story goes on."""
    _, turns, starts = offered.shape
    # Ordered by start, then turn, the matrix is triangular: it is inverted by adding and multiplying alone.
    step = np.zeros((starts, turns, starts, turns))
    start = np.arange(last)
    for length, offer in zip(lengths, offered, strict=True):
        for turn in range(turns):
            step[start, turn, start + length, (turn + 1) % turns] += offer[turn, :last]
    identity = np.eye(starts * turns)
    inverse = scipy.linalg.solve_triangular(identity - step.reshape(identity.shape), identity, unit_diagonal=True)
    by_turn = np.asarray(inverse).reshape(step.shape).transpose(1, 0, 3, 2)
    return by_turn.reshape(identity.shape)


def next_weights(chain: Chain, window: int | None, *, harmonic: bool) -> Float[np.ndarray, " token"]:
    """Return what the token at each index of a story counts as a next token: 1, or 1/t as that of position t."""
    if window is not None and window < 1:
        raise FirstlightError(f"window {window}: expected at least 1 position")
    longest = max(len(unit) for unit in chain.units)
    position = np.arange(chain.offered.shape[2] + longest)
    counted = position >= 1 if window is None else (position >= 1) & (position <= window)
    return counted / np.maximum(position, 1) if harmonic else counted.astype(np.float64)


def neighbours(chain: Chain, weights: Float[np.ndarray, " token"]) -> Float[np.ndarray, "current next"]:
    """Return how often a kind of slot stands right before another, each time with the weight of the second."""
    pairs = np.zeros((len(chain.kinds), len(chain.kinds)))
    starts = chain.offered.shape[2]
    for unit, begun in zip(chain.units, chain.begun.sum(axis=1), strict=True):
        for place, (current, following) in enumerate(pairwise(unit), start=1):
            pairs[current, following] += begun @ weights[place : place + starts]
    ended = chain.ended.reshape(len(chain.units), -1)
    first = (chain.offered * weights[:starts]).reshape(len(chain.units), -1)
    np.add.at(pairs, np.ix_([unit[-1] for unit in chain.units], [unit[0] for unit in chain.units]), ended @ first.T)
    return pairs


def predecessors(chain: Chain, weights: Float[np.ndarray, " token"]) -> Float[np.ndarray, "prefix next"]:
    """Return how often a kind of slot stands anywhere before another, each time with the weight of the second."""
    pairs = np.zeros((len(chain.kinds), len(chain.kinds)))
    starts = chain.offered.shape[2]
    before = np.zeros((len(chain.kinds), len(chain.later)))
    after = np.zeros((len(chain.kinds), len(chain.later)))
    for unit, offered, begun, ended in zip(chain.units, chain.offered, chain.begun, chain.ended, strict=True):
        for place, kind in enumerate(unit):
            weight = weights[place : place + starts]
            np.add.at(pairs, (list(unit[:place]), kind), begun.sum(axis=0) @ weight)
            before[kind] += ended.ravel()
            after[kind] += (offered * weight).ravel()
    return np.asarray(pairs + before @ chain.later @ after.T)
