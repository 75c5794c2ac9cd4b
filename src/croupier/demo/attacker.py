"""An attacker who reads the batch, knows everybody's answer, and points at everybody's report."""

from collections.abc import Mapping, Sequence
from secrets import SystemRandom

import numpy as np
from numpy.typing import NDArray

__all__ = ["found"]


def found(reports: NDArray[np.int64], values: Sequence[int], places: Mapping[int, int]) -> int:
    """How many people are found by pointing, for each, at a report of the likeliest kind.

    Of all reports, one that repeats a person's own answer is likeliest to be that person's; which
    of them, only luck can tell.

    Args:
        reports: The opened reports of the batch, in its order.
        values: What people hold.
        places: Where the report of each person is: known to the referee alone.
    """
    chance = SystemRandom()
    rows = {int(value): np.flatnonzero(reports == value).tolist() for value in set(values)}
    everywhere = range(len(reports))
    return sum(
        chance.choice(rows[int(value)] or everywhere) == places[person]
        for person, value in enumerate(values)
    )
