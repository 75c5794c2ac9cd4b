"""Randomising and estimating, beside multi-freq-ldpy and plain numpy."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Case, Peer, Sides
from croupier.randomizers import randomizer

__all__ = ["CASES"]

LDPY = Peer("multi-freq-ldpy", "pip install -c constraints.txt --group benchmarks")
ORACLES = "multi_freq_ldpy.pure_frequency_oracles"
K, EPSILON_LOCAL = 10, 1.0
SHARES = np.arange(1, K + 1) / (K * (K + 1) / 2)


@contextmanager
def k_rr(people: int) -> Iterator[Sides]:
    """k-RR of everybody, then the shares."""
    oracle = import_module(f"{ORACLES}.GRR")
    response = randomizer("k-rr", k=K, max_epsilon_local=EPSILON_LOCAL)
    values = drawn(people)

    def theirs() -> NDArray[np.float64]:
        reports = [oracle.GRR_Client(value, K, EPSILON_LOCAL) for value in values]
        return np.asarray(oracle.GRR_Aggregator_MI(reports, K, EPSILON_LOCAL))

    yield estimating(response, values, theirs)


@contextmanager
def unary(people: int) -> Iterator[Sides]:
    """Optimised unary encoding of everybody, then the shares."""
    oracle = import_module(f"{ORACLES}.UE")
    response = randomizer("optimized-unary", k=K, max_epsilon_local=EPSILON_LOCAL)
    values = drawn(people)

    def theirs() -> NDArray[np.float64]:
        reports = [oracle.UE_Client(value, K, EPSILON_LOCAL) for value in values]
        return np.asarray(oracle.UE_Aggregator_MI(reports, EPSILON_LOCAL))

    yield estimating(response, values, theirs)


def drawn(people: int) -> NDArray[np.int64]:
    """Draw people's values."""
    return np.random.default_rng(0).choice(K, people, p=SHARES)


def estimating(
    response: Any, values: NDArray[np.int64], theirs: Callable[[], NDArray[np.float64]]
) -> Sides:
    """Check that both estimates are no further from the truth than their noise explains.

    The peer's are also cut at zero and divided by their sum; ours are left unbiased.
    """
    truth = np.bincount(values, minlength=K) / len(values)

    def difference() -> float:
        estimate = response.estimate(response.randomize(values))
        found = np.array([estimate.points, theirs()])
        return float((np.abs(found - truth) / estimate.standard_errors).max())

    return Sides.calling(
        lambda: response.estimate(response.randomize(values)),
        theirs,
        difference=difference,
        tolerance=7.0,
        unit="standard errors from the truth",
    )


@contextmanager
def plain(people: int) -> Iterator[Sides]:
    """k-RR beside careful numpy code, which is predictable and not exact."""
    response = randomizer("k-rr", k=K, max_epsilon_local=EPSILON_LOCAL)
    values = drawn(people)
    honest = math.exp(EPSILON_LOCAL) / (math.exp(EPSILON_LOCAL) + K - 1)

    def theirs() -> NDArray[np.int64]:
        rng = np.random.default_rng()
        other = rng.integers(0, K - 1, people)
        other += other >= values
        return np.where(rng.random(people) < honest, values, other)

    def difference() -> float:
        """The distance of the shares of true reports from the law's, in standard errors."""
        error = math.sqrt(honest * (1 - honest) / people)
        kept = [float((draw == values).mean()) for draw in (response.randomize(values), theirs())]
        return max(abs(share - honest) for share in kept) / error

    yield Sides.calling(
        lambda: response.randomize(values),
        theirs,
        difference=difference,
        tolerance=6.5,
        unit="standard errors from the law",
    )


CASES = [
    Case(
        name="k-rr",
        question="Randomise and estimate {size} people, k-RR, k 10",
        peer=LDPY,
        sides=k_rr,
        size=1_000_000,
        small=2_000,
        rounds=3,
    ),
    Case(
        name="unary",
        question="Randomise and estimate {size} people, optimised unary encoding, k 10",
        peer=LDPY,
        sides=unary,
        size=1_000_000,
        small=2_000,
        rounds=3,
    ),
    Case(
        name="k-rr-plain",
        question="Randomise {size} people, k-RR, k 10; numpy with its insecure generator",
        peer=Peer("numpy"),
        sides=plain,
        size=10_000_000,
        small=2_000,
    ),
]
