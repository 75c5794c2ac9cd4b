"""Bayes security against independently computed values and against its definition."""

import math
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from croupier.errors import ParameterError
from croupier.leakage import bayes_security_bounds as bounds
from croupier.leakage import easiest_pair as search
from croupier.leakage.bayes_security import (
    bayes_security,
    bayes_security_bracket,
    prior_bayes_security,
    risk_left,
    witness,
)
from croupier.model import Channel
from croupier.randomizers import randomizer


def near(case, name="value"):
    return pytest.approx(case[name], rel=case["tolerance"], abs=0)


def response(k, epsilon_local):
    matrix = np.ones((k, k)) + math.expm1(epsilon_local) * np.eye(k)
    return Channel.from_probabilities(matrix / matrix.sum(axis=1, keepdims=True))


def test_response(golden_response):
    case = golden_response
    k, local = case["k"], case["epsilon_local"]
    assert bounds.response_security(k=k, epsilon_local=local) == near(case)
    made = bayes_security(randomizer("k-rr", k=k, max_epsilon_local=local))
    assert made.value == pytest.approx(case["value"], rel=1e-12)
    if k <= 400:
        assert bayes_security(response(k, local)).value == pytest.approx(case["value"], rel=1e-13)


@pytest.mark.parametrize(("epsilon_local", "printed"), [(3.3, 0.99999), (4.8, 0.99995)])
def test_census_as_printed_is_wrong(epsilon_local, printed):
    found = bounds.response_security(k=400, epsilon_local=epsilon_local)
    assert abs(found - printed) > 0.05


def test_private_floor(golden_private_floor):
    case = golden_private_floor
    assert bounds.private_floor(case["epsilon"]) == near(case)
    assert bayes_security(response(2, case["epsilon"])).value == pytest.approx(
        case["value"], rel=1e-14
    )
    assert bounds.private_floor(case["epsilon"], 0.1) == pytest.approx(0.9 * case["value"])


def test_mean_row(golden_mean_row):
    case = golden_mean_row
    channel = response(case["k"], case["epsilon_local"])
    rows = channel.probabilities
    centre = rows.mean(axis=0) if case["row"] == "mean" else rows[0]
    distance = np.abs(rows - centre).sum(axis=1).max()
    assert 1 - distance == pytest.approx(case["lower"], rel=1e-12)
    assert 1 - distance / 2 == pytest.approx(case["upper"], rel=1e-12)
    found = bayes_security_bracket(channel)
    assert found.lower.value <= case["exact"] * (1 + 1e-12)
    assert found.upper.value >= case["exact"] * (1 - 1e-12)
    assert found.upper.value <= 1 - distance / 2 + 1e-12
    if case["row"] == "mean":
        assert found.lower.value >= case["lower"] - 1e-12


def test_laplace(golden_laplace_noise):
    case = golden_laplace_noise
    assert bounds.laplace_security(sensitivity=case["epsilon"], scale=1) == near(case)


def test_gaussian(golden_gaussian_noise):
    case = golden_gaussian_noise
    scale = case["scale"] or math.sqrt(2 * math.log(1.25 / case["delta"])) / case["epsilon"]
    assert bounds.gaussian_security(sensitivity=1, scale=scale) == near(case)


def test_database(golden_database):
    case = golden_database
    facts = {name: case[name] for name in ("values", "records", "epsilon")}
    assert bounds.database_floor(**facts) == near(case)
    one = response(case["values"], case["epsilon"])
    rows = one.probabilities
    for _ in range(case["records"] - 1):
        rows = np.kron(rows, one.probabilities)
    assert prior_bayes_security(Channel.from_probabilities(rows)) == near(case)
    assert bounds.database_floor(values=2, records=10**6, epsilon=1.0) == pytest.approx(1.0)


def test_pair_changes_in_parallel(golden_parallel):
    case = golden_parallel
    channel = Channel.from_probabilities(case["matrix"])
    for one, name in ((channel, ""), (channel | channel, "parallel_")):
        found = witness(one)
        assert float(found.overlap) == pytest.approx(case[f"{name}value"], rel=1e-12)
        assert [found.first, found.second] == case[f"{name}pair"]


def test_printed_example_of_parallel_channels_is_tied():
    channel = Channel.from_weights([[9, 1, 0], [8, 2, 0], [5, 5, 0], [5, 1, 4]], 10)
    tied = [
        pair for pair in combinations(range(4), 2) if overlap(channel, *pair) == Fraction(6, 10)
    ]
    assert bayes_security(channel).value == 0.6
    assert len(tied) > 1
    both = channel | channel
    assert bayes_security(both).value == pytest.approx(0.36, rel=1e-12)
    assert bayes_security(both).value >= bounds.parallel_floor(0.6, 0.6) * (1 - 1e-12)


def overlap(channel, first, second):
    return sum(
        min(channel.probability(first, y), channel.probability(second, y))
        for y in range(channel.shape[1])
    )


