"""One person's value against a reader of the batch who knows everybody else's."""

import json
import math
import time
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from pathlib import Path

import numpy as np
import pytest

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage import informed as strong_adversary
from croupier.leakage.informed import (
    informed_upper_bound,
    informed_vulnerability,
    scan_compositions,
)
from croupier.leakage.uninformed import uninformed_vulnerability
from croupier.model import Channel, Direction, Goal, Knowledge, Metric
from croupier.randomizers import randomizer

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "vulnerability.json").read_text())
CASES = [case for case in GOLDEN["values"] if case["name"].startswith("V_ABO")]


def _response(truth, k=2):
    truth = Fraction(str(truth))
    other = (1 - truth) / (k - 1)
    scale = math.lcm(truth.denominator, other.denominator)
    weights = [[int((truth if x == y else other) * scale) for y in range(k)] for x in range(k)]
    return Channel.from_weights(weights, scale)


def _others(inputs):
    if "known_a" in inputs:
        return inputs["known_a"], inputs["known_b"]
    if "others_counts" in inputs:
        return inputs["others_counts"]
    values = inputs["others"].split(",")
    return [values.count(str(value)) for value in range(3)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["inputs"]))
def test_golden_values(case):
    k = 3 if "k=3" in case["name"] else 2
    channel = _response(case["inputs"]["p"], k)
    found = informed_vulnerability(channel, others=_others(case["inputs"]))
    assert abs(found - float(Fraction(case["value"]))) <= max(case["tolerance"], 1e-15)


def _laws(channel, others):
    """For each input of the one person, the exact law of the histogram of all reports."""
    entry = [
        [channel.probability(x, y) for y in range(channel.shape[1])]
        for x in range(channel.shape[0])
    ]
    law = {(0,) * channel.shape[1]: Fraction(1)}
    for x, count in enumerate(others):
        for _ in range(count):
            law = _one_more(law, entry[x])
    return [_one_more(law, row) for row in entry]


def _one_more(law, row):
    following = {}
    for histogram, weight in law.items():
        for y, chance in enumerate(row):
            raised = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
            following[raised] = following.get(raised, 0) + weight * chance
    return following


def _by_enumeration(channel, others, prior):
    laws = _laws(channel, others)
    return sum(
        max(chance * law.get(histogram, 0) for chance, law in zip(prior, laws, strict=True))
        for histogram in set().union(*laws)
    )


@pytest.mark.parametrize("block", range(10))
def test_random_channels_against_enumeration(block):
    for seed in range(40 * block, 40 * block + 40):
        rng = np.random.default_rng(seed)
        inputs, outputs = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        weights = rng.multinomial(20, rng.dirichlet(np.ones(outputs)), size=inputs)
        channel = Channel.from_weights(weights.astype(object), 20)
        others = rng.multinomial(int(rng.integers(0, 6)), np.full(inputs, 1 / inputs)).tolist()
        law = rng.multinomial(12, np.full(inputs, 1 / inputs)).tolist()
        prior = [Fraction(weight, 12) for weight in law]
        exact = _by_enumeration(channel, others, prior)
        found = informed_vulnerability(channel, others=others, prior=prior)
        assert abs(float(Fraction(found) - exact)) <= 5e-15, seed


@pytest.mark.parametrize("others", [(0, 0), (1, 0), (3, 4), (0, 9), (30, 20)])
@pytest.mark.parametrize("truth", ["1/2", "3/5", "9/10", "1"])
def test_binary_response_against_enumeration(others, truth):
    channel = _response(truth)
    exact = _by_enumeration(channel, others, [Fraction(1, 2)] * 2)
    found = informed_vulnerability(channel, others=others)
    assert found == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.parametrize("k", [3, 4])
