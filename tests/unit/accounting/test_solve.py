import pytest

from croupier.accounting.amplify import amplify
from croupier.accounting.solve import solve
from croupier.errors import ParameterError
from croupier.randomizers import randomizer


def test_the_four_answers_agree():
    n = solve("k-rr", k=10, epsilon_local=4.0, epsilon=0.1, delta=1e-6).value
    response = randomizer("k-rr", k=10, max_epsilon_local=4.0)
    assert amplify(response, n=n, delta=1e-6).value <= 0.1 * (1 + 2e-8)
    assert amplify(response, n=n - 1, delta=1e-6).value > 0.1 * (1 - 2e-8)
    known = {"epsilon_local": 4.0, "epsilon": 0.1, "n": n}
    assert solve("k-rr", k=10, **known).value == pytest.approx(1e-6, rel=1e-3)
    known = {"epsilon": 0.1, "n": n, "delta": 1e-6}
    local = solve("k-rr", k=10, **known).value
    assert local == pytest.approx(4.0, abs=1e-4)
    known = {"epsilon_local": 4.0, "n": n, "delta": 1e-6}
    assert solve("k-rr", k=10, **known).value == pytest.approx(0.1, rel=1e-5)


def test_clones_where_no_mechanism_is_named():
    assert solve(epsilon=0.2, n=10_000, delta=1e-6).value == pytest.approx(2.3221696055, abs=1e-6)


def test_corruption_needs_a_larger_batch():
    honest = solve("k-rr", k=10, epsilon_local=4.0, epsilon=0.1, delta=1e-6)
    attacked = solve("k-rr", k=10, epsilon_local=4.0, epsilon=0.1, delta=1e-6, corrupt_fraction=0.2)
    assert attacked.value == pytest.approx(honest.value / 0.8, abs=2)
    assert attacked.curve.delta(0.1) <= 1e-6


def test_a_person_alone_is_enough_where_the_local_epsilon_is():
    assert solve("k-rr", k=3, epsilon_local=1.0, epsilon=1.0, delta=1e-6).value == 1


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0.1, "delta": 1e-6},
        {"epsilon": 0.1, "delta": 1e-6, "n": 10, "epsilon_local": 1.0},
        {"epsilon": 0.0, "delta": 1e-6, "n": 10},
        {"epsilon": 0.1, "delta": 1e-6, "n": 10, "corrupt_fraction": 1.0},
        {"epsilon": 1e-12, "delta": 1e-300, "epsilon_local": 20.0},
    ],
)
def test_what_cannot_be_solved_is_refused(given):
    with pytest.raises(ParameterError):
        solve(**given)
