"""At which steps a training keeps its weights."""

from firstlight.errors import FirstlightError

DENSE_UNTIL = 512  # as Pythia's revisions: powers of two up to here


def schedule(total: int, every: int) -> tuple[int, ...]:
    """Return the steps of the checkpoints: 0, 1, 2, 4, ..., 512, then every so many, and the last.

    Arguments:
        total: the last step.
        every: the distance of checkpoints after 512; before it, multiples are kept as well.
    """
    if every < 1:
        raise FirstlightError(f"--checkpoint-every {every}: expected at least 1")
    powers = [1 << k for k in range(DENSE_UNTIL.bit_length())]
    return tuple(sorted({0, total, *(p for p in powers if p <= total), *range(every, total + 1, every)}))
