"""Linking, guessing, rounds, participation, orders, estimates: against all that can be."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from benchmarks.refute import composing, estimates, guessing, linking, orders
from benchmarks.refute.found import Found
from croupier.accounting.composition import composed_epsilon
from croupier.leakage.bayes_security import bayes_security
from croupier.leakage.reidentification import reidentification
from croupier.randomizers import randomizer
from croupier.shufflers.sensitivity import composed_alpha
from croupier.sidechannels.participation import remaining

SEARCHES = {
    "linking": (linking.search, 60, 800),
    "guessing": (guessing.search, 80, 1300),
    "rounds": (composing.search_rounds, 2, 8),
    "participation": (composing.search_participation, 2, 80),
    "orders": (orders.search, 50, 400),
    "estimates": (estimates.search, 120, 150),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_nothing_is_false(refuted, require_true, name):
    search, cases, cells = SEARCHES[name]
    require_true(refuted(name, search, cases=cases), cells=cells)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "rows",
    [
        [[4217090612, 77876684], [4217090613, 77876683]],
        [[2**63 - 3, 2**63 + 3], [2**63 + 5, 2**63 - 5]],
        [[10**6, 10**6, 10**6], [10**6 + 1, 10**6 - 1, 10**6], [10**6, 10**6 + 1, 10**6 - 1]],
    ],
)
def test_guesses_where_rows_are_nearly_equal(require_true, rows, n):
    """A variance of 1e-19 is the difference of two numbers near one half."""
    found = Found()
    prior = [Fraction(1, len(rows))] * len(rows)
    guessing.check_shuffled(found, rows, prior, n, f"n = {n}, rows {rows}")
    require_true(found, cells=5)


def test_a_link_that_is_found_too_seldom_is_caught(refuted):
    def linked(*given, **known):
        both = reidentification(*given, **known)
        upper = replace(both.upper, value=0.999 * both.upper.value)
        return SimpleNamespace(lower=both.lower, upper=upper)

    found = refuted("linking", lambda r, f: linking.search(r, f, linked=linked), cases=4)
    assert {v.kind for v in found.violations} >= {"linked, at most"}


def test_a_security_that_is_too_large_is_caught(refuted):
    def security(channel):
        claim = bayes_security(channel)
        return replace(claim, value=min(1.0, claim.value + 1e-9))

    found = refuted("guessing", lambda r, f: guessing.search(r, f, security=security), cases=4)
    assert {v.kind for v in found.violations} == {"Bayes security"}


def test_rounds_that_are_not_composed_are_caught(refuted):
    def once(curve, *, rounds, delta):
        del rounds
        return composed_epsilon(curve, rounds=1, delta=delta)

    found = refuted("rounds", lambda r, f: composing.search_rounds(r, f, composed=once), cases=3)
    assert {v.kind for v in found.violations} == {"rounds"}


def test_a_crowd_that_is_taken_too_large_is_caught(refuted):
    def left(model, *, n, **facts):
        return remaining(model, n=2 * n, **facts)

    def search(random, found):
        composing.search_participation(random, found, left=left)

    found = refuted("participation", search, cases=1)
    assert any("participation" in violation.kind for violation in found.violations)


def test_alpha_without_rounds_is_caught(refuted):
    def once(guarantees):
        return composed_alpha(guarantees[:1])

    found = refuted("orders", lambda r, f: orders.search(r, f, composed=once), cases=4)
    assert {v.kind for v in found.violations} <= {
        "alpha, Kendall, rounds",
        "alpha, Hamming, rounds",
    }
    assert found.violations


def test_an_estimate_of_another_mechanism_is_caught(refuted):
    def other(**specification):
        if "max_epsilon_local" not in specification:
            return randomizer(**specification)
        made = randomizer(**specification)
        more = randomizer(**{**specification, "max_epsilon_local": 1.3 * made.epsilon_local})
        return _Estimating(made, more)

    found = refuted("estimates", lambda r, f: estimates.search(r, f, made=other), cases=12)
    assert {v.kind for v in found.violations} >= {"unbiased"}


class _Estimating:
    """Reports by one mechanism, estimates by another."""

    def __init__(self, reports, estimates):
        self.channel, self.rms_error = reports.channel, reports.rms_error
        self.tally, self.estimate_tally = estimates.tally, estimates.estimate_tally
