import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from croupier.auditing.blackbox import epsilon_local_from_games
from croupier.auditing.blackbox.samples import binomial_lower
from croupier.errors import ParameterError
from croupier.model import Adversary, Direction, Guarantee, Metric, View

ORACLE = mpmath.MPContext()
ORACLE.dps = 50


def clone(epsilon, n):
    rho = ORACLE.exp(-ORACLE.mpf(epsilon))
    return (1 - (1 - rho) ** n) / (n * rho)


def test_reference(golden):
    case = golden["epsilon_local from games"]
    found = epsilon_local_from_games(**case["inputs"])
    value = case["value"]
    assert binomial_lower(700, 2000, 0.95) == pytest.approx(value["share_lower"], rel=1e-7)
    assert found.lower == pytest.approx(value["epsilon_local"], abs=case["tolerance"])
    assert math.log(20 * value["share_lower"]) == pytest.approx(value["without_clones"], abs=1e-7)
    assert found.lower > value["without_clones"]


def test_two_sided_tail_is_not_the_reference(golden):
    case = golden["epsilon_local from games"]
    weaker = epsilon_local_from_games(700, 2000, n=20, confidence=0.975)
    assert weaker.lower < case["value"]["epsilon_local"] - 0.01


@pytest.mark.parametrize("confidence", [0.75, 0.95, 1 - 1e-9])
@pytest.mark.parametrize(
    ("successes", "trials", "n"),
    [
        (700, 2000, 20),
        (3, 10, 2),
        (1999, 2000, 20),
        (2000, 2000, 20),
        (9, 9, 10**9),
        (50, 51, 10**6),
    ],
)
def test_rounded_down_but_sharp(successes, trials, n, confidence):
    found = epsilon_local_from_games(successes, trials, n=n, confidence=confidence)
    share = binomial_lower(successes, trials, confidence)
    if found.lower == 0:
        assert share <= (1 + 1e-9) / n
    else:
        assert clone(found.lower, n) <= share < clone(found.lower + 1e-9 * (1 + found.lower), n)
    assert found.lower <= found.measured <= found.upper == math.inf


def test_chance_proves_nothing():
    assert epsilon_local_from_games(0, 100, n=20).lower == 0
    assert epsilon_local_from_games(5, 100, n=20).lower == 0


@pytest.mark.parametrize(
    ("epsilon", "n", "trials"),
    [
        (1.0, 3, 200),
        pytest.param(2.0, 20, 2000, marks=pytest.mark.proof),
        (0.0, 20, 500),
        (8.0, 3000, 100),
        (5.0, 10**6, 1000),
        (1e-3, 2, 50),
    ],
)
def test_coverage_exactly_and_in_ten_thousand_repetitions(epsilon, n, trials, oracle):
    success = float(clone(epsilon, n))
    lower = np.array([epsilon_local_from_games(s, trials, n=n).lower for s in range(trials + 1)])
    law = stats.binom.pmf(np.arange(trials + 1), trials, success)
    assert law[lower > epsilon + 1e-12].sum() <= 0.05 + 1e-9
    drawn = np.random.default_rng(11).binomial(trials, success, size=10_000)
    assert oracle.holds((lower[drawn] <= epsilon).sum(), 10_000)


def test_the_point_estimate_would_not_cover():
    measured = [epsilon_local_from_games(s, 2000, n=20).measured for s in range(2001)]
    law = stats.binom.pmf(np.arange(2001), 2000, float(clone(2.0, 20)))
    assert law[np.array(measured) > 2.0].sum() > 0.3


def test_refutes_a_false_claim_only_when_sure():
    claim = Guarantee(
        metric=Metric.EPSILON,
        value=1.0,
        direction=Direction.UPPER,
        adversary=Adversary(sees={View.REPORTS}),
        theorem="a vendor's word",
        delta=0.0,
    )
    assert epsilon_local_from_games(700, 2000, n=20, confidence=1 - 1e-9).refutes(claim)
    assert not epsilon_local_from_games(700, 2000, n=20).refutes(claim)
    assert not epsilon_local_from_games(150, 2000, n=20, confidence=1 - 1e-9).refutes(claim)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"successes": 3, "trials": 2}, "successes"),
        ({"successes": -1, "trials": 2}, "successes"),
        ({"successes": 0, "trials": 0}, "trials"),
        ({"successes": 1.5, "trials": 2}, "successes"),
        ({"successes": 1, "trials": 2, "n": 1}, "n"),
        ({"successes": 1, "trials": 2, "confidence": 0.5}, "confidence"),
        ({"successes": 1, "trials": 2, "confidence": 1.0}, "confidence"),
    ],
)
def test_refusals(arguments, name):
    with pytest.raises(ParameterError) as refusal:
        epsilon_local_from_games(**({"n": 5} | arguments))
    assert refusal.value.parameter == name