def test_the_shortcut_for_k_rr(k):
    # V = (1-p)/(k-1) + (lambda/k) sum_c max_x H(c - e_x), H the law of the others' histogram.
    channel, others = _response("7/10", k), [3, 1, 0, 2][:k]
    truth, other = channel.probability(0, 0), channel.probability(0, 1)
    silent = Channel.from_weights(np.eye(k, dtype=np.int64), 1)
    law = {(0,) * k: Fraction(1)}
    for x, count in enumerate(others):
        for _ in range(count):
            law = _one_more(law, [channel.probability(x, y) for y in range(k)])
    shifted = [_one_more(law, [silent.probability(x, y) for y in range(k)]) for x in range(k)]
    total = sum(max(s.get(c, 0) for s in shifted) for c in set().union(*shifted))
    shortcut = other + (truth - other) / k * total
    found = informed_vulnerability(channel, others=others)
    assert found == pytest.approx(float(shortcut), abs=1e-15)


@pytest.mark.parametrize("others", [(1000, 1000), (4999, 0), (500_000, 499_999)])
def test_window_and_transform_agree(others):
    channel = _response("4/5")
    asymmetric = Channel.from_weights([[80_000_001, 19_999_999], [20_000_000, 80_000_000]], 10**8)
    near = informed_vulnerability(asymmetric, others=others)
    assert near == pytest.approx(informed_vulnerability(channel, others=others), abs=2e-8)
    transformed = strong_adversary._by_transform(channel, list(others), [Fraction(1, 2)] * 2)  # noqa: SLF001 - no public way to the slower one
    assert transformed == pytest.approx(informed_vulnerability(channel, others=others), abs=1e-12)


def test_channels_that_hide_nothing_are_never_above_certainty():
    identity = Channel.from_weights(np.eye(3, dtype=np.int64), 1)
    assert informed_vulnerability(identity, others=(500, 300, 0)) == 1
    assert scan_compositions(identity, n=1001).value <= 1
    for first in range(1, 99):
        prior = [first / 100, (100 - first) / 300, (100 - first) / 150]
        assert informed_vulnerability(identity, others=(5, 3, 7), prior=prior) <= 1


@pytest.mark.parametrize("people", [1000, 10**5, 2 * 10**6])
def test_a_sparse_channel_of_many_people_against_its_closed_form(people):
    # All others say "first" for certain, so that a single "second" gives its sender away.
    sparse = Channel.from_weights([[1000, 0], [1, 999]], 1000)
    assert informed_vulnerability(sparse, others=(people, 0)) == pytest.approx(0.9995, abs=1e-14)


def test_the_order_of_the_outputs_does_not_matter():
    rows = randomizer("k-rr", k=3, max_epsilon_local=10.0).channel().probabilities
    found = [
        informed_vulnerability(Channel.from_probabilities(rows[:, order]), others=(266, 267, 267))
        for order in map(list, permutations(range(3)))
    ]
    assert max(found) - min(found) <= 2e-15


@pytest.mark.parametrize(
    ("weights", "scale", "others"),
    [([[0, 1, 1, 1], [1, 1, 1, 0]], 3, (3, 1)), ([[3, 3, 3, 3], [4, 4, 4, 0]], 12, (1, 3))],
)
def test_transforms_that_vanish_somewhere(weights, scale, others):
    channel = Channel.from_weights(weights, scale)
    exact = _by_enumeration(channel, others, [Fraction(1, 2)] * 2)
    assert informed_vulnerability(channel, others=others) == pytest.approx(float(exact), abs=1e-15)


@pytest.mark.parametrize("others", [(40, 0, 0), (13, 14, 13), (0, 1, 39), (20, 20, 0)])
@pytest.mark.parametrize("truth", ["7/10", "999/1000", "1"])
def test_forty_others_against_enumeration(others, truth):
    channel = _response(truth, 3)
    exact = _by_enumeration(channel, others, [Fraction(1, 3)] * 3)
    assert informed_vulnerability(channel, others=others) == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.parametrize("block", range(3))
