"""The model of a run, whichever kind of model was trained there."""

from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.runs import Run, open_run
from firstlight.runs.device import device_named
from firstlight.runs.run import MANIFEST
from firstlight.tracking.measures.measured import SentenceModel

PRACTICAL, THEORY = "lego practical", "lego theory"


def load_model(run: Run | str | Path, step: int | None = None, device: str = "cpu") -> SentenceModel:
    """Load what a run trained, after so many updates; after the last that has a checkpoint when None."""
    opened = open_lego_run(run)
    if opened.manifest["kind"] == PRACTICAL:
        from firstlight.tracking.practical.model import load_practical

        return load_practical(opened, step, device)
    from firstlight.tracking.theory_model.loading import load_theory

    return load_theory(opened, step).to(device_named(device))


def open_lego_run(run: Run | str | Path) -> Run:
    """Open a run of `firstlight lego train`; one of any other kind is an error."""
    opened = run if isinstance(run, Run) else _opened(Path(run))
    kind = opened.manifest["kind"]
    if kind not in (PRACTICAL, THEORY):
        raise FirstlightError(
            f"{opened.path}: a run of kind {kind!r}, expected {THEORY!r} or {PRACTICAL!r}, as `firstlight lego train` "
            "writes them"
        )
    return opened


def _opened(path: Path) -> Run:
    if not path.exists():
        raise FirstlightError(f"{path}: no run here; `firstlight lego train NAME --out {path}` makes one")
    inside = sorted(each.parent for each in path.glob(f"*/{MANIFEST}"))
    if inside and not (path / MANIFEST).exists():
        raise FirstlightError(f"{path}: several runs; expected one or more of {', '.join(map(str, inside))}")
    return open_run(path)
