"""Binomial probabilities against many digits."""

import json
import math
from pathlib import Path

import mpmath
import pytest

from croupier.numerics.binomial import (
    binomial_excess,
    binomial_pmf,
    binomial_tail,
    central_binomial,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "vulnerability.json").read_text())
CENTRES = [case for case in GOLDEN["values"] if case["name"].startswith("C(n-1")]


@pytest.mark.parametrize("case", CENTRES, ids=lambda case: str(case["inputs"]))
def test_golden_central_binomials(case):
    found = central_binomial(case["inputs"]["n"] // 2) / 2
    assert found == pytest.approx(float(case["value"]), rel=case["tolerance"])


@pytest.mark.parametrize("half", [1, 59, 60, 61, 1000, 5 * 10**8])
def test_central_binomial_against_many_digits(half):
    with mpmath.workdps(50):
        logarithm = mpmath.loggamma(2 * half + 1) - 2 * mpmath.loggamma(half + 1)
        exact = mpmath.exp(logarithm - 2 * half * mpmath.log(2))
        assert abs(central_binomial(half) / exact - 1) < 1e-15


@pytest.mark.parametrize("n", [1, 2, 39, 40, 41, 1000, 10**6, 10**9])
@pytest.mark.parametrize("success", [1e-6, 0.3, 0.5, 0.999])
def test_binomial_pmf_against_many_digits(n, success):
    deviation = math.sqrt(n * success * (1 - success))
    for z in (-8, -1, 0, 1, 8):
        count = min(n, max(0, round(n * success + z * deviation)))
        with mpmath.workdps(50):
            chance = mpmath.mpf(success)
            exact = mpmath.exp(
                mpmath.loggamma(n + 1)
                - mpmath.loggamma(count + 1)
                - mpmath.loggamma(n - count + 1)
                + count * mpmath.log(chance)
                + (n - count) * mpmath.log(1 - chance)
            )
            error = abs(float(binomial_pmf(count, n, success=success)) / exact - 1)
        assert error <= 3e-14 + 1e-15 * abs(count - n * success)


def test_binomial_edges():
    assert binomial_pmf([-1, 0, 3, 4], 3, success=0.0).tolist() == [0, 1, 0, 0]
    assert binomial_pmf([-1, 0, 3, 4], 3, success=1.0).tolist() == [0, 0, 1, 0]
    assert binomial_pmf([-1, 4], 3, success=0.5).tolist() == [0, 0]
    assert binomial_tail(0, 3, success=0.5) == 1
    assert binomial_tail(4, 3, success=0.5) == 0
    assert binomial_excess(3, success=0.5, threshold=3.5, gap=-2.0) == 0
    assert binomial_excess(3, success=0.5, threshold=-1.0, gap=2.5) == 2.5