def test_no_value_is_below_the_blind_guess_and_no_scan_above_the_truth(block):
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        k, outputs = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        weights = rng.multinomial(20, rng.dirichlet(np.full(outputs, 0.3)), size=k)
        channel = Channel.from_weights(weights.astype(object), 20)
        law = rng.multinomial(12, np.full(k, 1 / k)).tolist()
        prior = [Fraction(weight, 12) for weight in law]
        blind = Channel.from_weights(np.repeat(weights[:1], k, axis=0).astype(object), 20)
        for source in (channel, blind):
            found = informed_vulnerability(source, others=[2] * k, prior=prior)
            assert float(max(prior)) <= found <= 1
        scanned = scan_compositions(channel, n=4)
        worst = max(
            _by_enumeration(channel, [p.count(x) for x in range(k)], [Fraction(1, k)] * k)
            for p in combinations_with_replacement(range(k), 3)
        )
        assert Fraction(scanned.value) <= worst


def test_shuffling_alone_protects_nothing_from_one_who_knows_the_rest():
    assert informed_vulnerability(_response(1), others=(2, 0)) == 1
    assert informed_vulnerability(_response(1, 3), others=(4, 0, 3)) == pytest.approx(1)


def test_the_others_as_strangers_are_an_average_of_the_others_as_friends():
    channel, n = _response("7/10", 3), 4
    average = 0.0
    for people in combinations_with_replacement(range(3), n - 1):
        others = [people.count(value) for value in range(3)]
        ways = math.factorial(n - 1) / math.prod(map(math.factorial, others))
        average += ways / 3 ** (n - 1) * informed_vulnerability(channel, others=others)
    assert average > uninformed_vulnerability(channel, n=n) + 1e-3


