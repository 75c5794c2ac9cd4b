"""ln(1 - z) against many digits, where z is tiny and where it is next to one."""

import math

import mpmath
import numpy as np
import pytest

from croupier.numerics.complex_logarithm import log_one_less


@pytest.mark.parametrize("centre", [0.0, 1.0, 0.3, 1.7])
@pytest.mark.parametrize("size", [1e-15, 1e-9, 1e-5, 0.1, 0.9])
def test_against_many_digits(centre, size):
    # No point on the cut, where the sign of the phase is a matter of taste.
    turns = np.exp(2j * np.pi * (np.arange(12) + 0.3) / 12)
    points = centre + size * turns
    found = log_one_less(points)
    with mpmath.workdps(60):
        for point, value in zip(points.tolist(), found.tolist(), strict=True):
            exact = mpmath.log(1 - mpmath.mpc(point))
            assert abs(mpmath.mpc(value) - exact) <= 1e-15 * abs(exact)


def test_one_itself():
    assert log_one_less(np.array([1.0 + 0j])).real.tolist() == [-math.inf]