def random_channel(rng, rows, columns, *, zeros=True):
    weights = []
    for _ in range(rows):
        row = [rng.randint(0 if zeros else 1, 9) for _ in range(columns - 1)]
        weights.append([*row, 9 * columns - sum(row)])
    return Channel.from_weights(weights, 9 * columns)


@pytest.mark.parametrize("seed", range(10))
def test_definition(seed):
    rng = random.Random(seed)  # noqa: S311 - test cases, not noise
    for _ in range(120):
        rows, columns = rng.randint(2, 7), rng.randint(1, 6)
        channel = random_channel(rng, rows, columns)
        every = {pair: overlap(channel, *pair) for pair in combinations(range(rows), 2)}
        found = witness(channel)
        assert found.overlap == min(every.values())
        assert every[found.first, found.second] == found.overlap
        assert bayes_security(channel).value == pytest.approx(float(found.overlap), rel=1e-15)
        both = bayes_security_bracket(channel)
        assert both.lower.value <= found.overlap <= both.upper.value
        secrets = sorted(rng.sample(range(rows), rng.randint(2, rows)))
        among = witness(channel, secrets=secrets)
        assert among.overlap == min(every[pair] for pair in combinations(secrets, 2))
        prior = [rng.randint(0, 5) + (place < 2) for place in range(rows)]
        law = [Fraction(weight, sum(prior)) for weight in prior]
        risk = 1 - sum(
            max(law[x] * channel.probability(x, y) for x in range(rows)) for y in range(columns)
        )
        truth = risk / (1 - max(law))
        assert prior_bayes_security(channel, law) == pytest.approx(
            float(truth), rel=1e-12, abs=1e-14
        )
        assert truth >= found.overlap
        assert risk >= found.overlap * (1 - max(law))
        assert channel.epsilon == math.inf or found.overlap >= bounds.private_floor(
            channel.epsilon
        ) * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_composition(seed):
    rng = random.Random(seed)  # noqa: S311 - test cases, not noise
    for _ in range(40):
        one = random_channel(rng, 3, 4)
        two, other = random_channel(rng, 4, 3), random_channel(rng, 3, 2)
        first, second, third = (bayes_security(channel).value for channel in (one, two, other))
        side = bayes_security(one | other).value
        assert side >= bounds.parallel_floor(first, third) * (1 - 1e-12)
        chain = bayes_security(one @ two).value
        floor = bounds.cascade_floor(first, second)
        assert chain >= floor * (1 - 1e-12)
        assert floor >= max(first, second) * (1 - 1e-12)


def test_cascade_floor_is_attained():
    one, two = response(2, 1.0), response(2, 2.0)
    floor = bounds.cascade_floor(bayes_security(one).value, bayes_security(two).value)
    assert bayes_security(one @ two).value == pytest.approx(floor, rel=1e-14)


@pytest.mark.parametrize(("rows", "columns"), [(3, 40), (65, 16), (130, 33), (300, 20), (700, 5)])
@pytest.mark.parametrize("kind", ["dirichlet", "geometric", "equal", "sparse"])
def test_search_finds_the_pair(rows, columns, kind):
    rng = np.random.default_rng(rows)
    matrix = {
        "dirichlet": lambda: rng.dirichlet(np.ones(columns), size=rows),
        "geometric": lambda: rng.uniform(0.2, 0.95, (rows, 1)) ** np.arange(columns),
        "equal": lambda: np.ones((rows, columns)),
        "sparse": lambda: rng.dirichlet(np.full(columns, 0.02), size=rows) + 1e-12,
    }[kind]()
    channel = Channel.from_probabilities(matrix / matrix.sum(axis=1, keepdims=True))
    found = witness(channel)
    distances = squareform(pdist(channel.probabilities, "cityblock"))
    assert float(found.overlap) == pytest.approx(1 - distances.max() / 2, rel=1e-12, abs=1e-14)
    assert distances[found.first, found.second] == pytest.approx(distances.max(), rel=1e-13)


@pytest.mark.parametrize("compiled", [True, False])
def test_double_precision_decides_where_single_cannot(compiled, monkeypatch):
    # Two pairs whose overlaps differ by 1e-10: single precision cannot tell them apart.
    monkeypatch.setattr(search, "_COMPILED_FROM", 0 if compiled else math.inf)
    rng = np.random.default_rng(5)
    rows = np.full((200, 40), 1 / 40) + rng.uniform(-1, 1, (200, 40)) * 1e-4
    rows /= rows.sum(axis=1, keepdims=True)
    for place, extra in ((17, 0.0), (90, 1e-10)):
        rows[place] = rows[place + 1] = 1 / 80
        rows[place, :20] += 1 / 40 + extra / 20
        rows[place, 20:] -= extra / 20
        rows[place + 1, 20:] += 1 / 40
    rows[18] = rows[91]
    channel = Channel.from_probabilities(rows)
    single = rows.astype(np.float32)
    tied = [np.minimum(single[17], single[18]).sum(), np.minimum(single[90], single[91]).sum()]
    assert tied[0] <= tied[1], "single precision prefers the wrong pair"
    found = witness(channel)
    assert 90 in (found.first, found.second)
    assert {18, 91} & {found.first, found.second}


