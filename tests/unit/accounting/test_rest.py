"""Blankets that leave out less than a double can say: the rest is taken from the integers."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import pytest

from croupier.accounting.amplify import bracket
from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.model.channel import Channel
from croupier.numerics.rounding import exp_enclosure
from croupier.randomizers import MatrixRandomizer

WHOLE = 2**64
TINY = [
    ((2, WHOLE - 2), (1, WHOLE - 1)),
    ((3, WHOLE - 3), (1, WHOLE - 1)),
    ((3, 5, WHOLE - 8), (1, 2, WHOLE - 3), (2, 1, WHOLE - 3)),
    (
        (164476047111, 61199152224507, 1, 18446682710081279997),
        (12316074641492050, 1242681070533929, 10315514110286, 18433175002483415351),
    ),
]


def _histograms(rows, values):
    """How many of the equally likely draws lead to each histogram."""
    law = Counter({(0,) * len(rows[0]): 1})
    for value in values:
        following = Counter()
        for counts, ways in law.items():
            for output, weight in enumerate(rows[value]):
                one_more = (*counts[:output], counts[output] + 1, *counts[output + 1 :])
                following[one_more] += ways * weight
        law = following
    return law


def _pairs(rows, n):
    for others in combinations_with_replacement(range(len(rows)), n - 1):
        laws = [_histograms(rows, (value, *others)) for value in range(len(rows))]
        for first, second in permutations(laws, 2):
            yield [(first[key], second[key]) for key in first | second]


def _truth(pairs, n, epsilon, *, outward):
    """The largest divergence, with e^epsilon rounded so that it is not too large or too small."""
    ratio = exp_enclosure(epsilon)[outward]
    return max(
        sum(max(Fraction(p) - ratio * q, Fraction(0)) for p, q in masses) for masses in pairs
    ) / Fraction(WHOLE**n)


@pytest.mark.parametrize("rows", TINY)
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_ends_enclose_the_enumerated_divergence(rows, n):
    response = MatrixRandomizer(matrix=rows)
    upper, lower = upper_curve(response, n=n), lower_curve(response, n=n)
    pairs = list(_pairs(rows, n))
    for share in (0.1, 0.45, 0.8, 0.99):
        epsilon = share * response.epsilon_local
        assert Fraction(upper.delta(epsilon)) >= _truth(pairs, n, epsilon, outward=1)
        assert Fraction(lower.delta(epsilon)) <= _truth(pairs, n, epsilon, outward=0)


@pytest.mark.parametrize("rows", TINY)
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("delta", [1e-20, 1e-24, 1e-30, 1e-40, 1e-60])
def test_brackets_at_deltas_far_below_the_precision_of_a_double(rows, n, delta):
    found = bracket(MatrixRandomizer(matrix=rows), n=n, delta=delta)
    pairs = list(_pairs(rows, n))
    assert _truth(pairs, n, found.upper.value, outward=1) <= Fraction(delta)
    if found.lower.value > 0:
        assert _truth(pairs, n, found.lower.value, outward=0) >= Fraction(delta)


def test_the_mass_of_the_blanket_is_exact():
    rows = ((2, WHOLE - 2), (1, WHOLE - 1))
    assert Channel.from_weights(rows, WHOLE).blanket_mass == 1 - Fraction(1, WHOLE)
    assert Channel.from_probabilities([[0.5, 0.5], [0.25, 0.75]]).blanket_mass == Fraction(3, 4)
    assert math.fsum([1.0, -1 / WHOLE, -(WHOLE - 2) / WHOLE]) != 1 / WHOLE


@pytest.mark.parametrize("whole", [1000, 2**32])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("offset", [1e-7, 1e-9, 1e-13, 1e-15])
def test_upper_end_where_the_gain_is_a_difference_of_nearly_equal_numbers(whole, n, offset):
    rows = ((1, whole - 1), (whole - 1, 1))
    response = MatrixRandomizer(matrix=rows)
    epsilon = response.epsilon_local * (1 - offset)
    ratio = exp_enclosure(epsilon)[1]
    truth = max(
        sum(max(Fraction(p) - ratio * q, Fraction(0)) for p, q in masses)
        for masses in _pairs(rows, n)
    )
    assert Fraction(upper_curve(response, n=n).delta(epsilon)) >= truth / whole**n
