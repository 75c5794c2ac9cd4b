"""Delta-summation: its tables, its law integer by integer, its samples, its error, its delta."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy import stats

from croupier.errors import DataError, ParameterError, TooLargeError
from croupier.model import View
from croupier.numerics.keystream import Keystream
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.randomizers.negative_binomial import log_enclosure, negative_binomial
from croupier.testing import law_p_value

CASES = json.loads((Path(__file__).parents[2] / "golden" / "cardinality.json").read_text())["cases"]
GOLDEN = {case["name"]: case for case in CASES}
PRINTED = {"n": 10_000, "epsilon": 1.0, "delta": 1e-6, "gamma": 0.1}
SMALL = {"n": 10, "epsilon": 1.0, "delta": 0.99, "gamma": 0.9, "denominator": 64}


@pytest.fixture(scope="module")
def printed():
    return DeltaSummation(**PRINTED)


@pytest.fixture(scope="module")
def small():
    return DeltaSummation(**SMALL)


def exact(value):
    return Fraction(value), Fraction(value)


@pytest.mark.parametrize(
    ("shape", "ratio", "denominator"),
    [(0.0001, 0.4, 1 << 64), (0.3, 0.9, 1 << 64), (7.5, 0.75, 1 << 64), (40.0, 0.9, 1000)],
)
def test_a_table_is_the_law_rounded_down_and_its_error_is_the_distance(shape, ratio, denominator):
    law = negative_binomial(exact(shape), exact(ratio), denominator=denominator)
    assert sum(law.weights) == denominator
    with mpmath.workdps(60):
        r, p = mpmath.mpf(shape), mpmath.mpf(ratio)
        true = [(1 - p) ** r]
        for k in range(len(law.weights) - 1):
            true.append(true[-1] * p * (k + r) / (k + 1))
        likeliest = true.index(max(true))
        for k, (chance, weight) in enumerate(zip(true, law.weights, strict=True)):
            if k != likeliest:
                # A hair less, for probabilities that are whole weights and bounded from below.
                assert weight == int(
                    mpmath.floor(chance * denominator * (1 - mpmath.mpf(10) ** -40))
                )
        tail = 1 - mpmath.fsum(true)
        apart = [
            abs(chance - mpmath.mpf(w) / denominator)
            for chance, w in zip(true, law.weights, strict=True)
        ]
        distance = (mpmath.fsum(apart) + tail) / 2
        error = mpmath.mpf(law.error.numerator) / law.error.denominator
        assert distance <= error + mpmath.mpf(10) ** -45
        assert error - distance < mpmath.mpf(10) ** -40
        # The table ends where the next probability no longer makes a weight.
        k = len(law.weights)
        assert true[-1] * p * (k - 1 + r) / k * denominator < 1


def test_moments_are_those_of_the_weights():
    law = negative_binomial(exact(0.5), exact(0.5), denominator=50)
    values = [value for value, weight in enumerate(law.weights) for _ in range(weight)]
    assert law.moment(1) == Fraction(sum(values), 50)
    assert law.variance == Fraction(sum(v * v for v in values), 50) - law.moment(1) ** 2


@pytest.mark.parametrize(
    "value", [Fraction(1, 10**9), Fraction(1), Fraction(2_000_000), Fraction(1, 3)]
)
def test_logarithms_are_enclosed(value):
    low, high = log_enclosure(value)
    with mpmath.workdps(80):
        truth = mpmath.log(mpmath.mpf(value.numerator) / value.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator < truth
        assert truth < mpmath.mpf(high.numerator) / high.denominator
    assert high - low < Fraction(1, 10**48)


@pytest.mark.parametrize(
    ("shape", "ratio"), [(0.0, 0.5), (-1.0, 0.5), (1.0, 0.0), (1.0, 1.0), (1.0, 1.5)]
)
def test_a_law_that_is_none_is_refused(shape, ratio):
    with pytest.raises(ParameterError):
        negative_binomial(exact(shape), exact(ratio))
    with pytest.raises(ParameterError):
        log_enclosure(Fraction(0))


def test_the_tables_enclose_the_printed_laws(printed):
    q, p = math.exp(-0.9), math.exp(-0.0025)
    shape = 3 * (1 + math.log(2e6)) / 10_000
    for law, r, ratio in ((printed.unary_law, 1e-4, q), (printed.pair_law, shape, p)):
        chances = np.array([w / law.denominator for w in law.weights])
        true = stats.nbinom.pmf(np.arange(len(chances)), r, 1 - ratio)
        assert np.abs(chances - true).max() < 1e-14
        assert law.error < Fraction(1, 10**15)


def test_every_draw_leads_to_the_count_that_the_table_says(small):
    draws = np.array(list(product(range(64), repeat=3)), dtype=np.uint64)
    seen = Counter(map(tuple, small.noise(draws).tolist()))
    unary, pairs = small.unary_law.weights, small.pair_law.weights
    assert len(unary) > 2
    assert len(pairs) > 2
    claimed = {
        (a, b, c): unary[a] * unary[b] * pairs[c]
        for a, b, c in product(range(len(unary)), range(len(unary)), range(len(pairs)))
        if unary[a] * unary[b] * pairs[c]
    }
    assert seen == claimed


def test_the_law_of_the_number_of_messages_is_that_of_every_draw(small):
    draws = np.array(list(product(range(64), repeat=3)), dtype=np.uint64)
    channel = small.count_channel()
    assert channel.denominator == 64**3
    for bit in (0, 1):
        counts = bit + small.noise(draws) @ np.array([1, 1, 2])
        row = np.bincount(counts, minlength=channel.shape[1])
        assert row.tolist() == channel.weights[bit].tolist()
        assert small.mean_messages(bit) == Fraction(int(counts.sum()), 64**3)


def test_reference_values(printed):
    case = GOLDEN["delta_sum_P_num_eq_b"]
    channel = printed.count_channel()
    for bit in (0, 1):
        found = float(channel.probability(bit, bit))
        assert found == pytest.approx(case["value"], abs=case["tolerance"])
        assert abs(found - case["printed"]) > 0.02
    case = GOLDEN["delta_sum_mean_messages_per_user"]
    assert float(printed.mean_messages(0)) == pytest.approx(case["value"], abs=case["tolerance"])


def _perturbed(law):
    """The most likely output made five per cent less likely, for the benefit of all others."""
    wrong = law.copy()
    likeliest = np.argmax(law)
    wrong[likeliest] *= 0.95
    others = np.arange(len(law)) != likeliest
    wrong[others] *= (1 - wrong[likeliest]) / wrong[others].sum()
    return wrong


def test_samples_follow_the_true_laws_and_no_others(alarm):
    protocol = DeltaSummation(n=5, epsilon=1.0, delta=0.1, gamma=0.5)
    noise = protocol.draw_noise(300_000, Keystream())
    shape = 3 * (1 + math.log(20)) / 5
    laws = [(0.2, math.exp(-0.5))] * 2 + [(shape, math.exp(-0.5 / 40))]
    for column, (r, ratio) in zip(noise.T, laws, strict=True):
        cells = 40
        true = stats.nbinom.pmf(np.arange(cells), r, 1 - ratio)
        true = np.append(true, stats.nbinom.sf(cells - 1, r, 1 - ratio))
        seen = np.bincount(np.minimum(column, cells), minlength=cells + 1)
        assert law_p_value(seen, true) > alarm / 3
        assert law_p_value(seen, _perturbed(true)) < alarm / 3


def test_people_draw_their_three_numbers_independently(alarm):
    protocol = DeltaSummation(n=2, epsilon=1.0, delta=0.5, gamma=0.5)
    positive = protocol.draw_noise(200_000, Keystream())[:, :2] > 0
    chance = 1 - float(Fraction(protocol.unary_law.weights[0], protocol.denominator))
    both = int(positive.all(axis=1).sum())
    seen = (both, len(positive) - both)
    assert law_p_value(seen, (chance**2, 1 - chance**2)) > alarm
    assert law_p_value(seen, (chance, 1 - chance)) < alarm


def _brute_force_delta(protocol, size):
    """The divergence of (plus, minus) for sums 0 and 1, from the joint law in both directions."""
    q = math.exp(-(1 - protocol.gamma) * protocol.epsilon)
    p = math.exp(-min(1, protocol.gamma * protocol.epsilon) / 40)
    shape = 3 * (1 + math.log(2 / protocol.delta))
    pairs = stats.nbinom.pmf(np.arange(size), shape, 1 - p)
    geometric = (1 - q) * q ** np.arange(size)
    joint = np.zeros((size + 1, size))
    for c, weight in enumerate(pairs):
        joint[c:size, c:] += weight * np.outer(geometric[: size - c], geometric[: size - c])
    larger = np.zeros_like(joint)
    larger[1:] = joint[:-1]
    growth = math.exp(protocol.epsilon)
    inside = np.s_[: size - 1, : size - 1]
    there = np.maximum(0, joint - growth * larger)[inside].sum()
    back = np.maximum(0, larger - growth * joint)[inside].sum()
    return there, back


@pytest.mark.parametrize(
    ("epsilon", "delta", "gamma"), [(2.0, 0.9, 0.5), (1.0, 0.99, 0.9), (4.0, 0.99, 0.2)]
)
def test_the_delta_of_the_batch_is_the_divergence_of_the_two_counts(epsilon, delta, gamma):
    protocol = DeltaSummation(n=1, epsilon=epsilon, delta=delta, gamma=gamma)
    there, back = _brute_force_delta(protocol, 700)
    assert back < 1e-15
    assert there > 1e-9
    # The upper bound pays for the tables and nothing else.
    assert 0 <= protocol.batch_delta - there <= 2 * protocol.added_delta + 1e-13 + 1e-9 * there


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("gamma", [0.2, 0.9])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.5])
def test_the_published_delta_is_kept_with_what_the_tables_add(epsilon, gamma, delta):
    protocol = DeltaSummation(n=1000, epsilon=epsilon, delta=delta, gamma=gamma)
    assert protocol.batch_delta <= protocol.delta + protocol.added_delta
    assert protocol.guarantee().delta == protocol.batch_delta


def test_what_the_tables_add_is_the_distance_of_everybodys_draws(printed):
    expected = 10_000 * (1 + math.e) * float(printed.law_error)
    assert printed.added_delta == pytest.approx(expected, rel=1e-12)
    assert printed.added_delta < 2e-11
    coarse = DeltaSummation(**PRINTED, denominator=1 << 32)
    assert coarse.law_error > 1e6 * printed.law_error
    assert coarse.batch_delta >= coarse.added_delta


def test_the_error_covers_the_three_draws_together():
    protocol = DeltaSummation(n=200, epsilon=2.0, delta=0.99, gamma=0.98, denominator=1024)
    laws = [
        (protocol.unary_law, 1 / 200, math.exp(-0.04), 300),
        (protocol.pair_law, 3 * (1 + math.log(2 / 0.99)) / 200, math.exp(-1 / 40), 600),
    ]
    (unary, unary_table), (pairs, pair_table) = (
        (
            stats.nbinom.pmf(np.arange(size), r, 1 - ratio),
            np.resize([*law.weights, *[0] * size], size),
        )
        for law, r, ratio, size in laws
    )
    true = np.einsum("i,j,k->ijk", unary, unary, pairs)
    table = np.einsum("i,j,k->ijk", unary_table, unary_table, pair_table) / 1024**3
    distance = (np.abs(true - table).sum() + 1 - true.sum()) / 2
    assert distance <= protocol.law_error
    # Leaving out any one of the three would be too little.
    assert distance > protocol.unary_law.error + protocol.pair_law.error


def test_the_guarantee_is_for_a_reader_of_the_batch_only(printed):
    promise = printed.guarantee()
    assert promise.adversary.sees == {View.BATCH}
    assert promise.value == 1.0
    assert promise.delta < 1e-10


def test_the_noise_on_the_sum_is_discrete_laplace(printed):
    q = math.exp(-0.9)
    assert printed.standard_error == pytest.approx(math.sqrt(2 * q) / (1 - q), rel=1e-9)


def test_messages_are_the_counts_spelled_out(printed):
    bits = np.arange(300) % 2
    counts = printed.counts(bits, rng=Keystream(insecure_seed=5))
    messages, offsets = printed.messages(bits, rng=Keystream(insecure_seed=5))
    assert messages.dtype == np.int8
    assert len(messages) == offsets[-1] == counts.sum()
    for person in range(300):
        own = messages[offsets[person] : offsets[person + 1]]
        assert [(own == 1).sum(), (own == -1).sum()] == counts[person].tolist()
    assert printed.estimate(messages).total == counts[:, 0].sum() - counts[:, 1].sum()
    assert printed.estimate(messages) == printed.estimate(int(messages.sum(dtype=np.int64)))
    assert counts.sum() > bits.sum()


def test_nobody_makes_no_messages(printed):
    messages, offsets = printed.messages([])
    assert len(messages) == 0
    assert offsets.tolist() == [0]


def test_the_estimate_errs_as_much_as_it_says(printed):
    rng = Keystream(insecure_seed=11)
    bits = np.arange(10_000) % 3 == 0
    errors = []
    for _ in range(200):
        counts = printed.counts(bits, rng=rng)
        estimate = printed.estimate(int(counts[:, 0].sum() - counts[:, 1].sum()))
        errors.append(estimate.total - bits.sum())
    assert abs(np.mean(errors)) < 5 * printed.standard_error / math.sqrt(200)
    # Discrete Laplace noise has an excess kurtosis of about 3: the ratio varies by 0.16.
    assert 0.4 < np.mean(np.square(errors)) / printed.standard_error**2 < 1.7


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n", 0),
        ("n", 2.5),
        ("epsilon", 0.0),
        ("epsilon", 51.0),
        ("epsilon", math.nan),
        ("delta", 0.0),
        ("delta", 1.0),
        ("gamma", 0.0),
        ("gamma", 1.0),
        ("largest", 2),
        ("denominator", 1 << 65),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameter, value):
    with pytest.raises(ParameterError) as refusal:
        DeltaSummation(**{**PRINTED, parameter: value})
    assert refusal.value.parameter == parameter
    if parameter == "largest":
        assert "Ghazi et al. 2021" in str(refusal.value)


def test_values_other_than_bits_are_refused_without_showing_them(printed):
    with pytest.raises(DataError) as refusal:
        printed.counts([0, 1, 77, 78])
    assert refusal.value.count == 2
    assert "7" not in str(refusal.value)
    with pytest.raises(DataError):
        printed.estimate([1, -1, 2])
    with pytest.raises(ParameterError):
        printed.counts([[0, 1], [1, 0]])
    with pytest.raises(ParameterError):
        printed.mean_messages(2)


def test_laws_that_would_not_fit_are_refused():
    with pytest.raises(TooLargeError):
        _ = DeltaSummation(n=100, epsilon=0.01, delta=1e-6, gamma=0.1).pair_law
    wide = DeltaSummation(n=100, epsilon=0.05, delta=1e-6, gamma=0.5)
    with pytest.raises(TooLargeError):
        _ = wide.noise_count_weights


def test_noise_that_integers_cannot_express_is_refused():
    coarse = DeltaSummation(n=10**30, epsilon=1.0, delta=1e-6, gamma=0.1)
    with pytest.raises(ParameterError, match="integers can express"):
        coarse.guarantee()
    with pytest.raises(ParameterError, match="integers can express"):
        coarse.counts([0, 1])


@pytest.mark.parametrize("total", [2.7, float("nan"), "7"])
def test_a_sum_is_a_whole_number(total):
    protocol = DeltaSummation(n=10, epsilon=1.0, delta=1e-2, gamma=0.5)
    with pytest.raises(DataError, match="whole number"):
        protocol.estimate(total)
