"""All ways to distribute people over categories."""

import math

import numpy as np
from numpy.typing import NDArray

from croupier.errors import TooLargeError

__all__ = ["composition_count", "compositions"]

_MOST_FACTORS = 64


def composition_count(people: int, categories: int) -> int:
    """The number of histograms of `people` over `categories`.

    With more than 64 people and categories, a lower bound above 1e37: the number itself may have
    millions of digits.

    >>> composition_count(4, 3)
    15
    """
    total = people + categories - 1
    return math.comb(total, min(people, categories - 1, _MOST_FACTORS))


def compositions(people: int, categories: int, *, most: int) -> NDArray[np.int64]:
    """All histograms, one per row, in descending lexicographic order.

    Raises:
        TooLargeError: There are more than `most`.

    >>> compositions(2, 2, most=10).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    count = composition_count(people, categories)
    if count > most:
        raise TooLargeError(
            f"the list of histograms of {people:,} people over {categories:,} categories",
            entries=count,
            limit=most,
            hint="Ask about fewer people or merge categories.",
        )
    # endings[j][p]: the number of ways in which p people fill all categories after the j-th.
    endings = [np.ones(people + 1, dtype=np.int64)]
    for _ in range(categories - 2):
        endings.append(np.cumsum(endings[-1]))
    rows = np.empty((count, categories), dtype=np.int64)
    left = np.array([people])
    for column, ways in enumerate(reversed(endings[: categories - 1])):
        choices = left + 1
        parent = np.repeat(np.arange(len(left)), choices)
        taken = np.repeat(np.cumsum(choices), choices) - 1 - np.arange(len(parent))
        left = left[parent] - taken
        rows[:, column] = np.repeat(taken, ways[left])
    rows[:, -1] = left
    return rows
