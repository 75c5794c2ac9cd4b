"""One person's value against an uninformed reader of the batch."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage import maximum_load
from croupier.leakage import uninformed as single_target
from croupier.leakage.maximum_load import expected_maximum_load
from croupier.leakage.uninformed import (
    guess_uninformed,
    people_needed,
    shuffle_only_vulnerability,
    uninformed_upper_bound,
    uninformed_vulnerability,
)
from croupier.model import Channel, Direction, Goal, Knowledge, Metric, View
from croupier.randomizers import KaryRandomizedResponse, MatrixRandomizer, randomizer

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "vulnerability.json").read_text())
WRONG = {case["name"]: case for case in GOLDEN["printed_but_wrong"]}


def _golden(prefix):
    cases = [case for case in GOLDEN["values"] if case["name"].startswith(prefix)]
    assert cases
    return [pytest.param(case, id=str(case["inputs"])) for case in cases]


def _decimal(value):
    """0.8 means 4/5, not the double next to it."""
    return Fraction(str(value))


def _response(truth, k=2):
    other = (1 - truth) / (k - 1)
    scale = math.lcm(truth.denominator, other.denominator)
    weights = [[int((truth if x == y else other) * scale) for y in range(k)] for x in range(k)]
    return Channel.from_weights(weights, scale)


def _prior(inputs):
    if "q_a" in inputs:
        return [_decimal(inputs["q_a"]), 1 - _decimal(inputs["q_a"])]
    return [Fraction(part) for part in inputs["prior"].split(",")] if "prior" in inputs else None


@pytest.mark.parametrize("case", _golden("V_NS"))
def test_golden_values(case):
    inputs = case["inputs"]
    k = 3 if "k=3" in case["name"] else 2
    channel = _response(_decimal(inputs["p"]), k)
    found = uninformed_vulnerability(channel, n=inputs["n"], prior=_prior(inputs))
    assert abs(found - float(Fraction(case["value"]))) <= max(case["tolerance"], 2.3e-16)


@pytest.mark.parametrize("case", _golden("Thm19"))
def test_golden_binary(case):
    channel = _response(_decimal(case["inputs"]["p"]))
    found = uninformed_vulnerability(channel, n=case["inputs"]["n"])
    assert abs(found - float(case["value"])) <= case["tolerance"]
    explicit = uninformed_vulnerability(channel, n=case["inputs"]["n"], prior=[0.5, 0.5])
    assert explicit == found


@pytest.mark.parametrize("case", _golden("min n s.t."))
def test_golden_people_needed(case):
    truth, target = case["inputs"]["p"], case["inputs"]["tau"]
    n = people_needed(truth=truth, target=target)
    assert n == case["value"]
    channel = _response(_decimal(truth))
    assert uninformed_vulnerability(channel, n=n) <= target
    assert uninformed_vulnerability(channel, n=n - 1) > target


def test_people_needed_at_the_ends():
    assert people_needed(truth=0.9, target=0.9) == 1
    assert people_needed(truth=Fraction(9, 10), target=Fraction(7, 10)) == 2
    assert people_needed(truth=0.5, target=0.5) == 1
    assert people_needed(truth=1.0, target=0.5 + 1e-6) > 10**11
    with pytest.raises(ParameterError, match="`target` must"):
        people_needed(truth=0.9, target=0.5)
    with pytest.raises(ParameterError, match="`truth` must"):
        people_needed(truth=0.4, target=0.6)
    for truth in (0.5, 0.9):
        for target in (0.2, math.nan, -3, 1.1):
            with pytest.raises(ParameterError, match="`target` must be in"):
                people_needed(truth=truth, target=target)
    for wrong in ("0.9", np.float32(0.9), None):
        with pytest.raises(ParameterError, match="`truth` must be a float"):
            people_needed(truth=wrong, target=0.6)
        with pytest.raises(ParameterError, match="`target` must be a float"):
            people_needed(truth=1.0, target=wrong)
    with pytest.raises(ParameterError, match="reached by 1e18 people"):
        people_needed(truth=1.0, target=Fraction(1, 2) + Fraction(1, 10**200))
    assert people_needed(truth=1.0, target=Fraction(1, 2) + Fraction(1, 10**9)) < 10**18


def _by_enumeration(channel, law, n):
    """Every value of the target and every histogram of everybody's reports, in fractions."""
    inputs, outputs = channel.shape
    entry = [[channel.probability(x, y) for y in range(outputs)] for x in range(inputs)]
    rates = [sum(law[x] * entry[x][y] for x in range(inputs)) for y in range(outputs)]
    others = {(0,) * outputs: Fraction(1)}
    for _ in range(n - 1):
        others = _one_more(others, rates)
    best = {}
    for x in range(inputs):
        for histogram, chance in _one_more(others, entry[x]).items():
            best[histogram] = max(best.get(histogram, 0), law[x] * chance)
    return sum(best.values())


