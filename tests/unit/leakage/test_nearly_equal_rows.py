"""Channels whose rows are nearly equal: what is left must not be rounded away."""

from fractions import Fraction
from itertools import product

import pytest

from croupier.leakage.uninformed import uninformed_upper_bound
from croupier.model.channel import Channel

ROWS = [
    ((4217090612, 77876684), (4217090613, 77876683)),
    ((2**31, 2**31), (2**31 + 1, 2**31 - 1)),
    ((5, 2**32 - 5), (6, 2**32 - 6), (5, 2**32 - 5)),
]


def _truth(rows, n):
    """How often the target's value is guessed, all values equally likely, by enumeration."""
    whole, k = sum(rows[0]), len(rows)
    rates = [Fraction(sum(column), k * whole) for column in zip(*rows, strict=True)]
    joint = {}
    for reports in product(range(len(rates)), repeat=n):
        rest = Fraction(1)
        for report in reports[1:]:
            rest *= rates[report]
        chances = joint.setdefault(tuple(sorted(reports)), [Fraction(0)] * k)
        for value, row in enumerate(rows):
            chances[value] += Fraction(row[reports[0]], k * whole) * rest
    return sum(max(chances) for chances in joint.values())


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_bound_is_not_below_the_enumerated_guess(rows, n):
    channel = Channel.from_weights(rows, sum(rows[0]))
    assert Fraction(uninformed_upper_bound(channel, n=n)) >= _truth(rows, n)
