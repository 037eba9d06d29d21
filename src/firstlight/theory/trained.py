"""What the theory asks about a run: how it was trained, whether statistics are those of its corpus, and its losses."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from firstlight.errors import FirstlightError
from firstlight.theory.bounds import Setting

if TYPE_CHECKING:
    import torch

    from firstlight.runs import Run
    from firstlight.statistics import Statistics


def layers_of(run: "Run") -> int:
    """Return L."""
    return int(run.settings["layers"])


def lr_of(run: "Run") -> float:
    """Return the rate."""
    return float(run.settings["lr"])


def is_full_batch(run: "Run") -> bool:
    """Return whether every step saw the whole corpus."""
    return bool(run.settings["batch_size"] == "full")


def check_belongs(run: "Run", stats: "Statistics") -> None:
    """Raise an error unless the statistics are of exactly the corpus the run was trained on."""
    if run.manifest["kind"] != "reference":
        raise FirstlightError(f"{run.path}: a run of kind {run.manifest['kind']!r}, expected one of `firstlight train`")
    corpus = run.manifest["provenance"]["corpus"]
    counted = [member["fingerprint"] for member in stats.facts["corpora"]]
    if counted != [corpus["fingerprint"]]:
        members = ", ".join(member["path"] for member in stats.facts["corpora"])
        raise FirstlightError(
            f"{stats.path}: statistics of {members}, but {run.path} was trained on {corpus['path']}, whose content is "
            "another; expected statistics of that corpus and no other"
        )


def setting_of(run: "Run", stats: "Statistics") -> Setting:
    """Return what the theorems ask about a run."""
    settings = run.settings
    gaussian = settings["init"] == "gaussian"
    return Setting(
        vocabulary=len(stats.vocabulary),
        window=stats.window,
        layers=layers_of(run),
        lr=lr_of(run),
        init="gaussian" if gaussian else "zero",
        full_batch=is_full_batch(run),
        full_windows=has_full_windows(stats),
        init_scale=float(settings["init_scale"]) if gaussian else 0.0,
        init_exponent=float(settings["init_exponent"]) if gaussian else 0.0,
    )


def has_full_windows(stats: "Statistics") -> bool:
    """Return whether every window counted has T positions."""
    return stats.positions == int(stats.facts["windows"]) * stats.window


def chosen_checkpoints(run: "Run", wanted: Sequence[int] | None) -> list[int]:
    """Return the steps of the wanted checkpoints in order, all when None."""
    if not run.checkpoints:
        raise FirstlightError(f"{run.path}: no checkpoint has been written yet")
    steps = sorted(run.checkpoints) if wanted is None else sorted(set(wanted))
    missing = [step for step in steps if step not in run.checkpoints]
    if missing:
        kept = sorted(run.checkpoints)
        listed = ", ".join(map(str, kept if len(kept) <= 12 else [*kept[:8], "...", kept[-1]]))
        raise FirstlightError(f"{run.path}: no checkpoint of step {missing[0]}; expected some of {listed}")
    return steps


def weights_at(run: "Run", step: int) -> "dict[str, torch.Tensor]":
    """Return the weights of a checkpoint; those of a training that diverged are an error."""
    weights = run.load(step)
    for name, tensor in weights.items():
        if not bool(tensor.isfinite().all()):
            raise FirstlightError(
                f"{run.checkpoints[step]}: {name} has entries that are not finite: the training diverged; "
                "leave that checkpoint out with --checkpoints"
            )
    return weights


def recorded_losses(run: "Run") -> dict[int, float]:
    """Return the recorded loss of each step."""
    metrics = run.metrics()
    pairs = zip(metrics["step"].tolist(), metrics["loss"].tolist(), strict=True)
    return {int(step): float(loss) for step, loss in pairs if math.isfinite(loss)}
