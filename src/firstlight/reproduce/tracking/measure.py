"""What is measured of trained models, as JSON holds it; each function is done in a process of its own."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.material import At, Theory, model_at
from firstlight.tracking.language.interleaved import Interleaved, in_order
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.measures.accuracy import accuracy_rows, attention_rows, measured_sentences
from firstlight.tracking.measures.failure import failure_measured, failure_prediction
from firstlight.tracking.measures.look import look_of
from firstlight.tracking.measures.shares import Share, all_values, final_value
from firstlight.tracking.practical.context_rot import context_rot
from firstlight.tracking.practical.model import PracticalModel

_SEED = 1  # of sentences that only a reproduction draws
FORCED = 20  # sentences of which the theory model's probabilities are measured


@dataclass(frozen=True)
class Lengths(At):
    """A model and the lengths it is measured at.

    Attributes:
        lengths: L of each row.
        count: sentences of each length.
    """

    lengths: tuple[int, ...] = ()
    count: int = 200


@dataclass(frozen=True)
class Looks(At):
    """A model and the sentences whose attention is looked at.

    Attributes:
        length: L.
        count: sentences.
        order: which predicate stands at each place; None for their order in the sentence.
    """

    length: int = 5
    count: int = 100
    order: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Irrelevant(At):
    """A model and the irrelevant clauses its sentences get.

    Attributes:
        length: L.
        count: sentences.
        clauses: numbers of irrelevant clauses.
    """

    length: int = 5
    count: int = 200
    clauses: tuple[int, ...] = ()


@dataclass(frozen=True)
class Imposed(At):
    """A model and the attention it is made to have.

    Attributes:
        length: L; the last answer of each sentence asks.
        count: sentences.
        shares: attention on neither of the right clauses, ε, one after the other.
    """

    length: int = 20
    count: int = 500
    shares: tuple[float, ...] = ()


@dataclass(frozen=True)
class Failing(At):
    """A model whose roll-outs fail somewhere.

    Attributes:
        count: sentences of each length that is tried.
    """

    count: int = 200


def accuracy(place: Place, item: Lengths) -> list[dict[str, Any]]:
    """Return the rows of `firstlight lego eval`.

    Probabilities of the theory model, which has thousands of neurons a query, are measured on the first sentences only:
    they are means over all steps of a sentence, and need fewer.
    """
    model = model_at(place, item)
    forced = min(item.count, FORCED) if isinstance(item.training, Theory) else item.count
    rows = []
    for row in accuracy_rows(model, item.lengths, count=forced):
        if forced == item.count:
            rows.append({**asdict(row), "probabilities of": forced})
            continue
        parts = [(each, model.rollout(each)) for each in measured_sentences(model, row.length, item.count, 0)]
        right, final = (_together([judge(*part) for part in parts]) for judge in (all_values, final_value))
        rows.append({
            **asdict(row), "count": item.count, "rollout": right.value, "rollout_low": right.low,
            "rollout_high": right.high, "final": final.value, "probabilities of": forced,
        })  # fmt: skip
    return rows


def _together(shares: Sequence[Share]) -> Share:
    return Share(sum(share.right for share in shares), sum(share.of for share in shares))


def attention(place: Place, item: Lengths) -> list[dict[str, Any]]:
    """Return the rows of `firstlight lego attention`."""
    model = model_at(place, item)
    return [asdict(row) for row in attention_rows(model, item.lengths, count=item.count)]


def attention_map(place: Place, item: Looks) -> dict[str, Any]:
    """Return the attention of answers on all clauses as they stand, a mean over heads and sentences, and what it hits.

    Beside the map, for each answer: the share on the predicate of the next answer and on the answer itself, and the
    share of sentences of which a roll-out has all values right.
    """
    model = _practical(place, item)
    rng = np.random.default_rng(_SEED)
    plain = draw(model.action, variables=model.variables, length=item.length, count=item.count, rng=rng)
    laid = in_order(plain)
    if item.order is not None:
        laid = Interleaved(plain, laid.irrelevant, np.tile(np.array(item.order), (item.count, 1)))
    mass = model.attention(laid)
    right = model.rollout(laid).values == plain.values[:, 1:]
    return {
        "map": model.attention_map(laid).mean((0, 1)).tolist(),
        "predicate": mass.predicate.mean((0, 1)).tolist(),
        "answer": mass.answer.mean((0, 1)).tolist(),
        "rollout": float(right.all(1).mean()),
    }


def among_irrelevant(place: Place, item: Irrelevant) -> list[dict[str, Any]]:
    """Return accuracy and attention with irrelevant clauses between the predicates, in growing number."""
    rows = []
    for row in context_rot(_practical(place, item), item.length, item.clauses, count=item.count):
        facts = asdict(row) | {"rollout": row.rollout.value, "rollout_low": row.rollout.low, "final": row.final.value}
        rows.append(facts | {"rollout_high": row.rollout.high})
    return rows


def imposed_dilution(place: Place, item: Imposed) -> list[dict[str, Any]]:
    """Return how often the next clause is right when attention is not the model's own but has a given ε.

    What is on the right predicate and the last answer is shared between them as the model does; the rest is even.
    """
    model, L = model_at(place, item), item.length
    rng = np.random.default_rng([_SEED, L])
    sentences = draw(model.action, variables=model.variables, length=L, count=item.count, rng=rng)
    look = look_of(model, sentences, L - 1, sentences[:1])
    weights = look.own.scores.softmax(2)
    right = torch.zeros(weights.shape[2], dtype=weights.dtype, device=weights.device)
    right[[L - 1, 2 * L - 1]] = 1.0
    on_right = weights * right
    on_right, elsewhere = on_right / on_right.sum(2, keepdim=True), (1 - right) / (1 - right).sum()
    rows = []
    for share in item.shares:
        attention = (1 - share) * on_right + share * elsewhere
        read = torch.einsum("qhk,qhkc->qhc", attention, look.own.offered)
        rows.append({"epsilon": share, "right": float((look.margins(read) > 0).double().mean())})
    return rows


def failure(place: Place, item: Failing) -> list[dict[str, Any]]:
    """Return predicted and measured failure lengths for each share of right roll-outs; None is beyond all lengths."""
    model = model_at(place, item)
    prediction = failure_prediction(model)
    return [
        {"share": share, "predicted": _finite(prediction.lengths[share]), "measured": _finite(seen.length),
         "low": seen.low, "high": _finite(seen.high), "epsilon": prediction.epsilon}
        for share, seen in failure_measured(model, count=item.count).items()
    ]  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _practical(place: Place, item: At) -> PracticalModel:
    model = model_at(place, item)
    assert isinstance(model, PracticalModel)
    return model
