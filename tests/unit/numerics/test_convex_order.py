"""The two ends of a table as its worst pair: the theorem, enumerated in fractions."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import pytest

from croupier.model import Grid
from croupier.numerics.convex_order import ends_dominate, is_mirrored
from croupier.randomizers import DiscreteGaussian, DiscreteLaplace

FACTORS = [Fraction(n, 4) for n in (0, 1, 2, 3, 4, 5, 8, 20)]
SAYS_MOST = ((3, 1, 2), (1, 4, 1), (2, 1, 3))


def laplace(points, epsilon, **parameters):
    return DiscreteLaplace(grid=Grid(0, points - 1, 1), max_epsilon_local=epsilon, **parameters)


def gaussian(points, epsilon, **parameters):
    return DiscreteGaussian(grid=Grid(0, points - 1, 1), max_epsilon_local=epsilon, **parameters)


TABLES = [
    laplace(3, 2.0, denominator=64).table.rows,
    laplace(4, 3.0, denominator=1000).table.rows,
    laplace(5, 1.0).table.rows,
    gaussian(3, 6.0, tail=2.0).table.rows,
    ((5, 2, 1), (3, 3, 2), (1, 3, 4)),
    ((6, 2, 2), (3, 4, 3), (2, 4, 4)),
]


def gains(rows, first, second, factor):
    """The blanket's weight and G of each column."""
    least = [min(column) for column in zip(*rows, strict=True)]
    return [
        (low, Fraction(p, low) - factor * Fraction(q, low))
        for low, p, q in zip(least, rows[first], rows[second], strict=True)
    ]


def spread(law, points):
    """E(G - t)_+ under the blanket: larger at all t if G is larger in the convex order."""
    return [sum(w * max(gain - t, Fraction(0)) for w, gain in law) for t in points]


def beats(law, other):
    """Tell whether the first is at most the second in the convex order."""
    points = {gain for _, gain in law} | {gain for _, gain in other}
    return all(
        one <= two for one, two in zip(spread(law, points), spread(other, points), strict=True)
    )


def check(rows):
    """No pair beats both orders of the ends, at any factor; nor one of them if they are alike."""
    last = len(rows) - 1
    for factor in FACTORS:
        there, back = gains(rows, 0, last, factor), gains(rows, last, 0, factor)
        if is_mirrored(rows):
            assert sorted(there) == sorted(back)
        for first, second in product(range(len(rows)), repeat=2):
            law = gains(rows, first, second, factor)
            assert beats(law, there) or beats(law, back)


@pytest.mark.parametrize("rows", TABLES, ids=str)
def test_ends_are_the_largest_at_every_factor(rows):
    assert ends_dominate(rows)
    check(rows)


def test_random_tables_are_certified_only_if_their_ends_are_the_largest():
    rng = np.random.default_rng(41)
    certified = 0
    for _ in range(150):
        rows = [tuple(row) for row in (rng.multinomial(9, [1 / 3] * 3, size=3) + 1).tolist()]
        if ends_dominate(rows):
            certified += 1
            check(rows)
    assert certified > 5


def delta(law, rest, n):
    """(1/n) E[(G_1 + … + G_n)_+], every multiset of columns listed."""
    total = Fraction(0)
    outcomes = [*law, (rest, Fraction(0))]
    for chosen in combinations_with_replacement(range(len(outcomes)), n):
        counts = [chosen.count(column) for column in range(len(outcomes))]
        ways = Fraction(factorial(n), prod(map(factorial, counts)))
        chance = prod((outcomes[column][0] for column in chosen), start=ways)
        total += chance * max(sum(outcomes[column][1] for column in chosen), Fraction(0))
    return total / n


@pytest.mark.parametrize("rows", [TABLES[0], TABLES[1], TABLES[-2], TABLES[-1]], ids=str)
def test_no_pair_of_rows_has_a_larger_delta(rows):
    total, last = sum(rows[0]), len(rows) - 1
    ends = [(0, last)] if is_mirrored(rows) else [(0, last), (last, 0)]
    for n, factor in product((1, 2, 3, 4), (1, Fraction(6, 5), 3)):

        def found(first, second, n=n, factor=factor):
            law = [(Fraction(w, total), gain) for w, gain in gains(rows, first, second, factor)]
            return delta(law, 1 - sum(w for w, _ in law), n)

        worst = max(found(*pair) for pair in ends)
        assert all(found(x, z) <= worst for x, z in product(range(last + 1), repeat=2))


def test_a_row_between_that_says_more_is_noticed():
    assert not ends_dominate(SAYS_MOST)
    law, ends = gains(SAYS_MOST, 1, 2, 3), [gains(SAYS_MOST, *pair, 3) for pair in ((0, 2), (2, 0))]
    assert not any(beats(law, end) for end in ends)


def test_one_weight_too_many_is_noticed():
    rows = ((4 << 60, 1 << 60, 1 << 60), (2 << 60,) * 3, (1 << 60, 1 << 60, 4 << 60))
    assert ends_dominate(rows)
    above = ((4 << 60, 1 << 60, 1 << 60), ((4 << 60) + 1, (1 << 60) - 1, 1 << 60), rows[2])
    assert not ends_dominate(above)


def test_ends_that_rise_together_are_refused():
    assert not ends_dominate(((4, 1, 1), (1, 1, 4), (3, 1, 2)))
    assert not ends_dominate(((3, 1, 2), (1, 3, 2), (4, 1, 1)))


def test_columns_of_zeros_do_not_count_and_other_zeros_are_refused():
    assert ends_dominate(((3, 0, 1), (1, 0, 3)))
    assert not ends_dominate(((3, 1, 0), (1, 1, 2)))


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("points", [2, 3, 10, 31])
def test_laplace_is_certified_and_mirrored(points, epsilon):
    rows = laplace(points, epsilon).table.rows
    assert ends_dominate(rows)
    assert is_mirrored(rows)


@pytest.mark.parametrize(("points", "epsilon"), [(2, 4.0), (5, 1.0), (11, 8.0), (31, 4.0)])
def test_gaussian_is_certified(points, epsilon):
    assert ends_dominate(gaussian(points, epsilon).table.rows)


def test_coarse_weights_may_break_it():
    assert not ends_dominate(laplace(6, 3.0, denominator=64).table.rows)
