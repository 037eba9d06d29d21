"""The second part: weights predicted from statistics, and the same weights trained."""

from pathlib import Path

from firstlight.corpus import build_corpus
from firstlight.demo.part import Part, Size, Stages
from firstlight.reference.training import train
from firstlight.statistics import count
from firstlight.theory import verify
from firstlight.theory.figures import verification_figures
from firstlight.theory.report import Findings, verification_sections
from firstlight.theory.spread import spread
from firstlight.theory.tables import checkpoint_table
from firstlight.theory.trained import caveats


def predicting(out: Path, size: Size, seed: int) -> Part:
    """Count a small corpus, train the reference model on it, and compare every weight with its prediction.

    Arguments:
        out: folder of the demonstration.
        size: how much.
        seed: of the stories; training from zero on all windows at once has no use for one.
    """
    stages = Stages()
    with stages.stage("small corpus and statistics"):
        corpus = build_corpus(
            [f"stories:{size.trained_stories}"],
            out / "small-corpus",
            vocab_size=size.words,
            window=size.window,
            oov="unk",
            seed=seed,
        )
        stats = count(corpus, out / "small-statistics")
    with stages.stage("training the reference model"):
        run = train(corpus, out / "run", layers=size.layers, lr=size.lr, steps=size.steps, batch_size="full", show=True)
    with stages.stage("comparison with the prediction"):
        found = verify(run, stats)
    rows = spread([found.rows])
    told = (
        f"{size.layers} layers trained on {len(corpus.windows):,} windows of {size.window} positions, {size.steps} "
        f"full-batch steps of {size.lr:g} from zero; cosine of each weight with its prediction from statistics alone"
    )
    findings = Findings(
        runs=[str(run.path)],
        settings={"statistics": stats.path, "order": found.order, **run.settings},
        verifications=[found],
        truncation=[],
        closed_form=[],
        notes=caveats(run, stats),
    )
    figures = verification_figures(rows, found.theorem)
    return Part(
        sections=verification_sections(findings, figures),
        shown=[(told, checkpoint_table(rows))],
        seconds=stages.seconds,
        places={"run": str(run.path)},
    )
