"""The trained model as measures see it: greedy rollouts, teacher-forced probabilities, attention."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.measures.measured import AttentionMass, Rollout, TeacherForced
from firstlight.tracking.theory_model.attention import Context, Reach, attend, attended_inputs, context_of
from firstlight.tracking.theory_model.contenders import Contenders
from firstlight.tracking.theory_model.feed_forward import clipped, raw_logits
from firstlight.tracking.theory_model.parameters import Weights
from firstlight.tracking.theory_model.shape import VALUE_SLOT, VARIABLE_SLOT, Shape

_HELD = 2**23  # numbers of attention or of attended inputs held at once


@dataclass(eq=False)
class TheoryModel:
    """A one-layer transformer without positions, and the action it was trained on.

    Attributes:
        action: of the group.
        shape: sizes and constants.
        weights: W and Q.
        restricted: whether Q has its blocks (4,3) and (4,4) alone.
    """

    action: Action
    shape: Shape
    weights: Weights
    restricted: bool = True
    _contenders: Contenders | None = field(default=None, init=False, repr=False)

    @property
    def variables(self) -> int:
        """How many variables the model knows, |X|."""
        return self.shape.tokens.variables

    @property
    def reach(self) -> Reach:
        """Which entries of Q scores add up."""
        return Reach(self.shape, self.restricted)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights.Q.device

    @property
    def Q43(self) -> Float[Tensor, "asking asked"]:  # noqa: N802  # the name of the theory
        """What a query's variable asks for in slot 3 of predicates."""
        shape = self.shape
        return self.weights.Q[: shape.tokens.variables, shape.first_third : shape.first_fourth]

    @property
    def Q44(self) -> Float[Tensor, "asking asked"]:  # noqa: N802  # the name of the theory
        """What a query's variable asks for in slot 4 of answers."""
        shape = self.shape
        return self.weights.Q[: shape.tokens.variables, shape.first_fourth : shape.first_value]

    def to(self, device: str | torch.device) -> "TheoryModel":
        """Return the model on a device."""
        return TheoryModel(self.action, self.shape, self.weights.to(torch.device(device)), self.restricted)

    def with_attention(self, Q: Float[Tensor, "query input"]) -> "TheoryModel":
        """Return a model with the same feed-forward network and other attention."""
        return TheoryModel(self.action, self.shape, Weights(self.weights.W, Q), self.restricted)

    def rollout(self, sentences: Sentences) -> Rollout:
        """Write answers 1..L greedily, each read back, after the predicates and the true answer 0.

        What earlier clauses offer to a query is looked up by their tokens, and only the last answer asks, so a step
        costs time linear in the clauses before it. A sentence whose clause is no answer (its first three slots blank,
        then a variable and a value) ends there: that answer and all after it count as wrong.
        """
        return self.write(sentences, sentences.length)

    @torch.no_grad()
    def write(self, sentences: Sentences, count: int) -> Rollout:
        """Write the first answers alone, greedily, with all predicates before them."""
        shape = self.shape
        answers = torch.from_numpy(np.ascontiguousarray(shape.answers(sentences)[:, :1])).to(self.device)
        predicates = torch.from_numpy(shape.predicates(sentences)).to(self.device)
        alive = torch.ones(len(sentences), dtype=torch.bool, device=self.device)
        written = []
        for place in range(count):
            clause = self.next_clauses(Context(predicates, answers, (place,)))
            alive &= well_formed(clause, shape)
            written.append(torch.where(alive[:, None], clause[:, [VARIABLE_SLOT, VALUE_SLOT]], -1))
            read = answer_inputs(clause, shape)
            answers = torch.cat([answers, torch.where(alive[:, None], read, answers[:, -1])[:, None]], dim=1)
        out = torch.stack(written, dim=1).cpu().numpy()
        values = out[:, :, 1] - shape.tokens.first_value
        return Rollout(variables=out[:, :, 0], values=np.where(out[:, :, 1] < 0, -1, values))

    @torch.no_grad()
    def next_clauses(self, context: Context) -> Int64[Tensor, "sentence slot"]:
        """Return the most likely clause after a context of one query, slot by slot."""
        if self._contenders is None:
            self._contenders = Contenders(self.weights.W, self.shape)
        attention = attend(self.weights.Q, context, self.reach)
        return self._contenders.most_likely(context, attention)

    @torch.no_grad()
    def log_probabilities(
        self, sentences: Sentences, slots: tuple[int, ...] = tuple(range(SLOTS))
    ) -> Float64[np.ndarray, "sentence answer slot"]:
        """Return the logarithms of the probabilities of tokens of the true answers 1..L, teacher-forced."""
        shape, L = self.shape, sentences.length
        out = np.empty((len(sentences), L, len(slots)))
        targets = torch.from_numpy(shape.targets(sentences)[:, 1:]).to(self.device)
        rows = max(1, _HELD // (L * max(shape.inputs, 4 * L)))
        for start in range(0, len(sentences), rows):
            part = slice(start, start + rows)
            context = context_of(shape, _some(sentences, part), tuple(range(L)), self.device)
            attended = attended_inputs(attend(self.weights.Q, context, self.reach), context, shape.inputs).flatten(0, 1)
            for number, slot in enumerate(slots):
                logits = clipped(raw_logits(self.weights.W[slot], attended, shape), shape).double()
                right = logits.gather(1, targets[part, :, slot].reshape(-1, 1))[:, 0] - logits.logsumexp(1)
                out[part, :, number] = right.reshape(-1, L).cpu().numpy()
        return out

    def teacher_forced(self, sentences: Sentences) -> TeacherForced:
        """Return the probabilities of the true answers 1..L, each after the true ones before it."""
        logs = self.log_probabilities(sentences)
        return TeacherForced(clause=np.exp(logs.sum(2)), value=np.exp(logs[:, :, VALUE_SLOT]))

    @torch.no_grad()
    def attention(self, sentences: Sentences) -> AttentionMass:
        """Return where answers 0..L-1 look when the next answer is asked for."""
        L = sentences.length
        predicate, answer = np.empty((1, len(sentences), L)), np.empty((1, len(sentences), L))
        places = torch.arange(L)
        rows = max(1, _HELD // (4 * L * L))
        for start in range(0, len(sentences), rows):
            part = slice(start, start + rows)
            context = context_of(self.shape, _some(sentences, part), tuple(range(L)), self.device)
            attention = attend(self.weights.Q, context, self.reach).cpu()
            predicate[0, part] = attention[:, places, places].numpy()
            answer[0, part] = attention[:, places, L + places].numpy()
        return AttentionMass(predicate, answer)


def well_formed(clauses: Int64[Tensor, "sentence slot"], shape: Shape) -> Tensor:
    """Return which clauses are answers: three blanks, a variable, a value."""
    tokens, values = shape.tokens, clauses[:, VALUE_SLOT]
    blank = (clauses[:, :VARIABLE_SLOT] == tokens.blank).all(1)
    value = (values >= tokens.first_value) & (values < tokens.blank)
    return blank & (clauses[:, VARIABLE_SLOT] < tokens.variables) & value


def answer_inputs(clauses: Int64[Tensor, "sentence slot"], shape: Shape) -> Int64[Tensor, "sentence part"]:
    """Return the inputs of answers; meaningless for clauses that are none."""
    variables = clauses[:, VARIABLE_SLOT] + shape.first_fourth
    return torch.stack([variables, clauses[:, VALUE_SLOT] - shape.tokens.first_value + shape.first_value], dim=1)


def _some(sentences: Sentences, part: slice) -> Sentences:
    return Sentences(sentences.action, sentences.variables[part], sentences.elements[part], sentences.values[part])
