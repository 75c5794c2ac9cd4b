import math

import pytest

from croupier.auditing.mechanism.ratio import Hits, detectable, epsilon_lower, flip_coins
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream


def chance_of_exceeding(truth, *, first, second, trials, delta, confidence):
    """P(bound > truth), over every outcome of trials whose input a fair coin chose."""
    total = 0.0
    for ahead in range(trials + 1):
        for behind in range(trials + 1 - ahead):
            hits = Hits(ahead, behind, trials)
            if epsilon_lower(hits, delta=delta, confidence=confidence) > truth:
                rest = trials - ahead - behind
                ways = math.factorial(trials) // (
                    math.factorial(ahead) * math.factorial(behind) * math.factorial(rest)
                )
                total += (
                    ways
                    * (first / 2) ** ahead
                    * (second / 2) ** behind
                    * (1 - (first + second) / 2) ** rest
                )
    return total


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize(
    ("first", "second"), [(0.9, 0.3), (0.5, 0.1), (0.2, 0.15), (0.3, 0.01), (1.0, 0.5)]
)
def test_the_bound_exceeds_the_truth_no_more_often_than_it_may(first, second, delta):
    truth = math.log((first - delta) / second)
    facts = {"first": first, "second": second, "trials": 40, "delta": delta, "confidence": 0.9}
    wrong = chance_of_exceeding(max(truth, 0.0), **facts)
    assert wrong <= 0.1
    assert chance_of_exceeding(max(truth, 0.0) - 1.5, **facts) > wrong


def test_one_share_does_better_than_two_probabilities():
    hits = Hits(7300, 2700, 20_000)
    # Clopper and Pearson for each probability at half the error: 0.7211 and 0.2789 of 10,000.
    assert epsilon_lower(hits) > math.log(0.7211 / 0.2789)
    assert epsilon_lower(hits) < math.log(7300 / 2700)


def test_nothing_seen_shows_nothing():
    assert epsilon_lower(Hits(0, 0, 10)) == 0
    assert epsilon_lower(Hits(5, 5, 10)) == 0
    assert epsilon_lower(Hits(9, 0, 1000), delta=0.1) == 0
    with pytest.raises(ParameterError, match="delta"):
        epsilon_lower(Hits(1, 1, 2), delta=1.0)


def test_coins_are_fair(alarm):
    stream = Keystream()
    heads = sum(int(flip_coins(1000, stream).sum()) for _ in range(1000))
    radius = math.sqrt(1e6 * math.log(2 / alarm) / 2)
    assert abs(heads - 500_000) <= radius
    assert [len(flip_coins(count, stream)) for count in (1, 64, 65)] == [1, 64, 65]


def test_power_rises_with_samples_and_falls_with_rarity():
    few, many = (detectable(1.0, trials) for trials in (10_000, 1_000_000))
    for less, more in zip(few, many, strict=True):
        assert 1.0 < more.epsilon < less.epsilon
    assert [entry.epsilon for entry in many] == sorted(entry.epsilon for entry in many)
    assert detectable(1.0, 10)[-1].epsilon == math.inf


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_what_is_called_detectable_is_found_nine_times_in_ten(delta):
    """The exact chance, by the law of the hits."""
    trials = 150
    entry = detectable(0.5, trials, delta=delta)[0]
    mean = entry.event_probability
    second = (2 * mean - delta) / (1 + math.exp(entry.epsilon))
    found = chance_of_exceeding(
        0.5, first=2 * mean - second, second=second, trials=trials, delta=delta, confidence=0.95
    )
    assert 0.9 <= found < 0.999
