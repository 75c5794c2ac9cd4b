"""What may be believed, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from croupier.errors import ParameterError
from croupier.leakage.gain import blind_gain, guessing_entropy
from croupier.leakage.prior import as_law, checked_prior


@pytest.mark.parametrize(
    "prior",
    [
        [0.5, 0.25, 0.25],
        (Fraction(1, 2), 0.25, Fraction(1, 4)),
        np.array([0.5, 0.25, 0.25], dtype=np.float32),
        [np.float32(0.5), np.float64(0.25), 0.25],
    ],
)
def test_numbers_of_every_kind(prior):
    assert checked_prior(prior, 3) == as_law(prior) == [Fraction(1, 2), *[Fraction(1, 4)] * 2]


def test_whole_numbers_and_rounded_ones():
    assert as_law(np.array([1, 0])) == [1, 0]
    law = as_law([0.1] * 10)
    assert set(law) == {Fraction(1, 10)}
    assert sum(as_law([0.3, 0.3, 0.4])) == 1
    assert checked_prior(None, 2) == [Fraction(1, 2)] * 2


@pytest.mark.parametrize(
    "prior",
    [
        (chance for chance in (0.5, 0.5)),
        "ab",
        "1",
        {0.5: 1, 0.25: 2},
        {1.0},
        0.5,
        [[0.5, 0.5]],
        [[0.5], [0.25, 0.25]],
        ["0.5", "0.5"],
        [Fraction(1, 2), "0.5"],
        [0.5, None],
        [0.5, 0.5j],
        [math.nan, 1.0],
        [math.inf, 0.0],
        [],
        [10**400],
        [0.5, 0.6],
        [1.5, -0.5],
    ],
    ids=lambda prior: (
        str(prior) if isinstance(prior, list | dict | str | int) else type(prior).__name__
    ),
)
def test_refusals(prior):
    for ask in (as_law, blind_gain, guessing_entropy, lambda p: checked_prior(p, 2)):
        with pytest.raises(ParameterError, match="`prior` must"):
            ask(prior)