def _one_more(law, row):
    following = {}
    for histogram, weight in law.items():
        for y, chance in enumerate(row):
            raised = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
            following[raised] = following.get(raised, 0) + weight * chance
    return following


def _random_case(seed):
    rng = np.random.default_rng(seed)
    inputs, outputs, n = (int(rng.integers(low, high)) for low, high in ((1, 5), (1, 5), (1, 7)))
    weights = rng.multinomial(20, rng.dirichlet(np.ones(outputs)), size=inputs)
    law = rng.multinomial(12, rng.dirichlet(np.ones(inputs))).tolist()
    channel = Channel.from_weights(weights.astype(object), 20)
    return channel, [Fraction(weight, 12) for weight in law], n


@pytest.mark.parametrize("block", range(10))
def test_random_channels_against_enumeration(block):
    for seed in range(60 * block, 60 * block + 60):
        channel, law, n = _random_case(seed)
        exact = _by_enumeration(channel, law, n)
        found = uninformed_vulnerability(channel, n=n, prior=law)
        assert abs(float(Fraction(found) - exact)) <= 2e-15, seed


@pytest.mark.parametrize(("k", "n"), list(product((2, 3, 4), (1, 2, 3, 4, 5, 6))))
def test_k_rr_against_enumeration(k, n):
    for weight in range(3, 11, 2):
        channel = _response(Fraction(weight, 10), k)
        if channel.weights[0, 0] < channel.weights[0, 1]:
            continue
        exact = _by_enumeration(channel, [Fraction(1, k)] * k, n)
        found = uninformed_vulnerability(channel, n=n)
        assert found == pytest.approx(float(exact), abs=1e-15)


def test_a_response_that_prefers_lies_is_not_mistaken_for_k_rr():
    channel = _response(Fraction(1, 10), 3)
    exact = _by_enumeration(channel, [Fraction(1, 3)] * 3, 4)
    assert uninformed_vulnerability(channel, n=4) == pytest.approx(float(exact), abs=1e-15)


def _binary_in_many_digits(n, truth, first, *, deviations):
    """sum over the number of first reports of the larger joint chance, with 60 digits."""
    with mpmath.workdps(60):
        p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (truth, first))
        rate = q * p + (1 - q) * (1 - p)
        spread = int(deviations * math.sqrt(n * float(rate * (1 - rate)))) + 40
        mode = int((n + 1) * rate)
        low, high = max(0, mode - spread), min(n, mode + spread)
        chance = mpmath.exp(
            mpmath.loggamma(n + 1)
            - mpmath.loggamma(low + 1)
            - mpmath.loggamma(n - low + 1)
            + low * mpmath.log(rate)
            + (n - low) * mpmath.log(1 - rate)
        )
        odds = rate / (1 - rate)
        yes, no = p / (n * rate), (1 - p) / (n * (1 - rate))
        other_yes, other_no = (1 - p) / (n * rate), p / (n * (1 - rate))
        total = mpmath.mpf(0)
        for count in range(low, high + 1):
            rest = n - count
            gain = q * (count * yes + rest * no)
            total += chance * max(gain, (1 - q) * (count * other_yes + rest * other_no))
            chance = chance * rest * odds / (count + 1)
        return total


@pytest.mark.parametrize(
    ("n", "truth", "first"),
    [
        (1000, "9/10", "1/2"),
        (10**4, "4/5", "49/100"),
        (10**4, "4/5", "3/10"),
        (10**6, "4/5", "499/1000"),
        (10**6, "1", "1/2"),
    ],
)
def test_binary_against_sixty_digits(n, truth, first):
    truth, first = Fraction(truth), Fraction(first)
    exact = _binary_in_many_digits(n, truth, first, deviations=14)
    found = uninformed_vulnerability(_response(truth), n=n, prior=[first, 1 - first])
    assert abs(found / exact - 1) <= 1e-12


