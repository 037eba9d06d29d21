"""Runs that are measured together: which differ in their seed alone, and what tells the others apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstlight.errors import FirstlightError
from firstlight.runs import Run
from firstlight.tracking.measures.loading import THEORY, open_lego_run

_OF_THE_SEED = ("seed", "start.weights")  # settings that differ between runs of different seeds


@dataclass(frozen=True)
class Subject:
    """A run after so many updates.

    Attributes:
        run: the training.
        step: updates done.
        group: what it is called together with those that differ from it in their seed alone.
    """

    run: Run
    step: int
    group: str


def subjects_of(paths: Sequence[str | Path], step: int | None = None) -> list[Subject]:
    """Open runs and name their groups.

    Arguments:
        paths: folders of runs, none twice.
        step: of a checkpoint that all of them have; the last of each when None.
    """
    runs = [open_lego_run(path) for path in paths]
    where = [run.path.resolve() for run in runs]
    for place, run in enumerate(runs):
        if where[place] in where[:place]:
            raise FirstlightError(f"{run.path}: named twice; expected each run once")
    names = _names(runs)
    return [Subject(run, _step(run, step), name) for run, name in zip(runs, names, strict=True)]


def status_notes(subjects: Sequence[Subject]) -> list[str]:
    """Return what is to be said of runs that did not finish, and of those that are not looked at as they ended."""
    notes = []
    for subject in subjects:
        status = subject.run.manifest["status"]
        if status != "finished":
            notes.append(f"{subject.run.path}: status {status}; this is its model after {subject.step:,} updates")
    return notes


def action_name(run: Run) -> str:
    """Return the name of the action a run was taught."""
    action = run.settings["action"]
    return str(action["name"] if isinstance(action, dict) else action)


def _step(run: Run, step: int | None) -> int:
    if not run.checkpoints:
        raise FirstlightError(f"{run.path}: no checkpoint has been written yet")
    if step is None:
        return max(run.checkpoints)
    if step not in run.checkpoints:
        near = sorted(run.checkpoints, key=lambda each: abs(each - step))[:6]
        known = ", ".join(map(str, sorted(near)))
        raise FirstlightError(f"{run.path}: no checkpoint of step {step}; the nearest are {known}")
    return step


def _names(runs: Sequence[Run]) -> list[str]:
    """Return a name for each run: action and model, and the settings in which those of the same name differ."""
    settings = [_flat(run.settings) for run in runs]
    first = [f"{action_name(run)} {'theory' if run.manifest['kind'] == THEORY else 'practical'}" for run in runs]
    names = []
    for name, own in zip(first, settings, strict=True):
        alike = [other for other, title in zip(settings, first, strict=True) if title == name]
        differing = [key for key in own if any(other.get(key) != own[key] for other in alike)]
        told = [f"{key.removeprefix('start.').replace('_', ' ')} {own[key]}" for key in differing]
        names.append(", ".join([name, *told]))
    return names


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that tell groups apart; a setting inside another has both names."""
    flat: dict[str, Any] = {"start.before": 0, "start.labels": "true", "start.adam": "new"}
    for name, value in settings.items():
        if isinstance(value, dict) and name != "action":
            flat.update({f"{name}.{inner}": each for inner, each in value.items()})
        elif value is not None and name not in ("action", "images"):
            flat[name] = value
    return {name: value for name, value in flat.items() if name not in _OF_THE_SEED}
