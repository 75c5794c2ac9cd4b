"""Confidence intervals beside scipy."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.case import Case, Peer, Sides
from croupier.numerics.intervals import clopper_pearson

__all__ = ["CASES"]


@contextmanager
def binomial(trials: int) -> Iterator[Sides]:
    """The exact interval of a probability, for fifty numbers of successes."""
    successes = [trials * place // 50 for place in range(51)]

    def ours() -> NDArray[np.float64]:
        found = [clopper_pearson(hits, trials) for hits in successes]
        return np.array([(interval.lower, interval.upper) for interval in found])

    def theirs() -> NDArray[np.float64]:
        return np.array([stats.binomtest(hits, trials).proportion_ci() for hits in successes])

    yield Sides.calling(
        ours,
        theirs,
        difference=lambda: float(np.abs(ours() - theirs()).max()),
        tolerance=1e-9,
        unit="absolute",
    )


CASES = [
    Case(
        name="binomial-interval",
        question="51 Clopper-Pearson intervals of {size} trials",
        peer=Peer("scipy"),
        sides=binomial,
        size=1_000,
        small=100,
    )
]