def test_a_billion_people_and_a_uniform_prior_against_sixty_digits():
    half = 5 * 10**8
    with mpmath.workdps(60):
        logarithm = mpmath.loggamma(2 * half + 1) - 2 * mpmath.loggamma(half + 1)
        centre = mpmath.exp(logarithm - 2 * half * mpmath.log(2))
        exact = mpmath.mpf(1) / 2 + mpmath.mpf(8) / 10 * centre / 2
    assert abs(uninformed_vulnerability(_response(Fraction(9, 10)), n=10**9) / exact - 1) <= 1e-15


@pytest.mark.proof
def test_a_billion_people_against_sixty_digits():
    truth, first = Fraction(9, 10), Fraction(49999, 100000)
    exact = _binary_in_many_digits(10**9, truth, first, deviations=8.5)
    found = uninformed_vulnerability(_response(truth), n=10**9, prior=[first, 1 - first])
    assert abs(found / exact - 1) <= 1e-12


def test_many_values_and_two_outputs():
    weights = [[weight, 100 - weight] for weight in (3, 20, 20, 50, 71, 99)]
    channel = Channel.from_weights(weights, 100)
    law = [Fraction(weight, 21) for weight in (1, 2, 3, 4, 5, 6)]
    for n in (1, 2, 7, 40):
        exact = _by_enumeration(channel, law, n)
        found = uninformed_vulnerability(channel, n=n, prior=law)
        assert found == pytest.approx(float(exact), abs=2e-15)


def test_printed_but_wrong():
    case = WRONG["jurado Section IV-B, n = 200, p = 1"]
    assert abs(shuffle_only_vulnerability(2, 200).value - float(case["value"])) > case["tolerance"]
    # The text says that vulnerability falls exponentially in n; it falls like 1/sqrt(n).
    excess = [shuffle_only_vulnerability(5, n).value - 1 / 5 for n in (10**3, 10**5)]
    assert excess[0] / excess[1] == pytest.approx(10, rel=0.02)


def test_the_guarantee():
    response = KaryRandomizedResponse(k=10, max_epsilon_local=2.0)
    found = guess_uninformed(response, n=10_000)
    assert found.metric is Metric.GUESS_UNINFORMED
    assert found.direction is Direction.EXACT
    assert found.adversary.sees == {View.BATCH}
    assert found.adversary.knows is Knowledge.NOTHING
    assert found.adversary.wants is Goal.GUESS
    assert found.value == pytest.approx(uninformed_vulnerability(response.channel(), n=10_000))
    shuffled = shuffle_only_vulnerability(10, 10_000)
    assert 0.1 < found.value < shuffled.value
    assert shuffled.direction is Direction.EXACT


@pytest.mark.parametrize("n", [3, 10**8])
def test_only_the_uniform_guess_has_the_metric_of_policies(n):
    for prior in (None, [Fraction(1, 3)] * 3):
        assert guess_uninformed(_asymmetric(), n=n, prior=prior).metric is Metric.GUESS_UNINFORMED
    found = guess_uninformed(_asymmetric(), n=n, prior=[0.5, 0.3, 0.2])
    assert found.metric is Metric.GUESS_UNINFORMED
    assert str(found).startswith("guess_uninformed")


def test_a_million_categories_need_no_matrix():
    response = KaryRandomizedResponse(k=10**6, max_epsilon_local=8.0)
    found = guess_uninformed(response, n=10**6)
    truth, other = response.levels
    load = expected_maximum_load(10**6, 10**6) / 10**6
    assert found.value == pytest.approx(float(other) + float(truth - other) * load, rel=1e-14)


def test_where_the_load_is_too_large_the_guarantee_is_an_upper_bound(monkeypatch):
    response = KaryRandomizedResponse(k=5, max_epsilon_local=1.0)
    exact = [guess_uninformed(response, n=10**5), shuffle_only_vulnerability(5, 10**5)]
    monkeypatch.setattr(maximum_load, "_MOST_WORK", -1)
    monkeypatch.setattr(maximum_load, "_QUICK_WORK", 1000)
    upper = [guess_uninformed(response, n=10**5), shuffle_only_vulnerability(5, 10**5)]
    for low, high in zip(exact, upper, strict=True):
        assert low.direction is Direction.EXACT
        assert high.direction is Direction.UPPER
        assert low.value < high.value < low.value + 0.003


