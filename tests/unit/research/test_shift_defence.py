"""Shifting by one does not hide what the number of messages betrays."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from croupier.errors import ParameterError
from croupier.model import Adversary, Direction, Guarantee, Metric, View
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.keystream import Keystream
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.research.shift_defence import ShiftDefence, shift_by_one_violation

CASES = json.loads((Path(__file__).parents[2] / "golden" / "cardinality.json").read_text())["cases"]
SHIFTS = [case for case in CASES if case["name"].startswith("shift_defence")]


@pytest.fixture(params=SHIFTS, ids=lambda case: case["name"])
def case(request):
    return request.param


def test_reference_values_without_simulation(case):
    defence = ShiftDefence(**case["inputs"])
    expected, close = case["value"], case["tolerance"]
    assert defence.event_probability(0) == pytest.approx(expected["noise_0"], abs=close)
    assert defence.event_probability(-1) == pytest.approx(expected["noise_minus_1"], abs=close)
    assert defence.violation == pytest.approx(expected["delta_lower"], abs=close)
    assert defence.violation > 1e4 * defence.delta


def test_reference_values_by_simulation(case):
    defence = ShiftDefence(**case["inputs"])
    found = shift_by_one_violation(defence, insecure_seed=7)
    assert defence.event_probability(0) in found.without_noise
    assert defence.event_probability(-1) in found.with_noise
    assert 0.9 * defence.violation < found.delta_lower <= defence.violation
    assert found.without_noise.upper - found.without_noise.lower < 0.012


def test_the_measurement_refutes_the_nominal_guarantee(case):
    defence = ShiftDefence(**case["inputs"])
    found = shift_by_one_violation(defence, insecure_seed=8).evidence
    claim = Guarantee(
        metric=Metric.EPSILON,
        value=defence.epsilon,
        direction=Direction.UPPER,
        delta=defence.delta,
        adversary=Adversary(sees={View.BATCH, View.ESTIMATE, View.COUNTS}),
        theorem="the shifted protocol, as claimed",
    )
    assert found.lower > 2
    assert found.refutes(claim)


def test_few_games_refute_nothing():
    defence = ShiftDefence(n=100, epsilon=1.0, delta=1e-6, gamma=0.1)
    found = shift_by_one_violation(defence, games=20, insecure_seed=1)
    assert found.delta_lower == 0
    assert found.evidence.lower == 0


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("noise", [-2, -1, 0, 1])
def test_the_probability_of_the_event_by_enumeration(n, noise):
    defence = ShiftDefence(
        n=n, epsilon=3.0, delta=0.99, gamma=0.1, range_after_shift=1, zero_sum_sets=2
    )
    q, cut = defence.ratio, 12
    counts = np.arange(cut)
    chance = stats.nbinom.pmf(counts, 1 / n, 1 - q)
    shape = 3 * (1 + math.log(2 / 0.99)) * 2 / n
    no_sets = stats.nbinom.pmf(0, shape, -math.expm1(-0.3 / 40))
    person = np.zeros(2 * cut - 1)
    for plus, minus in product(range(cut), repeat=2):
        weight = chance[plus] * chance[minus]
        person[plus - minus + cut - 1] += weight * (1 - no_sets if plus + minus == 1 else 1)
    everybody = person
    for _ in range(n - 1):
        everybody = np.convolve(everybody, person)
    brute = everybody[noise + n * (cut - 1)]
    assert defence.event_probability(noise) == pytest.approx(brute, rel=1e-9)


def test_the_implemented_protocol_shows_the_event_as_often():
    protocol = DeltaSummation(n=200, epsilon=1.0, delta=1e-6, gamma=0.1)
    defence = ShiftDefence(
        n=200, epsilon=1.0, delta=1e-6, gamma=0.1, range_after_shift=1, zero_sum_sets=1
    )
    games = 4000
    noise = protocol.draw_noise(200 * games, Keystream(insecure_seed=2)).reshape(games, 200, 3)
    alone = (noise @ np.array([1, 1, 2]) == 1).any(axis=1)
    total = (noise[:, :, 0] - noise[:, :, 1]).sum(axis=1)
    for value in (0, -1):
        hits = int(np.count_nonzero(~alone & (total == value)))
        interval = clopper_pearson(hits, games, confidence=1 - 1e-6)
        assert defence.event_probability(value) in interval
    # Where all zero-sum sets are pairs, the parity of the counts is that of the noise, always.
    parity = (noise @ np.array([1, 1, 2])).sum(axis=1) % 2
    assert (parity == total % 2).all()
    assert 0 < parity.mean() < 1


def test_many_people_do_not_cost_precision():
    found = [
        ShiftDefence(n=n, epsilon=1.0, delta=1e-6, gamma=0.1).violation for n in (10**7, 10**12)
    ]
    # Ever more people: coefficients of (1 - q)/(1 - q s) e^(-q s), noise without single senders.
    q = math.exp(-0.45)
    partial = np.cumsum([(-1) ** j / math.factorial(j) for j in range(120)])
    side = (1 - q) * q ** np.arange(120) * partial
    limit = side @ side - math.e * (side[1:] @ side[:-1])
    assert found[1] == pytest.approx(limit, rel=1e-8)
    assert found[0] == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("n", 0), ("epsilon", 0.0), ("delta", 0.0), ("gamma", 1.0), ("zero_sum_sets", 0)],
)
def test_parameters_that_cannot_be_are_refused(parameter, value):
    with pytest.raises(ParameterError) as refusal:
        ShiftDefence(**{"n": 10, "epsilon": 1.0, "delta": 1e-6, "gamma": 0.1, parameter: value})
    assert refusal.value.parameter == parameter
