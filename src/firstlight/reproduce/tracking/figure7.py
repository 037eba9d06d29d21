"""Figure 7: attention on answers at lengths beyond training, by the place of the answer."""

from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.decay import Claim, decay

CLAIM = Claim(
    name="tracking/figure7",
    title="Figure 7: attention on answers beyond the training length",
    column="answer",
    steep="simple",
    text="At L = 10 and 20 attention of an answer on itself falls sharply with place and length for C6 and is stable "
    "for S5: the reverse of figure 6.",
)


def reproduce(place: Place) -> Outcome:
    """Measure attention of answers on themselves."""
    return decay(place, CLAIM)
