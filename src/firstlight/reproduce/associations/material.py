"""What the reproductions share: corpora, statistics and runs, each made once for a setting."""

import json
from dataclasses import asdict, dataclass, replace

import numpy as np

from firstlight.corpus import Corpus, build_corpus, open_corpus
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint
from firstlight.reference.training import train
from firstlight.reproduce.outcome import Place
from firstlight.runs import Run
from firstlight.statistics import Statistics, count


@dataclass(frozen=True)
class Text:
    """How stories become windows.

    Attributes:
        tokenizer: words or bpe.
        vocabulary: how many words, or entries of the BPE vocabulary.
        oov: exclude documents with another word, or unk.
        window: T.
        windows: how many of the first windows are used; all when None.
        stories: how many stories of the embedded grammar, where there is no file.
    """

    tokenizer: str = "words"
    vocabulary: int = 3000
    oov: str = "exclude"
    window: int = 200
    windows: int | None = 65_536
    stories: int = 70_000


@dataclass(frozen=True)
class Training:
    """How the reference model is trained.

    Attributes:
        lr: the rate.
        steps: updates.
        batch_size: windows an update, or full.
        layers: L.
        seed: of the order of windows.
        checkpoint_every: distance of the later checkpoints.
    """

    lr: float
    steps: int
    batch_size: int | str = "full"
    layers: int = 3
    seed: int = 0
    checkpoint_every: int = 20


def corpus_for(place: Place, text: Text) -> Corpus:
    """Build a corpus, or open the one that was built before.

    The vocabulary is learnt from the whole source; the windows are its first ones.
    """
    source = f"stories:{text.stories}" if place.text is None else place.text
    key = fingerprint([source, asdict(replace(text, windows=None))])[:12]
    whole = build_corpus(
        [source],
        place.folder / "work" / f"corpus-{key}",
        tokenizer=text.tokenizer,
        vocab_size=text.vocabulary,
        window=text.window,
        oov=text.oov,
        progress=place.show,
    )
    have = len(whole.windows)
    if text.windows is None or have == text.windows:
        return whole
    if have < text.windows:
        raise FirstlightError(
            f"{place.corpus_name}: {have:,} windows of {text.window + 1} tokens, expected {text.windows:,}; "
            "a larger --text has more"
        )
    return _subset(place, whole, np.arange(text.windows))


def first_batch(place: Place, corpus: Corpus, run: Run) -> Corpus:
    """Return the windows of the first update of a run as a corpus of their own."""
    from firstlight.reference.batches import Order

    settings = run.settings
    batch = Order(settings["windows"], settings["batch_size"], settings["seed"]).batch(0)
    return _subset(place, corpus, np.sort(batch))


def _subset(place: Place, corpus: Corpus, windows: np.ndarray) -> Corpus:
    """Make a corpus of some windows of another; all are full."""
    key = fingerprint([corpus.fingerprint, windows.tolist()])[:12]
    out = place.folder / "work" / f"windows-{key}"
    if out.exists():
        return open_corpus(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    tokens, vocabulary = out.with_name(f"{out.name}.npy"), out.with_name(f"{out.name}.json")
    np.save(tokens, corpus.windows[windows])
    vocabulary.write_text(json.dumps(corpus.vocabulary), encoding="utf-8")
    return build_corpus([f"tokens:{tokens}"], out, vocab=vocabulary)


def statistics_for(place: Place, corpus: Corpus) -> Statistics:
    """Count a corpus, or open what was counted before."""
    out = place.folder / "work" / f"statistics-{corpus.fingerprint[:12]}"
    return count(corpus, out, memory=place.memory, progress=place.show)


def run_for(place: Place, corpus: Corpus, training: Training) -> Run:
    """Train the reference model, or open the run that was trained before."""
    key = fingerprint([corpus.fingerprint, asdict(training)])[:12]
    return train(
        corpus,
        place.folder / "work" / f"run-{key}",
        layers=training.layers,
        lr=training.lr,
        steps=training.steps,
        batch_size=training.batch_size,
        seed=training.seed,
        checkpoint_every=training.checkpoint_every,
        device=place.device,
        memory=place.memory,
        show=place.show,
    )


def settings_of(place: Place, corpus: Corpus, text: Text, *trainings: Training) -> dict[str, object]:
    """Return everything that decides the numbers of a reproduction."""
    settings: dict[str, object] = {"scale": place.scale, "corpus": place.corpus_name, **asdict(text)}
    settings |= {"windows": len(corpus.windows), "entries of the vocabulary": len(corpus.vocabulary)}
    for number, training in enumerate(trainings, start=1):
        numbered = f" of run {number}" if len(trainings) > 1 else ""
        settings |= {f"{name}{numbered}": value for name, value in asdict(training).items()}
    return {**settings, "precision of training": "float32", "start": "zero", "bos": "none"}
