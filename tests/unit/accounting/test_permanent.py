"""Reports from one permanent answer: the proof beside the exact divergence, by enumeration."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from croupier.accounting.blanket import upper_curve
from croupier.accounting.permanent import PermanentReports
from croupier.randomizers.memoised import MemoisedResponse

SMALL = [
    MemoisedResponse(k=2, max_epsilon_local=0.7, max_epsilon_permanent=2.0, denominator=1000),
    MemoisedResponse(k=3, max_epsilon_local=1.0, max_epsilon_permanent=1.5, denominator=1000),
    MemoisedResponse(k=3, max_epsilon_local=0.3, max_epsilon_permanent=4.0, denominator=1000),
    MemoisedResponse(k=6, max_epsilon_local=1.5, max_epsilon_permanent=2.0, denominator=1000),
]
EPSILONS = (0.0, 0.1, 0.3, 0.7, 1.0, 1.9, 3.0)


def chances(mechanism):
    """The law of a response given what it responds to, exactly."""
    own, other = mechanism.levels
    size = mechanism.size
    return [[own if y == x else other for y in range(size)] for x in range(size)]


def alone(mechanism, value, reports):
    """The law of all reports of one person."""
    permanent, noise = chances(mechanism.permanent)[value], chances(mechanism.instantaneous)
    return {
        sent: sum(
            chance * math.prod(noise[kept][each] for each in sent)
            for kept, chance in enumerate(permanent)
        )
        for sent in product(range(mechanism.size), repeat=reports)
    }


def among(mechanism, values, reports):
    """The law of the counts of every batch, of people who are in all of them."""
    laws = [alone(mechanism, value, reports) for value in values]
    found = defaultdict(Fraction)
    for sent in product(*(law.items() for law in laws)):
        batches = tuple(
            tuple(sorted(person[number] for person, _ in sent)) for number in range(reports)
        )
        found[batches] += math.prod(chance for _, chance in sent)
    return found


def divergence(first, second, epsilon):
    ratio = Fraction(math.exp(epsilon))
    keys = first.keys() | second.keys()
    return float(sum(max(first.get(y, 0) - ratio * second.get(y, 0), 0) for y in keys))


@pytest.mark.parametrize("mechanism", SMALL, ids=repr)
@pytest.mark.parametrize("reports", [1, 2, 4])
def test_epsilon_of_several_reports_is_the_largest_ratio(mechanism, reports):
    if mechanism.size**reports > 100:
        reports = 2
    laws = [alone(mechanism, value, reports) for value in (0, 1)]
    worst = max(laws[0][sent] / laws[1][sent] for sent in laws[0])
    promised = mechanism.epsilon_of(reports)
    assert math.isclose(promised, math.log(worst), rel_tol=1e-12)
    assert promised >= math.log(worst) * (1 - 1e-15)
    assert promised <= mechanism.epsilon_permanent


def test_more_reports_reach_the_permanent_epsilon_and_no_more():
    for mechanism in SMALL:
        found = [mechanism.epsilon_of(reports) for reports in (1, 2, 3, 10, 100, 10_000, 10**9)]
        assert found == sorted(found)
        assert found[0] == mechanism.epsilon_local
        assert found[-1] == mechanism.epsilon_permanent <= mechanism.max_epsilon_permanent


def test_reports_may_add_up_to_more_than_their_epsilons():
    """Noise that averages out: two reports of epsilon e may reach more than 2 e."""
    mechanism = MemoisedResponse(k=1000, max_epsilon_local=0.5, max_epsilon_permanent=3.0)
    assert mechanism.epsilon_of(2) > 2 * mechanism.epsilon_local


@pytest.mark.parametrize("mechanism", SMALL, ids=repr)
@pytest.mark.parametrize("reports", [2, 3])
def test_known_senders(mechanism, reports):
    proved = PermanentReports.of(mechanism, reports=reports)
    laws = [alone(mechanism, value, reports) for value in (0, 1)]
    for epsilon in EPSILONS:
        exact = divergence(*laws, epsilon)
        assert proved.deltas(np.array([epsilon]), at=1e-3)[0] >= exact * (1 - 1e-12)
        if exact:
            assert proved.epsilon(min(exact, 0.9)) >= epsilon * (1 - 1e-9)
    assert divergence(*laws, proved.most) <= 1e-15


@pytest.mark.parametrize("mechanism", SMALL[:3], ids=repr)
@pytest.mark.parametrize(("people", "reports"), [(2, 2), (3, 2), (2, 3)])
def test_batches_of_the_same_people(mechanism, people, reports):
    """Both proofs: noise for any permanent answers, and counts of the permanent answers."""
    if mechanism.size ** (people * reports) > 1000:
        people, reports = 2, 2
    proved = PermanentReports.of(mechanism, reports=reports, honest=people)
    counts = upper_curve(mechanism.permanent, n=people)
    for others in product(range(mechanism.size), repeat=people - 1):
        first, second = (among(mechanism, (own, *others), reports) for own in (0, 1))
        for epsilon in EPSILONS:
            exact = max(divergence(first, second, epsilon), divergence(second, first, epsilon))
            assert proved.deltas(np.array([epsilon]), at=1e-3)[0] >= exact * (1 - 1e-12)
            assert counts.delta(epsilon) >= exact * (1 - 1e-12)


def test_the_enumeration_finds_a_bound_that_is_too_small():
    """As if the noise of two reports were one: the mistake that the proof must not make."""
    mechanism = SMALL[2]
    wrong = PermanentReports.of(mechanism, reports=1, honest=2)
    first, second = (among(mechanism, (own, 1), 2) for own in (0, 1))
    assert wrong.deltas(np.array([0.1]), at=1e-3)[0] < divergence(first, second, 0.1)
