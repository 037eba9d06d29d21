"""The TinyStories experiment of the paper: trained weights beside leading terms, at two rates, over seeds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from firstlight.report.plots import Axis, line_plot
from firstlight.report.progress import say
from firstlight.reproduce.associations.material import (
    Text,
    Training,
    corpus_for,
    first_batch,
    run_for,
    settings_of,
    statistics_for,
)
from firstlight.reproduce.outcome import Place, Scale
from firstlight.runs import Run
from firstlight.statistics import Statistics
from firstlight.theory.figures import verification_lines
from firstlight.theory.spread import SpreadRow, spread
from firstlight.theory.terms import KINDS, Kind, kind_of
from firstlight.theory.verification import Row, verify

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from firstlight.corpus import Corpus


@dataclass(frozen=True)
class Experiment:
    """The experiment at one scale.

    Attributes:
        text: the windows.
        small: training at the small rate, by batches.
        large: training at the large rate, by batches.
        seeds: of the order of windows.
        full_batch: whether both rates are trained on all windows at once too, which needs no seed.
    """

    text: Text
    small: Training
    large: Training
    seeds: tuple[int, ...]
    full_batch: bool


EXPERIMENTS: dict[Scale, Experiment] = {
    "smoke": Experiment(
        Text(vocabulary=100, oov="unk", window=24, windows=96, stories=400),
        Training(lr=0.04, steps=40, batch_size=24),
        Training(lr=0.4, steps=40, batch_size=24),
        seeds=(0, 1),
        full_batch=True,
    ),
    "laptop": Experiment(
        Text(vocabulary=500, oov="unk", window=64, windows=512, stories=2000),
        Training(lr=0.2, steps=80, batch_size=64),
        Training(lr=0.8, steps=200, batch_size=64),
        seeds=(0, 1, 2),
        full_batch=True,
    ),
    "paper": Experiment(
        Text(),
        Training(lr=0.005, steps=3200, batch_size=2048, checkpoint_every=32),
        Training(lr=0.05, steps=3200, batch_size=2048, checkpoint_every=32),
        seeds=(0, 1, 2),
        full_batch=False,
    ),
}


@dataclass(frozen=True)
class Trained:
    """Runs of one rate that differ in their seed alone, beside leading terms.

    Attributes:
        title: the rate and the batches, for people.
        runs: one for each seed.
        rows: of each run, beside leading terms of the whole corpus.
        first_rows: of each run, beside leading terms of its first batch, as in the paper; of a full batch nothing.
    """

    title: str
    runs: tuple[Run, ...]
    rows: tuple[tuple[Row, ...], ...]
    first_rows: tuple[tuple[Row, ...], ...]

    @property
    def together(self) -> list[SpreadRow]:
        """The rows of all seeds together."""
        return spread(self.rows)

    @property
    def epoch(self) -> int:
        """Steps of an epoch."""
        settings = self.runs[0].settings
        size = settings["windows"] if settings["batch_size"] == "full" else settings["batch_size"]
        return -(-int(settings["windows"]) // int(size))

    @property
    def s_eta(self) -> float:
        """How far the training goes."""
        return max(row.s_eta for row in self.rows[0])


@dataclass(frozen=True)
class Found:
    """The whole experiment.

    Attributes:
        experiment: what was done.
        corpus: on what.
        stats: of the corpus.
        small: at the small rate: by batches, then full batch if that was done.
        large: at the large rate, the same.
    """

    experiment: Experiment
    corpus: "Corpus"
    stats: Statistics
    small: tuple[Trained, ...]
    large: tuple[Trained, ...]

    def settings(self, place: Place) -> dict[str, Any]:
        """Return everything that decides the numbers."""
        settings = settings_of(place, self.corpus, self.experiment.text, self.experiment.small, self.experiment.large)
        return {**settings, "seeds": ", ".join(map(str, self.experiment.seeds))}


def run_experiment(place: Place, experiment: Experiment, rates: Sequence[str] = ("small", "large")) -> Found:
    """Train at the wanted rates and compare with leading terms; what is there already is not done again."""
    corpus = corpus_for(place, experiment.text)
    stats = statistics_for(place, corpus)
    found: dict[str, tuple[Trained, ...]] = {"small": (), "large": ()}
    for rate in rates:
        training = experiment.small if rate == "small" else experiment.large
        kinds = [(training, experiment.seeds)]
        if experiment.full_batch:
            kinds.append((replace(training, batch_size="full"), (0,)))
        found[rate] = tuple(_trained(place, corpus, stats, each, seeds) for each, seeds in kinds)
    return Found(experiment, corpus, stats, found["small"], found["large"])


def _trained(place: Place, corpus: "Corpus", stats: Statistics, training: Training, seeds: Sequence[int]) -> Trained:
    runs = tuple(run_for(place, corpus, replace(training, seed=seed)) for seed in seeds)
    rows, first_rows = [], []
    for run in runs:
        if place.show:
            say(f"{run.path.name}: beside leading terms")
        rows.append(verify(run, stats, show_progress=place.show).rows)
        if training.batch_size != "full":
            first = statistics_for(place, first_batch(place, corpus, run))
            first_rows.append(verify(run, first, same_corpus=False, show_progress=place.show).rows)
    batches = "full batch" if training.batch_size == "full" else f"batches of {training.batch_size:,}"
    return Trained(f"rate {training.lr:g}, {batches}", runs, tuple(rows), tuple(first_rows))


def least_cosines(rows: Sequence[Row], epoch: int) -> dict[Kind, float]:
    """Return the least cosine of each kind of weight over its layers and all checkpoints at the end of an epoch.

    Arguments:
        rows: of one run.
        epoch: steps of an epoch; before its end a run has not seen the whole corpus.
    """
    seen = [row for row in rows if row.step and row.step % epoch == 0 and row.cosine is not None]
    return {kind: min(row.cosine or 0.0 for row in seen if kind_of(row.weight) == kind) for kind in KINDS}


def cosine_figures(trained: Sequence[Trained]) -> dict[str, "Figure"]:
    """Return a plot of cosines against s·eta for each rate and kind of batch, with bands over seeds."""
    return {
        f"cosine-{number}": line_plot(
            f"Cosine with leading terms: {each.title}",
            Axis("s·η", log=True),
            Axis("cosine"),
            verification_lines(each.together, "cosine"),
        )
        for number, each in enumerate(trained, start=1)
    }


def numbers(trained: Sequence[Trained]) -> list[dict[str, Any]]:
    """Return every row of every run."""
    return [
        {"run": each.title, "seed": run.settings["seed"], "leading terms of": of, **asdict(row)}
        for each in trained
        for of, all_rows in (("corpus", each.rows), ("first batch", each.first_rows))
        for run, rows in zip(each.runs, all_rows, strict=bool(all_rows))
        for row in rows
    ]
