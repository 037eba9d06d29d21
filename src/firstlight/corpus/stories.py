"""Stories told by the embedded grammar: a corpus of any size whose statistics are known (`story_truth`).

Story i depends on the seed and on i alone, so stories can be told from any index, in any order, by any worker.
"""

from collections.abc import Iterator
from random import Random

from firstlight.corpus.story_grammar import draw_story, embedded
from firstlight.errors import FirstlightError


def story(index: int, seed: int = 0) -> str:
    """Tell one story."""
    random = _random(index, seed)
    return "".join([space + word for space, word in draw_story(embedded(), random)])[1:]


def stories(count: int, seed: int = 0, start: int = 0) -> Iterator[str]:
    """Tell `count` stories, from story `start` on."""
    for index in range(start, start + count):
        yield story(index, seed)


def _random(index: int, seed: int) -> Random:
    """Return the random numbers of one story; only `random()` is used, whose values no Python version may change."""
    if not (0 <= index < 2**64 and seed >= 0):
        raise FirstlightError(f"story {index} of seed {seed}: expected an index in 0..2^64-1 and a seed of at least 0")
    return Random((seed << 64) | index)
