"""Who is in the crowd: what is left, never below the truth."""

import math
from itertools import combinations_with_replacement, product

import pytest

from croupier.accounting.blanket import upper_curve
from croupier.accounting.clones import clone_curve
from croupier.errors import ParameterError
from croupier.randomizers import MatrixRandomizer, randomizer
from croupier.sidechannels.population import retried_epsilon, situations


def named(found):
    return {situation.name: situation for situation in found}


def test_every_situation_costs():
    made = randomizer("k-rr", k=10, max_epsilon_local=2.0)
    found = situations(
        made,
        n=10_000,
        delta=1e-6,
        corrupt=5_000,
        report_probability=0.5,
        rounds=10,
        retries=2,
    )
    planned = found[0]
    assert [situation.honest for situation in found] == [10_000, 5_000, 10_000, 1, 10_000, 10_000]
    for situation in found[1:]:
        assert situation.epsilon_upper > planned.epsilon_upper
        assert situation.advice
    assert named(found)["shuffler drops, injects or tells the order"].epsilon_upper == 2.0


def test_nothing_happens():
    found = situations(epsilon_local=1.0, n=1000, delta=1e-6)
    assert found[0].name == "as planned"
    assert len(found) == 2


@pytest.mark.parametrize("malicious", [0, 5000, 9000, 9900])
def test_sybils_leave_the_rest(malicious):
    found = situations(epsilon_local=2.0, n=10_000, delta=1e-6, corrupt=malicious)
    rest = clone_curve(epsilon_local=2.0, n=10_000 - malicious).epsilon(1e-6)
    assert found[1 if malicious else 0].epsilon_upper == pytest.approx(rest)


def batch(rows, values):
    """The law of the sorted reports of people who hold these values."""
    seen = {}
    for outputs in product(range(len(rows[0])), repeat=len(values)):
        chance = math.prod(rows[x][y] for x, y in zip(values, outputs, strict=True))
        view = tuple(sorted(outputs))
        seen[view] = seen.get(view, 0.0) + chance
    return seen


@pytest.mark.parametrize("reports", [1, 2, 3])
@pytest.mark.parametrize("others", [0, 1, 2, 3])
@pytest.mark.parametrize(("epsilon_local", "delta"), [(0.3, 0.01), (1.0, 0.05), (2.0, 0.3)])
@pytest.mark.parametrize("k", [2, 3])
def test_retries_by_enumeration(k, epsilon_local, delta, others, reports):
    made = randomizer("k-rr", k=k, max_epsilon_local=epsilon_local)
    rows = made.channel().probabilities.tolist()
    curve = clone_curve(epsilon_local=made.epsilon_local, n=others + reports)
    epsilon = retried_epsilon(curve, reports=reports, delta=delta)
    assert epsilon <= reports * made.epsilon_local * (1 + 1e-9)
    for held in combinations_with_replacement(range(k), others):
        one, two = (batch(rows, (value,) * reports + held) for value in (0, 1))
        for a, b in ((one, two), (two, one)):
            spent = sum(max(0.0, a[view] - math.exp(epsilon) * b[view]) for view in a)
            assert spent <= delta * (1 + 1e-9)


def test_many_retries():
    curve = clone_curve(epsilon_local=2.0, n=10_399)
    assert retried_epsilon(curve, reports=400, delta=1e-6) <= 800 * (1 + 1e-9)
    alone = clone_curve(epsilon_local=50.0, n=30)
    assert retried_epsilon(alone, reports=20, delta=1e-6) <= 1000 * (1 + 1e-9)


@pytest.mark.parametrize("chance", [math.nan, 2.0, -1.0, 0.0])
def test_chances_that_are_none(chance):
    with pytest.raises(ParameterError, match="report_probability"):
        situations(epsilon_local=1.0, n=10, delta=0.1, report_probability=chance)


def test_what_is_refused():
    curve = clone_curve(epsilon_local=1.0, n=10)
    for call in (
        lambda: retried_epsilon(curve, reports=0, delta=0.1),
        lambda: retried_epsilon(curve, reports=2, delta=0.0),
        lambda: situations(epsilon_local=1.0, n=10, delta=0.1, rounds=0),
        lambda: situations(epsilon_local=1.0, n=10, delta=0.1, retries=0),
        lambda: situations(epsilon_local=1.0, n=10, delta=0.1, corrupt=10),
        lambda: situations(n=10, delta=0.1),
    ):
        with pytest.raises(ParameterError):
            call()


def test_retries_without_local_privacy_are_not_bounded():
    """delta stays above the target at every epsilon: the largest one tried proves nothing."""
    curve = upper_curve(MatrixRandomizer(matrix=((1, 1, 0), (1, 0, 1))), n=100)
    assert math.isinf(retried_epsilon(curve, reports=2, delta=1e-6))
