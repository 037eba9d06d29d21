"""One training as a sequence of updates, each on sentences of its own."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.tokens import answer_clauses, predicate_clauses, tokens_of
from firstlight.tracking.practical.adam import Adam, new_adam
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.generation import generate
from firstlight.tracking.practical.model import PracticalModel
from firstlight.tracking.practical.parameters import Parameters, dtype_of, flatten, shapes, views
from firstlight.tracking.practical.settings import Settings

TRAINING, MEASURING = 0, 1  # streams of random numbers
MEASURED = 200  # sentences of which the metrics say how many are answered rightly


class PracticalTrainee:
    """The practical model on its way, as `firstlight.runs.descent.descend` wants it.

    All weights are views of one vector, and so are their gradients.
    """

    def __init__(
        self,
        action: Action,
        settings: Settings,
        weights: Parameters,
        *,
        before: int,
        adam: Adam | None,
        teacher: Block | None,
        device: torch.device,
    ) -> None:
        """Begin.

        Arguments:
            action: of the group.
            settings: of the model and the training.
            weights: to begin with.
            before: updates done in the runs that this one continues: their sentences are not drawn again.
            adam: its state; new when None.
            teacher: what labels the sentences; their true answers do when None.
            device: where to compute.
        """
        self.action, self.settings, self.before, self.teacher, self.device = action, settings, before, teacher, device
        self.tokens = tokens_of(action, settings.variables)
        self.vector = flatten(weights).to(device, dtype_of(settings))
        self.gradient = torch.zeros_like(self.vector)
        self.adam = adam or new_adam(self.vector)
        form = shapes(settings, self.tokens)
        leaves = {name: view.detach().requires_grad_() for name, view in views(self.vector, form).items()}
        for name, view in views(self.gradient, form).items():
            leaves[name].grad = view
        self.block = Block(settings, self.tokens, leaves)
        self.images = torch.from_numpy(np.ascontiguousarray(action.images))

    def update(self, step: int) -> Mapping[str, float]:
        """Do the update that follows `step` updates."""
        measures = {"accuracy": self._accuracy(step) if step % self.settings.accuracy_every == 0 else math.nan}
        sentences = self._draw(TRAINING, step, self.settings.batch_size)
        predicates, answers = self._to_device(predicate_clauses(sentences, self.tokens)), self._answers(sentences)
        true_answers = answers
        if self.teacher is not None:
            written = generate(self.teacher, predicates, answers[:, 0], sentences.length)
            answers = torch.cat([answers[:, :1], written], 1)
            measures["labels_right"] = float((answers == true_answers).all(-1).all(-1).double().mean())
        self.gradient.zero_()
        loss, by_slot = self.block.loss(predicates, answers)
        torch.autograd.backward(loss)
        self.adam.update(self.vector, self.gradient, self.settings)
        for slot, part in zip(self.settings.read_out_slots, by_slot.tolist(), strict=True):
            measures[f"loss_slot_{slot + 1}"] = part
        return {"loss": loss.item(), **measures}

    def finished(self, step: int) -> bool:
        """Return whether all updates are done."""
        return step >= self.settings.steps

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights, and the table of the action, without which they mean nothing."""
        return {**self.block.parameters, "action.images": self.images}

    def state(self) -> tuple[Mapping[str, Tensor], Mapping[str, Any]]:
        """Return weights and the state of Adam."""
        return {"weights": self.vector, **self.optimizer()}, {"adam_count": self.adam.count}

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Take what `state` returned."""
        self.vector.copy_(tensors["weights"])
        self.adam.first.copy_(tensors["adam.first"])
        self.adam.second.copy_(tensors["adam.second"])
        self.adam.count = int(values["adam_count"])

    def optimizer(self) -> dict[str, Tensor]:
        """Return the tensors of the state of Adam."""
        return {"adam.first": self.adam.first, "adam.second": self.adam.second}

    def _draw(self, stream: int, step: int, count: int) -> Sentences:
        rng = np.random.default_rng([self.settings.seed, stream, self.before + step])
        settings = self.settings
        return draw(self.action, variables=settings.variables, length=settings.length, count=count, rng=rng)

    def _answers(self, sentences: Sentences) -> Tensor:
        return self._to_device(answer_clauses(sentences, self.tokens))

    def _to_device(self, clauses: np.ndarray) -> Tensor:
        return torch.from_numpy(clauses).to(self.device)

    def _accuracy(self, step: int) -> float:
        """Return the share of sentences of the training length of which all values come out right."""
        sentences = self._draw(MEASURING, step, MEASURED)
        written = PracticalModel(self.action, self.block).rollout(sentences)
        return float((written.values == sentences.values[:, 1:]).all(1).mean())
