"""The third part: a small transformer learns to follow a cyclic group, and is asked for longer chains than it saw."""

from pathlib import Path

from firstlight.demo.part import Part, Size, Stages
from firstlight.report.page import Section, Table
from firstlight.report.plots import Axis, Line, line_plot
from firstlight.tracking.language.names import action_named
from firstlight.tracking.measures.accuracy import accuracy_rows
from firstlight.tracking.practical.model import load_practical
from firstlight.tracking.practical.settings import Settings
from firstlight.tracking.practical.training import train_practical

GROUP = "C6"


def tracking(out: Path, size: Size, seed: int) -> Part:
    """Train the practical model at one length and roll it out at others.

    Arguments:
        out: folder of the demonstration.
        size: how much.
        seed: of the model, its sentences, and those it is asked about.
    """
    stages, action = Stages(), action_named(GROUP)
    settings = Settings(variables=size.variables, steps=size.chain_steps, seed=seed)
    with stages.stage("training a model to track states"):
        run = train_practical(action, out / "lego", settings, show=True)
    with stages.stage("its roll-outs"):
        rows = accuracy_rows(load_practical(run), size.lengths, count=size.count, seed=seed)
    told = (
        f"{GROUP}: one layer without positions, trained for {size.chain_steps:,} steps on chains of "
        f"{settings.length} actions; {size.count} chains of each length, every step read back"
    )
    cells = [
        [row.length, f"{row.rollout:.3f}", f"{row.rollout_low:.3f} to {row.rollout_high:.3f}", f"{row.final:.3f}"]
        for row in rows
    ]
    table = Table(["length", "all values right", "95% interval", "last value right"], cells, "rrrr")
    low, high = [row.rollout_low for row in rows], [row.rollout_high for row in rows]
    line = Line("all values right", size.lengths, [row.rollout for row in rows], low, high)
    figure = line_plot(
        "Chains written out without a mistake", Axis("length", log=True), Axis("share", between=(0, 1.02)), [line]
    )
    return Part(
        sections=[Section("How far a learnt rule carries", [told], [figure], [table])],
        shown=[(told, table)],
        seconds=stages.seconds,
        places={"state tracking": str(run.path)},
    )
