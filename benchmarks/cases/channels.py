"""Leakage of a channel, beside scipy and qif."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np
from scipy.spatial.distance import pdist

from benchmarks.case import Case, Peer, Sides
from croupier.leakage.bayes_security import bayes_security
from croupier.leakage.gain import gain as expected_gain
from croupier.model import Channel

__all__ = ["CASES"]

QIF = Peer("qif", "pip install -c constraints.txt --group benchmarks")
GUESSES = 50


def agreeing(ours: Callable[[], float], theirs: Callable[[], float]) -> Sides:
    """Compare two numbers that agree up to rounding."""
    return Sides.calling(
        ours, theirs, difference=lambda: abs(ours() / theirs() - 1), tolerance=1e-9, unit="relative"
    )


@contextmanager
def easiest_pair_scipy(secrets: int) -> Iterator[Sides]:
    """The least overlap of two rows: all distances by scipy."""
    rows = np.random.default_rng(0).dirichlet(np.ones(secrets // 2), size=secrets)
    channel = Channel.from_probabilities(rows)
    yield agreeing(
        lambda: bayes_security(channel).value,
        lambda: 1 - float(pdist(rows, "cityblock").max()) / 2,
    )


@contextmanager
def easiest_pair_qif(secrets: int) -> Iterator[Sides]:
    """The same as the capacity of the risk, of which it is the inverse."""
    risk = import_module("qif").measure.bayes_risk
    rows = np.random.default_rng(0).dirichlet(np.ones(secrets // 2), size=secrets)
    channel = Channel.from_probabilities(rows)
    yield agreeing(
        lambda: bayes_security(channel).value,
        lambda: 1 / float(risk.mult_capacity(rows, "direct")[0]),
    )


@contextmanager
def best_guess(secrets: int) -> Iterator[Sides]:
    """The chance that the best guess of the secret is right."""
    measure = import_module("qif").measure.bayes_vuln
    rng = np.random.default_rng(0)
    rows, prior = rng.dirichlet(np.ones(2 * secrets), size=secrets), rng.dirichlet(np.ones(secrets))
    channel, known = Channel.from_probabilities(rows), prior.tolist()
    yield agreeing(
        lambda: expected_gain(channel, known),
        lambda: float(measure.posterior(prior, rows)),
    )


@contextmanager
def best_gain(secrets: int) -> Iterator[Sides]:
    """The gain of the best of fifty guesses."""
    measure = import_module("qif").measure.g_vuln
    rng = np.random.default_rng(0)
    rows, prior = rng.dirichlet(np.ones(2 * secrets), size=secrets), rng.dirichlet(np.ones(secrets))
    gain = rng.random((GUESSES, secrets))
    channel, known = Channel.from_probabilities(rows), prior.tolist()
    yield agreeing(
        lambda: expected_gain(channel, known, gain),
        lambda: float(measure.posterior(gain, prior, rows)),
    )


CASES = [
    Case(
        name="easiest-pair-scipy",
        question="Least overlap of any two of {size} rows, half as many outputs",
        peer=Peer("scipy"),
        sides=easiest_pair_scipy,
        size=1_000,
        small=20,
    ),
    Case(
        name="easiest-pair-qif",
        question="Least overlap of any two of {size} rows, half as many outputs",
        peer=QIF,
        sides=easiest_pair_qif,
        size=1_000,
        small=20,
    ),
    Case(
        name="best-guess",
        question="Posterior vulnerability of {size} secrets, twice as many outputs",
        peer=QIF,
        sides=best_guess,
        size=1_000,
        small=20,
    ),
    Case(
        name="best-gain",
        question="The same with a gain function of 50 guesses, {size} secrets",
        peer=QIF,
        sides=best_gain,
        size=1_000,
        small=20,
        rounds=3,
    ),
]
