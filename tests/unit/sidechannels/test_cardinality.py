"""The number of messages: what it betrays, and a constant number that betrays nothing."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from croupier.errors import DataError, ParameterError
from croupier.model import Channel, Direction, Metric, View
from croupier.numerics.keystream import Keystream
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.sidechannels.cardinality import (
    ConstantCardinality,
    count_delta,
    count_epsilon,
    count_guess,
    observed_counts,
)
from croupier.testing import law_p_value

CASES = json.loads((Path(__file__).parents[2] / "golden" / "cardinality.json").read_text())["cases"]
GOLDEN = {case["name"]: case for case in CASES}
PRINTED = {"n": 10_000, "epsilon": 1.0, "delta": 1e-6, "gamma": 0.1}
SMALL = {"n": 10, "epsilon": 1.0, "delta": 0.99, "gamma": 0.9, "denominator": 64}


@pytest.fixture(scope="module")
def printed():
    return DeltaSummation(**PRINTED)


@pytest.fixture(scope="module")
def counts(printed):
    return observed_counts(printed)


@pytest.fixture(scope="module")
def constant(printed):
    return ConstantCardinality.for_delta(printed, added_delta=1e-6)


@pytest.fixture(scope="module")
def small():
    return DeltaSummation(**SMALL)


def rows(channel):
    return [
        [channel.probability(row, column) for column in range(channel.shape[1])] for row in (0, 1)
    ]


class EveryDraw(Keystream):
    """In place of a keystream: every possible row of draws once, then zeros, which always fit."""

    def __init__(self, denominator):
        super().__init__()
        self.draws = np.array(list(product(range(denominator), repeat=3)), dtype=np.uint64)
        self.asked = []

    def table(self, bounds, size):
        self.asked.append((tuple(bounds), size))
        return self.draws if len(self.asked) == 1 else np.zeros((size, 3), dtype=np.uint64)


def test_the_count_almost_names_the_bit(counts):
    case = GOLDEN["delta_sum_P_num_eq_b"]
    for bit in (0, 1):
        found = float(counts.probability(bit, bit))
        assert found == pytest.approx(case["value"], abs=case["tolerance"])
        # The printed figure is refused at ten thousand times the tolerance.
        assert found != pytest.approx(case["printed"], abs=1e4 * case["tolerance"])


def test_the_loss_at_epsilon_20(counts):
    case = GOLDEN["cardinality_delta_at_eps_20"]
    found = count_delta(counts, epsilon=case["inputs"]["at"])
    assert found == pytest.approx(case["value"], abs=case["tolerance"])


def test_no_epsilon_is_enough_for_a_bare_count(counts):
    loss = count_epsilon(counts, delta=1e-6)
    assert loss.value == math.inf
    assert loss.adversary.sees == {View.COUNTS}


def test_the_best_guess_uses_the_parity(counts):
    guess = count_guess(counts)
    assert guess.metric is Metric.GUESS_OF_TWO
    assert guess.direction is Direction.EXACT
    first, second = rows(counts)
    best = sum(map(max, first, second)) / 2
    assert guess.value == pytest.approx(float(best), rel=1e-15)
    odd = [sum(row[1::2]) for row in (first, second)]
    by_parity = (1 - odd[0] + odd[1]) / 2
    assert float(by_parity) > 0.9998
    assert by_parity <= best


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
def test_the_divergence_of_a_small_law_by_fractions(small, epsilon):
    channel = observed_counts(small)
    first, second = rows(channel)
    factor = Fraction(math.exp(epsilon))
    brute = max(
        sum(
            (max(Fraction(0), a - factor * b) for a, b in zip(one, other, strict=True)), Fraction(0)
        )
        for one, other in ((first, second), (second, first))
    )
    assert count_delta(channel, epsilon=epsilon) == pytest.approx(float(brute), rel=1e-14)
    assert 0.01 < brute < 1


def test_the_divergence_rounds_up():
    channel = Channel.from_weights([[2, 1], [1, 2]], 3)
    assert Fraction(count_delta(channel, epsilon=0.0)) >= Fraction(1, 3)
    assert count_delta(channel, epsilon=0.0) == pytest.approx(1 / 3, rel=1e-15)


def _thinned(most, seen):
    """A blur: each message is noticed with probability seen/4, independently."""
    weights = [
        [
            math.comb(count, k) * seen**k * (4 - seen) ** (count - k) * 4 ** (most - count)
            if k <= count
            else 0
            for k in range(most + 1)
        ]
        for count in range(most + 1)
    ]
    return Channel.from_weights(weights, 4**most)


def test_a_blurred_count_is_the_product_of_the_laws(small):
    blur = _thinned(6, 1)
    found = observed_counts(small, blur=blur)
    assert found.exact
    sharp = rows(observed_counts(small))
    for bit, seen in product((0, 1), range(7)):
        expected = sum(
            (chance * blur.probability(min(count, 6), seen))
            for count, chance in enumerate(sharp[bit])
        )
        assert found.probability(bit, seen) == expected


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_a_blur_loses_and_a_coarser_one_loses_more(printed, counts, epsilon):
    bare = count_delta(counts, epsilon=epsilon)
    often = count_delta(observed_counts(printed, blur=_thinned(20, 3)), epsilon=epsilon)
    seldom = count_delta(observed_counts(printed, blur=_thinned(20, 1)), epsilon=epsilon)
    assert bare > often > seldom > 0.15


def test_the_epsilon_of_a_blurred_count_is_the_least(printed):
    blur = Channel.from_weights([[6, 3, 1], [3, 4, 3], [1, 3, 6]], 10)
    channel = observed_counts(printed, blur=blur)
    loss = count_epsilon(channel, delta=0.05)
    assert count_delta(channel, epsilon=loss.value) <= 0.05
    assert count_delta(channel, epsilon=loss.value - 1e-8) > 0.05
    pure = count_epsilon(channel, delta=0.0)
    assert pure.value == pytest.approx(channel.epsilon, abs=1e-8)
    # Counts 0 and 1 become outputs whose laws differ by a factor of three at most.
    assert loss.value < pure.value < math.log(3)


def test_a_blur_of_doubles_is_refused(printed):
    double = Channel.from_probabilities([[0.75, 0.25], [0.25, 0.75]])
    with pytest.raises(ParameterError, match="from_weights"):
        count_delta(observed_counts(printed, blur=double), epsilon=0.5)


def test_a_blur_that_sees_nothing_leaves_no_loss(printed):
    channel = observed_counts(printed, blur=Channel.from_weights([[1], [1], [1]], 1))
    assert count_delta(channel, epsilon=0.0) == 0
    assert count_epsilon(channel, delta=0.0).value == 0
    assert count_guess(channel).value == 0.5


def test_an_observer_who_stops_counting_loses_the_rest(small):
    sharp = observed_counts(small)
    first, second = rows(sharp)
    for most in (1, 3, sharp.shape[1] - 1, sharp.shape[1] + 5):
        merged = observed_counts(small, most=most)
        assert merged.shape == (2, most + 1)
        assert rows(merged)[0][most] == sum(first[most:])
        gained = count_delta(sharp, epsilon=0.5) - count_delta(merged, epsilon=0.5)
        assert -1e-15 <= gained <= float(sum(second[most + 1 :])) + 1e-15


def test_questions_that_cannot_be_are_refused(small):
    channel = observed_counts(small)
    with pytest.raises(ParameterError):
        count_delta(channel, epsilon=-0.1)
    with pytest.raises(ParameterError):
        count_epsilon(channel, delta=1.0)
    with pytest.raises(ParameterError):
        observed_counts(small, most=0)
    with pytest.raises(ParameterError):
        observed_counts(small, most=5, blur=_thinned(4, 1))
    with pytest.raises(ParameterError):
        ConstantCardinality(protocol=small, messages_a_person=0)
    with pytest.raises(ParameterError):
        ConstantCardinality.for_delta(small, added_delta=0.0)
    with pytest.raises(DataError):
        ConstantCardinality(protocol=small, messages_a_person=9).counts([0, 3])


def test_the_number_of_messages_is_the_least_that_suffices(printed, constant):
    case = GOLDEN["pad_cardinality_m"]
    m = constant.messages_a_person
    assert m == pytest.approx(case["value"], abs=case["tolerance"])
    assert constant.added_delta <= 1e-6
    fewer = ConstantCardinality(protocol=printed, messages_a_person=m - 1)
    assert fewer.added_delta > 1e-6
    # The chance that a person with the bit 1 would send more than m messages.
    sent = printed.count_channel()
    tail = sum(sent.probability(1, count) for count in range(m + 1, sent.shape[1]))
    assert constant.overflow == tail
    assert constant.added_delta == pytest.approx(10_000 * (1 + math.e) * float(tail), rel=1e-12)


def test_room_for_every_draw_adds_nothing(small):
    most = len(small.noise_count_weights)
    roomy = ConstantCardinality(protocol=small, messages_a_person=most)
    assert roomy.overflow == 0
    assert roomy.added_delta == 0
    assert roomy.noise_variance == small.noise_variance
    one = ConstantCardinality(protocol=small, messages_a_person=1)
    assert one.noise_variance == 0
    assert one.overflow == 1 - Fraction(small.noise_count_weights[0], 64**3)


def test_a_number_that_almost_no_draw_fits_is_refused():
    # Few people share much noise: a person without any is one in 10^9.
    crowded = DeltaSummation(n=5, epsilon=1.0, delta=1e-6, gamma=0.5)
    for ask in ("counts", "messages"):
        with pytest.raises(ParameterError, match="for_delta"):
            getattr(ConstantCardinality(protocol=crowded, messages_a_person=2), ask)([0, 1])


def test_the_guarantee_covers_whoever_counts(printed, constant):
    promise = constant.guarantee()
    assert {View.COUNTS, View.LENGTHS, View.PARTICIPATION, View.BATCH} == promise.adversary.sees
    assert promise.value == printed.epsilon
    total = Fraction(printed.batch_delta) + Fraction(constant.added_delta)
    assert promise.delta == pytest.approx(float(total), rel=1e-12)
    assert promise.delta < 1.1e-6
    with pytest.raises(ParameterError, match="for_delta"):
        ConstantCardinality(protocol=printed, messages_a_person=2).guarantee()


@pytest.mark.parametrize("m", [1, 4, 9])
def test_what_is_observed_is_the_same_for_both_bits_at_every_draw(small, m):
    constant = ConstantCardinality(protocol=small, messages_a_person=m)
    seen, noise_seen = [], []
    for bit in (0, 1):
        stream = EveryDraw(64)
        people = 64**3
        sent = constant.counts(np.full(people, bit), rng=stream)
        assert (sent >= 0).all()
        assert (sent.sum(axis=1) == m).all()
        stream = EveryDraw(64)
        messages = constant.messages(np.full(people, bit), rng=stream)
        seen.append(Counter((len(row), row.itemsize, 1) for row in messages))
        assert messages.shape == (people, m)
        # How often noise is drawn again does not depend on the bit either.
        noise_seen.append(stream.asked)
    assert seen[0] == seen[1] == {(m, 1, 1): 64**3}
    assert noise_seen[0] == noise_seen[1]
    redrawn = noise_seen[0][1][1] if len(noise_seen[0]) > 1 else 0
    assert Fraction(redrawn, 64**3) == constant.overflow
    channel = constant.observation_channel(bytes_a_message=1)
    assert channel.outputs == ((m, 1, 1),)
    assert channel.equal_inputs() == [(0, 1)]
    assert channel.denominator == 64**3 - redrawn


def test_what_is_observed_is_the_same_for_both_bits_as_printed(constant, counts):
    channel = constant.observation_channel(bytes_a_message=128)
    assert channel.equal_inputs() == [(0, 1)]
    assert channel.epsilon == 0
    assert count_delta(channel, epsilon=0.0) == 0
    assert count_guess(channel).value == 0.5
    assert counts.equal_inputs() == [(0,), (1,)]


@pytest.mark.parametrize("m", [2, 5, 8])
def test_the_noise_is_the_table_restricted_to_what_fits(small, m):
    constant = ConstantCardinality(protocol=small, messages_a_person=m)
    noise = small.noise(EveryDraw(64).draws)
    kept = noise[~constant.exceeds(noise)]
    assert 0 < len(kept) < len(noise)
    assert (kept @ np.array([1, 1, 2])).max() <= m - 1
    gaps = (kept[:, 0] - kept[:, 1]).tolist()
    assert sum(gaps) == 0
    assert constant.noise_variance == Fraction(sum(gap * gap for gap in gaps), len(gaps))
    assert constant.overflow == 1 - Fraction(len(kept), 64**3)


def test_the_error_is_no_worse_than_without_the_defence(printed, constant):
    assert constant.noise_variance <= printed.noise_variance
    assert constant.noise_variance >= printed.noise_variance * (1 - Fraction(1, 10**6))
    for m in (2, 10, 100, 1000):
        tight = ConstantCardinality(protocol=printed, messages_a_person=m)
        assert tight.noise_variance <= printed.noise_variance
    assert constant.standard_error <= printed.standard_error


def test_ten_thousand_people_by_their_counts(printed, constant):
    rng = Keystream(insecure_seed=3)
    bits = np.arange(10_000) % 4 == 0
    errors = []
    for _ in range(200):
        sent = constant.counts(bits, rng=rng)
        plus, minus, null = sent.sum(axis=0).tolist()
        assert null == 10_000 * constant.messages_a_person - plus - minus
        errors.append(constant.estimate(plus - minus).total - int(bits.sum()))
    assert abs(np.mean(errors)) < 5 * constant.standard_error / math.sqrt(200)
    # The mean square of discrete Laplace noise varies by 0.16 of itself over 200 rounds.
    assert 0.4 < np.mean(np.square(errors)) / printed.standard_error**2 < 1.7


def test_a_hundred_people_by_their_messages():
    protocol = DeltaSummation(n=100, epsilon=1.0, delta=1e-6, gamma=0.5)
    constant = ConstantCardinality.for_delta(protocol, added_delta=1e-6)
    bits = np.arange(100) % 2
    rng = Keystream(insecure_seed=8)
    messages = constant.messages(bits, rng=rng)
    assert messages.shape == (100, constant.messages_a_person)
    assert set(np.unique(messages).tolist()) == {-1, 0, 1}
    batch = np.random.default_rng(1).permutation(messages.ravel())
    estimate = constant.estimate(batch)
    assert estimate.n == 100
    assert estimate.total == messages.sum(dtype=np.int64)
    undefended, _ = protocol.messages(bits, rng=Keystream(insecure_seed=8))
    # The same draws, none of which had to be repeated, give the same estimate.
    assert protocol.estimate(undefended).total == estimate.total
    errors = [constant.estimate(constant.messages(bits, rng=rng)).total - 50 for _ in range(100)]
    assert abs(np.mean(errors)) < 5 * constant.standard_error / 10
    assert 0.2 < np.mean(np.square(errors)) / protocol.standard_error**2 < 2.1


def test_samples_follow_the_restricted_law_and_not_the_unrestricted(alarm):
    protocol = DeltaSummation(n=20, epsilon=1.0, delta=0.5, gamma=0.5)
    constant = ConstantCardinality(protocol=protocol, messages_a_person=30)
    sent = constant.counts(np.ones(100_000, dtype=int), rng=Keystream())
    noise = sent[:, 0] + sent[:, 1] - 1
    seen = np.bincount(noise, minlength=30)
    weights = protocol.noise_count_weights
    law = np.array([w / sum(weights[:30]) for w in weights[:30]])
    unrestricted = np.array([w / sum(weights) for w in weights[:30]])
    assert law_p_value(seen, law) > alarm
    assert law_p_value(seen, unrestricted) < alarm
    assert len(seen) == 30


def test_the_price_against_the_mean(constant):
    price = constant.price(bytes_a_message=128)
    assert price.messages == constant.messages_a_person
    assert price.bytes == 128 * constant.messages_a_person
    assert price.mean_messages == pytest.approx(4.7175642, abs=1e-6)
    assert price.mean_bytes == pytest.approx(128 * price.mean_messages)
    assert price.factor == pytest.approx(2738, rel=0.001)


def test_a_larger_gamma_buys_a_lower_price_with_error(printed, constant):
    other = DeltaSummation(**{**PRINTED, "gamma": 0.5})
    cheaper = ConstantCardinality.for_delta(other, added_delta=1e-6)
    assert cheaper.messages_a_person < constant.messages_a_person / 4
    assert cheaper.standard_error > 1.5 * printed.standard_error
