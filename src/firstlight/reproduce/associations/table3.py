"""Table 3: the loss after the projection of one weight on its leading term is removed."""

from dataclasses import asdict, replace
from statistics import median

from firstlight.report.page import Table
from firstlight.reproduce.associations.experiment import EXPERIMENTS
from firstlight.reproduce.associations.material import corpus_for, run_for, settings_of, statistics_for
from firstlight.reproduce.associations.table1 import differences
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.theory.ablation import AblationRow, ablate
from firstlight.theory.figures import ablation_figures
from firstlight.theory.tables import spread_text

PAPER = {
    "none": 5.349,
    **{f"layers.{layer}.W": loss for layer, loss in enumerate((5.350, 5.352, 5.361))},
    **{f"layers.{layer}.V": loss for layer, loss in enumerate((6.192, 6.526, 6.520))},
    "W_O": 8.287,
}
WINDOWS = {"smoke": None, "laptop": 128, "paper": 1024}
RANDOM = 3


def reproduce(place: Place) -> Outcome:
    """Train at the large rate, then take leading terms away, and random directions of the same norm as a control."""
    experiment = EXPERIMENTS[place.scale]
    corpus = corpus_for(place, experiment.text)
    stats, seeds = statistics_for(place, corpus), experiment.seeds
    rows = [
        ablate(
            run_for(place, corpus, replace(experiment.large, seed=seed)), stats, corpus,
            seeds=RANDOM, windows=WINDOWS[place.scale], show_progress=place.show,
        )
        for seed in seeds
    ]  # fmt: skip
    settings = settings_of(place, corpus, experiment.text, experiment.large)
    settings |= {"seeds": ", ".join(map(str, seeds)), "random directions a weight": RANDOM,
                 "windows measured": WINDOWS[place.scale] or len(corpus.windows)}  # fmt: skip
    return Outcome(
        name="associations/table3",
        title="Table 3: the loss without a leading term",
        claim="At rate 0.05 after 100 epochs, removing a weight's projection on its leading term takes the loss "
        "from 5.349 to 8.287 for the output, 6.192 to 6.526 for values and 5.350 to 5.361 for attention.",
        verdict=_verdict(rows),
        differences=[
            *differences(place)[:1],
            "The paper has no control. Here each weight also loses as much of a random direction.",
            "The loss is measured in float64, on the windows the settings name.",
        ],
        settings=settings,
        tables={"Loss in nats, the middle over seeds, in brackets their range": _table(rows)},
        figures=ablation_figures([row for each in rows for row in each]),
        numbers=[{"seed": seed, **asdict(row)} for seed, each in zip(seeds, rows, strict=True) for row in each],
    )


def _change(rows: list[list[AblationRow]], weight: str, removed: str) -> list[float]:
    return [row.loss_change for each in rows for row in each if row.weight == weight and row.removed == removed]


def _verdict(rows: list[list[AblationRow]]) -> str:
    weights = [weight for weight in PAPER if weight != "none" and any(row.weight == weight for row in rows[0])]
    changes = {weight: median(_change(rows, weight, "leading term")) for weight in weights}
    controls = {weight: median(_change(rows, weight, "random")) for weight in weights}
    attention = max(changes[weight] for weight in weights if weight.endswith(".W"))
    values = [changes[weight] for weight in weights if weight.endswith(".V")]
    ordered = changes["W_O"] > max(values) and min(values) > attention
    above = [weight for weight in weights if changes[weight] > 2 * abs(controls[weight])]
    word = "Reproduced" if ordered and len(above) == len(weights) else "Partly" if ordered else "Not reproduced"
    return (
        f"{word}: the loss rises by {changes['W_O']:.3g} without the output's leading term, by {min(values):.3g} to "
        f"{max(values):.3g} without a value's and by at most {attention:.3g} without an attention's, "
        f"{'in' if ordered else 'not in'} the paper's order. More than twice the control, "
        f"as much of a random direction: {', '.join(above) or 'none'}."
    )


def _table(rows: list[list[AblationRow]]) -> Table:
    cells = []
    for weight in dict.fromkeys(row.weight for row in rows[0]):
        kept = [row for each in rows for row in each if row.weight == weight and row.removed != "random"]
        random = [row.loss for each in rows for row in each if row.weight == weight and row.removed == "random"]
        paper = PAPER.get(weight)
        cells.append([
            "nothing removed" if weight == "none" else weight,
            "not given" if paper is None else f"{paper:.3f}",
            spread_text([row.loss for row in kept], "{:.4f}".format),
            spread_text(random, "{:.4f}".format) if random else "",
            f"{median(row.share for row in kept):.3f}",
        ])  # fmt: skip
    return Table(
        ["without the leading term of", "paper", "ours", "ours, random control", "share of the weight"], cells, "lrrrr"
    )
