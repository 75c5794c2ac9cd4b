import pytest

from croupier.assessment.design.first_plan import first_plan, least_error
from croupier.plan.file import PlanError
from croupier.randomizers import randomizer


@pytest.mark.parametrize("limits", [None, {}, {"max_epsilon": 0.3}, {"max_epsilon": 1e-9}])
def test_limits_are_those_that_somebody_set(limits):
    """Also such as the plan does not keep: that is for the gate to say."""
    made = first_plan(
        {"k": 4}, enrolled=5000, minimum_batch=1000, max_epsilon_local=2.0, limits=limits
    )
    given = [(limit.rung, limit.key, limit.value) for limit in made.limits]
    assert given == [
        (rung, key, value) for rung in ("batch", "clients") for key, value in (limits or {}).items()
    ]


@pytest.mark.parametrize("k", [2, 10, 300])
@pytest.mark.parametrize("epsilon_local", [0.5, 2.0, 6.0])
def test_no_mechanism_of_its_kind_errs_less(k, epsilon_local):
    chosen = least_error({"k": k}, max_epsilon_local=epsilon_local, n=1000)
    for name in ("k-rr", "hadamard", "subset-selection", "local-hashing", "optimized-unary"):
        other = randomizer(name, k=k, max_epsilon_local=epsilon_local)
        assert chosen.rms_error(1000) <= other.rms_error(1000) * (1 + 1e-8)


@pytest.mark.parametrize(("epsilon_local", "name"), [(4.0, "dictionary"), (12.0, "k-rr")])
def test_many_answers_are_counted_quickly(epsilon_local, name):
    """Of mechanisms that the analyzer counts in seconds, the one that errs least."""
    chosen = least_error({"k": 5000}, max_epsilon_local=epsilon_local, n=1000)
    assert chosen.mechanism == name
    assert chosen.report_format.size <= 4
    assert least_error({"k": 3_000_000}, max_epsilon_local=2.0, n=1).mechanism == "dictionary"


def test_a_mechanism_that_cannot_be_so_large_is_left_out():
    fine = {"grid": {"low": 0, "high": 1, "step": 1e-4}}
    assert least_error(fine, max_epsilon_local=1.0, n=1000).mechanism == "one-bit-mean"


def test_numbers_that_do_not_fit_are_the_plans_problem():
    with pytest.raises(PlanError, match="minimum_batch must be in"):
        first_plan({"k": 2}, enrolled=10, minimum_batch=20, max_epsilon_local=1.0)
