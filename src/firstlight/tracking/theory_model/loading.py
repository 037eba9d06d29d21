"""A trained model from its run."""

from typing import Any

import torch

from firstlight.errors import FirstlightError
from firstlight.runs.run import Run
from firstlight.tracking.language.action import Action
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.parameters import weights_from
from firstlight.tracking.theory_model.settings import TheorySettings

KIND = "lego theory"


def load_theory(run: Run, step: int | None = None) -> TheoryModel:
    """Return the model after so many updates, or after the last that is kept.

    Checkpoints of stages that train Q hold Q alone; W is that of the last checkpoint before which has it.

    Arguments:
        run: of `train_theory`, `self_train_theory` or `control_theory`.
        step: one of `run.checkpoints`.
    """
    if run.manifest["kind"] != KIND:
        raise FirstlightError(f"{run.path}: a run of kind {run.manifest['kind']!r}, expected {KIND!r}")
    if step is None:
        if not run.checkpoints:
            raise FirstlightError(f"{run.path}: no checkpoint has been written yet")
        step = max(run.checkpoints)
    tensors = dict(run.load(step))
    if "W" not in tensors:
        tensors = {**whole_checkpoint(run, step), "Q": tensors["Q"]}
    settings = settings_of(run)
    action = Action(run.settings["action"], tensors["images"].numpy())
    weights = weights_from(tensors, settings.shape(action), str(run.checkpoints[step]))
    return TheoryModel(action, settings.shape(action), weights, settings.restricted)


def settings_of(run: Run) -> TheorySettings:
    """Return the settings of a run."""
    known: dict[str, Any] = {name: run.settings[name] for name in TheorySettings.__dataclass_fields__}
    return TheorySettings(**known)


def stage_begin(run: Run, number: int) -> int:
    """Return the step at which a stage begins, counted from 0, or where the last ends if it is one more."""
    stages = run.manifest["stages"]
    known = [stage["begins"] for stage in stages] + [stages[-1]["ends"]]
    if number >= len(known) or known[number] is None:
        raise FirstlightError(f"{run.path}: stage {number} has not begun; it has {len(stages)}")
    return int(known[number])


def whole_checkpoint(run: Run, step: int) -> dict[str, torch.Tensor]:
    """Return the tensors of the last checkpoint up to a step that has W."""
    trained = [stage for stage in run.manifest["stages"] if stage["trains"] == "W" and stage["ends"] is not None]
    last = max([stage["ends"] for stage in trained], default=0)
    if last > step or last not in run.checkpoints:
        raise FirstlightError(f"{run.path}: no checkpoint of step {last}, which has W; expected it beside step {step}")
    return run.load(last)