def _asymmetric():
    return MatrixRandomizer(matrix=((0.6, 0.3, 0.1), (0.1, 0.6, 0.3), (0.2, 0.2, 0.6)))


@pytest.mark.parametrize("n", [2, 30, 200])
@pytest.mark.parametrize("cells", [2, 24, 150])
def test_the_bounds_of_a_general_randomizer_hold(n, cells, monkeypatch):
    prior = [0.5, 0.3, 0.2]
    exact = uninformed_vulnerability(_asymmetric(), n=n, prior=prior)
    uniform = guess_uninformed(_asymmetric(), n=n)
    assert uniform.direction is Direction.EXACT
    monkeypatch.setattr(single_target, "_MOST_CELLS", cells)
    upper = uninformed_upper_bound(_asymmetric(), n=n, prior=prior)
    assert exact <= upper <= 0.5 + 0.5 / math.sqrt(n)
    bound = guess_uninformed(_asymmetric(), n=n)
    assert bound.direction is (Direction.EXACT if (n, cells) == (2, 150) else Direction.UPPER)
    assert uniform.value <= bound.value <= 1 / 3 + 0.5 / math.sqrt(n)


def test_beyond_enumeration_there_is_an_upper_bound_that_tends_to_the_prior():
    channel = _asymmetric().channel()
    with pytest.raises(TooLargeError, match="list of histograms"):
        uninformed_vulnerability(channel, n=10**6)
    bounds = [guess_uninformed(_asymmetric(), n=n).value for n in (10**4, 10**6, 10**8)]
    assert bounds == sorted(bounds, reverse=True)
    assert 1 / 3 < bounds[-1] < 1 / 3 + 1e-4


def test_other_mechanisms():
    small = guess_uninformed(randomizer("subset-selection", k=4, max_epsilon_local=1.0), n=5)
    assert small.direction is Direction.EXACT
    large = guess_uninformed(randomizer("optimized-unary", k=100, max_epsilon_local=1.0), n=1000)
    assert large.direction is Direction.UPPER
    assert large.theorem == "likelihoods of one report, sender known"
    assert 1 / 100 < large.value < math.e / 100


@pytest.mark.parametrize(
    ("mechanism", "parameters"),
    [("rappor", {"k": 20}), ("sampled-sign", {"dimension": 60}), ("local-hashing", {"k": 30})],
)
def test_no_mechanism_is_refused_for_its_size(mechanism, parameters):
    noisy = randomizer(mechanism, max_epsilon_local=2.0, **parameters)
    with pytest.raises(TooLargeError):
        noisy.channel()
    found = guess_uninformed(noisy, n=1000)
    assert found.direction is Direction.UPPER
    assert found.theorem.endswith("sender known")
    k, odds = noisy.domain.size, math.exp(noisy.epsilon_local)
    assert 1 / k < found.value <= odds / (odds + k - 1) * (1 + 1e-11)


def test_the_bound_by_epsilon_holds_and_is_attained_by_k_rr():
    noisy = randomizer("rappor", k=20, max_epsilon_local=2.0)
    found = guess_uninformed(noisy, n=5)
    assert found.theorem == "epsilon_local of one report, sender known"
    response = KaryRandomizedResponse(k=20, max_epsilon_local=noisy.epsilon_local)
    assert uninformed_vulnerability(response, n=1) == pytest.approx(found.value, rel=1e-9)
    for seed in range(50):
        channel, law, _ = _random_case(seed)
        positive = Channel.from_weights(channel.weights + 1, 20 + channel.shape[1])
        largest, rest = float(max(law)), math.exp(-positive.epsilon)
        bound = largest / (largest + (1 - largest) * rest)
        assert uninformed_vulnerability(positive, n=1, prior=law) <= bound * (1 + 1e-14)
        (value, _), *_ = single_target._bounds_from_one(positive, max(law))  # noqa: SLF001 - one bound of many
        assert value == pytest.approx(bound, rel=1e-14)


