"""Nominal 95 % intervals contain the truth in 95 % of the runs, of all mechanisms."""

from itertools import product

import numpy as np
import pytest

from benchmarks.coverage import Setting, measure, settings
from croupier.model import Grid
from croupier.randomizers import randomizer
from croupier.randomizers.estimates.coin_rule import CoinRule

RUNS = 2_000
GRID = list(settings())
FEW = [one for one in GRID if one.people <= 300 and not one.name.startswith("parallel k-rr")][::3]
"""A part that takes half a minute; all of it: python -m benchmarks.coverage"""


def sharp():
    """The setting in which the normal approximation covered 86 %."""
    made = randomizer("k-rr", k=3, max_epsilon_local=8.0)
    return Setting("k-rr, epsilon_local 8, halves", made, (150, 150, 0))


def test_the_grid_has_every_mechanism_size_and_epsilon():
    assert len(GRID) >= 60
    mechanisms = {one.mechanism.mechanism for one in GRID}
    assert len(mechanisms) == 13
    assert {one.people for one in GRID} == {30, 300, 3_000, 100_000}


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", sorted({one.mechanism.mechanism for one in FEW}))
def test_intervals_cover_singly_and_together(mechanism, alarm):
    chosen = [one for one in FEW if one.mechanism.mechanism == mechanism]
    for setting in chosen:
        found = measure(setting, runs=RUNS, seed=7)
        assert not found.fails(alarm / len(chosen)), setting.name


def test_the_normal_approximation_is_found_out(alarm):
    assert measure(sharp(), runs=RUNS, seed=7, normal=True).fails(alarm)
    assert not measure(sharp(), runs=RUNS, seed=7).fails(alarm)


@pytest.mark.parametrize("place", range(0, len(GRID), 23))
def test_tallies_are_those_of_randomised_reports(place):
    """The same reports, counted by the mechanism and by the outputs of its channel."""
    setting = GRID[place]
    if setting.mechanism.mechanism == "rappor":
        pytest.skip("its bits are drawn one by one")
    channel = setting.mechanism.channel()
    reports = np.array(channel.outputs)
    drawn = np.random.default_rng(1).integers(len(reports), size=50)
    tally = setting.mechanism.tally(reports[drawn])
    counts = np.bincount(drawn, minlength=len(reports))
    assert np.array_equal(counts @ setting.tally_of_outputs, tally)


@pytest.mark.parametrize("confidence", [0.3, 0.95, 0.999])
@pytest.mark.parametrize("coins", [1, 2, 5, 9])
def test_any_coins_with_one_average_are_covered(coins, confidence):
    """Enumerated: chances that are equal, at the ends, or one apart from the others."""
    least, most = 0.003, 0.997
    for low, high in product((least, 0.02, 0.3, 0.5, most), repeat=2):
        for split in range(coins + 1):
            chances = [low] * split + [high] * (coins - split)
            law = np.ones(1)
            for chance in chances:
                law = np.convolve(law, [1 - chance, chance])
            truth = (np.mean(chances) - least) / (most - least)
            covered = 0.0
            for ones, mass in enumerate(law):
                rule = CoinRule(ones=ones, coins=coins, least=least, most=most, low=0.0, high=1.0)
                lower, upper = rule.ends(confidence)
                covered += mass * (lower[0] <= truth + 1e-12 and truth - 1e-12 <= upper[0])
            assert covered >= confidence - 1e-9


@pytest.mark.parametrize("mechanism", ["k-rr", "optimized-unary", "hadamard", "rappor", "matrix"])
def test_intervals_of_many_people_are_about_as_wide_as_the_normal_ones(mechanism):
    n, share = 100_000, np.array([0.5, 0.3, 0.2])
    if mechanism == "matrix":
        made = randomizer("matrix", matrix=[[90, 5, 5], [2, 96, 2], [30, 30, 40]])
    else:
        made = randomizer(mechanism, k=3, max_epsilon_local=2.0)
    one = Setting(mechanism, made, tuple((n * share).astype(int).tolist()))
    estimate = made.estimate_tally(one.tallies(1, np.random.default_rng(1))[0], n)
    ratio = (estimate.upper - estimate.lower) / (2 * 1.959964 * estimate.standard_errors)
    assert ratio == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("mechanism", ["one-bit-mean", "laplace", "gaussian"])
def test_intervals_of_means_of_many_people_are_about_as_wide_as_the_normal_ones(mechanism):
    made = randomizer(mechanism, grid=Grid(0, 4, 1), max_epsilon_local=2.0)
    one = Setting(mechanism, made, (20_000,) * 5)
    estimate = made.estimate_tally(one.tallies(1, np.random.default_rng(1))[0], 100_000)
    ratio = (estimate.upper - estimate.lower) / (2 * 1.959964 * estimate.standard_errors)
    assert ratio == pytest.approx(1.0, abs=0.05)


def test_intervals_stay_where_shares_can_be_and_survive_projection():
    estimate = sharp().mechanism.estimate_tally(np.array([200, 100, 0]), 300)
    assert (estimate.lower >= 0).all()
    assert (estimate.upper <= 1).all()
    after = estimate.projected()
    assert np.array_equal(after.lower, estimate.lower)
    assert np.array_equal(after.upper, estimate.upper)


def test_many_values_of_many_people_take_no_time():
    made = randomizer("optimized-unary", k=100_000, max_epsilon_local=2.0)
    counts = np.random.default_rng(1).binomial(10**9, 0.12, size=100_000)
    estimate = made.estimate_tally(counts, 10**9).simultaneous()
    assert (estimate.lower <= estimate.upper).all()
