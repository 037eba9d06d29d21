"""A training of the theory model as a sequence of updates, whatever its stages."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from firstlight.errors import Diverged
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.theory_model.attention import Context
from firstlight.tracking.theory_model.emergence import Emergence
from firstlight.tracking.theory_model.labelling import own_examples, true_examples
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.parameters import in_words
from firstlight.tracking.theory_model.settings import TheorySettings
from firstlight.tracking.theory_model.stages import Stage
from firstlight.tracking.theory_model.updates import attention_gradients, descend_ffn

NAN = float("nan")


class TheoryTrainee:
    """What `descend` trains.

    Attributes:
        model: its W and Q are changed in place.
        settings: of the training.
        stages: all that are planned.
        begins: the step at which each stage so far began, and once the last has ended, the step where it did.
        done: updates done.
        kept: the steps whose weights are kept; grows as stages begin.
        solved: the averaged loss with which the last stage of true answers ended, if Q has had one.
        emergence: when features appeared while W was trained.
    """

    def __init__(
        self,
        model: TheoryModel,
        settings: TheorySettings,
        stages: list[Stage],
        *,
        first: int = 0,
        began: Callable[["TheoryTrainee"], None],
    ) -> None:
        """Begin.

        Arguments:
            model: to train.
            settings: of the training.
            stages: one after the other.
            first: how many updates the model has had before; random numbers and rates go on from there.
            began: called whenever a stage has begun and when the last has ended.
        """
        self.model, self.settings, self.stages, self.first, self.began = model, settings, stages, first, began
        self.begins, self.done = [0], 0
        self.losses: list[float] = []
        self.solved: float | None = None
        self.teacher: TheoryModel | None = None
        self.emergence = Emergence.of(model.action)
        self.kept: set[int] = set()
        self._keep()

    def finished(self, step: int) -> bool:
        """Whether all stages have ended."""
        return len(self.begins) > len(self.stages)

    def update(self, step: int) -> Mapping[str, float]:
        """Do the next update of the stage that is on."""
        number = len(self.begins)
        stage = self.stages[number - 1]
        measures = self._update_ffn(step) if stage.trains == "W" else self._update_attention(step, stage)
        self.done = step + 1
        self.losses = [*self.losses, measures["loss"]][-self.settings.level_window :]
        while not self.finished(self.done) and self._ended():
            self._next_stage()
        return {"stage": number, "length": stage.length, **measures}

    def _update_ffn(self, step: int) -> dict[str, float]:
        settings, shape, W = self.settings, self.model.shape, self.model.weights.W
        self.emergence.watch(step, W, shape)
        sentences = self._draw(step, 1, settings.ffn_batch)
        rows = np.concatenate([shape.predicates(sentences)[:, 0], shape.answers(sentences)[:, 0]], axis=1)
        targets = shape.targets(sentences)[:, 1]
        inputs, tokens = (torch.from_numpy(each).to(self.model.device) for each in (rows, targets))
        loss = descend_ffn(W, inputs, tokens, shape, settings.slot_rates)
        return {
            "loss": loss,
            "rate": settings.ffn_rate,
            "sentences": len(sentences),
            **dict.fromkeys(("epsilon", "gap", "q43", "q44"), NAN),
        }

    def _update_attention(self, step: int, stage: Stage) -> dict[str, float]:
        model = self.model
        rate = self.settings.attention_rate_at(self.first + step - self.settings.ffn_steps)
        sentences = self._draw(step, stage.length, self.settings.attention_batch)
        if stage.labelled:
            assert self.teacher is not None
            context, targets = own_examples(self.teacher, sentences, stage.queries)
        else:
            context, targets = true_examples(model, sentences, stage.queries)
        if not len(targets):
            raise Diverged(
                f"step {step}: the model as it was before {stage.name} writes no answer; expected W to have learnt"
            )
        measures = {"rate": rate, "sentences": len(targets)}
        measures |= {"q43": float(model.Q43.diagonal().mean()), "q44": float(model.Q44.diagonal().mean())}
        loss, gradient, attention = attention_gradients(model.weights, context, targets, model.reach)
        model.weights.Q.sub_(gradient, alpha=rate)
        epsilon, gap = _concentration(attention, context)
        return {**measures, "loss": loss, "epsilon": epsilon, "gap": gap}

    def _draw(self, step: int, length: int, count: int) -> Sentences:
        rng = np.random.default_rng([self.settings.seed, 1, self.first + step])
        return draw(self.model.action, variables=self.settings.variables, length=length, count=count, rng=rng)

    def _ended(self) -> bool:
        stage, updates = self.stages[len(self.begins) - 1], self.done - self.begins[-1]
        if updates >= stage.limit:
            return True
        if stage.level is None or self.solved is None or updates < self.settings.level_window:
            return False
        return float(np.mean(self.losses)) < stage.level * self.solved

    def _next_stage(self) -> None:
        ended = self.stages[len(self.begins) - 1]
        if ended.trains == "Q" and not ended.labelled and self.losses:
            self.solved = float(np.mean(self.losses))
        self.begins.append(self.done)
        self.losses = []
        self.teacher = self.model.with_attention(self.model.weights.Q.clone())
        self._keep()
        self.began(self)

    def _keep(self) -> None:
        """Add the steps of the stage that has begun whose weights are kept."""
        begin = self.begins[-1]
        self.kept.add(begin)
        if self.finished(self.done):
            return
        stage = self.stages[len(self.begins) - 1]
        every = self.settings.checkpoint_every if stage.trains == "Q" else self.settings.ffn_checkpoint_every
        if every:
            self.kept |= set(range(begin, begin + stage.limit, every))

    def weights(self) -> Mapping[str, Tensor]:
        """Return Q, and where W may have changed since the last checkpoint all that is needed to read it."""
        # Stages that have had an update, W at most in the first: the last of them made the last update.
        updated = [stage.trains for stage, begin in zip(self.stages, self.begins, strict=False) if begin < self.done]
        if updated and updated[-1] == "Q":
            return {"Q": self.model.weights.Q}
        return {
            "W": in_words(self.model.weights.W, self.model.shape),
            "Q": self.model.weights.Q,
            "images": torch.from_numpy(self.model.action.images),
            **self.emergence.tensors(),
        }

    def state(self) -> tuple[Mapping[str, Tensor], Mapping[str, Any]]:
        """Return all that is needed to go on."""
        tensors = {"W": self.model.weights.W, "Q": self.model.weights.Q, **self.emergence.tensors()}
        if self.teacher is not None:
            tensors["teacher.Q"] = self.teacher.weights.Q
        return tensors, {"begins": self.begins, "done": self.done, "losses": self.losses, "solved": self.solved}

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Take what `state` returned."""
        self.model.weights.W.copy_(tensors["W"])
        self.model.weights.Q.copy_(tensors["Q"])
        self.emergence = self.emergence.restored(tensors)
        if "teacher.Q" in tensors:
            self.teacher = self.model.with_attention(tensors["teacher.Q"].to(self.model.device))
        self.done, self.losses, self.solved = values["done"], list(values["losses"]), values["solved"]
        begins = list(values["begins"])
        for number in range(1, len(begins) + 1):
            self.begins = begins[:number]
            self._keep()


def _concentration(attention: Tensor, context: Context) -> tuple[float, float]:
    """Return the means of ε and of the gap over the queries of a batch."""
    queries = torch.arange(len(context.queries))
    places = torch.tensor(context.queries)
    predicate = attention[:, queries, places]
    answer = attention[:, queries, places + context.predicates.shape[1]]
    return float((1 - predicate - answer).mean()), float((predicate - answer).abs().mean())
