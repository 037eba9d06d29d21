"""A trained practical model, ready to be measured: what it writes, what it holds likely, where it looks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from firstlight.errors import FirstlightError
from firstlight.runs import Run, open_run
from firstlight.runs.device import device_named
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.interleaved import Interleaved, laid_out
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import answer_clauses, tokens_of
from firstlight.tracking.measures.measured import AttentionMass, Rollout, TeacherForced
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.generation import generate
from firstlight.tracking.practical.parameters import check, shapes
from firstlight.tracking.practical.settings import Settings, settings_from

KIND = "lego practical"
CLAUSES = 2**14  # of the sentences that are worked on together: their keys and values take some 10 MB


@dataclass(frozen=True, eq=False)
class PracticalModel:
    """What measures ask of a model (`SentenceModel`), for sentences with irrelevant clauses as well.

    Attributes:
        action: that the model has been taught.
        block: with the weights.
    """

    action: Action
    block: Block

    @property
    def settings(self) -> Settings:
        """Of the model."""
        return self.block.settings

    @property
    def variables(self) -> int:
        """How many variables the model knows, |X|."""
        return self.settings.variables

    def rollout(self, sentences: Sentences | Interleaved) -> Rollout:
        """Write answers 1..L greedily, each read back, after the predicates and the true answer 0."""
        tokens = self.block.tokens
        parts = []
        for predicates, answers, _ in self._batches(sentences):
            parts.append(generate(self.block, predicates, answers[:, 0], answers.shape[1] - 1).cpu())
        written = torch.cat(parts).numpy()
        blank = (written[..., :3] == tokens.blank).all(-1)
        variable = blank & (written[..., 3] < tokens.variables)
        value = blank & (written[..., 4] >= tokens.first_value) & (written[..., 4] < tokens.blank)
        return Rollout(
            np.where(variable, written[..., 3], -1), np.where(value, written[..., 4] - tokens.first_value, -1)
        )

    @torch.no_grad()
    def teacher_forced(self, sentences: Sentences | Interleaved) -> TeacherForced:
        """Return the probabilities of the true answers 1..L, each after the true ones before it.

        That of the clause is the product over the slots that are read out.
        """
        clause, value = [], []
        for predicates, answers, _ in self._batches(sentences):
            targets = answers[:, 1:, list(self.settings.read_out_slots)]
            logits = self.block.logits(predicates, answers[:, :-1]).double()
            likelihood = logits.gather(-1, targets[..., None])[..., 0] - logits.logsumexp(-1)
            clause.append(likelihood.sum(-1).exp())
            value.append(likelihood[..., -1].exp())
        return TeacherForced(torch.cat(clause).cpu().numpy(), torch.cat(value).cpu().numpy())

    def attention(self, sentences: Sentences | Interleaved) -> AttentionMass:
        """Return where answers 0..L-1 look when the next answer is asked for, all answers being the true ones."""
        predicate: list[Tensor] = []
        answer: list[Tensor] = []
        for attention, places in self._looks(sentences):
            count, heads, answers, clauses = attention.shape
            own = torch.arange(clauses - answers, clauses, device=attention.device).expand(count, heads, answers)
            for found, at in ((predicate, places[:, None].expand_as(own)), (answer, own)):
                found.append(attention.gather(-1, at[..., None])[..., 0].transpose(0, 1))
        masses = (torch.cat(found, 1).double().cpu().numpy() for found in (predicate, answer))
        return AttentionMass(*masses)

    def attention_map(self, sentences: Sentences | Interleaved) -> Float64[np.ndarray, "head sentence answer clause"]:
        """Return the whole attention of answers 0..L-1: on all predicates as they stand, then on answers 0..L-1."""
        looks = [attention.transpose(0, 1) for attention, _ in self._looks(sentences)]
        return np.asarray(torch.cat(looks, 1).double().cpu().numpy())

    @torch.no_grad()
    def _looks(self, sentences: Sentences | Interleaved) -> Iterator[tuple[Tensor, Tensor]]:
        for predicates, answers, places in self._batches(sentences):
            entry = self.block.enter(predicates, answers[:, :-1])
            yield self.block.look(entry.queries, entry.keys), places

    def _batches(self, sentences: Sentences | Interleaved) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield predicates, answers 0..L and the places of the sentences' own predicates, so many at a time."""
        plain = sentences.sentences if isinstance(sentences, Interleaved) else sentences
        self._check(plain)
        clauses = plain.length + (sentences.order.shape[1] if isinstance(sentences, Interleaved) else plain.length)
        rows = max(1, CLAUSES // clauses)
        device = self.block.parameters["embedding"].device
        for start in range(0, len(sentences), rows):
            part = slice(start, start + rows)
            predicates, places = laid_out(sentences[part], self.block.tokens)
            answers = answer_clauses(plain[part], self.block.tokens)
            yield tuple(torch.from_numpy(each).to(device) for each in (predicates, answers, places))  # type: ignore[misc]

    def _check(self, sentences: Sentences) -> None:
        if not np.array_equal(sentences.action.images, self.action.images):
            raise FirstlightError(
                f"sentences of {sentences.action.name}: expected {self.action.name}, which this model was taught"
            )
        if len(sentences) == 0:
            raise FirstlightError("no sentences: expected at least one")
        largest = int(sentences.variables.max())
        if largest >= self.settings.variables:
            raise FirstlightError(f"variable {largest}: the model knows 0..{self.settings.variables - 1}")


def load_practical(run: Run | str | Path, step: int | None = None, device: str = "cpu") -> PracticalModel:
    """Load the model of a run after so many updates; after the last that has a checkpoint when None."""
    if not isinstance(run, Run):
        run = open_run(run)
    if run.manifest["kind"] != KIND:
        raise FirstlightError(f"{run.path}: a run of kind {run.manifest['kind']!r}, expected {KIND!r}")
    if step is None:
        if not run.checkpoints:
            raise FirstlightError(f"{run.path}: no checkpoint has been written yet")
        step = max(run.checkpoints)
    facts = dict(run.settings)
    about = facts.pop("action")
    facts.pop("start")
    settings = settings_from(facts)
    tensors = run.load(step)
    where = device_named(device)
    if "action.images" not in tensors:
        raise FirstlightError(f"{run.checkpoints[step]}: damaged: action.images is missing")
    action = Action(about["name"], tensors.pop("action.images").numpy())
    tokens = tokens_of(action, settings.variables)
    check(tensors, settings, tokens, str(run.checkpoints[step]))
    weights = {name: tensors[name].to(where) for name in shapes(settings, tokens)}
    return PracticalModel(action, Block(settings, tokens, weights))
