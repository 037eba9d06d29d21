"""What the theory asks about a run: how it was trained, whether statistics are those of its corpus, and its losses."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.errors import FirstlightError
from firstlight.theory.bounds import Setting

if TYPE_CHECKING:
    import torch

    from firstlight.corpus import Corpus
    from firstlight.runs import Run
    from firstlight.statistics import Statistics


def layers_of(run: "Run") -> int:
    """Return L."""
    return int(run.settings["layers"])


def lr_of(run: "Run") -> float:
    """Return the rate."""
    return float(run.settings["lr"])


def is_full_batch(run: "Run") -> bool:
    """Return whether every step saw the whole corpus: a batch of as many windows as there are does, in any order."""
    size = run.settings["batch_size"]
    return bool(size == "full" or size >= run.settings["windows"])


def check_belongs(run: "Run", stats: "Statistics", same_corpus: bool = True) -> None:
    """Raise an error unless the statistics are of exactly the corpus the run was trained on.

    Arguments:
        run: the training.
        stats: the statistics.
        same_corpus: False allows another corpus of as many tokens, such as the first batch alone.
    """
    if run.manifest["kind"] != "reference":
        raise FirstlightError(f"{run.path}: a run of kind {run.manifest['kind']!r}, expected one of `firstlight train`")
    settings, facts = run.settings, stats.facts
    for name, own, theirs in (
        ("tokens in the vocabulary", settings["vocabulary"], facts["vocabulary_size"]),
        ("positions in a window", settings["window"], facts["window"]),
    ):
        if own != theirs:
            raise FirstlightError(f"{stats.path}: {theirs:,} {name}, but {own:,} in {run.path}")
    if not same_corpus:
        return
    members = ", ".join(member["path"] for member in facts["corpora"])
    if [member["fingerprint"] for member in facts["corpora"]] != [settings["corpus"]]:
        corpus = run.manifest["provenance"]["corpus"]["path"]
        raise FirstlightError(
            f"{stats.path}: statistics of {members}, but {run.path} was trained on {corpus}, whose content is another; "
            "expected statistics of that corpus alone"
        )
    if settings["windows"] != facts["windows"]:
        raise FirstlightError(
            f"{stats.path}: statistics of {facts['windows']:,} windows of {members}, but {run.path} was trained on the "
            f"first {settings['windows']:,}; expected statistics of those alone "
            "(`firstlight corpus build tokens:FILE.npy --limit N` makes a corpus of them)"
        )


def corpus_of(run: "Run", path: Path | None = None) -> "Corpus":
    """Open the corpus a run was trained on, or raise an error if it is gone or has changed.

    Arguments:
        run: the training.
        path: where the corpus is now, if not where it was.
    """
    from firstlight.corpus import open_corpus

    corpus = open_corpus(path or run.manifest["provenance"]["corpus"]["path"])
    if corpus.fingerprint != run.settings["corpus"]:
        raise FirstlightError(f"{corpus.path}: not the corpus {run.path} was trained on: its content is another")
    return corpus


def caveats(run: "Run", stats: "Statistics") -> list[str]:
    """Return what stands between this run and what the theory speaks about, in words."""
    settings, found = run.settings, []
    if not is_full_batch(run):
        found.append(
            f"trained on batches of {settings['batch_size']:,} windows, not on the whole corpus each step; "
            "losses are those of single batches"
        )
    if settings["init"] != "zero":
        found.append(f"started from Gaussian weights (v = {settings['init_scale']:g}), not from zero")
    if [member["fingerprint"] for member in stats.facts["corpora"]] != [settings["corpus"]]:
        found.append("the statistics are not of the corpus the run was trained on")
    elif settings["windows"] != stats.facts["windows"]:
        found.append(
            f"trained on the first {settings['windows']:,} of the {stats.facts['windows']:,} windows "
            "that the statistics are of"
        )
    if not has_full_windows(stats):
        found.append("some windows are short, which the theorems leave out; the formulas hold with NT positions")
    if run.manifest["status"] == "diverged":
        found.append(f"the training diverged: {run.manifest['message']}")
    elif not run.finished:
        found.append("the training is not finished; the same `firstlight train` goes on with it")
    return found


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
