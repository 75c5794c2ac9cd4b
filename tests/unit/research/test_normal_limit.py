"""The limit of large batches, which is approached and is no bound."""

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from croupier.errors import ParameterError
from croupier.leakage.maximum_load import expected_maximum_load
from croupier.research.normal_limit import expected_normal_maximum, limiting_vulnerability

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "vulnerability.json").read_text())
MAXIMA = [case for case in GOLDEN["values"] if case["name"].startswith("m_k")]


@pytest.mark.parametrize("case", MAXIMA, ids=lambda case: str(case["inputs"]))
def test_golden_normal_maxima(case):
    found = expected_normal_maximum(case["inputs"]["k"])
    assert abs(found - float(case["value"])) <= case["tolerance"]


@pytest.mark.parametrize("k", [1, 2, 7, 1000, 10**9])
def test_normal_maxima_against_quadrature(k):
    with mpmath.workdps(30):
        exact = mpmath.quad(
            lambda x: x * k * mpmath.npdf(x) * mpmath.ncdf(x) ** (k - 1),
            mpmath.linspace(-9, 15, 25),
        )
    assert expected_normal_maximum(k) == pytest.approx(float(exact), abs=1e-12)


def test_the_limit_with_factor_one_is_no_bound():
    n = 10**9
    for k in (8, 9, 20, 1000):
        printed = 1 / k + math.sqrt(math.log(k) / (k * n))
        exact = expected_maximum_load(n, k) / n if k >= 20 else limiting_vulnerability(k=k, n=n)
        assert (printed >= exact) == (k <= 8)


@pytest.mark.parametrize("k", [2, 3, 10, 100])
def test_the_limit_is_approached(k):
    n = 10**6
    share = Fraction(7, 10)
    truth = share + (1 - share) / k
    exact = float(1 - truth) / (k - 1) + float(share) * expected_maximum_load(n, k) / n
    near = limiting_vulnerability(k=k, n=n, truth=float(truth))
    assert near != exact
    assert near - 1 / k == pytest.approx(exact - 1 / k, rel=0.02)


def test_refusals():
    with pytest.raises(ParameterError, match="`truth` must"):
        limiting_vulnerability(k=2, n=10, truth=0.3)
    with pytest.raises(ParameterError, match="`n` must"):
        limiting_vulnerability(k=2, n=10**400)
    with pytest.raises(ParameterError, match="`k` must"):
        expected_normal_maximum(10**400)
