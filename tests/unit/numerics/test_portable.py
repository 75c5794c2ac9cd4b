"""Doubles that every machine and every language computes alike."""

import math
import struct

import mpmath
import numpy as np

from croupier.numerics.portable import ordered_sum, portable_exp

EXPONENTS = [0.0, -5e-324, -1e-300, -1e-9, -0.3466, -math.log(2), -1.0, -20.0, -689.9, -690.0]


def plain_exp(exponent):
    """The same with the operators of Python, one number at a time."""
    doublings = round(exponent * 1.4426950408889634)
    rest = (exponent - doublings * 0.6931471803691238) - doublings * 1.9082149292705877e-10
    series = 1.0
    for term in range(14, 0, -1):
        series = 1.0 + rest * series / term
    return math.ldexp(series, doublings)


def exponents():
    drawn = np.random.default_rng(5).uniform(0, 1, 2000)
    return np.concatenate([EXPONENTS, -drawn, -690 * drawn])


def test_vectors_and_single_numbers_have_the_same_bits():
    given = exponents()
    assert portable_exp(given).tolist() == [plain_exp(float(one)) for one in given]


def test_the_exponential_is_near_the_truth():
    with mpmath.workprec(200):
        for exponent, power in zip(exponents(), portable_exp(exponents()), strict=True):
            truth = mpmath.exp(mpmath.mpf(float(exponent)))
            assert abs(mpmath.mpf(float(power)) / truth - 1) < 2 * 2.0**-53


def test_below_the_range_is_zero():
    assert portable_exp(np.array([-690.1, -1e308, -math.inf])).tolist() == [0.0, 0.0, 0.0]


def test_the_first_part_of_ln_2_has_33_bits():
    (bits,) = struct.unpack("<Q", struct.pack("<d", 0.6931471803691238))
    assert bits % 2**20 == 0


def test_a_sum_goes_from_left_to_right():
    rows = np.random.default_rng(6).uniform(0, 1, (3, 1000))
    for row, total in zip(rows.tolist(), ordered_sum(rows).tolist(), strict=True):
        by_hand = 0.0
        for entry in row:
            by_hand += entry
        assert total == by_hand