def test_every_bound_names_its_proof(monkeypatch):
    seen = {guess_uninformed(_asymmetric(), n=10**8).theorem}
    seen.add(guess_uninformed(KaryRandomizedResponse(k=5, max_epsilon_local=1.0), n=10**17).theorem)
    monkeypatch.setattr(single_target, "_MOST_CELLS", 2000)
    seen.add(guess_uninformed(_asymmetric(), n=25).theorem)
    monkeypatch.setattr(single_target, "_MOST_CELLS", 0)
    seen.add(guess_uninformed(_asymmetric(), n=1).theorem)
    seen.add(guess_uninformed(randomizer("rappor", k=20, max_epsilon_local=2.0), n=1).theorem)
    assert seen == {
        "variance of the histogram",
        "bounds of the maximum load",
        "exact law of the histogram of 18 people; more hide no less",
        "likelihoods of one report, sender known",
        "epsilon_local of one report, sender known",
    }


def test_a_prior_is_among_the_assumptions():
    response = KaryRandomizedResponse(k=3, max_epsilon_local=1.0)
    prior = [0.5, 0.3, 0.2]
    exact = uninformed_vulnerability(response, n=10, prior=prior)
    found = guess_uninformed(response, n=10, prior=prior)
    assert found.value == exact
    assert "independent values of a given prior, the likeliest of chance 0.5" in found.assumptions
    assert "independent, uniform values" in guess_uninformed(response, n=10).assumptions
    assert exact <= uninformed_upper_bound(response, n=10, prior=prior) <= 1
    assert exact > guess_uninformed(response, n=10).value
    wide = randomizer("optimized-unary", k=100, max_epsilon_local=1.0)
    skewed = [0.5, *[0.5 / 99] * 99]
    assert 0.5 <= uninformed_upper_bound(wide, n=9, prior=skewed) < 0.74


@pytest.mark.parametrize("seed", range(5))
def test_no_value_is_below_the_blind_guess(seed):
    for case in range(60 * seed, 60 * seed + 60):
        channel, law, n = _random_case(case)
        blind = Channel.from_weights(np.repeat(channel.weights[:1], len(law), axis=0), 20)
        noisy = Channel.from_probabilities(0.999 * blind.probabilities + 0.001 / channel.shape[1])
        for source in (blind, noisy, channel):
            found = uninformed_vulnerability(source, n=n, prior=law)
            assert float(max(law)) <= found <= 1
            assert found <= uninformed_upper_bound(source, n=n, prior=law) <= 1


def test_one_report_is_one_report():
    response = KaryRandomizedResponse(k=3, max_epsilon_local=1.0)
    assert "1 report" in guess_uninformed(response, n=1).assumptions
    assert "1 report" in shuffle_only_vulnerability(3, 1).assumptions
    assert "1,000 reports" in guess_uninformed(response, n=1000).assumptions


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_more_people_and_more_noise_never_help(seed, n):
    channel, law, _ = _random_case(seed)
    here = uninformed_vulnerability(channel, n=n, prior=law)
    assert uninformed_vulnerability(channel, n=n + 1, prior=law) <= here + 1e-14
    blurred = channel @ Channel.from_probabilities(
        np.full((channel.shape[1], channel.shape[1]), 0.5 / channel.shape[1])
        + 0.5 * np.eye(channel.shape[1]),
    )
    assert uninformed_vulnerability(blurred, n=n, prior=law) <= here + 1e-14
    assert here >= float(max(law)) - 1e-14


def test_refusals():
    with pytest.raises(ParameterError, match="`n` must"):
        uninformed_vulnerability(_response(Fraction(1, 2)), n=0)
    for n in (10**18 + 1, 10**400):
        for ask in (uninformed_vulnerability, uninformed_upper_bound):
            with pytest.raises(ParameterError, match="`n` must"):
                ask(_response(Fraction(3, 4)), n=n, prior=[0.3, 0.7])
        with pytest.raises(ParameterError, match="`n` must"):
            guess_uninformed(_asymmetric(), n=n)
    with pytest.raises(ParameterError, match="`source` must be a Randomizer or a Channel"):
        uninformed_vulnerability([[1, 0], [0, 1]], n=3)
    with pytest.raises(ParameterError, match="`k` must"):
        shuffle_only_vulnerability(1, 10)
