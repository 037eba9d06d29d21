"""Figure 4: cosine of trained weights and leading terms, and the loss, at a small and a large rate."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from firstlight.report.page import Table
from firstlight.report.plots import Axis, Line, line_plot
from firstlight.reproduce.associations.experiment import (
    EXPERIMENTS,
    Found,
    Trained,
    cosine_figures,
    numbers,
    run_experiment,
)
from firstlight.reproduce.associations.table1 import PAPER as TABLE1
from firstlight.reproduce.associations.table1 import differences
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.theory.tables import cosine_text, spread_text
from firstlight.theory.terms import KINDS, kind_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# The paper: 30 of 100 epochs at the large rate, s·eta = 48 of 160.
EARLY, EARLY_AT_LEAST, LATE_AT_LEAST = 0.3, 0.9, 0.7
# At the start and the end of the large rate.
PAPER_LOSSES = (8.00, 5.35)
# What it has of output, value and attention after a share of its epochs, at the small and at the large rate.
PAPER_COSINES = (
    {1.0: f"{min(TABLE1.values()):.6f} or more"},
    {EARLY: f"{EARLY_AT_LEAST:g} or more", 1.0: f"above {LATE_AT_LEAST:g}"},
)


def reproduce(place: Place) -> Outcome:
    """Train at both rates and draw cosines and losses against s·eta."""
    found = run_experiment(place, EXPERIMENTS[place.scale])
    trained = [*found.small, *found.large]
    return Outcome(
        name="associations/figure4",
        title="Figure 4: cosines and loss over training",
        claim="At rate 0.05 every weight keeps a cosine of at least 0.9 for 30 epochs (s·η = 48) and above 0.7 for 100 "
        "(s·η = 160), while the loss falls from 8.00 to 5.35; at rate 0.005 see Table 1.",
        verdict=_verdict(found),
        differences=[
            *differences(place),
            _pace(found.large[-1]),
            "The loss of a training by batches is that of the single batch the next update sees.",
        ],
        settings=found.settings(place),
        tables={
            "Least cosine over layers, in brackets the range over seeds, by how far the training has gone": _table(
                found
            ),
            "Loss in nats, in brackets the range over seeds": _losses(trained),
        },
        figures=_figures(trained),
        numbers=numbers(trained),
    )


def _cosines_at(trained: Trained, share: float) -> Mapping[str, Sequence[float]]:
    """Return the least cosine of each kind over layers at the last checkpoint of a share of the training, by seeds."""
    limit = share * trained.s_eta * (1 + 1e-9)
    last = max(row.step for row in trained.rows[0] if row.s_eta <= limit)
    return {
        kind: [
            min(row.cosine or 0.0 for row in rows if row.step == last and kind_of(row.weight) == kind)
            for rows in trained.rows
        ]
        for kind in KINDS
    }


def _pace(trained: Trained) -> str:
    """Return how far the loss has fallen, in a sentence: the same s·η is not as much training at another size."""
    losses = {row.s_eta: row.loss.middle for row in trained.together if row.weight == "W_O"}
    known = {s_eta: loss for s_eta, loss in losses.items() if loss is not None}
    start = known[min(known)]
    told = ", ".join(
        f"{start - known[s_eta]:.2f} by s·η = {s_eta:g}"
        for s_eta in (_nearest(known, 0.1 * trained.s_eta), _nearest(known, EARLY * trained.s_eta), max(known))
    )
    return (
        f"s·η is not the same stretch of training at another size: from {start:.2f} nats the loss falls here by {told} "
        f"({trained.title}); the paper's falls from {PAPER_LOSSES[0]:.2f} by "
        f"{PAPER_LOSSES[0] - PAPER_LOSSES[1]:.2f} by s·η = 160.{_rise(known)}"
    )


def _rise(losses: Mapping[float, float]) -> str:
    """Return where the loss rises most between two checkpoints, in a sentence, or nothing where it never does."""
    rises = {after: (before, losses[after] - losses[before]) for before, after in pairwise(losses)}
    worst = max(rises, key=lambda s_eta: rises[s_eta][1])
    before, rise = rises[worst]
    if rise <= 0:
        return ""
    return (
        f" It does not fall all the way: from s·η = {before:g} to {worst:g} it rises from {losses[before]:.2f} to "
        f"{losses[worst]:.2f}, so the rate is near what descent still bears, and what the cosines show there is not "
        "the flow alone."
    )


def _nearest(places: Mapping[float, float], wanted: float) -> float:
    return min(places, key=lambda place: abs(place - wanted))


def _verdict(found: Found) -> str:
    trained = found.large[-1]
    early, late = (
        {kind: min(cosines) for kind, cosines in _cosines_at(trained, share).items()} for share in (EARLY, 1.0)
    )
    kinds = ("output", "value", "attention")
    holds = min(early[k] for k in kinds) >= EARLY_AT_LEAST, min(late[k] for k in kinds) > LATE_AT_LEAST
    word = "Reproduced" if all(holds) else "Partly" if any(holds) else "Not reproduced"

    def told(cosines: Mapping[str, float]) -> str:
        return ", ".join(f"{kind} {cosine_text(cosines[kind])}" for kind in KINDS)

    return (
        f"{word} ({trained.title}): the least cosines are {told(early)} at s·η = {EARLY * trained.s_eta:g} and "
        f"{told(late)} at s·η = {trained.s_eta:g}. The paper's claim is about output, value and attention; "
        "the position weights, which its scripts never compare, are told here too."
    )


def _table(found: Found) -> Table:
    cells = []
    for all_trained, paper in zip((found.small, found.large), PAPER_COSINES, strict=True):
        for trained in all_trained:
            for share in (0.1, EARLY, 1.0):
                cosines = _cosines_at(trained, share)
                told = (spread_text(cosines[kind]) for kind in KINDS)
                cells.append([trained.title, f"{share * trained.s_eta:g}", paper.get(share, "not given"), *told])
    return Table(["training", "s·η", "paper (output, value, attention), its 100 epochs", *KINDS], cells, "lrlrrrr")


def _losses(trained: list[Trained]) -> Table:
    cells = [["the paper, rate 0.05", *(f"{loss:.2f}" for loss in PAPER_LOSSES)]]
    for each in trained:
        rows = [[row for row in seed if row.weight == "W_O"] for seed in each.rows]
        told = (spread_text([seed[place].loss for seed in rows], "{:.3f}".format) for place in (0, -1))
        cells.append([each.title, *told])
    return Table(["training", "at the start", "at the end"], cells, "lrr")


def _figures(trained: list[Trained]) -> dict[str, "Figure"]:
    figures = cosine_figures(trained)
    losses = []
    for number, each in enumerate(trained):
        rows = [row for row in each.together if row.weight == "W_O" and row.step]
        losses.append(Line(
            each.title, [row.s_eta for row in rows], [row.loss.middle for row in rows],
            [row.loss.low for row in rows], [row.loss.high for row in rows],
            # Dotted over solid: the two ways of a rate are nearly one line.
            colour=number, dash=2 * (not each.first_rows),
        ))  # fmt: skip
    figures["loss"] = line_plot("Loss", Axis("s·η", log=True), Axis("loss (nats)"), losses)
    return figures
