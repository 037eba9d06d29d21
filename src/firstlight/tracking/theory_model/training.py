"""Algorithms 1 and 2. The functions to read first are `train_theory` and `self_train_theory`."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from firstlight.errors import Diverged, FirstlightError
from firstlight.report.progress import say
from firstlight.runs.descent import descend
from firstlight.runs.device import device_named, set_threads
from firstlight.runs.recorder import Recorder, recording
from firstlight.runs.run import Run, open_run
from firstlight.tracking.language.action import Action
from firstlight.tracking.theory_model.learnt import combinations
from firstlight.tracking.theory_model.loading import KIND, load_theory, settings_of
from firstlight.tracking.theory_model.model import TheoryModel
from firstlight.tracking.theory_model.parameters import initial_weights
from firstlight.tracking.theory_model.settings import TheorySettings, settings_for
from firstlight.tracking.theory_model.stages import Stage, algorithm_1, algorithm_2, control
from firstlight.tracking.theory_model.trainee import TheoryTrainee


def train_theory(
    action: Action,
    out: str | Path,
    settings: TheorySettings | None = None,
    *,
    device: str = "cpu",
    threads: int | None = None,
    show: bool = False,
) -> Run:
    """Do Algorithm 1 into a run folder, and open it: W on one step, then Q on two.

    A training that was killed goes on when it is called again, and a finished one is only opened.

    Arguments:
        action: of the group.
        out: the folder.
        settings: those that work for the action when None.
        device: `cpu`, `cuda` or `cuda:N`.
        threads: of PyTorch; as it is set when None.
        show: whether to show progress on stderr.

    Raises:
        Diverged: if the loss stops being a number.
    """
    settings = settings or settings_for(action)
    what = {"algorithm": "1", **_described(action, settings)}
    return _train(action, Path(out), settings, algorithm_1(settings), what, device, threads, show)


def self_train_theory(
    action: Action,
    out: str | Path,
    settings: TheorySettings | None = None,
    *,
    doublings: int = 3,
    device: str = "cpu",
    threads: int | None = None,
    show: bool = False,
) -> Run:
    """Do Algorithm 2 into a run folder, and open it: W, Q at L = 2, then Q on its own answers at L = 4, 8, ... 2^K.

    Arguments:
        doublings: K.
    """
    settings = settings or settings_for(action)
    stages = algorithm_2(settings, doublings)
    what = {"algorithm": "2", "doublings": doublings, **_described(action, settings)}
    return _train(action, Path(out), settings, stages, what, device, threads, show)


def control_theory(
    of: Run,
    out: str | Path,
    *,
    device: str = "cpu",
    threads: int | None = None,
    show: bool = False,
) -> Run:
    """Train the control of a self-training into a run folder: from where it left L = 2, as many updates at L = 2.

    Its stages have the lengths in updates of those of the self-training. Plain descent has no state and the rate has
    warmed up before, so a control that restarts as often is the same run.

    Arguments:
        of: a finished run of `self_train_theory`.
        out: the folder.
    """
    if of.settings.get("algorithm") != "2" or not of.finished:
        raise FirstlightError(f"{of.path}: expected a finished run of self-training, to control it")
    stages = of.manifest["stages"]
    start = stages[2]["begins"]
    model = load_theory(of, start)
    settings = settings_of(of)
    updates = [stage["ends"] - stage["begins"] for stage in stages[2:]]
    what = {"algorithm": "2, control", "after": start, "updates": updates, **_described(model.action, settings)}
    return _train(
        model.action, Path(out), settings, control(updates), what, device, threads, show, start=(start, model)
    )


def _train(
    action: Action,
    out: Path,
    settings: TheorySettings,
    stages: list[Stage],
    what: Mapping[str, Any],
    device: str,
    threads: int | None,
    show: bool,
    start: tuple[int, TheoryModel] | None = None,
) -> Run:
    set_threads(threads)
    place = device_named(device)
    session = {"device": str(place), "threads": torch.get_num_threads()}
    provenance = {"action": {"name": action.name, "order": action.order, "degree": action.degree}}
    with recording(out, KIND, what, provenance=provenance, session=session) as recorder:
        status = recorder.manifest["status"]
        if status == "diverged":
            raise Diverged(f"{out}: {recorder.manifest['message']}")
        if status == "finished":
            if show:
                say(f"{out}: already trained, nothing to do")
            return open_run(out)
        first, model = start or (0, _initial(action, settings))

        def began(trainee: TheoryTrainee) -> None:
            _note(recorder, trainee, show)

        trainee = TheoryTrainee(model.to(place), settings, stages, first=first, began=began)
        recorder.update(stages=_stages(trainee))
        expected = sum(stage.limit for stage in stages)
        step = descend(recorder, trainee, kept=trainee.kept, expected=expected, show=show)
        recorder.finish("finished", step=step)
    return open_run(out)


def _initial(action: Action, settings: TheorySettings) -> TheoryModel:
    shape = settings.shape(action)
    weights = initial_weights(shape, settings.seed, getattr(torch, settings.dtype))
    return TheoryModel(action, shape, weights, settings.restricted)


def _described(action: Action, settings: TheorySettings) -> dict[str, Any]:
    """Return what the manifest says is trained: an action is its images, for a name may be that of a file."""
    digest = hashlib.sha256(action.images.tobytes()).hexdigest()
    return {"action": action.name, "images": digest, **asdict(settings)}


def _note(recorder: Recorder, trainee: TheoryTrainee, show: bool) -> None:
    """Write down where stages begin, and whether W has learnt what the stages after it need."""
    number = len(trainee.begins) - 1
    recorder.update(stages=_stages(trainee))
    ended = trainee.stages[number - 1]
    if ended.trains == "W":
        learnt = combinations(trainee.model)
        recorder.update(combinations=learnt.as_json())
        if not learnt.complete:
            say(f"warning: {recorder.path}: stage {ended.name} is over and {learnt.describe()}")
    if show:
        say(f"stage {ended.name} ended after {trainee.begins[-1] - trainee.begins[-2]:,} updates")


def _stages(trainee: TheoryTrainee) -> list[dict[str, Any]]:
    ends = [*trainee.begins[1:], None]
    return [
        {
            "name": stage.name,
            "trains": stage.trains,
            "length": stage.length,
            "begins": begin,
            "ends": end,
            "level": None if stage.level is None or trainee.solved is None else stage.level * trainee.solved,
            "labelled": stage.labelled,
        }
        for stage, begin, end in zip(trainee.stages, trainee.begins, ends, strict=False)
    ]
