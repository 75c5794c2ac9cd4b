"""Samples from the operating system's randomness accept the true law and reject a perturbed one."""

import numpy as np
import pytest

from croupier.model import Grid
from croupier.randomizers import randomizer
from croupier.testing import law_p_value

SAMPLES = 1_000_000

TABULATED = [
    ("k-rr", {"k": 10, "max_epsilon_local": 2.0}),
    ("hadamard", {"k": 12, "max_epsilon_local": 2.0}),
    ("laplace", {"grid": Grid(0, 8, 1), "max_epsilon_local": 2.0}),
    ("gaussian", {"grid": Grid(0, 2, 1), "max_epsilon_local": 4.0}),
    ("one-bit-mean", {"grid": Grid(0, 8, 1), "max_epsilon_local": 1.0}),
    ("matrix", {"matrix": ((0.2, 0.5, 0.3), (0.6, 0.2, 0.2))}),
]

SUPPORTING = [
    ("k-rr", {"k": 100}),
    ("symmetric-unary", {"k": 100}),
    ("optimized-unary", {"k": 100}),
    ("local-hashing", {"k": 100}),
    ("hadamard", {"k": 100}),
    ("subset-selection", {"k": 100}),
]


@pytest.mark.parametrize(("mechanism", "parameters"), TABULATED)
def test_outputs_follow_the_channel_and_no_other(mechanism, parameters, alarm):
    mechanism = randomizer(mechanism, **parameters)
    row = mechanism.channel().shape[0] - 1
    value = mechanism.domain.points[row] if hasattr(mechanism.domain, "points") else row
    law = mechanism.channel().probabilities[row]
    counts = mechanism.tally(mechanism.randomize(np.full(SAMPLES, value)))
    assert law_p_value(counts, law) > alarm
    assert law_p_value(counts, _perturbed(law)) < alarm


@pytest.mark.parametrize(("mechanism", "parameters"), SUPPORTING)
def test_support_at_full_size_is_as_frequent_as_claimed(mechanism, parameters, alarm):
    mechanism = randomizer(mechanism, max_epsilon_local=3.0, **parameters)
    samples = 400_000
    value = 17
    tally = mechanism.tally(mechanism.randomize(np.full(samples, value)))
    support = mechanism.support(tally)
    own, other = (float(chance) for chance in mechanism.support_probabilities)
    others = support.sum() - support[value]
    trials = samples * (mechanism.size - 1)
    for count, total, chance in ((support[value], samples, own), (others, trials, other)):
        seen = (count, total - count)
        assert law_p_value(seen, (0.95 * chance, 1 - 0.95 * chance)) < alarm
    # Supports of different categories may depend on each other, so each is tested by itself.
    for category, count in enumerate(support):
        chance = own if category == value else other
        assert law_p_value((count, samples - count), (chance, 1 - chance)) > alarm / mechanism.size


def test_rappor_flips_every_bit_as_often_as_claimed(alarm):
    rappor = randomizer("rappor", k=10, max_epsilon_local=4.0)
    samples = 200_000
    ones = rappor.tally(rappor.randomize(np.full(samples, 3)))
    flipped = np.where(rappor.patterns[3] == 1, samples - ones, ones)
    chance = rappor.flip_weight / rappor.denominator
    for count in flipped:
        seen = (count, samples - count)
        assert law_p_value(seen, (chance, 1 - chance)) > alarm / len(flipped)
        assert law_p_value(seen, (0.95 * chance, 1 - 0.95 * chance)) < alarm


def test_sampled_sign_picks_coordinates_uniformly_and_flips_as_claimed(alarm):
    sampled = randomizer("sampled-sign", dimension=10, max_epsilon_local=1.0)
    signs = np.tile([1, -1], 5)
    reports = sampled.randomize(np.tile(signs, (SAMPLES, 1)))
    truthful = reports[:, 1] == (signs[reports[:, 0]] + 1) // 2
    counts = np.bincount(2 * reports[:, 0] + truthful, minlength=20)
    keep = 1 - sampled._blanket / sampled.denominator  # noqa: SLF001 - the integer behind the law
    law = np.tile([(1 - keep) / 10, keep / 10], 10)
    assert law_p_value(counts, law) > alarm
    assert law_p_value(counts, _perturbed(law)) < alarm


def _perturbed(law):
    """The most likely output made five per cent likelier, at the expense of all others."""
    wrong = law.copy()
    likeliest = np.argmax(law)
    wrong[likeliest] *= 1.05
    others = np.arange(len(law)) != likeliest
    wrong[others] *= (1 - wrong[likeliest]) / wrong[others].sum()
    return wrong
