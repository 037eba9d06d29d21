"""What a part of the demonstration shows."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from firstlight.report.page import Section, Table


@dataclass(frozen=True)
class Size:
    """How large the demonstration is: minutes on two cores as it stands.

    Attributes:
        stories: of the embedded grammar, counted.
        trained_stories: those the reference model is trained on.
        words: its vocabulary, beside `<unk>`.
        window: its T.
        layers: as many as the theorem allows at this T.
        lr: the rate.
        steps: of full-batch descent.
        variables: of the chains.
        chain_steps: updates of the model that follows chains.
        lengths: of the chains it is asked for.
        count: chains of each length.
    """

    stories: int = 20_000
    trained_stories: int = 256
    words: int = 500
    window: int = 64
    layers: int = 2
    lr: float = 0.4
    steps: int = 40
    variables: int = 84
    chain_steps: int = 800
    lengths: tuple[int, ...] = (5, 10, 20, 40, 80)
    count: int = 200


@dataclass(frozen=True)
class Part:
    """One part of the demonstration.

    Attributes:
        sections: of the page.
        shown: tables for the terminal, each under a line.
        seconds: wall time of each stage.
        places: folders that were made, by what they hold.
    """

    sections: Sequence[Section]
    shown: Sequence[tuple[str, Table]]
    seconds: dict[str, float]
    places: dict[str, str]


@dataclass
class Stages:
    """Wall seconds of stages, in order."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block under a name."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
