"""Recursive self-training: longer and longer sentences, each stage labelled by the model of the stage before.

More training alone also lengthens what a model follows, and so does a new state of Adam. Two controls of as many
updates at the short length tell how much of a gain is the labels': one goes on without interruption, the other begins
with a new state of Adam as often as the stages do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from firstlight.errors import FirstlightError
from firstlight.files import read_json, write_json
from firstlight.runs import Run, open_run
from firstlight.runs.recorder import first_difference
from firstlight.tracking.language.action import Action
from firstlight.tracking.practical.model import load_practical
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.training import continue_practical, train_practical

MANIFEST = "self-training.json"
FORMAT = "firstlight self-training"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class SelfTraining:
    """A base, what grew out of it by its own labels, and what as many updates at the short length made of it.

    Attributes:
        path: the folder.
        manifest: what its self-training.json says.
        base: trained with true answers at the short length.
        stages: by the length of their sentences, each labelled by the run before it.
        control: as many updates as all stages together at the short length, the state of Adam kept throughout.
        restarts: the same updates, with a new state of Adam where a stage has one; each continues the one before it.
            None there are if the stages keep the state: then `control` is this too.
    """

    path: Path
    manifest: dict[str, Any]
    base: Run
    stages: dict[int, Run]
    control: Run
    restarts: list[Run]


def self_train_practical(
    source: Action | Run,
    out: str | Path,
    *,
    stages: Sequence[int] = (10, 20, 40),
    steps: int = 500,
    adam: Literal["kept", "new"] = "new",
    settings: Settings | None = None,
    device: str = "cpu",
    threads: int | None = None,
    show: bool = False,
) -> SelfTraining:
    """Train the base, the stages and the controls into runs of a folder, and open them.

    What was killed goes on when it is called again; what is finished is only opened.

    Arguments:
        source: an action, whose base is trained first, or a finished run to begin with.
        out: the folder.
        stages: lengths, in their order.
        steps: updates of each.
        adam: whether stages keep its state or begin with a new one.
        settings: of the base, if it is to be trained; the defaults when None.
        device: as in `train_practical`.
        threads: as in `train_practical`.
        show: as in `train_practical`.
    """
    out = Path(out)
    if isinstance(source, Run) and settings is not None:
        raise FirstlightError(f"{source.path}: a run has its settings; expected none beside it")
    asked = settings or Settings()
    known = load_practical(source).settings if isinstance(source, Run) else asked
    _check(stages, steps, known)
    name = source.name if isinstance(source, Action) else str(source.settings["action"]["name"])
    decides = {
        "action": name,
        "base": str(source.path.resolve()) if isinstance(source, Run) else "base",
        "stages": list(stages),
        "steps": steps,
        "adam": adam,
        "seed": known.seed,
    }
    manifest = _open_or_start(out, decides)
    session: dict[str, Any] = {"device": device, "threads": threads, "show": show}
    base = source if isinstance(source, Run) else train_practical(source, out / "base", asked, **session)
    latest = base
    for length in stages:
        folder = out / f"stage-{length}"
        latest = continue_practical(latest, folder, steps=steps, length=length, adam=adam, labels="own", **session)
    # Its checkpoints are those of the ends of stages.
    often = {"checkpoint_every": steps}
    continue_practical(base, out / "control", steps=steps * len(stages), changes=often, **session)
    latest = base
    for number in range(1, 1 + (len(stages) if adam == "new" else 0)):
        latest = continue_practical(latest, out / f"restart-{number}", steps=steps, adam="new", **session)
    write_json(out / MANIFEST, {**manifest, "status": "finished"})
    return open_self_training(out)


def open_self_training(path: str | Path) -> SelfTraining:
    """Open the folder of a finished self-training."""
    path = Path(path)
    manifest = _read(path)
    if manifest["status"] != "finished":
        raise FirstlightError(f"{path}: status {manifest['status']}; the same command as before finishes it")
    settings = manifest["settings"]
    stages = {length: open_run(path / f"stage-{length}") for length in settings["stages"]}
    restarts = len(stages) if settings["adam"] == "new" else 0
    return SelfTraining(
        path,
        manifest,
        open_run(path / settings["base"]),
        stages,
        open_run(path / "control"),
        [open_run(path / f"restart-{number}") for number in range(1, 1 + restarts)],
    )


def _check(stages: Sequence[int], steps: int, settings: Settings) -> None:
    if not stages or len(set(stages)) < len(stages):
        raise FirstlightError(f"--stages {','.join(map(str, stages))}: expected lengths, none of them twice")
    if steps < 1:
        raise FirstlightError(f"--steps {steps}: expected at least 1 for each stage")
    for length in stages:
        replace(settings, length=length)  # refuses lengths for which there are no sentences


def _open_or_start(out: Path, decides: dict[str, Any]) -> dict[str, Any]:
    if (out / MANIFEST).exists():
        manifest = _read(out)
        difference = first_difference(manifest["settings"], decides)
        if difference:
            raise FirstlightError(f"{out}: a self-training with other settings: {difference}; give another --out")
        return manifest
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FirstlightError(f"{out}: not a self-training, and not empty; expected a new folder")
    out.mkdir(parents=True, exist_ok=True)
    manifest = {"format": FORMAT, "format_version": FORMAT_VERSION, "status": "running", "settings": decides}
    write_json(out / MANIFEST, manifest)
    return manifest


def _read(path: Path) -> dict[str, Any]:
    if not (path / MANIFEST).is_file():
        raise FirstlightError(f"{path}: not a self-training: it has no {MANIFEST}")
    manifest = read_json(path / MANIFEST, "the manifest of the self-training")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FirstlightError(f"{path}: not a self-training: its {MANIFEST} is of something else")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise FirstlightError(
            f"{path}: format version {manifest.get('format_version')}, this firstlight reads {FORMAT_VERSION}"
        )
    return manifest
