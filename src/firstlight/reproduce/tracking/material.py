"""What the reproductions share: trainings, each done once for its settings, and measurements of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from firstlight.files import fingerprint, read_json, write_json
from firstlight.report.progress import say
from firstlight.reproduce.outcome import Place
from firstlight.reproduce.tracking.pool import cores, work_off
from firstlight.runs.run import MANIFEST, Run, open_run
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.names import action_named
from firstlight.tracking.measures.loading import load_model
from firstlight.tracking.measures.measured import SentenceModel
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.training import continue_practical, train_practical
from firstlight.tracking.theory_model.loading import stage_begin
from firstlight.tracking.theory_model.settings import TheorySettings
from firstlight.tracking.theory_model.training import control_theory, self_train_theory, train_theory
from firstlight.version import __version__


@dataclass(frozen=True)
class Practical:
    """A training of the practical model, or its continuation.

    Attributes:
        group: the name of the action.
        settings: of model and training; its steps are those beyond `after`.
        after: the training it goes on from.
        adam: whether the state of Adam goes on as well.
        labels: of a continuation: the true answers, or those of the model it begins with.
    """

    group: str
    settings: Settings
    after: "Practical | None" = None
    adam: Literal["kept", "new"] = "kept"
    labels: Literal["true", "own"] = "true"

    @property
    def seed(self) -> int:
        """What tells trainings of one kind apart."""
        return self.settings.seed

    def __str__(self) -> str:
        kind = "" if self.after is None else f" of {self.labels} answers, continued"
        return f"{self.group}, seed {self.seed}: {self.settings.steps:,} steps at L = {self.settings.length}{kind}"


@dataclass(frozen=True)
class Theory:
    """A training of the theory model.

    Attributes:
        group: the name of the action.
        settings: of model and training.
        algorithm: 1, 2, or the control of 2: as many updates at L = 2.
        doublings: K of Algorithm 2.
        after: of a control, the training it controls.
    """

    group: str
    settings: TheorySettings
    algorithm: Literal["1", "2", "control"] = "1"
    doublings: int = 0
    after: "Theory | None" = None

    @property
    def seed(self) -> int:
        """What tells trainings of one kind apart."""
        return self.settings.seed

    def __str__(self) -> str:
        kind = "control of Algorithm 2" if self.algorithm == "control" else f"Algorithm {self.algorithm}"
        return f"{self.group}, seed {self.seed}: {kind}"


Training = Practical | Theory


@dataclass(frozen=True)
class At:
    """A trained model.

    Attributes:
        training: where it comes from.
        step: updates of that training; those before it are not counted. None for the last.
        stage: instead of a step, how many of the stages of an algorithm have been done.
    """

    training: Training
    step: int | None = None
    stage: int | None = None

    def __str__(self) -> str:
        if self.stage is not None:
            return f"{self.training}, after {self.stage} stages"
        return str(self.training) if self.step is None else f"{self.training}, after {self.step:,}"


Measured = TypeVar("Measured", bound=At)


def workers(place: Place) -> int:
    """Return how many processes work at a time: on processors, one a core."""
    if place.scale == "smoke" or place.device != "cpu":
        return 1
    return cores()


def folder_of(place: Place, training: Training) -> Path:
    """Return the folder of the run of a training."""
    name = type(training).__name__.lower()
    return place.folder / "work" / f"tracking-{name}-{fingerprint(asdict(training))[:16]}"


def runs_for(place: Place, trainings: Iterable[Training]) -> None:
    """Do what is not done yet of trainings, and of those they go on from."""
    wanted: dict[Training, None] = {}
    for training in trainings:
        line: list[Training] = []
        each: Training | None = training
        while each is not None:
            line.append(each)
            each = each.after
        wanted |= dict.fromkeys(reversed(line))
    left = [each for each in wanted if not _finished(folder_of(place, each))]
    if left and place.show:
        say(f"  {len(left)} trainings of {len(wanted)} are to be done, {min(workers(place), len(left))} at a time")
    work_off(partial(_train, place), left, after=lambda each: each.after, workers=workers(place), show=place.show)


def model_at(place: Place, at: At) -> SentenceModel:
    """Load a model of a training that has been done."""
    run = run_of(place, at.training)
    step = at.step if at.stage is None else stage_begin(run, at.stage)
    return load_model(run, step, place.device)


def run_of(place: Place, training: Training) -> Run:
    """Open the run of a training that has been done."""
    return open_run(folder_of(place, training))


def _finished(path: Path) -> bool:
    return (path / MANIFEST).exists() and open_run(path).finished


def _train(place: Place, training: Training) -> None:
    out, action = folder_of(place, training), action_named(training.group)
    out.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(training, Theory):
        _train_theory(place, training, action, out)
    elif training.after is None:
        train_practical(action, out, training.settings, device=place.device)
    else:
        settings = training.settings
        continue_practical(
            run_of(place, training.after), out, steps=settings.steps, length=settings.length, adam=training.adam,
            labels=training.labels, device=place.device,
        )  # fmt: skip


def _train_theory(place: Place, training: Theory, action: Action, out: Path) -> None:
    if training.after is not None:
        control_theory(run_of(place, training.after), out, device=place.device)
    elif training.algorithm == "2":
        self_train_theory(action, out, training.settings, doublings=training.doublings, device=place.device)
    else:
        train_theory(action, out, training.settings, device=place.device)


def measured(
    place: Place, what: str, measure: Callable[[Place, Measured], Any], items: Sequence[Measured]
) -> Mapping[Measured, Any]:
    """Train what is to be measured, measure it, and return what was found; what was measured before is read.

    Arguments:
        place: of the reproduction.
        what: names the measurement; another measurement must have another name.
        measure: a function of a module; it returns what JSON can hold.
        items: models, and what decides the measurement beside them.
    """
    files = {item: _measurement(place, what, item) for item in items}
    left = [item for item, file in files.items() if not file.exists()]
    runs_for(place, [item.training for item in left])
    if left and place.show:
        say(f"  {what}: {len(left)} models are to be measured")
    show = place.show and place.scale != "smoke"
    work_off(partial(_measure, place, what, measure), left, workers=workers(place), show=show)
    return {item: read_json(file, "a measurement") for item, file in files.items()}


def _measure(place: Place, what: str, measure: Callable[[Place, Measured], Any], item: Measured) -> None:
    found = measure(place, item)
    file = _measurement(place, what, item)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, found)


def _measurement(place: Place, what: str, item: At) -> Path:
    key = fingerprint([__version__, what, type(item.training).__name__, asdict(item)])[:16]
    return place.folder / "work" / "tracking-measured" / f"{what}-{key}.json"
