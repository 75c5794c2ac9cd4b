"""Each game measures what the exact law says: it covers the truth, and not what is beside it."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from croupier.auditing.attacks.distinguisher import CoinGame, EpsilonGame
from croupier.auditing.attacks.link import LinkGame, play_link
from croupier.auditing.attacks.order import HouseholdGame, PlaceGame, household_size
from croupier.auditing.attacks.rounds import RoundsGame
from croupier.auditing.attacks.scene import Scene
from croupier.auditing.attacks.value import InformedGame, UninformedGame
from croupier.errors import ParameterError
from croupier.leakage.informed import informed_vulnerability
from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.uninformed import uninformed_vulnerability
from croupier.model.participation import Multinomial
from croupier.model.rung import Rung
from croupier.numerics.betting import bounded_mean
from croupier.numerics.intervals import clopper_pearson
from croupier.randomizers import randomizer

SKEWED = {"matrix": [[7, 2, 1], [1, 7, 2], [3, 1, 6]]}
REVEALING = {"matrix": [[7, 3, 0], [2, 6, 2]]}
MECHANISMS = {
    "2-rr": randomizer("k-rr", k=2, max_epsilon_local=1.0),
    "10-rr": randomizer("k-rr", k=10, max_epsilon_local=3.0),
    "unary": randomizer("symmetric-unary", k=3, max_epsilon_local=2.0),
    "skewed": randomizer("matrix", **SKEWED),
    "revealing": randomizer("matrix", **REVEALING),
}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def scene(mechanism, people, **more):
    return Scene(rung=Rung.BATCH, randomizer=MECHANISMS[mechanism], people=people, **more)


def check(outcomes, truth, alarm, *, beside):
    """Covers the truth but for a false alarm; tells it from what is a little more, or less."""
    if outcomes.dtype == bool:
        right, games = int(outcomes.sum()), len(outcomes)
        interval = clopper_pearson(right, games, confidence=1 - alarm)
    else:
        interval = bounded_mean(outcomes, confidence=1 - alarm)
    assert interval.lower <= truth * (1 + 1e-9), (interval, truth)
    assert truth * (1 - 1e-9) <= interval.upper
    assert (1 - beside) * truth < interval.lower
    assert interval.upper < (1 + beside) * truth


@pytest.mark.parametrize(("guesses", "n"), [(1, 5), (1, 300), (3, 40), (40, 40)])
def test_finding_a_report_among_decoys(rng, alarm, guesses, n):
    law = LikelihoodRatio.of([0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4])
    scores = play_link(law, n=n, games=60_000, rng=rng, guesses=guesses)
    check(scores, law.probability(n=n, guesses=guesses), alarm, beside=0.08)


def test_what_no_decoy_sends_gives_its_sender_away(rng, alarm):
    law = LikelihoodRatio.of([0.5, 0.25, 0.25], [0.5, 0.5, 0.0])
    scores = play_link(law, n=50, games=40_000, rng=rng)
    check(scores, law.probability(n=50), alarm, beside=0.1)


@pytest.mark.parametrize(("mechanism", "share"), [("10-rr", 1.0), ("unary", 0.25)])
def test_linking_in_a_batch(rng, alarm, mechanism, share):
    game = LinkGame(scene=scene(mechanism, 400, share=share))
    check(game.play(60_000, rng), game.law.probability(n=400), alarm, beside=0.08)


@pytest.mark.parametrize(
    ("mechanism", "people", "share"),
    [("2-rr", 30, 1.0), ("10-rr", 500, 0.5), ("skewed", 100, 1.0), ("revealing", 8, 1.0)],
)
def test_a_coin_is_guessed_as_often_as_the_laws_allow(rng, alarm, mechanism, people, share):
    game = CoinGame(scene=scene(mechanism, people, share=share))
    distance = math.exp(game.pair.log_delta(0.0).upper)
    check(game.play(100_000, rng), 0.5 + distance / 2, alarm, beside=0.03)


def test_several_rounds_are_weighed_together(rng, alarm):
    """Two reports of 2-RR with a known sender: they agree, or they say nothing."""
    two = replace(scene("2-rr", 1), rounds=2)
    truth = math.exp(1) / (1 + math.exp(1))
    right = truth**2 + truth * (1 - truth)
    check(CoinGame(scene=two).play(100_000, rng), right, alarm, beside=0.03)
    loss = EpsilonGame(scene=replace(two, delta=0.05))
    found = loss.evidence(loss.play(50_000, rng), confidence=1 - alarm)
    # delta(epsilon) = p^2 - e^epsilon (1-p)^2 above epsilon_local, solved for epsilon.
    exact = math.log((truth**2 - 0.05) / (1 - truth) ** 2)
    assert 0.97 * exact < found.lower <= exact


@pytest.mark.parametrize(
    ("mechanism", "people"), [("2-rr", 25), ("10-rr", 200), ("skewed", 20), ("revealing", 6)]
)
def test_knowing_nobody(rng, alarm, mechanism, people):
    game = UninformedGame(scene=scene(mechanism, people))
    exact = uninformed_vulnerability(game.scene.randomizer, n=people)
    check(game.play(40_000, rng), exact, alarm, beside=0.03)


@pytest.mark.parametrize(
    ("mechanism", "people"), [("2-rr", 25), ("skewed", 20), ("revealing", 6), ("skewed", 1)]
)
def test_knowing_everybody_else(rng, alarm, mechanism, people):
    game = InformedGame(scene=scene(mechanism, people))
    others = [0] * game.scene.randomizer.domain.size
    others[game.others] = people - 1
    exact = informed_vulnerability(game.scene.randomizer, others=others)
    check(game.play(40_000, rng), exact, alarm, beside=0.03)


@pytest.mark.parametrize("delta", [0.05, 1e-2, 1e-8])
@pytest.mark.parametrize(
    ("mechanism", "people", "share"),
    [("2-rr", 1000, 1.0), ("10-rr", 2000, 0.3), ("skewed", 300, 1.0), ("10-rr", 1, 1.0)],
)
def test_epsilon_is_measured_at_any_delta(rng, alarm, mechanism, people, share, delta):
    game = EpsilonGame(scene=scene(mechanism, people, share=share, delta=delta))
    found = game.evidence(game.play(50_000, rng), confidence=1 - alarm)
    bounds = [
        pair.log_delta(point, rtol=1e-7)
        for pair in [game.law.pair]
        for point in (found.lower, found.upper)
    ]
    assert bounds[0].upper >= math.log(delta) or found.lower == 0
    assert bounds[1].lower <= math.log(delta)
    assert found.upper - found.lower <= 0.06 * found.measured + 0.01


def test_epsilon_counts_what_nobody_else_sends(rng, alarm):
    """One value in five is given away: no epsilon is enough at a smaller delta."""
    game = EpsilonGame(scene=scene("revealing", 50, delta=0.19))
    found = game.evidence(game.play(20_000, rng), confidence=1 - alarm)
    assert found.lower > 49
    assert found.upper == math.inf
    at_more = EpsilonGame(scene=scene("revealing", 50, delta=0.2002))
    found = at_more.evidence(at_more.play(20_000, rng), confidence=1 - alarm)
    exact = at_more.law.pair
    assert exact.log_delta(found.lower).upper >= math.log(0.2002)
    assert exact.log_delta(found.upper).lower <= math.log(0.2002)


def test_epsilon_is_zero_where_delta_hides_everything(rng):
    game = EpsilonGame(scene=scene("2-rr", 100_000, delta=0.2))
    found = game.evidence(game.play(5_000, rng), confidence=0.95)
    assert found.lower == found.measured == 0


def test_whoever_is_asked_by_chance_is_found_less_often(rng, alarm):
    asked = scene("10-rr", 100, asked=0.25)
    game = CoinGame(scene=asked)
    distance = math.exp(game.pair.log_delta(0.0).upper)
    always = math.exp(CoinGame(scene=scene("10-rr", 100)).pair.log_delta(0.0).upper)
    assert distance == pytest.approx(always / 4, rel=1e-6)
    check(game.play(100_000, rng), 0.5 + distance / 2, alarm, beside=0.03)


def test_a_place_and_a_report_together(rng, alarm):
    """Three people by listing every place and every batch."""
    theta = 0.4
    game = PlaceGame(scene=scene("2-rr", 3), theta=theta)
    places = np.exp(-theta * np.arange(3))
    places /= places.sum()
    p, w = game.law.target, game.law.decoy
    best = 0.0
    for batch in itertools.product(range(2), repeat=3):
        chances = [
            places[j] * p[batch[j]] * math.prod(w[y] for i, y in enumerate(batch) if i != j)
            for j in range(3)
        ]
        best += max(chances)
    check(game.play(100_000, rng), best, alarm, beside=0.03)


def test_a_household_that_is_not_moved_is_outvoted_by_noise_only(rng, alarm):
    game = HouseholdGame(scene=scene("2-rr", 30), theta=200.0, size=5)
    truth = math.exp(1) / (1 + math.exp(1))
    right = stats.binom.sf(2, 5, truth)
    check(game.play(3_000, rng), right, alarm, beside=0.08)


def test_a_household_in_a_uniform_order_is_hardly_found(rng):
    near = HouseholdGame(scene=scene("2-rr", 60), theta=0.5, size=5).play(300, rng).mean()
    far = HouseholdGame(scene=scene("2-rr", 60), theta=0.0, size=5).play(300, rng).mean()
    assert far < 0.6 < near


@pytest.mark.parametrize("size", [2, 5, 31])
def test_a_household_is_as_large_as_the_sensitivity_allows(size):
    pairs = size * (size - 1) // 2
    assert household_size(pairs) == size
    assert household_size(pairs + size - 1) == size
    assert household_size(pairs + size) == size + 1


def test_seen_rounds_need_a_binary_response():
    game = RoundsGame(scene=scene("10-rr", 10), protocol=Multinomial(weights=(1, 1)), everybody=10)
    with pytest.raises(ParameterError, match="binary"):
        game.play(10, np.random.default_rng(1))


def test_expensive_games_are_played_less_often():
    cheap, dear = (InformedGame(scene=scene(name, 20)) for name in ("2-rr", "10-rr"))
    assert cheap.affordable(10**9) > dear.affordable(10**9) >= 200
    assert cheap.affordable(50) == 50