def test_exact_decides_where_double_precision_cannot():
    big = 10**40
    rows = [[big, big, 2 * big], [2 * big, 2 * big, 0], [2 * big, 2 * big - 1, 1]]
    channel = Channel.from_weights(rows, 4 * big)
    found = witness(channel)
    assert (found.first, found.second, found.overlap) == (0, 1, Fraction(1, 2))


def test_rows_that_tie_within_rounding():
    whole = 2**60
    channel = Channel.from_weights([[0, whole], [whole - 2, 2], [whole, 0]], whole)
    assert witness(channel).overlap == 0
    short = Channel.from_probabilities([[0, 1], [1, 1e-10], [1, 0.0]])
    assert bayes_security(short).value == 0


def test_witness_is_named_by_its_labels():
    made = randomizer("k-rr", labels=("cat", "dog", "neither"), max_epsilon_local=1.0)
    assert (witness(made).first, witness(made).second) == ("cat", "dog")


def test_bracket_of_rows_that_do_not_quite_sum_to_one():
    rng = np.random.default_rng(7)
    for _ in range(200):
        rows = rng.dirichlet(np.ones(2), size=4) * (1 + rng.uniform(-9e-10, 9e-10, (4, 1)))
        channel = Channel.from_probabilities(rows)
        both = bayes_security_bracket(channel)
        assert both.lower.value <= witness(channel).overlap <= both.upper.value


def test_many_rows_few_outputs_and_many_outputs_few_rows():
    rng = np.random.default_rng(6)
    for shape in ((5000, 4), (4, 5000)):
        channel = Channel.from_probabilities(rng.dirichlet(np.ones(shape[1]), size=shape[0]))
        truth = 1 - pdist(channel.probabilities, "cityblock").max() / 2
        assert bayes_security(channel).value == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("symmetric-unary", {"k": 4}),
        ("subset-selection", {"k": 6, "subset_size": 2}),
        ("hadamard", {"k": 5}),
        ("laplace", {"grid": {"low": 0.0, "high": 1.0, "step": 0.125}}),
        ("one-bit-mean", {"grid": {"low": 0.0, "high": 1.0, "step": 0.25}}),
        ("sampled-sign", {"dimension": 4}),
    ],
)
def test_randomizer_and_its_channel_agree(name, parameters):
    made = randomizer(name, max_epsilon_local=1.5, **parameters)
    assert bayes_security(made).value == bayes_security(made.channel()).value
    assert bayes_security(made).value >= bounds.private_floor(made.epsilon_local) * (1 - 1e-12)


def test_breach_ceiling_is_attained():
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    channel = Channel.from_weights(rows, 1)
    assert prior_bayes_security(channel) == pytest.approx(
        bounds.breach_ceiling(secrets=5, told_apart=3), rel=1e-14
    )
    assert bayes_security(channel).value == 0


def test_bounds_of_the_advantage():
    for epsilon in (0.01, 0.5, 1.0, 3.0):
        best = 1 - bayes_security(response(2, epsilon)).value
        assert bounds.advantage_limit(epsilon) == pytest.approx(best, rel=1e-12)
        assert bounds.advantage_limit(epsilon, published=True) > bounds.advantage_limit(epsilon)
        success = 1 - bayes_security(response(2, epsilon)).value / 2
        assert bounds.epsilon_of_success(success) == pytest.approx(epsilon, rel=1e-12)
    assert bounds.epsilon_of_success(1) == math.inf
    assert bounds.epsilon_of_success(0.5 + 1e-8) == pytest.approx(4e-8, rel=1e-7)
    assert bounds.cascade_floor(1e-10) == pytest.approx(1e-10, rel=1e-15)
    assert bounds.cascade_floor(0.3, 1.0) == 1
    assert bounds.total_delta(0.9) == pytest.approx(0.1)
    assert bounds.curve_floor(0.1) == 0.9


def test_losses():
    channel = response(3, 1.0)
    zero_one = 1 - np.eye(3)
    assert risk_left(channel, zero_one) == pytest.approx(prior_bayes_security(channel), rel=1e-14)
    with pytest.raises(ParameterError, match="doubt"):
        risk_left(channel, np.zeros((3, 3)))  # the loss as printed costs nothing at all
    distance = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    assert 0 < risk_left(channel, distance, prior=[0.5, 0, 0.5]) < 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: prior_bayes_security(response(2, 1.0), [1.0, 0.0]),
        lambda: bayes_security(response(3, 1.0), secrets=[0]),
        lambda: bayes_security(response(3, 1.0), secrets=[0, 7]),
        lambda: risk_left(response(3, 1.0), [[-1, 0, 0]]),
        lambda: bounds.private_floor(-1),
        lambda: bounds.private_floor(1, 2),
        lambda: bounds.epsilon_of_success(0.4),
        lambda: bounds.laplace_security(sensitivity=1, scale=0),
        lambda: bounds.parallel_floor(1.5),
        lambda: bounds.breach_ceiling(secrets=5, told_apart=6),
        lambda: bounds.response_security(k=1, epsilon_local=1),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(ParameterError):
        call()
