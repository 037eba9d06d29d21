"""Figure 6: attention on predicates at lengths beyond training, by the place of the answer."""

from firstlight.reproduce.outcome import Outcome, Place
from firstlight.reproduce.tracking.decay import Claim, decay

CLAIM = Claim(
    name="tracking/figure6",
    title="Figure 6: attention on predicates beyond the training length",
    column="predicate",
    steep="symmetric",
    text="At L = 10 and 20 attention on the right predicate falls towards later answers for S5 and stays even for C6; "
    "for both it is lower at L = 20 than at 10.",
)


def reproduce(place: Place) -> Outcome:
    """Measure attention on the next predicate."""
    return decay(place, CLAIM)
