"""Mallows orders beside prefsampling."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.case import Case, Peer, Sides
from croupier.shufflers.mallows import MallowsShuffler

__all__ = ["CASES"]

THETA = 0.01
DRAWS = 8


@contextmanager
def mallows(n: int) -> Iterator[Sides]:
    """One order of n people around the identity."""
    sampling = import_module("prefsampling.ordinal")
    shuffler = MallowsShuffler(theta=THETA)

    def ours() -> NDArray[np.int64]:
        return shuffler.order(n)

    def theirs() -> ArrayLike:
        (order,) = sampling.mallows(1, n, math.exp(-THETA))
        return np.asarray(order)

    mean, deviation = moved_pairs(n)

    def difference() -> float:
        """The distance of the means of the moved pairs from the law's, in standard errors."""
        error = deviation / math.sqrt(DRAWS)
        means = [np.mean([inversions(draw()) for _ in range(DRAWS)]) for draw in (ours, theirs)]
        return max(abs(float(found) - mean) / error for found in means)

    yield Sides.calling(
        ours, theirs, difference=difference, tolerance=6.5, unit="standard errors from the law"
    )


def moved_pairs(n: int) -> tuple[float, float]:
    """Mean and standard deviation of the number of inverted pairs of a Mallows order."""
    mean = variance = 0.0
    for places in range(1, n + 1):
        weights = np.exp(-THETA * np.arange(places))
        weights /= weights.sum()
        moved = float(weights @ np.arange(places))
        mean += moved
        variance += float(weights @ (np.arange(places) - moved) ** 2)
    return mean, math.sqrt(variance)


def inversions(order: ArrayLike) -> int:
    """The number of inverted pairs."""
    places = np.asarray(order)
    return sum(int((places[:start] > place).sum()) for start, place in enumerate(places))


CASES = [
    Case(
        name="mallows-order",
        question="Draw a Mallows order of {size} people, theta 0.01",
        peer=Peer("prefsampling", "pip install -c constraints.txt --group benchmarks"),
        sides=mallows,
        size=1_000,
        small=50,
    )
]
