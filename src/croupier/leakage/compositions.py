"""All ways to distribute people over categories."""

import math

import numpy as np
from numpy.typing import NDArray

from croupier.errors import TooLargeError

__all__ = ["composition_count", "compositions"]


def composition_count(people: int, categories: int) -> int:
    """How many histograms of `people` over `categories` there are."""
    return math.comb(people + categories - 1, categories - 1)


def compositions(people: int, categories: int, *, most: int) -> NDArray[np.int64]:
    """Every histogram, one a row, in descending lexicographic order.

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
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([people])
    for _ in range(categories - 1):
        choices = left + 1
        parent = np.repeat(np.arange(len(left)), choices)
        taken = np.repeat(np.cumsum(choices), choices) - 1 - np.arange(len(parent))
        rows = np.hstack([rows[parent], taken[:, None]])
        left = left[parent] - taken
    return np.hstack([rows, left[:, None]])
