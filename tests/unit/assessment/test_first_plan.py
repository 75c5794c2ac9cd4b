import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.assessment.first_plan import first_plan, least_error
from croupier.assessment.kept_limits import kept_limits, round_limit
from croupier.assessment.policy import check
from croupier.model.plan import Plan
from croupier.model.plan_file import PlanError
from croupier.randomizers import randomizer


@given(st.floats(1e-300, 1e300))
def test_a_limit_is_the_next_round_number(value):
    limit = round_limit(value)
    digits = f"{limit:.0e}"
    assert float(digits) == limit
    assert digits[0] in "125"
    assert value <= limit <= 2.5 * value * (1 + 1e-15)


@given(st.sampled_from([1, 2, 5]), st.integers(-300, 300))
def test_a_round_number_is_its_own_limit(digit, power):
    value = float(f"{digit}e{power}")
    assert round_limit(value) == value


def plan(**tables):
    base = {
        "schema": 1,
        "randomizer": {"mechanism": "k-rr", "k": 4, "epsilon_local": 2.0},
        "population": {"enrolled": 5000, "corrupt_fraction": 0.01},
        "protections": {"minimum_batch": 1000},
    }
    return Plan.from_document(base | tables)


GROUPS = {"sha256": "ab" * 32, "sensitivity": 16}


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({}, {"batch": {"max_epsilon", "max_reidentification"}, "collusion": {"max_epsilon"}}),
        (
            {"shuffler": {"order": "mallows", "alpha": 4.0, "groups": GROUPS}},
            {"batch": {"max_epsilon", "max_alpha"}, "collusion": {"max_epsilon"}},
        ),
        (
            {"randomizer": {"mechanism": "matrix", "matrix": [[1, 0], [0, 1]]}},
            {},
        ),
        (
            {"participation": {"model": "rectified-multinomial", "weights": 3, "rounds": 2}},
            {"batch": {"max_epsilon", "max_reidentification"}, "collusion": {"max_epsilon"}},
        ),
    ],
)
def test_kept_limits_are_kept(tables, expected):
    made = plan(**tables)
    limits = kept_limits(made)
    for rung, names in expected.items():
        assert set(limits[rung]) == names
    assert bool(limits) == bool(expected)
    assert len(check(made.having(policy=limits))) == sum(map(len, limits.values()))


def test_no_limit_against_readers_is_above_that_of_the_device():
    made = plan(
        randomizer={"mechanism": "k-rr", "k": 2, "epsilon_local": 1.1},
        population={"enrolled": 3},
        protections={"minimum_batch": 3},
    )
    limits = kept_limits(made)
    assert limits["batch"]["max_epsilon"] <= limits["collusion"]["max_epsilon"] == 1.1


@pytest.mark.parametrize("k", [2, 10, 300])
@pytest.mark.parametrize("epsilon_local", [0.5, 2.0, 6.0])
def test_no_mechanism_of_its_kind_errs_less(k, epsilon_local):
    chosen = least_error({"k": k}, epsilon_local=epsilon_local, n=1000)
    for name in ("k-rr", "hadamard", "subset-selection", "local-hashing", "optimized-unary"):
        other = randomizer(name, k=k, epsilon_local=epsilon_local)
        assert chosen.rms_error(1000) <= other.rms_error(1000) * (1 + 1e-8)


def test_a_mechanism_that_cannot_be_so_large_is_left_out():
    fine = {"grid": {"low": 0, "high": 1, "step": 1e-4}}
    assert least_error(fine, epsilon_local=1.0, n=1000).mechanism == "one-bit-mean"


def test_numbers_that_do_not_fit_are_the_plans_problem():
    with pytest.raises(PlanError, match="minimum_batch must be in"):
        first_plan({"k": 2}, enrolled=10, minimum_batch=20, epsilon_local=1.0)
