"""The tails of a count of support, and the numbers of holders that it does not refute."""

import math
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from croupier.numerics.support_count import SupportCount

CHANCES = [(0.5, 0.1), (0.62, 0.38), (0.9993, 0.00034), (1 - 1e-9, 0.3), (0.75, 0.0)]


@cache
def pmf(law: SupportCount, holders: int):
    """By enumeration: how many holders are drawn, then two binomials."""
    total = np.zeros(law.answers + 1)
    drawn = range(max(0, law.answers - law.people + holders), min(holders, law.answers) + 1)
    for held in drawn:
        others = law.answers - held
        both = np.convolve(
            binom.pmf(np.arange(held + 1), held, law.own),
            binom.pmf(np.arange(others + 1), others, law.other),
        )
        total += hypergeom.pmf(held, law.people, holders, law.answers) * both
    return total


def laws():
    for own, other in CHANCES:
        for people, answers in ((1, 1), (7, 7), (40, 40), (2, 1), (10, 3), (16, 15), (24, 8)):
            yield SupportCount(people=people, answers=answers, own=own, other=other)


@pytest.mark.parametrize("law", list(laws()))
def test_tails_are_the_enumerated_ones_and_never_below_them(law):
    counts = np.arange(law.answers + 1)
    for holders in {0, 1, law.people // 3, law.people}:
        exact = np.minimum(pmf(law, holders)[::-1].cumsum()[::-1], 1.0)
        found = law.at_least(counts, np.full(len(counts), holders))
        assert found == pytest.approx(exact, abs=1e-11)
        assert (found >= exact - 1e-14).all()


def test_tails_of_a_billion_people_are_those_of_one_binomial():
    """All chances equal but for one holder: the count is almost a plain binomial."""
    law = SupportCount(people=10**9, answers=10**9, own=0.25 + 1e-12, other=0.25)
    counts = 250_000_000 + np.array([-60_000, -20_000, 0, 20_000, 60_000])
    found = law.at_least(counts, np.ones(5, dtype=np.int64))
    assert found == pytest.approx(binom.sf(counts - 1, 10**9, 0.25), abs=2e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("law", list(laws()))
def test_every_number_of_holders_is_covered_as_often_as_stated(law, confidence):
    """Enumerated over every count: no simulation, no tolerance but that of the enumeration."""
    fewest, most = law.holders(np.arange(law.answers + 1), confidence=confidence)
    for holders in range(law.people + 1):
        covered = pmf(law, holders)[(fewest <= holders) & (holders <= most)].sum()
        assert covered >= confidence - 1e-12


def test_the_normal_approximation_would_not_pass_that():
    law = SupportCount(people=300, answers=300, own=0.9993, other=0.00034)
    counts = np.arange(301)
    points = np.clip((counts / 300 - law.other) / (law.own - law.other), 0, 1)
    variance = points * law.own * (1 - law.own) + (1 - points) * law.other * (1 - law.other)
    radius = NormalDist().inv_cdf(0.975) * np.sqrt(variance / 300)
    covered = pmf(law, 150)[np.abs(points - 0.5) <= radius].sum()
    assert covered < 0.9


@settings(max_examples=30)
@given(
    people=st.integers(1, 10**9),
    share=st.floats(0.01, 1.0),
    position=st.floats(0, 1),
    other=st.floats(1e-6, 0.5),
    gap=st.floats(1e-3, 0.5),
)
def test_ends_are_ordered_and_hold_the_estimate(people, share, position, other, gap):
    law = SupportCount(
        people=people, answers=max(1, int(share * people)), own=other + gap * 0.99, other=other
    )
    counts = np.array([round(position * law.answers)])
    fewest, most = law.holders(counts, confidence=0.95)
    wider = law.holders(counts, confidence=0.999)
    point = (counts[0] / law.answers - law.other) / (law.own - law.other)
    assert 0 <= wider[0] <= fewest <= most <= wider[1] <= people
    assert fewest[0] - 1 <= min(max(point, 0), 1) * people <= most[0] + 1


def test_ends_approach_the_normal_ones_where_counts_are_large():
    law = SupportCount(people=10**5, answers=10**5, own=0.5, other=0.12)
    counts = np.array([20_000, 30_000, 40_000])
    fewest, most = law.holders(counts, confidence=0.95)
    share = (counts / 1e5 - 0.12) / 0.38
    variance = share * 0.25 + (1 - share) * 0.12 * 0.88
    normal = 2 * NormalDist().inv_cdf(0.975) * np.sqrt(variance * 1e5) / 0.38
    assert (most - fewest) / normal == pytest.approx(1.0, abs=0.005)


def test_an_improbably_low_count_does_not_make_the_interval_narrow():
    law = SupportCount(people=10_000, answers=10_000, own=0.5, other=0.12)
    usual, low = law.holders(np.array([1200, 900]), confidence=0.95)[1]
    assert low == usual > 100


def test_two_circles_agree_with_one_where_almost_all_answer():
    some = SupportCount(people=100_001, answers=100_000, own=0.8, other=0.1)
    everybody = SupportCount(people=100_000, answers=100_000, own=0.8, other=0.1)
    counts = np.array([10_000, 45_000, 79_000])
    for one, two in zip(
        some.holders(counts, confidence=0.95),
        everybody.holders(counts, confidence=0.95),
        strict=True,
    ):
        assert np.abs(one - two).max() <= 2 + math.ceil(1e-3 * 200)
