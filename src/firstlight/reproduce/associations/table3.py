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
        numbers=[
            {"seed of the run": seed, **asdict(row)} for seed, each in zip(seeds, rows, strict=True) for row in each
        ],
    )


def _change(rows: list[list[AblationRow]], weight: str, removed: str) -> list[float]:
    return [row.loss_change for each in rows for row in each if row.weight == weight and row.removed == removed]


def _verdict(rows: list[list[AblationRow]]) -> str:
    weights = [weight for weight in PAPER if weight != "none" and any(row.weight == weight for row in rows[0])]
    changes = {weight: _change(rows, weight, "leading term") for weight in weights}
    controls = {weight: max(map(abs, _change(rows, weight, "random"))) for weight in weights}
    output, values, attention = (
        [change for weight in weights if weight.endswith(letter) for change in changes[weight]]
        for letter in ("W_O", ".V", ".W")
    )
    ordered = min(output) > max(values) and min(values) > max(attention)
    falls = [weight for weight in weights if min(changes[weight]) <= 0]
    small = [weight for weight in weights if median(map(abs, changes[weight])) <= 2 * controls[weight]]
    word = "Not reproduced" if not ordered else "Partly" if falls or small else "Reproduced"
    said = (
        f"{word}: the loss changes by {_from_to(output)} without the output's leading term, by {_from_to(values)} "
        f"without a value's and by {_from_to(attention)} without an attention's (least to largest over layers and "
        f"seeds), {'in' if ordered else 'not in'} the paper's order. "
    )
    if falls:
        said += f"In the paper it rises for every weight; here, for {', '.join(falls)}, not in every seed. "
    if small:
        return said + f"No more than twice the largest control, as much of a random direction: {', '.join(small)}."
    return (
        said + "The middle size of every change is more than twice the largest control, as much of a random direction."
    )


def _from_to(values: list[float]) -> str:
    return f"{min(values):+.3g} to {max(values):+.3g}"


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
            "" if weight == "none" else spread_text([row.share for row in kept], "{:.3f}".format),
        ])  # fmt: skip
    return Table(
        ["without the leading term of", "paper", "ours", "ours, random control", "share of the weight"], cells, "lrrrr"
    )
