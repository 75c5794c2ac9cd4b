"""The expected maximum load against rationals, other implementations and proved bounds."""

import json
import math
import time
import tracemalloc
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage import maximum_load
from croupier.leakage.maximum_load import (
    expected_maximum_load,
    maximum_load_bounds,
    three_cells,
)
from croupier.leakage.poissonised_load import PoissonisedLoad

EXACT = 1e-12
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "vulnerability.json").read_text())
LOADS = [
    case
    for case in GOLDEN["values"]
    if case["name"] in {"E[max load]/n", "V_S max-load", "Prop20 V_S"}
]


def _by_convolution(most_n, most_k):
    """{(n, k): E[max]} by counting the ways in which no cell holds more than m balls."""
    found = {(n, k): Fraction(0) for n in range(1, most_n + 1) for k in range(2, most_k + 1)}
    for m in range(most_n):
        ways = [int(n <= m) for n in range(most_n + 1)]
        for k in range(2, most_k + 1):
            ways = [
                sum(math.comb(n, i) * ways[n - i] for i in range(min(n, m) + 1))
                for n in range(most_n + 1)
            ]
            for n in range(1, most_n + 1):
                found[n, k] += 1 - Fraction(ways[n], k**n)
    return found


def _by_power(n, k):
    """E[max] by the recurrence of the coefficients of (1 + x + … + x^m/m!)^k."""
    total = Fraction(0)
    for m in range(n):
        ways = [1]
        for j in range(1, n + 1):
            terms = (
                (k * i - (j - i)) * math.comb(j, i) * ways[j - i] for i in range(1, min(j, m) + 1)
            )
            ways.append(sum(terms) // j)
        exceeds = 1 - Fraction(ways[n], k**n)
        total += exceeds
        if exceeds < Fraction(1, 10**30):
            break
    return total


def _three_cells(n):
    """E[max] of three cells from all pairs of loads."""
    total = 0
    for m in range(-(-n // 3), n + 1):
        others, row = n - m, 1
        both = 0
        for load in range(others + 1):
            if max(load, others - load) <= m:
                # Of d cells with m balls each, every one is counted as the first: weigh by 1/d.
                ties = 1 + (load == m) + (others - load == m)
                both += Fraction(row, ties)
            row = row * (others - load) // (load + 1)
        total += 3 * m * math.comb(n, m) * both
    return Fraction(total, 3**n)


def _error(n, k, exact):
    return abs(float(Fraction(expected_maximum_load(n, k)) - exact)) / n


def test_all_small_cases_against_rationals():
    exact = _by_convolution(60, 12)
    assert exact[5, 3] / 5 == Fraction(5, 9)
    worst = max(_error(n, k, value) for (n, k), value in exact.items())
    assert worst <= 1e-14
    transformed = max(
        abs(float(Fraction(PoissonisedLoad(n, k).expected_maximum()) - value)) / n
        for (n, k), value in exact.items()
        if k in (2, 3) and n > 1
    )
    assert transformed <= 1e-14


@pytest.mark.parametrize(
    ("n", "k"),
    [(200, 50), (120, 64), (120, 65), (25, 10**6), (100, 10**6), (40, 10**12)]
    + [(n, k) for n in range(10, 31, 5) for k in (1000, 10**6)],
)
def test_many_cells_against_rationals(n, k):
    assert _error(n, k, _by_power(n, k)) <= 1e-14


@pytest.mark.parametrize("n", [100, 299, 1000])
def test_three_cells_against_rationals(n):
    assert _error(n, 3, _three_cells(n)) <= 1e-15


@pytest.mark.parametrize("n", [3, 4, 5, 2999, 3001, 40_000])
def test_three_cells_two_ways(n):
    transformed = PoissonisedLoad(n, 3).expected_maximum()
    assert expected_maximum_load(n, 3) == pytest.approx(transformed, rel=1e-13)


@pytest.mark.parametrize("n", [2, 3, 119, 120, 121, 5000])
def test_two_cells_two_ways(n):
    transformed = PoissonisedLoad(n, 2).expected_maximum()
    assert expected_maximum_load(n, 2) == pytest.approx(transformed, rel=1e-13)


@pytest.mark.parametrize("case", LOADS, ids=lambda case: f"{case['name']}-{case['inputs']}")
def test_golden_loads(case):
    n, k = case["inputs"]["n"], case["inputs"]["k"]
    expected = float(Fraction(case["value"]))
    assert abs(expected_maximum_load(n, k) / n - expected) <= max(case["tolerance"], 2e-16)


@given(n=st.integers(1, 300), k=st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_the_share_of_the_fullest_cell_falls_with_n_and_stays_above_fair(n, k):
    here, next_one = expected_maximum_load(n, k), expected_maximum_load(n + 1, k)
    assert next_one / (n + 1) <= here / n * (1 + 1e-13)
    assert n / k * (1 - 1e-13) <= here <= n
    assert next_one - (n + 1) / k >= here - n / k - 1e-12


@pytest.mark.parametrize(("n", "k"), [(1000, 4), (10**5, 7), (10**6, 5), (10**7, 100)])
def test_the_bracket_holds_where_the_value_is_known(n, k, monkeypatch):
    value = expected_maximum_load(n, k)
    narrow = maximum_load_bounds(n, k)
    monkeypatch.setattr(maximum_load, "_MOST_WORK", -1)
    monkeypatch.setattr(maximum_load, "_QUICK_WORK", 2000)
    lower, upper = maximum_load_bounds(n, k)
    assert lower <= narrow[0] <= value <= narrow[1] <= upper
    assert lower > n / k
    # Never worse than what one of the three proofs gives.
    assert upper <= (n / k + (1 - 1 / k) * math.sqrt(n)) * (1 + 1e-12)


@pytest.mark.parametrize(("n", "k"), [(10**10, 4), (10**15, 3), (10**18, 1000)])
def test_beyond_what_can_be_computed_there_is_a_bracket(n, k):
    with pytest.raises(TooLargeError, match="maximum_load_bounds"):
        expected_maximum_load(n, k)
    lower, upper = maximum_load_bounds(n, k)
    assert n / k <= lower <= upper <= n
    limit = n / k + {3: 0.8462843753, 4: 1.0293753730, 1000: 3.2414}[k] * math.sqrt(n / k)
    assert lower <= limit <= upper


def _no_cell_with_two(n, k):
    """1 - P(all loads are 0 or 1), and the chance of a load of three where that is tiny."""
    with mpmath.workdps(80):
        n, k = mpmath.mpf(n), mpmath.mpf(k)
        # log of k!/((k-n)! k^n), by Stirling's series of both factorials.
        logarithm = -(k - n + 0.5) * mpmath.log1p(-n / k) - n
        logarithm += (1 / k - 1 / (k - n)) / 12
        return float(-mpmath.expm1(logarithm) + n**3 / (6 * k * k))


@pytest.mark.parametrize(
    ("n", "k"), [(10**12, 10**40), (10**13, 10**33), (10**6, 10**16), (10**18, 10**40)]
)
def test_far_more_cells_than_balls_take_no_time(n, k):
    start = time.process_time()
    found = expected_maximum_load(n, k)
    assert time.process_time() - start < 1
    assert found - 1 == pytest.approx(_no_cell_with_two(n, k), rel=1e-9, abs=1e-15)
    assert PoissonisedLoad(n, k).work < 1000


def test_work_counts_what_is_done():
    # One level of loads: the blocks are as wide as the levels, not padded to the stride.
    load = PoissonisedLoad(10**6, 10**16)
    (blocks,) = load._blocks()  # noqa: SLF001 - the cost is what is tested
    tail = load._tail_transforms(blocks[0])  # noqa: SLF001
    assert tail.base.size == tail.size == len(blocks[0]) * len(load._levels)  # noqa: SLF001


@pytest.mark.parametrize(("n", "k"), [(10**18, 10**50), (10**9, 10**30), (5, 10**300)])
def test_the_bracket_of_very_many_cells_neither_overflows_nor_falls_below_one(n, k, monkeypatch):
    lower, upper = maximum_load_bounds(n, k)
    assert 1 <= lower <= upper <= n
    monkeypatch.setattr(maximum_load, "_MOST_WORK", -1)
    monkeypatch.setattr(maximum_load, "_QUICK_WORK", -1)
    wide = maximum_load_bounds(n, k)
    assert 1 <= wide[0] <= lower <= upper <= wide[1]


def test_exponential_moments_are_useful_for_few_balls_a_cell():
    # About ln k / ln ln k balls in the fullest cell.
    assert 8.79 < maximum_load._chernoff(10**6, 10**6) < 11.5  # noqa: SLF001 - one of three proofs


def test_three_cells_are_summed_in_blocks(monkeypatch):
    whole = [three_cells(n) for n in (299, 300, 301, 10**5)]
    monkeypatch.setattr(maximum_load, "_LOADS_AT_ONCE", 7)
    assert [three_cells(n) for n in (299, 300, 301, 10**5)] == pytest.approx(whole, rel=1e-14)


def test_three_cells_take_seconds_or_are_refused():
    tracemalloc.start()
    start = time.process_time()
    expected_maximum_load(10**11, 3)
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 10
    assert peak < 50 * 10**6
    with pytest.raises(TooLargeError, match="maximum_load_bounds"):
        expected_maximum_load(3_999_999_999_999, 3)


def test_edges():
    assert expected_maximum_load(1, 10) == 1
    assert expected_maximum_load(7, 1) == 7
    assert expected_maximum_load(25, 10**40) == 1
    assert expected_maximum_load(25, 10**400) == 1
    assert expected_maximum_load(25, 10**18) == pytest.approx(1 + 300e-18, abs=1e-15)
    assert expected_maximum_load(10**18, 2) / 10**18 == pytest.approx(0.5, abs=1e-9)
    assert maximum_load_bounds(1, 5)[1] == 1
    with pytest.raises(ParameterError, match="`n` must be a whole number"):
        expected_maximum_load(0, 3)
    with pytest.raises(ParameterError, match="`n` must be a whole number"):
        maximum_load_bounds(10**19, 3)
    with pytest.raises(ParameterError, match="`k` must be a whole number"):
        maximum_load_bounds(3, 0)
