"""How good predictions of failure lengths are: R² of logarithms, beside predictions that are much simpler."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """One trained model at one share of right roll-outs.

    Attributes:
        group: what models are alike in, such as the action; simple predictions are fitted on the other groups.
        predicted: the length that was predicted, 0 and infinity included.
        measured: the length that was measured, 0 and infinity included.
        epsilon: unattended share at the shortest length.
    """

    group: Hashable
    predicted: float
    measured: float
    epsilon: float


@dataclass(frozen=True)
class Goodness:
    """What predictions of many models are worth.

    Attributes:
        cases: how many there are.
        known: how many of them have a measured length, neither 0 nor beyond the longest that was tried; only these
            have a logarithm that can be compared.
        r_squared: 1 - squared errors of log lengths / their squares around the mean; below 0 if the mean is better.
        error: the typical factor between predicted and measured length, exp of the root mean square.
        bias: the factor by which predictions are too long on average.
        epsilon_alone: R² of a line through log epsilon, which is fitted on the other groups.
        epsilon_seen: the same, fitted on all other models, those of the same group among them: easier.
        others_mean: R² of the mean log length of the other groups.
        agree: share of the cases that are not known of which the prediction is on the same side.
    """

    cases: int
    known: int
    r_squared: float | None
    error: float | None
    bias: float | None
    epsilon_alone: float | None
    epsilon_seen: float | None
    others_mean: float | None
    agree: float | None


def goodness(cases: Sequence[Case], *, longest: float) -> Goodness:
    """Compare predictions with measurements.

    Nothing in our predictions is fitted. The simple ones are fitted, but never on the group they are judged on.

    Arguments:
        cases: models of any groups and seeds, at one share.
        longest: the longest length that was tried: predictions of more agree with what was measured as more.
    """
    known = [case for case in cases if 0 < case.measured < math.inf]
    others = [case for case in cases if case not in known]
    sides = [case.predicted >= longest if case.measured == math.inf else case.predicted < 1 for case in others]
    agree = float(np.mean(sides)) if sides else None
    if len(known) < 2:
        return Goodness(len(cases), len(known), None, None, None, None, None, None, agree)
    # A prediction of 0, or without an end, is a miss; it counts as the shortest or the longest there is.
    predicted = np.log([min(max(case.predicted, 1.0), longest) for case in known])
    measured = np.log([case.measured for case in known])
    miss = predicted - measured
    groups = [case.group for case in known]
    return Goodness(
        cases=len(cases),
        known=len(known),
        r_squared=r_squared(predicted, measured),
        error=float(np.exp(np.sqrt(np.mean(miss**2)))),
        bias=float(np.exp(miss.mean())),
        epsilon_alone=_from_others(known, measured, groups, line=True),
        epsilon_seen=_from_others(known, measured, range(len(known)), line=True),
        others_mean=_from_others(known, measured, groups, line=False),
        agree=agree,
    )


def r_squared(predicted: np.ndarray, measured: np.ndarray) -> float | None:
    """Return 1 - squared errors / squares around the mean, or None where all that was measured is equal."""
    total = float(((measured - measured.mean()) ** 2).sum())
    return 1 - float(((predicted - measured) ** 2).sum()) / total if total > 0 else None


def _from_others(known: Sequence[Case], measured: np.ndarray, parts: Sequence[Hashable], line: bool) -> float | None:
    """Return R² when each part of the cases is predicted from the others alone; None if there are no others."""
    if len(set(parts)) < 2:
        return None
    x = np.log([max(case.epsilon, 1e-12) for case in known])
    predicted = np.empty(len(known))
    for part in dict.fromkeys(parts):
        own = np.array([each == part for each in parts])
        slope = 0.0
        if line and np.ptp(x[~own]) > 0:
            slope = float(np.cov(x[~own], measured[~own])[0, 1] / np.var(x[~own], ddof=1))
        predicted[own] = measured[~own].mean() + slope * (x[own] - x[~own].mean())
    return r_squared(predicted, measured)
