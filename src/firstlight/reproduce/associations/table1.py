"""Table 1: the least cosine of trained weights and leading terms at the small rate."""

from firstlight.reproduce.associations.experiment import EXPERIMENTS, cosine_figures, numbers, run_experiment
from firstlight.reproduce.associations.minima import minima_table, verdict
from firstlight.reproduce.outcome import Outcome, Place
from firstlight.theory.terms import Kind

ORDERS = "The orders of batches are ours, one for each seed; the paper has one."
PAPER: dict[Kind, float] = {"attention": 0.999496, "value": 0.999169, "output": 0.998486}


def reproduce(place: Place) -> Outcome:
    """Train at the small rate and take the least cosine over all checkpoints."""
    found = run_experiment(place, EXPERIMENTS[place.scale], ["small"])
    return Outcome(
        name="associations/table1",
        title="Table 1: least cosines at the small rate",
        claim="3 layers on TinyStories (3,000 words, T = 200, 65,536 windows, batches of 2,048, rate 0.005, "
        "100 epochs, so s·η = 16), leading terms of the first batch: attention 0.999496, value 0.999169, "
        "output 0.998486.",
        verdict=verdict(PAPER, found.small),
        differences=differences(place),
        settings=found.settings(place),
        tables={
            "Least cosine over layers and ends of epochs, in brackets the range over seeds": minima_table(
                PAPER, found.small
            )
        },
        figures=cosine_figures(found.small),
        numbers=numbers(found.small),
    )


def differences(place: Place) -> list[str]:
    """Return in what the scale differs from the paper's setting."""
    if place.scale == "paper":
        return ["The paper's setting.", ORDERS]
    text = EXPERIMENTS[place.scale].text
    return [
        f"Smaller than the paper: {text.vocabulary:,} words and `<unk>` on {place.corpus_name}, T = {text.window}, "
        f"{text.windows:,} windows; steps and rates are chosen so that s·η is what the settings below say.",
        "The paper takes leading terms from the first batch; the theorem is about those of the whole corpus.",
        "The paper does not look at the position weights.",
    ]
