"""Privacy curves of any channel, against all datasets of few people."""

import math
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from benchmarks.refute.draws import channel
from benchmarks.refute.found import Found
from benchmarks.refute.oracle import Pair, exp_between, histogram_pairs, worst_delta
from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.accounting.clones import clone_curve
from croupier.accounting.exposure import MOST_OF_CLONES
from croupier.randomizers import randomizer

__all__ = ["check_curve", "search"]

DELTAS = (0.3, 1e-1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15, 1e-24, 1e-30, 1e-45, 1e-60)
EPSILONS = (0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.7, 1.0, 2.0, 4.0, 8.0, 20.0, 40.0)
MOST_PEOPLE = {2: 9, 3: 7, 4: 5, 5: 5}
"""The most people by the number of different reports: a case takes a fraction of a second."""


class DeltaCurve(Protocol):
    """The curve under test."""

    def delta(self, epsilon: float) -> float:
        """The bound of delta."""

    def epsilon(self, delta: float) -> float:
        """The bound of epsilon."""


def search(
    random: Random,
    found: Found,
    *,
    upper: Callable[..., DeltaCurve] = upper_curve,
    lower: Callable[..., DeltaCurve] = lower_curve,
) -> None:
    """Try one random channel: both curves, clones, and one report alone, at many points."""
    values, reports = random.choice((2, 2, 3, 3, 4)), random.choice((2, 2, 3, 3, 4, 5))
    n = random.randint(1, MOST_PEOPLE[reports] - (values == 4))
    rows = channel(random, values=values, reports=reports)
    made = randomizer("matrix", matrix=rows)
    pairs, alone = histogram_pairs(rows, n), histogram_pairs(rows, 1)
    points = sorted({*EPSILONS, *_near(made.epsilon_local)})
    case = f"n = {n}, rows {rows}"
    check_curve(found, "curve above", upper(made, n=n), pairs, points, case=case, above=True)
    check_curve(found, "curve below", lower(made, n=n), pairs, points, case=case, above=False)
    check_curve(found, "one report", local_curve(made), alone, points, case=case, above=True)
    if 0 < made.epsilon_local <= MOST_OF_CLONES:
        clones = clone_curve(epsilon_local=made.epsilon_local, n=n)
        check_curve(found, "clones", clones, pairs, points, case=case, above=True)


def _near(local: float) -> list[float]:
    most = min(local, 45.0)
    return [most * share for share in (0.25, 0.5, 0.9, 0.99, 1 - 1e-9, 1.0)]


def check_curve(  # noqa: PLR0913 - a curve, the truth, and where they are compared
    found: Found,
    kind: str,
    curve: Any,
    pairs: list[Pair],
    points: list[float],
    *,
    case: str,
    above: bool,
) -> None:
    """Compare a curve with the worst of all pairs: delta at the points, epsilon at the deltas."""
    for epsilon in points:
        below_ratio, above_ratio = exp_between(epsilon)
        truth = worst_delta(pairs, above_ratio if above else below_ratio)
        at = f"delta({epsilon!r}), {case}"
        (found.at_least if above else found.at_most)(kind, curve.delta(epsilon), truth, at)
    for delta in DELTAS:
        epsilon = curve.epsilon(delta)
        if epsilon == 0 and not above:
            continue
        at = f"epsilon({delta!r}) = {epsilon!r}, {case}"
        if math.isinf(epsilon):
            found.expect(kind, above, epsilon, math.nan, at)
        elif above:
            found.at_least(kind, delta, worst_delta(pairs, exp_between(epsilon)[1]), at)
        else:
            found.at_most(kind, delta, worst_delta(pairs, exp_between(epsilon)[0]), at)
