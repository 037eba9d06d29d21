"""Training the practical model. The functions to read first are `train_practical` and `continue_practical`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from firstlight.errors import Diverged, FirstlightError
from firstlight.files import fingerprint
from firstlight.report.progress import say
from firstlight.runs import Run, open_run, schedule
from firstlight.runs.descent import descend
from firstlight.runs.device import device_named, set_threads
from firstlight.runs.recorder import recording
from firstlight.runs.tensors import read_tensors, write_tensors
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.tokens import tokens_of
from firstlight.tracking.practical.adam import Adam
from firstlight.tracking.practical.block import Block
from firstlight.tracking.practical.model import KIND, load_practical
from firstlight.tracking.practical.parameters import Parameters, dtype_of, initial
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.trainee import PracticalTrainee

OPTIMIZER = "optimizer.safetensors"


@dataclass(frozen=True, eq=False)
class _Start:
    """Where a training begins.

    Attributes:
        weights: the initial ones, or those of another run.
        before: updates done in the runs it continues.
        adam: their state of Adam, or None for a new one.
        teacher: the model that labels, if the true answers do not.
        facts: what of this decides the trajectory, for the manifest.
        provenance: where it came from.
    """

    weights: Parameters
    before: int
    adam: Adam | None
    teacher: Block | None
    facts: dict[str, Any]
    provenance: dict[str, Any]


def train_practical(
    action: Action,
    out: str | Path,
    settings: Settings | None = None,
    *,
    device: str = "cpu",
    threads: int | None = None,
    show: bool = False,
) -> Run:
    """Train the practical model on an action into a run folder, and open it.

    A training that was killed goes on when it is called again, and a finished one is only opened.

    Arguments:
        action: of the group.
        out: the folder.
        settings: of model and training; the defaults when None.
        device: `cpu`, `cuda` or `cuda:N`.
        threads: of PyTorch; as it is set when None.
        show: whether to print the plan and progress on stderr.

    Raises:
        Diverged: if the loss stops being a number.
    """
    settings = settings or Settings()
    begin = _Start(initial(settings, tokens_of(action, settings.variables)), 0, None, None, {"start": None}, {})
    return _run(action, Path(out), settings, begin, device, threads, show)


def continue_practical(
    base: Run,
    out: str | Path,
    *,
    steps: int,
    length: int | None = None,
    adam: Literal["kept", "new"] = "kept",
    labels: Literal["true", "own"] = "true",
    changes: Mapping[str, Any] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    show: bool = False,
) -> Run:
    """Train on from the last weights of a run, into a run of its own, and open it.

    With the length of the base and the kept state of Adam it does what the base would have done in more steps, bit for
    bit. Its steps are counted from 0; its sentences are those of the steps after the base's.

    Arguments:
        base: a finished run.
        out: the folder.
        steps: updates beyond those of the base.
        length: L; as in the base when None.
        adam: whether its state goes on or begins anew.
        labels: `true` answers, or the base's `own`, which it writes greedily.
        changes: other settings than the base's by name; those of the model stay as they are.
        device: as in `train_practical`.
        threads: as in `train_practical`.
        show: as in `train_practical`.
    """
    for name, value, choices in (("--adam", adam, ("kept", "new")), ("--labels", labels, ("true", "own"))):
        if value not in choices:
            raise FirstlightError(f"{name} {value!r}: expected one of {', '.join(choices)}")
    if not base.finished:
        raise FirstlightError(f"{base.path}: status {base.manifest['status']}; expected a finished run to go on from")
    model = load_practical(base)
    length = model.settings.length if length is None else length
    settings = replace(model.settings, **{"steps": steps, "length": length, **(changes or {})})
    _check_same_model(model.settings, settings, base.path)
    step, before = max(base.checkpoints), steps_before(base) + max(base.checkpoints)
    weights = model.block.parameters
    where = device_named(device)
    teacher = None
    if labels == "own":
        teacher = replace(model.block, parameters={name: weight.to(where) for name, weight in weights.items()})
    facts = {"before": before, "weights": _sha256(base.checkpoints[step]), "adam": adam, "labels": labels}
    state = _optimizer(base, step, settings, where) if adam == "kept" else None
    provenance = {"start": {"path": str(base.path.resolve()), "step": step}}
    begin = _Start(weights, before, state, teacher, {"start": facts}, provenance)
    return _run(model.action, Path(out), settings, begin, device, threads, show)


def _run(
    action: Action, out: Path, settings: Settings, start: _Start, device: str, threads: int | None, show: bool
) -> Run:
    where = device_named(device)
    set_threads(threads)
    decides = {"action": _action_facts(action), **settings.as_json(), **start.facts}
    session = {"device": str(where), "dtype": settings.dtype, "threads": torch.get_num_threads()}
    with recording(out, KIND, decides, provenance=start.provenance, session=session) as recorder:
        status = recorder.manifest["status"]
        if status == "diverged":
            raise Diverged(f"{out}: {recorder.manifest['message']}")
        if status == "finished":
            if show:
                say(f"{out}: already trained, nothing to do")
            return open_run(out)
        trainee = PracticalTrainee(
            action, settings, start.weights, before=start.before, adam=start.adam, teacher=start.teacher, device=where
        )
        if show:
            _announce(action, settings, start)
        kept = schedule(settings.steps, settings.checkpoint_every)
        done = descend(recorder, trainee, kept=kept, expected=settings.steps, show=show)
        # What a run that continues this one needs to go on as if there had been no end.
        facts = {"step": str(done), "adam_count": str(trainee.adam.count)}
        write_tensors(out / OPTIMIZER, trainee.optimizer(), facts)
        recorder.finish("finished", step=done)
    return open_run(out)


def _action_facts(action: Action) -> dict[str, Any]:
    """Return what a manifest says of an action; its table is in every checkpoint."""
    table = fingerprint(action.images.tolist())
    return {"name": action.name, "order": action.order, "degree": action.degree, "fingerprint": table}


_OF_THE_TRAINING = frozenset(
    ("length", "steps", "batch_size", "lr", "betas", "adam_eps", "seed", "checkpoint_every", "accuracy_every")
) | frozenset(("embedding_std", "position_std", "slot_weights"))


def _check_same_model(before: Settings, after: Settings, where: Path) -> None:
    for name, value in asdict(after).items():
        if name not in _OF_THE_TRAINING and value != getattr(before, name):
            raise FirstlightError(
                f"{where}: {name} is {getattr(before, name)!r} there, got {value!r}; expected the same"
            )
    if after.read_out_slots != before.read_out_slots:
        raise FirstlightError(f"{where}: reads out slots {before.read_out_slots}, expected the same")


def steps_before(run: Run) -> int:
    """Return how many updates had been done when a run began, in the runs it continues."""
    start = run.settings["start"]
    return 0 if start is None else int(start["before"])


def _sha256(path: Path) -> str:
    _, header = read_tensors(path)
    return header["sha256"]


def _optimizer(base: Run, step: int, settings: Settings, device: torch.device) -> Adam:
    tensors, header = read_tensors(base.path / OPTIMIZER)
    if header.get("step") != str(step):
        raise FirstlightError(f"{base.path / OPTIMIZER}: damaged: of step {header.get('step')}, expected {step}")
    first, second = (tensors[name].to(device, dtype_of(settings)) for name in ("adam.first", "adam.second"))
    return Adam(first, second, int(header["adam_count"]))


def _announce(action: Action, settings: Settings, start: _Start) -> None:
    labelled = "labelled by the model it begins with" if start.teacher is not None else "with true answers"
    say(
        f"plan: {settings.steps:,} steps of {settings.batch_size:,} sentences over {action.name}, "
        f"L = {settings.length}, {labelled}, {sum(weight.numel() for weight in start.weights.values()):,} weights"
    )
