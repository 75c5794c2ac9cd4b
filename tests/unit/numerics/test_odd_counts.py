"""Alarms about dishonest reports: how often they are false, computed exactly."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest

from croupier.numerics.binomial import binomial_tail_above
from croupier.numerics.honest_chances import HonestChances
from croupier.numerics.odd_counts import fewest_dishonest, odd_counts, statements
from croupier.randomizers import (
    HadamardResponse,
    KaryRandomizedResponse,
    OptimizedUnaryEncoding,
)
from croupier.randomizers.estimates.set_bits import set_bits_law

LEVEL = 0.5
SMALL = [
    (KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=64), 6),
    (KaryRandomizedResponse(k=2, max_epsilon_local=0.5, denominator=64), 9),
    (OptimizedUnaryEncoding(k=2, max_epsilon_local=2.0, denominator=64), 6),
    (HadamardResponse(k=2, max_epsilon_local=2.0, denominator=64), 6),
]


def binomial(n, count, chance):
    return comb(n, count) * chance**count * (1 - chance) ** (n - count)


@pytest.mark.parametrize("n", [1, 7, 60, 200])
@pytest.mark.parametrize("chance", [0.01, 0.3, 0.5, 0.97])
def test_tails_are_bounded_and_hardly_more(n, chance):
    exact = Fraction(chance)
    tail = Fraction(0)
    for count in range(n, -1, -1):
        tail += binomial(n, count, exact)
        bound = binomial_tail_above(count, n, success=chance)
        assert tail <= Fraction(bound)
        if count > n * chance + 4 * (n * chance * (1 - chance)) ** 0.5:
            assert bound <= 1.2 * tail + Fraction(1, 10**300)
    assert binomial_tail_above(n + 1, n, success=chance) == 0


def test_tails_of_a_billion_people_are_above_those_of_mpmath():
    mpmath = pytest.importorskip("mpmath")
    n, chance = 10**9, 0.02
    with mpmath.workdps(40):
        p = mpmath.mpf(chance)
        for count in (20_030_000, 20_060_000, 20_150_000):
            log = mpmath.loggamma(n + 1) - mpmath.loggamma(count + 1)
            log -= mpmath.loggamma(n - count + 1)
            first = mpmath.exp(log + count * mpmath.log(p) + (n - count) * mpmath.log1p(-p))
            ratio, tail, term = (n - count) * p / ((count + 1) * (1 - p)), mpmath.mpf(0), first
            for step in range(8_000):
                tail += term
                term *= mpmath.mpf(n - count - step) / (count + 1 + step) * p / (1 - p)
            bound = binomial_tail_above(count, n, success=chance)
            assert tail <= bound <= first / (1 - ratio) * (1 + mpmath.mpf("1e-5"))


def test_the_law_of_set_bits_is_that_of_fractions():
    own, other = Fraction(3, 4), Fraction(5, 64)
    for bits, raised in ((5, 1), (64, 3), (300, 2)):
        found = set_bits_law(bits, raised=raised, own=float(own), other=float(other))
        for size in range(0, bits + 1, 1 + bits // 40):
            exact = sum(
                binomial(raised, up, own) * binomial(bits - raised, size - up, other)
                for up in range(min(raised, size) + 1)
                if size - up <= bits - raised
            )
            assert abs(found[size] - exact) <= 1e-11 * exact


@cache
def fewest(randomizer, counted):
    """What is found in a batch with these reports, at the chance of a false alarm `LEVEL`."""
    form = randomizer.report_format
    reports = np.array(counted, dtype=form.dtype)
    tally, traits = randomizer.tally(reports), randomizer.traits(reports)
    groups = randomizer.honest_chances(tally, traits, len(reports))
    return fewest_dishonest(odd_counts(groups, level=LEVEL / statements(groups)))


def laws(randomizer, people):
    """For each truth of so many people, the law of the multiset of their reports."""
    channel = randomizer.channel()
    total = channel.denominator
    rows = [
        [(o, Fraction(int(w), total)) for o, w in zip(channel.outputs, row, strict=True) if w]
        for row in channel.weights
    ]
    for truth in combinations_with_replacement(range(len(rows)), people):
        law = {(): Fraction(1)}
        for value in truth:
            grown = Counter()
            for sent, chance in law.items():
                for report, own in rows[value]:
                    grown[tuple(sorted((*sent, report)))] += chance * own
            law = grown
        yield law


@pytest.mark.parametrize(("randomizer", "n"), SMALL, ids=repr)
def test_false_alarms_are_bounded_for_every_truth_and_every_lie(randomizer, n):
    """Exactly: all true values, all reports, all lies of 0, 1 or 2 dishonest people."""
    outputs = randomizer.channel().outputs
    worst = Fraction(0)
    for dishonest in range(3):
        for law in laws(randomizer, n - dishonest):
            for lies in combinations_with_replacement(outputs, dishonest):
                chance = sum(
                    own
                    for sent, own in law.items()
                    if fewest(randomizer, tuple(sorted((*sent, *lies)))) > dishonest
                )
                worst = max(worst, chance)
    assert 0 < worst <= LEVEL


def test_so_many_are_dishonest_as_are_not_refuted():
    """The fewest is the least number that the exact tail does not refute; certainty needs none."""
    n, count, chance, level = 80, 40, 0.125, 1e-6
    group = HonestChances.of(n, np.array([count]), Fraction(chance), name="x {}".format)
    (found,) = odd_counts([group], level=level)
    kept = [
        dishonest
        for dishonest in range(count)
        if sum(
            binomial(n - dishonest, place, Fraction(chance))
            for place in range(count - dishonest, n - dishonest + 1)
        )
        >= level
    ]
    assert kept[0] - 1 <= found.at_least <= kept[0]
    assert (found.count, found.n, found.name) == (40, 80, "x 0")
    sure = HonestChances.of(n, np.array([n, 0]), [Fraction(1), Fraction(0)], name=str)
    assert not odd_counts([sure], level=level)
    never = HonestChances.of(n, np.array([3]), Fraction(0), name=str)
    assert fewest_dishonest(odd_counts([never], level=1e-9)) == 3


def test_too_few_are_a_sign_as_well():
    group = HonestChances.of(1000, np.array([0, 500]), Fraction(1, 2), name=str)
    (found,) = odd_counts([group], level=1e-9)
    assert found.at_least > 900
    assert found.limit == "on average at least 500"


def test_people_who_answer_different_parts_are_added():
    group = HonestChances.of(100, np.array([10, 12]), Fraction(0), name=str)
    both = [group, replace(group, part=0), replace(group, part=1)]
    assert fewest_dishonest(odd_counts(both, level=1e-9)) == 24