def test_the_excess_over_an_uninformed_reader_tends_to_its_limit():
    truth, n = Fraction(4, 5), 10**6
    share = float(2 * truth - 1)
    strong = informed_vulnerability(_response(truth), others=(n // 2, n // 2 - 1)) - 0.5
    weak = uninformed_vulnerability(_response(truth), n=n) - 0.5
    assert strong / weak == pytest.approx(1 / math.sqrt(1 - share**2), rel=1e-5)


def test_balance_is_the_worst_for_two_values_and_not_for_three():
    two = _response("4/5")
    balanced = informed_vulnerability(two, others=(100, 100))
    assert balanced > informed_vulnerability(two, others=(200, 0))
    three = _response("7/10", 3)
    balanced = informed_vulnerability(three, others=(20, 20, 20))
    assert balanced < informed_vulnerability(three, others=(60, 0, 0))


@pytest.mark.parametrize(("k", "n"), [(2, 6), (3, 5), (3, 8)])
def test_a_scan_finds_the_worst_composition_of_a_small_batch(k, n):
    channel = _response("7/10", k)
    worst = max(
        _by_enumeration(channel, [p.count(x) for x in range(k)], [Fraction(1, k)] * k)
        for p in combinations_with_replacement(range(k), n - 1)
    )
    found = scan_compositions(channel, n=n)
    assert found.direction is Direction.LOWER
    assert found.metric is Metric.GUESS_INFORMED
    assert found.adversary.knows is Knowledge.EVERYONE_ELSE
    assert found.adversary.wants is Goal.GUESS
    assert found.value <= float(worst)
    assert found.value == pytest.approx(float(worst), rel=1e-11)


def test_a_scan_of_a_large_batch_tries_equal_others():
    found = scan_compositions(_response("7/10", 3), n=61)
    assert found.value >= 0.377734960
    assert "60, 0, 0" in " ".join(found.assumptions).replace("(0, 0, 60)", "(60, 0, 0)").replace(
        "(0, 60, 0)", "(60, 0, 0)"
    )
    assert scan_compositions(randomizer("k-rr", k=2, max_epsilon_local=1.0), n=10**6).value > 0.5


def _delta(channel, others, epsilon):
    laws = _laws(channel, others)
    return max(
        sum(
            max(0.0, float(first.get(c, 0)) - math.exp(epsilon) * float(second.get(c, 0)))
            for c in first
        )
        for first in laws
        for second in laws
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_upper_bound_holds_at_every_epsilon(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    weights = rng.multinomial(30, rng.dirichlet(np.full(3, 2.0)), size=k)
    channel = Channel.from_weights(weights.astype(object), 30)
    others = rng.multinomial(3, np.full(k, 1 / k)).tolist()
    found = informed_vulnerability(channel, others=others)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        bound = informed_upper_bound(lambda e: _delta(channel, others, e), k=k, epsilons=[epsilon])
        assert found <= bound + 1e-14
    best = informed_upper_bound(lambda e: _delta(channel, others, e), k=k, epsilons=[0.0, 1.0])
    assert best <= 1


def test_the_upper_bound_is_attained_by_one_response():
    # A single k-RR report: epsilon_local at delta 0 gives p itself.
    epsilon, k = 1.5, 6
    truth = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    bound = informed_upper_bound(lambda _: 0.0, k=k, epsilons=[epsilon])
    assert truth <= bound <= truth * (1 + 1e-13)
    assert informed_upper_bound(lambda _: 1.0, k=2, epsilons=[0.0, 800.0]) == 1
    assert informed_upper_bound(lambda _: 0.0, k=2, epsilons=[]) == 1
    assert 0 < informed_upper_bound(lambda _: 0.0, k=10**400, epsilons=[1.0]) < 1e-300


def test_a_hundred_million_people_take_half_a_second():
    start = time.process_time()
    found = informed_vulnerability(_response("4/5"), others=(5 * 10**7, 5 * 10**7 - 1))
    assert found == pytest.approx(0.5 + 0.3 / math.sqrt(2 * math.pi * 0.16 * 10**8), abs=1e-12)
    assert time.process_time() - start < 2


def test_refusals():
    with pytest.raises(TooLargeError, match="fewer people"):
        informed_vulnerability(_response("1/2", 3), others=(4000, 0, 0))
    with pytest.raises(TooLargeError, match="fewer people"):
        informed_vulnerability(_response("3/5"), others=(10**7, 0), prior=[0.3, 0.7])
    with pytest.raises(ParameterError, match="be 2 counts"):
        informed_vulnerability(_response("1/2"), others=(1, 2, 3))
    with pytest.raises(ParameterError, match="`others` must"):
        informed_vulnerability(_response("1/2"), others=(1, -2))
    with pytest.raises(ParameterError, match="be 2 counts"):
        informed_vulnerability(_response("1/2"), others=5)
    with pytest.raises(ParameterError, match="`others` must"):
        informed_vulnerability(_response("1/2"), others=(10**400, 0))
    for epsilons in ([-1.0], [math.nan], 0.5):
        with pytest.raises(ParameterError, match="`epsilons` must"):
            informed_upper_bound(lambda _: 0.0, k=2, epsilons=epsilons)
    for delta in (-1e-9, math.nan):
        with pytest.raises(ParameterError, match="`delta` must"):
            informed_upper_bound(lambda _, delta=delta: delta, k=2, epsilons=[0.0])
    with pytest.raises(TypeError, match="prior"):
        scan_compositions(_response("1/2"), n=3, prior=[0.3, 0.7])


def test_a_window_that_would_fill_the_memory_is_refused():
    with pytest.raises(TooLargeError, match="fewer people"):
        informed_vulnerability(_response("4/5"), others=(10**12, 10**12))
    # The narrower of the two windows decides.
    assert informed_vulnerability(_response("4/5"), others=(10**12, 3)) == pytest.approx(
        0.5 + 0.3 / math.sqrt(2 * math.pi * 0.16 * 10**12), abs=1e-12
    )
