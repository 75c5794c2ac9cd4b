"""Likelihood classes: equal to the grouped channel, and to the closed tables of the literature."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from croupier.errors import TooLargeError
from croupier.model import LikelihoodClasses
from croupier.randomizers import (
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    OptimizedUnaryEncoding,
    Rappor,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
    randomizer,
)

EXACT_BLANKET = [
    KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=101),
    KaryRandomizedResponse(k=4, max_epsilon_local=2.0, denominator=256),
    SymmetricUnaryEncoding(k=2, max_epsilon_local=2.0, denominator=16),
    SymmetricUnaryEncoding(k=4, max_epsilon_local=2.0, denominator=16),
    OptimizedUnaryEncoding(k=4, max_epsilon_local=1.0, denominator=17),
    HadamardResponse(k=3, max_epsilon_local=1.0, denominator=32),
    HadamardResponse(k=6, max_epsilon_local=1.0, denominator=32),
    SubsetSelection(k=5, max_epsilon_local=1.0, denominator=16, subset_size=2),
    SubsetSelection(k=4, max_epsilon_local=1.0, denominator=16, subset_size=3),
]
LOWER_BLANKET = [
    LocalHashing(k=4, max_epsilon_local=1.0, denominator=16, prime=5, buckets=3),
    Rappor(k=3, max_epsilon_local=6.0, denominator=16, bits=6),
    Rappor(k=4, max_epsilon_local=4.0, denominator=16, bits=10),
]


def _as_map(classes):
    """Class by its ratio first : second : reference, so that two groupings can be compared."""
    rows = zip(classes.reference, classes.first, classes.second, strict=True)
    return {tuple(e / sum(row) for e in row): row for row in rows}


@pytest.mark.parametrize("mechanism", EXACT_BLANKET, ids=repr)
def test_blanket_classes_are_the_grouped_channel(mechanism):
    channel = mechanism.channel()
    for first, second in permutations(range(mechanism.size), 2):
        ours = mechanism.likelihood_classes(first, second)
        assert _as_map(ours) == _as_map(channel.likelihood_classes(first, second))


@pytest.mark.parametrize("mechanism", EXACT_BLANKET + LOWER_BLANKET, ids=repr)
def test_classes_against_fixed_others_are_the_grouped_channel(mechanism):
    channel = mechanism.channel()
    for first, second, others in product(range(mechanism.size), repeat=3):
        if first != second:
            ours = mechanism.likelihood_classes(first, second, others=others)
            theirs = channel.likelihood_classes(first, second, others=others)
            assert _as_map(ours) == _as_map(theirs)


@pytest.mark.parametrize("mechanism", LOWER_BLANKET, ids=repr)
def test_lower_blankets_are_below_the_true_one(mechanism):
    channel = mechanism.channel()
    blanket = channel.weights.min(axis=0)
    for first, second in permutations(range(mechanism.size), 2):
        ours = mechanism.likelihood_classes(first, second)
        assert sum(ours.first) == sum(ours.second) == 1
        truth = channel.likelihood_classes(first, second)
        # Compare by the ratio first : second alone, which is at least as coarse as either grouping.
        for ratio in {p / (p + q) for p, q in zip(ours.first, ours.second, strict=True)}:
            assert _mass(ours, ratio) <= _mass(truth, ratio)
    assert blanket.min() > 0


def _mass(classes, ratio):
    rows = zip(classes.reference, classes.first, classes.second, strict=True)
    return sum(w for w, p, q in rows if p / (p + q) == ratio)


def test_sampled_sign_classes_are_the_grouped_channel():
    sampled = SampledSign(dimension=3, max_epsilon_local=1.0, denominator=64)
    channel = sampled.channel()
    for first, second in permutations(channel.inputs, 2):
        rows = [channel.inputs.index(vector) for vector in (first, second)]
        assert _as_map(sampled.likelihood_classes(first, second)) == _as_map(
            channel.likelihood_classes(*rows)
        )
        theirs = channel.likelihood_classes(*rows, others=0)
        assert _as_map(
            sampled.likelihood_classes(first, second, others=channel.inputs[0])
        ) == _as_map(theirs)


def test_opposite_sign_vectors_are_binary_response():
    sampled = SampledSign(dimension=13_170, max_epsilon_local=2.0)
    signs = np.ones(13_170, dtype=int)
    binary = KaryRandomizedResponse(k=2, max_epsilon_local=2.0)
    assert _as_map(sampled.likelihood_classes(signs, -signs)) == _as_map(
        binary.likelihood_classes(0, 1)
    )


def _closed(epsilon, alpha, beta, nu):
    """Classes at likelihood ratios (E, 1), (1, E), (E, E), (1, 1) to the blanket."""
    high = math.exp(epsilon)
    rows = [(alpha, high, 1), (alpha, 1, high), (beta, high, high), (nu, 1, 1)]
    return {(round(p / q, 6), round(p, 6)): w for w, p, q in rows if w > 0}


def _found(classes: LikelihoodClasses):
    rows = zip(*classes.arrays(), strict=True)
    return {(round(p / q, 6), round(p / w, 6)): w for w, p, q in rows}


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
def test_classes_agree_with_the_closed_tables(epsilon):
    high = math.exp(epsilon)
    share = 1 / (high + 9)
    found = _found(randomizer("k-rr", k=10, max_epsilon_local=epsilon).likelihood_classes(0, 1))
    assert found == pytest.approx(_closed(epsilon, share, 0, 8 * share), rel=1e-9)

    k, p, q = 20, 0.5, 1 / (high + 1)
    found = _found(
        randomizer("optimized-unary", k=k, max_epsilon_local=epsilon).likelihood_classes(3, 7)
    )
    beta = q * q * (1 - q ** (k - 2)) * (1 - p) / (1 - q)
    expected = _closed(epsilon, q * (1 - p), beta, (1 - q) * (1 - p) + p * q ** (k - 1))
    assert found == pytest.approx(expected, rel=1e-9)

    subset = randomizer("subset-selection", k=100, max_epsilon_local=epsilon)
    d, total = subset.d, high * math.comb(99, subset.d - 1) + math.comb(99, subset.d)
    counts = (math.comb(98, d - 1), math.comb(98, d - 2) if d > 1 else 0, math.comb(98, d))
    found = _found(subset.likelihood_classes(0, 99))
    assert found == pytest.approx(_closed(epsilon, *(c / total for c in counts)), rel=1e-9)

    hashing = randomizer("local-hashing", k=1000, max_epsilon_local=epsilon)
    g, share = hashing.g, 1 / (high + hashing.g - 1)
    expected = _closed(epsilon, share * (g - 1) / g, share / g, share * (g - 1) ** 2 / g)
    assert _found(hashing.likelihood_classes(0, 1)) == pytest.approx(expected, rel=1e-7)

    half = 1 / (2 * (1 + high))
    expected = _closed(epsilon, half, half * (1 - 4 / 1024), half + 2 * high / (1024 * (1 + high)))
    found = _found(
        randomizer("hadamard", k=1000, max_epsilon_local=epsilon).likelihood_classes(0, 1)
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_thousand_bits_have_four_classes_and_no_channel():
    unary = randomizer("optimized-unary", k=1000, max_epsilon_local=4.0)
    classes = unary.likelihood_classes(0, 1)
    assert len(classes) == 4
    assert sum(classes.first) == sum(classes.second) == 1
    assert all(isinstance(weight, Fraction) for weight in classes.reference)
    with pytest.raises(TooLargeError, match="likelihood_classes"):
        unary.channel()
