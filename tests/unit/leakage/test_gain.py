"""Vulnerability, leakage and entropies against their definitions in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from croupier.errors import ParameterError
from croupier.leakage import gain as module
from croupier.leakage.gain import (
    additive_leakage,
    blind_gain,
    guessing_entropy,
    min_capacity,
    miracle_bound,
    multiplicative_capacity,
    multiplicative_leakage,
    mutual_information,
    posterior_guessing_entropy,
)
from croupier.leakage.gain import gain as gained
from croupier.model import Channel

RNG = np.random.default_rng(20)
NOISY = Channel.from_weights([[3, 1], [1, 3]], 4)


def _random_channel(rng, rows, columns, scale=24):
    weights = rng.multinomial(scale, rng.dirichlet(np.ones(columns)), size=rows)
    return Channel.from_weights(weights.astype(object), scale)


def _random_law(rng, size):
    weights = rng.integers(1, 10, size=size).tolist()
    return [Fraction(weight, sum(weights)) for weight in weights]


def _by_definition(channel, law, gain):
    total = Fraction(0)
    for y in range(channel.shape[1]):
        total += max(
            sum(law[x] * channel.probability(x, y) * g for x, g in enumerate(row)) for row in gain
        )
    return total


@pytest.mark.parametrize("seed", range(300))
def test_every_measure_against_its_definition(seed):
    rng = np.random.default_rng(seed)
    rows, columns, guesses = (int(size) for size in rng.integers(1, 6, size=3))
    channel, law = _random_channel(rng, rows, columns), _random_law(rng, rows)
    gain = [[Fraction(int(g), 7) for g in row] for row in rng.integers(0, 9, (guesses, rows))]
    gain[0][0] += 1
    before = max(sum(p * g for p, g in zip(law, row, strict=True)) for row in gain)
    after = _by_definition(channel, law, gain)
    identity = [[int(w == x) for x in range(rows)] for w in range(rows)]
    assert blind_gain(law, gain) == float(before)
    assert gained(channel, law, gain) == float(after)
    assert gained(channel, law) == float(_by_definition(channel, law, identity))
    assert multiplicative_leakage(channel, law, gain) == float(after / before)
    assert additive_leakage(channel, law, gain) == float(after - before)
    assert float(after) <= miracle_bound(channel, law, gain)
    assert multiplicative_leakage(channel, law, gain) <= multiplicative_capacity(channel) + 1e-15
    assert multiplicative_leakage(channel) == pytest.approx(multiplicative_capacity(channel))


@pytest.mark.parametrize("seed", range(20))
def test_doubles_agree_with_integers(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    channel, law = _random_channel(rng, 4, 5), _random_law(rng, 4)
    gain = rng.uniform(-1, 1, (3, 4))
    exact = [gained(channel, law), gained(channel, law, gain)]
    in_doubles = Channel.from_probabilities(channel.probabilities)
    floats = [
        gained(in_doubles, law),
        gained(in_doubles, law, gain),
    ]
    assert floats == pytest.approx(exact, abs=1e-14)
    monkeypatch.setattr(module, "_MOST_INTEGER_PRODUCTS", 0)
    assert gained(channel, law, gain) == pytest.approx(exact[1], abs=1e-14)
    assert miracle_bound(in_doubles, law) >= floats[0]


def test_integers_do_not_round():
    scale = 1 << 64
    channel = Channel.from_weights([[scale - 1, 1], [scale - 2, 2]], scale)
    law = [Fraction(1, 3), Fraction(2, 3)]
    gain = [[1, -1], [-1, 1]]
    exact = _by_definition(channel, law, [[Fraction(g) for g in row] for row in gain])
    assert gained(channel, law, gain) == float(exact)
    assert exact == Fraction(1, 3)
    assert additive_leakage(channel, law, gain) == 0


def test_capacity_is_attained_at_the_uniform_prior_and_by_no_gain_exceeded():
    channel = _random_channel(RNG, 4, 6)
    capacity = multiplicative_capacity(channel)
    assert min_capacity(channel) == math.log2(capacity)
    for _ in range(50):
        gain, law = RNG.uniform(0, 1, (5, 4)), _random_law(RNG, 4)
        assert multiplicative_leakage(channel, law, gain) <= capacity * (1 + 1e-14)
    assert additive_leakage(channel) == pytest.approx((capacity - 1) / 4)


def test_a_negative_gain_breaks_the_miracle_and_is_refused():
    gain = [[1, -1], [0, 0]]
    law = [Fraction(1, 2), Fraction(1, 2)]
    assert blind_gain(law, gain) == 0
    assert gained(NOISY, law, gain) > 0
    with pytest.raises(ParameterError, match="not be negative"):
        miracle_bound(NOISY, law, gain)
    with pytest.raises(ParameterError, match="positive gain"):
        multiplicative_leakage(NOISY, law, gain)


def test_the_miracle_bound_rounds_up_where_it_is_attained():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        channel = Channel.from_probabilities(rng.dirichlet(np.ones(7), 5))
        rows = [[channel.probability(x, y) for x in range(5)] for y in range(7)]
        exact = sum(max(row) for row in rows) / 5
        assert Fraction(miracle_bound(channel)) >= exact
        weights = rng.multinomial(10**6, rng.dirichlet(np.ones(7)), size=5)
        integers = Channel.from_weights(weights.astype(object), 10**6)
        exact = Fraction(int(weights.max(axis=0).sum()), 5 * 10**6)
        assert exact <= Fraction(miracle_bound(integers)) <= exact * (1 + Fraction(1, 10**15))


def test_entropies():
    law = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    assert guessing_entropy(law) == float(Fraction(1, 2) + Fraction(2, 3) + Fraction(1, 2))
    channel = Channel.from_weights([[2, 2, 0], [1, 1, 2], [0, 0, 4]], 4)
    joint = [[law[x] * channel.probability(x, y) for x in range(3)] for y in range(3)]
    guesses = sum(
        place * chance
        for column in joint
        for place, chance in enumerate(sorted(column, reverse=True), start=1)
    )
    assert posterior_guessing_entropy(channel, law) == pytest.approx(float(guesses), abs=1e-15)
    bits = sum(
        float(chance) * math.log2(chance / (sum(column) * law[x]))
        for column in joint
        for x, chance in enumerate(column)
        if chance
    )
    assert mutual_information(channel, law) == pytest.approx(bits, abs=1e-15)
    blind = Channel.from_weights([[1, 3], [1, 3]], 4)
    assert mutual_information(blind) == 0
    assert posterior_guessing_entropy(blind) == 1.5


def test_refusals():
    with pytest.raises(ParameterError, match="have 2 entries"):
        gained(NOISY, [1.0])
    with pytest.raises(ParameterError, match="sum to 1"):
        gained(NOISY, [0.5, 0.6])
    with pytest.raises(ParameterError, match="not be negative"):
        gained(NOISY, [1.5, -0.5])
    with pytest.raises(ParameterError, match="finite numbers"):
        gained(NOISY, [math.nan, 1.0])
    with pytest.raises(ParameterError, match="one row per guess and 2 columns"):
        gained(NOISY, gain=[[1, 2, 3]])
    with pytest.raises(ParameterError, match="finite numbers"):
        gained(NOISY, gain=[[1, math.inf]])
    with pytest.raises(ParameterError, match="rows of numbers, all of one length"):
        gained(NOISY, gain=[[1, 2], [3]])
    for text in ([["a", "b"]], [["1", "2"]], [[Fraction(1), "2"]]):
        with pytest.raises(ParameterError, match="finite numbers"):
            gained(NOISY, gain=text)
    for channel in (NOISY, Channel.from_probabilities(NOISY.probabilities)):
        with pytest.raises(ParameterError, match="be at most 1e300"):
            gained(channel, gain=[[10**400, 1]])
    with pytest.raises(ParameterError, match="one row per guess and 2 columns"):
        gained(NOISY, gain=np.zeros((0, 2)))
    with pytest.raises(ParameterError, match="be rows of numbers"):
        blind_gain([0.5, 0.5], gain=[1, 2])


@pytest.mark.parametrize("short", [5e-10, -5e-10])
def test_a_float_channel_that_is_almost_stochastic_leaks_nothing_that_it_does_not(short):
    blind = Channel.from_probabilities([[0.5, 0.5 - short], [0.5, 0.5 - short]])
    assert multiplicative_capacity(blind) == 1
    assert min_capacity(blind) == 0
    assert gained(blind) == 0.5
    assert additive_leakage(blind) == 0
    assert additive_leakage(blind, gain=[[2, -1], [-1, 3]]) == pytest.approx(0, abs=1e-15)
    assert mutual_information(blind) == 0
    assert posterior_guessing_entropy(blind) == 1.5
    thirds = Channel.from_probabilities(np.full((3, 7), 1 / 7))
    assert additive_leakage(thirds) >= 0
    assert gained(thirds) <= 1 / 3 + 1e-16


def test_chances_that_underflow_carry_no_information_and_no_warning():
    rare = Channel.from_probabilities([[1.0, 1e-200], [1.0, 0.0]])
    assert mutual_information(rare, [1e-200, 1]) == pytest.approx(0, abs=1e-190)
    assert mutual_information(rare, [1e-320, 1]) == pytest.approx(0, abs=1e-190)
    certain = Channel.from_weights([[1, 0], [0, 1]], 1)
    assert mutual_information(certain, [1e-320, 1]) == pytest.approx(0, abs=1e-300)
    assert mutual_information(certain, [0.5, 0.5]) == 1
