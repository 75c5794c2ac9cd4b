"""An attacker who reads the batch, knows everybody's answer, and points at everybody's report."""

from collections.abc import Mapping, Sequence
from secrets import SystemRandom

import numpy as np
from numpy.typing import NDArray

from croupier.assessment.ladder.text import percent
from croupier.numerics.rounding import ceiling_digits

__all__ = ["found", "what_a_count_means"]


def found(reports: NDArray[np.int64], values: Sequence[int], places: Mapping[int, int]) -> int:
    """Count the people found by pointing, for each, at a report of the likeliest kind.

    Of all reports, one that repeats a person's own answer is likeliest to be that person's; which
    of them, only luck can tell.

    Args:
        reports: The opened reports of the batch, in its order.
        values: The people's values.
        places: The place of each person's report: known to the referee alone.
    """
    chance = SystemRandom()
    rows = {int(value): np.flatnonzero(reports == value).tolist() for value in set(values)}
    everywhere = range(len(reports))
    return sum(
        chance.choice(rows[int(value)] or everywhere) == places[person]
        for person, value in enumerate(values)
    )


def what_a_count_means(right: int, bound: float, *, luck: float = 1.0) -> str:
    """Say what is proved about the number of finds, and how likely so many are in one run.

    If the average is at most `bound`, a count of r or more has a chance of at most bound/r
    (Markov), however the finds of one run are correlated.

    Args:
        right: The number of finds.
        bound: The proved limit of their average.
        luck: The average of somebody who points anywhere: one, and less if there are dummies.

    >>> what_a_count_means(10, 7.389)
    'proved on average over many runs at most 7.39; by luck alone 1.00; 10 or more in one run: chance at most 73.9 %'
    >>> what_a_count_means(3, 7.389)
    'proved on average over many runs at most 7.39; by luck alone 1.00'
    """  # noqa: E501 - sentences as they are printed
    limit = ceiling_digits(bound)
    words = f"proved on average over many runs at most {limit}; by luck alone {luck:.2f}"
    if right <= bound:
        return words
    return f"{words}; {right:,} or more in one run: chance at most {percent(bound / right)} %"
