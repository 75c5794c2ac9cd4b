"""Upper and lower bounds against independently computed values."""

import pytest

from croupier.accounting.amplify import amplify, bracket
from croupier.accounting.blanket import upper_curve
from croupier.accounting.clones import clone_curve, stronger_clone_curve
from croupier.randomizers import randomizer

CLOSE = 1e-5


@pytest.mark.parametrize("k", [2, 3, 10])
def test_k_rr_on_the_grid(golden_grid, k):
    response = randomizer("k-rr", k=k, max_epsilon_local=golden_grid["eps0"])
    found = bracket(response, n=golden_grid["n"], delta=golden_grid["delta"])
    assert found.upper.value == pytest.approx(golden_grid[f"krr{k}_ub"], rel=CLOSE)
    assert found.lower.value == pytest.approx(golden_grid[f"krr{k}_lb"], rel=CLOSE)
    if k == 10:
        assert found.upper.value <= 1.001 * found.lower.value


def test_standard_clones_on_the_grid(golden_grid):
    found = amplify(
        epsilon_local=golden_grid["eps0"], n=golden_grid["n"], delta=golden_grid["delta"]
    )
    assert found.value == pytest.approx(golden_grid["standard_clones_ub"], rel=CLOSE)


def test_mechanism(golden_mechanisms):
    case = golden_mechanisms
    mechanism = randomizer(
        case["mechanism"], max_epsilon_local=case["epsilon_local"], **case["parameters"]
    )
    found = bracket(mechanism, n=case["n"], delta=case["delta"])
    assert found.upper.value == pytest.approx(case["upper"], rel=CLOSE)
    assert found.lower.value == pytest.approx(case["lower"], rel=CLOSE)
    assert found.lower.value <= found.upper.value


def test_people_who_do_not_report_or_are_corrupt(golden_people):
    case = golden_people
    response = randomizer("k-rr", k=case["k"], max_epsilon_local=case["epsilon_local"])
    found = bracket(
        response,
        n=case["n"],
        delta=case["delta"],
        corrupt=case["corrupt"],
        report_probability=case["report_probability"],
    )
    assert found.upper.value == pytest.approx(case["upper"], rel=CLOSE)
    assert found.lower.value == pytest.approx(case["lower"], rel=CLOSE)


def test_clones(golden_clones):
    case = golden_clones
    local, n = case["epsilon_local"], case["n"]
    if case["bound"] == "stronger":
        curve = stronger_clone_curve(randomizer("k-rr", k=2, max_epsilon_local=local), n=n)
    else:
        curve = clone_curve(epsilon_local=local, n=n)
    assert curve.epsilon(case["delta"]) == pytest.approx(case["epsilon"], abs=case["tolerance"])


def test_the_mean_number_of_reports_is_not_safe():
    response = randomizer("k-rr", k=10, max_epsilon_local=1.0)
    random_number = amplify(response, n=10_000, delta=1e-6, report_probability=0.01).value
    assert random_number > amplify(response, n=101, delta=1e-6).value


def test_upper_bounds_are_above_what_the_variation_ratio_gets_wrong(golden_tiny_exact):
    case = golden_tiny_exact
    response = randomizer("k-rr", k=case["k"], max_epsilon_local=case["epsilon_local"])
    delta = upper_curve(response, n=case["n"]).delta(case["epsilon"])
    assert case["variation_ratio_invalid"] < case["exact_worst_delta"] <= delta
    assert delta == pytest.approx(case["blanket"], rel=1e-4)
