"""Gains in doubles against fractions: near-ties, every kind of number, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from croupier.errors import ParameterError
from croupier.leakage import gain as module
from croupier.leakage.gain import (
    additive_leakage,
    blind_gain,
    miracle_bound,
    posterior_guessing_entropy,
)
from croupier.leakage.gain import gain as gained
from croupier.leakage.prior import checked_prior, exact_doubles, prior_in_doubles
from croupier.model import Channel


def _by_definition(channel, prior, gain):
    """In fractions, with the rows of the channel scaled to sum to one."""
    law = checked_prior(prior, len(channel.weights))
    rows = [[Fraction(entry) for entry in row] for row in channel.probabilities.tolist()]
    joint = [[p * c / sum(row) for c in row] for p, row in zip(law, rows, strict=True)]
    guesses = [[Fraction(g) for g in row] for row in gain]
    return sum(
        max(sum(g * j for g, j in zip(row, column, strict=True)) for row in guesses)
        for column in zip(*joint, strict=True)
    )


def _float_channel(rng, secrets, outputs):
    """Its rows do not quite sum to one."""
    rows = rng.dirichlet(np.full(outputs, 0.3), secrets)
    return Channel.from_probabilities(rows * (1 + rng.uniform(-9e-10, 9e-10, (secrets, 1))))


@pytest.mark.parametrize("seed", range(40))
def test_a_float_channel_against_fractions(seed):
    rng = np.random.default_rng(seed)
    secrets, outputs, guesses = (int(size) for size in rng.integers(1, 25, size=3))
    channel = _float_channel(rng, secrets, outputs)
    prior = rng.dirichlet(np.ones(secrets)) * (1 + rng.uniform(-9e-10, 9e-10))
    scale = 10.0 ** rng.integers(-280, 300)
    gain = rng.normal(size=(guesses, secrets)) * scale
    gain /= max(1.0, np.abs(gain).max() / 1e300)
    error = abs(Fraction(gained(channel, prior, gain)) - _by_definition(channel, prior, gain))
    assert error <= 1e-13 * Fraction(float(np.abs(gain).max()))
    identity = np.eye(secrets, dtype=int).tolist()
    error = abs(Fraction(gained(channel, prior)) - _by_definition(channel, prior, identity))
    assert error <= Fraction(1e-13)
    assert gained(channel, prior, identity) == pytest.approx(gained(channel, prior), rel=1e-14)


def test_all_blocks_of_rows_are_seen(monkeypatch):
    rng = np.random.default_rng(1)
    channel, prior = _float_channel(rng, 23, 7), rng.dirichlet(np.ones(23))
    whole = gained(channel, prior)
    for block in (1, 14, 23, 60, 7 * 22, 7 * 23):
        monkeypatch.setattr(module, "_BLOCK", block)
        assert gained(channel, prior) == whole


@pytest.mark.parametrize("seed", range(200))
def test_rounding_never_hides_the_best_guess_by_luck(seed):
    """Guesses that differ by less than the rounding of a sum, on a channel that says nothing."""
    rng = np.random.default_rng(seed)
    secrets = int(rng.integers(2, 40))
    prior = rng.dirichlet(np.ones(secrets)).tolist()
    row = rng.normal(size=secrets)
    gain = np.tile(row, (6, 1))
    # Turn one gain up and another down by units in the last place that all but cancel.
    for guess in gain[1:]:
        for x in rng.integers(secrets, size=2):
            guess[x] += rng.choice([-1, 1]) * math.ulp(guess[x])
    exact = max(
        sum(p * Fraction(g) for p, g in zip(checked_prior(prior, secrets), guess, strict=True))
        for guess in gain.tolist()
    )
    assert blind_gain(prior, gain) == float(exact)
    blind = Channel.from_probabilities(np.tile(rng.dirichlet(np.ones(5)), (secrets, 1)))
    assert gained(blind, prior, gain) >= float(exact)
    assert gained(blind, prior) >= blind_gain(prior)
    assert 0 <= additive_leakage(blind, prior, gain) <= 1e-13 * np.abs(gain).max()


@pytest.mark.parametrize("seed", range(50))
def test_an_exact_channel_is_rounded_once_however_close_the_guesses(seed):
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(2**40 + 1, rng.dirichlet(np.ones(4)), size=3)
    channel = Channel.from_weights(weights.astype(object), 2**40 + 1)
    prior = rng.dirichlet(np.ones(3))
    gain = np.tile(rng.normal(size=3), (4, 1))
    gain *= 1 + rng.integers(-2, 3, gain.shape) * math.ulp(1.0)
    law = checked_prior(prior, 3)
    exact = sum(
        max(
            sum(law[x] * channel.probability(x, y) * Fraction(g) for x, g in enumerate(guess))
            for guess in gain.tolist()
        )
        for y in range(4)
    )
    assert gained(channel, prior, gain) == float(exact)


def test_cancellation_between_huge_gains():
    half = [0.5, 0.5]
    gain = [[1e299, -1e299], [3, 2], [1e299, np.nextafter(-1e299, 0)]]
    assert blind_gain(half, gain) == math.ulp(1e299) / 2
    assert blind_gain(half, gain[:2]) == 2.5
    blind = Channel.from_probabilities([[0.3, 0.7], [0.3, 0.7]])
    assert gained(blind, half, gain[:2]) >= 2.5


def test_numbers_of_every_kind_give_one_answer():
    rng = np.random.default_rng(3)
    channel = _float_channel(rng, 4, 6)
    prior, gain = np.array([0.5, 0.25, 0.125, 0.125]), rng.integers(0, 2, (3, 4))
    gain[0, 0] = 1
    answer = gained(channel, prior, gain)
    fractions = [[Fraction(int(g)) for g in row] for row in gain]
    kinds = [np.bool_, np.int8, np.uint64, np.float16, np.float32, np.float64, object]
    for table in (*(gain.astype(kind) for kind in kinds), gain.tolist(), fractions, gain[:, :]):
        for law in (prior, prior.tolist(), prior.astype(np.float32), [*map(Fraction, prior)]):
            assert gained(channel, law, table) == answer
    assert gained(channel, prior, np.asfortranarray(gain)) == answer


def test_numbers_that_no_double_holds_are_left_to_fractions():
    wide = np.array([1, 1], dtype=np.longdouble) + np.longdouble(2) ** -60
    if wide.dtype.itemsize > 8:
        assert exact_doubles(wide, dimensions=1) is None
    for integer in (2**53 + 1, -(2**53) - 1, 2**64 - 1, 2**64, 10**400):
        assert exact_doubles([integer], dimensions=1) is None
    assert exact_doubles([1 - 2**53, 2**53 - 1], dimensions=1).tolist() == [1 - 2**53, 2**53 - 1]


def test_integers_that_no_double_holds():
    half, certain = [0.5, 0.5], Channel.from_weights([[1, 0], [0, 1]], 1)
    large = 2**53
    assert blind_gain(half, [[large + 1, -large]]) == 0.5
    assert blind_gain(half, np.array([[large + 1, -large], [0, 0]])) == 0.5
    assert additive_leakage(certain, half, [[large + 1, -large], [large, -large + 2]]) == 0.5
    # Integers of numpy overflow: 0.7065 was the answer in place of 2.7415.
    law, integers = [0.1599, 0.7415, 0.0986], np.array([2, 3, 2])
    mixed = [[Fraction(1, 2), Fraction(3, 4), Fraction(5, 7)], [*integers]]
    assert blind_gain(law, mixed) == blind_gain(law, [[2, 3, 2]]) == pytest.approx(2.7415)
    parts = [Fraction(part, np.int64(3)) for part in np.array([1, 2])]
    assert blind_gain(parts, [[0.1, 0.7]]) == blind_gain(
        [Fraction(1, 3), Fraction(2, 3)], [[0.1, 0.7]]
    )


def test_doubles_are_not_read_as_fractions(monkeypatch):
    def never(*_args, **_keywords):
        raise AssertionError

    rng = np.random.default_rng(4)
    channel = _float_channel(rng, 30, 20)
    prior, gain = rng.dirichlet(np.ones(30)), rng.random((5, 30))
    monkeypatch.setattr(module, "checked_prior", never)
    monkeypatch.setattr(module, "exact_numbers", never)
    assert gained(channel) > 1 / 30
    assert gained(channel, prior.tolist(), gain.tolist()) == gained(channel, prior, gain)


@pytest.mark.parametrize("seed", range(100))
def test_a_prior_in_doubles_is_the_exact_one_rounded_twice(seed):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(int(rng.integers(1, 30)), 0.3))
    prior *= 1 + rng.uniform(-4e-10, 4e-10)
    exact = checked_prior(prior, len(prior))
    for rounded, chance in zip(prior_in_doubles(prior, len(prior)).tolist(), exact, strict=True):
        assert abs(Fraction(rounded) - chance) <= chance * Fraction(1, 2**52) + Fraction(1, 2**1074)


@pytest.mark.parametrize("error", [1e-9, 1e-9 + 1e-15, 1e-9 - 1e-15, 5e-10, -5e-10, -1e-9, -1.1e-9])
def test_doubles_and_fractions_accept_the_same_priors(error):
    prior = [0.5 + error, 0.25, 0.25]
    accepted = abs(sum(map(Fraction, prior)) - 1) <= 1e-9
    for ask in (checked_prior, prior_in_doubles):
        if accepted:
            assert len(ask(prior, 3)) == 3
        else:
            with pytest.raises(ParameterError, match="sum to 1 within 1e-9"):
                ask(prior, 3)


@pytest.mark.parametrize(
    "prior",
    [
        [math.nan, 1.0],
        [math.inf, 0.0],
        [1e308] * 2,
        [-0.5, 1.5],
        [0.5] * 3,
        [],
        [[1.0]],
        "ab",
        [1j, 0],
    ],
    ids=str,
)
def test_priors_that_are_refused(prior):
    channel = Channel.from_probabilities([[0.75, 0.25], [0.25, 0.75]])
    for ask in (gained, additive_leakage, miracle_bound, posterior_guessing_entropy):
        with pytest.raises(ParameterError, match="`prior` must"):
            ask(channel, prior)


@pytest.mark.parametrize(
    "gain",
    [
        [[math.nan, 1]],
        [[1.0, -math.inf]],
        [[1, 2], [3]],
        [],
        [[]],
        np.zeros((2, 3)),
        [1.0, 2.0],
        [["1", "2"]],
        [[1j, 0]],
        np.zeros((1, 2), dtype="m8[s]"),
        [[1e300, 0], [0, 1e300]],  # the double is above 10^300
        [[10**300 + 1, 0]],
    ],
    ids=str,
)
def test_gains_that_are_refused(gain):
    channel = Channel.from_weights([[3, 1], [1, 3]], 4)
    for source in (channel, Channel.from_probabilities(channel.probabilities)):
        for ask in (gained, additive_leakage, miracle_bound):
            with pytest.raises(ParameterError, match="`gain` must"):
                ask(source, [0.5, 0.5], gain)
    assert gained(channel, [0.5, 0.5], [[10**300, 0]]) == 5e299


def test_a_fraction_below_every_double_is_still_negative():
    channel = Channel.from_weights([[3, 1], [1, 3]], 4)
    with pytest.raises(ParameterError, match="not be negative"):
        miracle_bound(channel, gain=[[1, Fraction(-1, 10**400)]])
    assert miracle_bound(channel, gain=[[1, -0.0]]) >= 0.75 / 2
