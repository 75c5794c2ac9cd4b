"""Crowds are large and written as such, n=1e5; a delta is a number."""

import pytest

import croupier as cr
from croupier.accounting.amplify import amplify
from croupier.errors import ParameterError

RESPONSE = cr.randomizer("k-rr", k=3, max_epsilon_local=1.0)
CALLS = {
    "amplify": lambda n: amplify(RESPONSE, n=n, delta=1e-6),
    "method": lambda n: RESPONSE.bracket(n=n, delta=1e-6),
    "bracket": lambda n: cr.bracket(RESPONSE, n=n, delta=1e-6),
    "reidentification": lambda n: cr.reidentification(RESPONSE, n=n),
    "guess_uninformed": lambda n: cr.guess_uninformed(RESPONSE, n=n),
    "solve": lambda n: cr.solve("k-rr", k=3, epsilon_local=1.0, n=n, delta=1e-6).value,
    "audit": lambda n: cr.audit(
        RESPONSE, inputs=(0, 1), claim=1.0, n=n, samples=1e3, insecure_seed=1
    ),
}


def test_people_who_are_enrolled_may_be_written_as_a_float():
    wanted = {"k": 2, "target_error": 0.1, "max_epsilon": 1.0, "mechanisms": ["k-rr"]}
    first, *_ = cr.design(enrolled=1e4, **wanted)
    assert first.plan == cr.design(enrolled=10_000, **wanted)[0].plan


@pytest.mark.parametrize("name", CALLS)
def test_a_number_of_people_may_be_written_as_a_float(name):
    assert CALLS[name](1e3) == CALLS[name](1000)


def test_all_that_counts_people_may_be_written_as_a_float():
    assert cr.Adversary(sees=(), corrupt=1e2) == cr.Adversary(sees=(), corrupt=100)
    assert RESPONSE.bracket(n=1e3, corrupt=1e2, delta=1e-6) == RESPONSE.bracket(
        n=1000, corrupt=100, delta=1e-6
    )
    found = [cr.guess_informed(RESPONSE, others=others) for others in ((1e1, 9e0, 0.0), (10, 9, 0))]
    assert found[0] == found[1]


@pytest.mark.parametrize("n", [1.5, float("nan"), float("inf"), -1e5, "1e5"])
@pytest.mark.parametrize("name", CALLS)
def test_other_numbers_are_refused(name, n):
    with pytest.raises(ParameterError, match="`n` must"):
        CALLS[name](n)


@pytest.mark.parametrize("delta", ["1e-6", [1e-6], 1.5, 0, float("nan")])
@pytest.mark.parametrize(
    "call",
    [
        lambda delta: amplify(RESPONSE, n=9, delta=delta),
        lambda delta: RESPONSE.bracket(n=9, delta=delta),
        lambda delta: cr.bracket(RESPONSE, n=9, delta=delta),
        lambda delta: cr.solve("k-rr", k=3, epsilon_local=1.0, n=9, delta=delta),
        lambda delta: cr.solve("k-rr", k=3, epsilon_local=1.0, epsilon=0.1, delta=delta),
        lambda delta: cr.solve("k-rr", k=3, n=9, epsilon=0.1, delta=delta),
    ],
)
def test_a_delta_that_is_no_chance_is_refused(call, delta):
    with pytest.raises(ParameterError, match=r"`delta` must be in \(0, 1\).* Try 1e-6"):
        call(delta)


def test_a_delta_that_is_left_out_is_refused():
    with pytest.raises(ParameterError, match=r"`delta` must be in \(0, 1\). Try 1e-6"):
        RESPONSE.bracket(n=9, delta=None)
