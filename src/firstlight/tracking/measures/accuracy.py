"""How far a model carries: rows of accuracy at a length, with intervals, and where it looks there."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from firstlight.errors import FirstlightError
from firstlight.report.progress import progress
from firstlight.tracking.language.sampling import check_length, draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.measures.measured import AttentionMass, Rollout, SentenceModel, TeacherForced

_CLAUSES = 2**14  # predicates of the sentences that are measured together
_NORMAL = 1.959963984540054  # 97.5 % of a standard normal variable are below it


@dataclass(frozen=True)
class AccuracyRow:
    """What a model gets right at one length.

    Attributes:
        length: L.
        count: sentences.
        rollout: the share of which all values are right when the model reads back what it wrote itself.
        rollout_low: lower end of the 95 % interval of that share (Wilson).
        rollout_high: its upper end.
        final: the share of which the last value is right, whatever stands before it.
        value_probability: of the right next value, all answers before it being the true ones; a mean over steps.
        teacher_forced: the same of the whole next clause, all five slots: ACC_L of Def. 3.6.
    """

    length: int
    count: int
    rollout: float
    rollout_low: float
    rollout_high: float
    final: float
    value_probability: float
    teacher_forced: float


@dataclass(frozen=True)
class AttentionRow:
    """Where the answers of one length look when the next is asked for: means over sentences and steps.

    Attributes:
        length: L.
        head: its number, from 0.
        predicate: share of attention on the predicate of the next answer.
        answer: share on the last answer, which asks.
        epsilon: share on neither.
        gap: mean of |predicate - answer|, which is more than the difference of the means where its sign changes.
    """

    length: int
    head: int
    predicate: float
    answer: float
    epsilon: float
    gap: float


def accuracy_rows(
    model: SentenceModel, lengths: Sequence[int], *, count: int = 200, seed: int = 0, show: bool = False
) -> list[AccuracyRow]:
    """Measure accuracy at some lengths.

    Arguments:
        model: to be measured.
        lengths: each at most |X| - 1.
        count: sentences of each length.
        seed: of the sentences: which are sentences i = 0, 1, ... of a length depends on it and on nothing else, so
            models of the same action are measured on the same ones.
        show: whether to show progress on stderr.
    """
    check_measurable(model, lengths, count)
    rows = []
    with progress("accuracy", count * sum(lengths), "clauses", show) as advance:
        for length in lengths:
            tallies = []
            for sentences in measured_sentences(model, length, count, seed):
                tallies.append(tally(model.rollout(sentences), model.teacher_forced(sentences), sentences))
                advance(len(sentences) * length)
            rows.append(accuracy_row(length, np.concatenate(tallies)))
    return rows


def attention_rows(
    model: SentenceModel, lengths: Sequence[int], *, count: int = 200, seed: int = 0, show: bool = False
) -> list[AttentionRow]:
    """Measure attention at some lengths, a row for each head; arguments as in `accuracy_rows`."""
    check_measurable(model, lengths, count)
    rows = []
    with progress("attention", count * sum(lengths), "clauses", show) as advance:
        for length in lengths:
            means, weights = [], []
            for sentences in measured_sentences(model, length, count, seed):
                means.append(attention_means(model.attention(sentences)))
                weights.append(len(sentences))
                advance(len(sentences) * length)
            by_head = np.average(np.stack(means), axis=0, weights=weights)
            rows += [AttentionRow(length, head, *map(float, mean)) for head, mean in enumerate(by_head)]
    return rows


def measured_sentences(model: SentenceModel, length: int, count: int, seed: int) -> Iterator[Sentences]:
    """Draw sentences to measure a model on, so many at a time that memory is bounded."""
    rows = max(1, _CLAUSES // length)
    for batch, start in enumerate(range(0, count, rows)):
        # With a spawn key, none of the streams is one that a training of the same seed draws its sentences from.
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(length, batch)))
        # Always a whole batch: the last would else draw other sentences than it does as part of more.
        whole = draw(model.action, variables=model.variables, length=length, count=rows, rng=rng)
        yield whole[: count - start]


def tally(rollout: Rollout, forced: TeacherForced, sentences: Sentences) -> Float64[np.ndarray, "sentence 4"]:
    """Return for each sentence: all values right, last value right, probability of values, of clauses."""
    right = rollout.values == sentences.values[:, 1:]
    return np.stack([right.all(1), right[:, -1], forced.value.mean(1), forced.clause.mean(1)], axis=1).astype(float)


def accuracy_row(length: int, tallies: Float64[np.ndarray, "sentence 4"]) -> AccuracyRow:
    """Return the row of all sentences of a length."""
    count = len(tallies)
    rollout, final, value, clause = (float(mean) for mean in tallies.mean(0))
    low, high = wilson(int(tallies[:, 0].sum()), count)
    return AccuracyRow(length, count, rollout, low, high, final, value, clause)


def attention_means(mass: AttentionMass) -> Float64[np.ndarray, "head 4"]:
    """Return for each head the means of predicate, answer, ε and gap."""
    return np.stack([each.mean((1, 2)) for each in (mass.predicate, mass.answer, mass.epsilon, mass.gap)], axis=1)


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a probability after so many successes (Wilson's score interval)."""
    share, square = successes / count, _NORMAL**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = _NORMAL * math.sqrt(share * (1 - share) / count + square / (4 * count**2)) / (1 + square / count)
    # Rounding may leave the ends a little inside of where they are exactly.
    low = 0.0 if successes == 0 else middle - half
    return low, 1.0 if successes == count else middle + half


def check_measurable(model: SentenceModel, lengths: Sequence[int], count: int) -> None:
    """Refuse lengths for which there are no sentences, before anything is measured."""
    if count < 1:
        raise FirstlightError(f"{count} sentences: expected at least 1")
    if not lengths:
        raise FirstlightError("no lengths: expected at least one")
    for length in lengths:
        check_length(length, model.variables)
