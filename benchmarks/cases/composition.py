"""The epsilon of a batch and of many rounds, beside dp-accounting."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.case import Case, Peer, Sides
from croupier.accounting.blanket import local_curve, lower_curve
from croupier.accounting.composition import composed_epsilon
from croupier.randomizers import randomizer

__all__ = ["CASES"]

DP_ACCOUNTING = Peer("dp-accounting", "pip install -c constraints.txt '.[composition]'")
DELTA = 1e-6
K, EPSILON_LOCAL = 10, 1.0
BINARY_EPSILON_LOCAL = 2.0
PEOPLE = 100_000
NEGLIGIBLE = 1e-30
LIBRARY = "dp_accounting.pld.privacy_loss_distribution"


def agreeing(ours: Callable[[], float], theirs: Callable[[], float]) -> Sides:
    """Compare two epsilons; the peer's is on a grid."""
    return Sides.calling(
        ours, theirs, difference=lambda: abs(ours() / theirs() - 1), tolerance=1e-3, unit="relative"
    )


@contextmanager
def local_rounds(rounds: int) -> Iterator[Sides]:
    """k-RR whose sender is known, many times."""
    library = import_module(LIBRARY)
    curve = local_curve(randomizer("k-rr", k=K, max_epsilon_local=EPSILON_LOCAL))
    noise = K / (math.exp(EPSILON_LOCAL) + K - 1)

    def theirs() -> float:
        loss = library.from_randomized_response(noise, K)
        return float(loss.self_compose(rounds).get_epsilon_for_delta(DELTA))

    yield agreeing(lambda: composed_epsilon(curve, rounds=rounds, delta=DELTA), theirs)


@contextmanager
def batch(people: int) -> Iterator[Sides]:
    """A yes or no, shuffled among people who all say no: the exact epsilon."""
    response = randomizer("k-rr", k=2, max_epsilon_local=BINARY_EPSILON_LOCAL)
    yield agreeing(
        lambda: lower_curve(response, n=people).epsilon(DELTA),
        lambda: float(batch_loss(people, grid=1e-6).get_epsilon_for_delta(DELTA)),
    )


@contextmanager
def batch_rounds(rounds: int) -> Iterator[Sides]:
    """The same among 100,000 people, many times."""
    response = randomizer("k-rr", k=2, max_epsilon_local=BINARY_EPSILON_LOCAL)

    def theirs() -> float:
        loss = batch_loss(PEOPLE, grid=1e-5).self_compose(rounds)
        return float(loss.get_epsilon_for_delta(DELTA))

    yield agreeing(
        lambda: composed_epsilon(lower_curve(response, n=PEOPLE), rounds=rounds, delta=DELTA),
        theirs,
    )


def batch_loss(people: int, *, grid: float) -> Any:
    """The privacy loss of the number of ones, as a user of dp-accounting builds it with scipy."""
    library = import_module(LIBRARY)
    honest = math.exp(BINARY_EPSILON_LOCAL) / (math.exp(BINARY_EPSILON_LOCAL) + 1)
    others = stats.binom.pmf(np.arange(people), people - 1, 1 - honest)
    fewer, more = np.append(others, 0), np.insert(others, 0, 0)
    laws = [fewer * one + more * (1 - one) for one in (1 - honest, honest)]
    counts = np.flatnonzero(np.minimum(*laws) > NEGLIGIBLE)
    logs = [dict(zip(counts.tolist(), np.log(law[counts]).tolist(), strict=True)) for law in laws]
    return library.from_two_probability_mass_functions(
        *logs, value_discretization_interval=grid, symmetric=False
    )


CASES = [
    Case(
        name="local-rounds",
        question="epsilon of k-RR (k 10, epsilon_local 1) after {size} rounds, delta 1e-6",
        peer=DP_ACCOUNTING,
        sides=local_rounds,
        size=30,
        small=4,
    ),
    Case(
        name="batch-epsilon",
        question="Exact epsilon of a yes or no among {size} equal others, epsilon_local 2",
        peer=DP_ACCOUNTING,
        sides=batch,
        size=1_000_000,
        small=1_000,
    ),
    Case(
        name="batch-rounds",
        question="epsilon of the same after {size} rounds of 100,000 people",
        peer=DP_ACCOUNTING,
        sides=batch_rounds,
        size=30,
        small=2,
        rounds=3,
    ),
]
