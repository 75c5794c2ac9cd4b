"""Shufflers and dummies that do not fit a plan are refused, each with its reason."""

import pytest

from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

DUMMIES = {"epsilon": 1.0, "delta": 1e-8}
ADDING = {"dummies": DUMMIES}
NOISY = {"mechanism": "k-rr", "k": 4, "max_epsilon_local": 2.0}
GROUPS = {"groups": {"sha256": "0" * 64}}
MALLOWS = {"order": "mallows", "alpha": 2.0, "groups": {"sha256": "0" * 64, "sensitivity": 3}}


def made(**more):
    document = {
        "schema": 2,
        "randomizer": {"mechanism": "plain", "k": 4},
        "population": {"enrolled": 100},
        "protections": {"minimum_batch": 50},
        "shufflers": [ADDING],
    }
    document |= more
    return Plan.from_document({name: value for name, value in document.items() if value})


REFUSED = {
    "plain without dummies": (
        {"shufflers": None},
        (
            "mechanism must not be plain where no shuffler adds dummies: it sends the value "
            'itself; got "question-1". Add dummies = {epsilon = 1.0, delta = 1e-8} to '
            "[[shufflers]]."
        ),
    ),
    "one plain question of two": (
        {
            "randomizer": None,
            "questions": [NOISY, {"mechanism": "plain", "k": 3, "name": "colour"}],
            "shufflers": [{}],
        },
        (
            "mechanism must not be plain where no shuffler adds dummies: it sends the value "
            'itself; got "colour". Add'
        ),
    ),
    "a sample without dummies": (
        {"randomizer": NOISY, "shufflers": [{"keep": 0.5}]},
        (
            "keep must come with dummies: nothing is proved about a sample alone; got 0.5. Add "
            "dummies = {epsilon = 1.0, delta = 1e-8}, or delete keep."
        ),
    ),
    "an empty sample": (
        {"shufflers": [ADDING | {"keep": 0.0}]},
        "keep must be in (0, 1]; got 0.0. Try 0.5.",
    ),
    "an analyzer that is both shufflers": (
        {
            "shufflers": [ADDING | {"operator": "Example"}, ADDING | {"key": "a" * 64}],
            "analyzer": {"operator": "example", "key": "a" * 64},
        },
        "operator must run at most one of the two shufflers: who runs all of them sees everything.",
    ),
    "one key twice": (
        {"shufflers": [ADDING | {"key": "a" * 64}] * 2},
        "key must differ: two shufflers with one key are one shuffler.",
    ),
    "one operator twice": (
        {"shufflers": [ADDING | {"operator": name} for name in ("A B", "\uff41 b")]},
        "operator must differ: two shufflers of one operator are one shuffler.",
    ),
    "three shufflers": (
        {"shufflers": [ADDING] * 3},
        "shufflers must be one or two tables, one per shuffler.",
    ),
    "a row of two shufflers": (
        {"policy": {"all_but_one": {"max_epsilon": 1.0}}},
        "all_but_one must be policy.collusion in a plan with one shuffler. Rename the table.",
    ),
    "a row of one shuffler": (
        {"shufflers": [ADDING] * 2, "policy": {"shuffler": {"max_epsilon": 1.0}}},
        "shuffler must be policy.shuffler_1 and policy.shuffler_2 in a plan with two shufflers.",
    ),
    "dummies and groups": (
        {"shuffling": GROUPS},
        (
            "dummies must be left out where a plan mixes by groups: dummies belong to no group. "
            "Delete [shuffling.groups] or the dummies."
        ),
    ),
    "dummies and a Mallows order": (
        {"shuffling": MALLOWS},
        "dummies must be left out where a plan mixes by groups: dummies belong to no group.",
    ),
    "two shufflers and groups": (
        {"randomizer": NOISY, "shuffling": GROUPS, "shufflers": [{}, {}]},
        (
            "shufflers must be one where a plan mixes by groups: a second shuffler does not know "
            "the groups. Delete [shuffling.groups] or the second shuffler."
        ),
    ),
    "two shufflers and a Mallows order": (
        {"randomizer": NOISY, "shuffling": MALLOWS, "shufflers": [{}, {}]},
        "shufflers must be one where a plan mixes by groups",
    ),
    "questions in one batch": (
        {"participation": {"model": "parallel", "weights": 2}},
        "dummies must be left out where questions share a batch. Write one plan per question.",
    ),
    "several questions": (
        {"randomizer": None, "questions": [NOISY, NOISY]},
        "dummies must be left out where questions share a batch.",
    ),
    "reports of several bits": (
        {"randomizer": {"mechanism": "symmetric-unary", "k": 4, "max_epsilon_local": 2.0}},
        (
            "dummies must be left out for this mechanism: they are made for plain, k-rr, "
            'and distribution without max_epsilon_local; got "symmetric-unary". '
            "Try plain, k-rr or distribution."
        ),
    ),
    "too many categories": (
        {"randomizer": {"mechanism": "plain", "k": 100_001}},
        (
            "dummies must be left out where there are more than 100,000 possible reports; "
            "got 100_001. Ask about fewer categories."
        ),
    ),
}


@pytest.mark.parametrize(("more", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_fit_is_refused(more, said):
    with pytest.raises(PlanError) as refused:
        made(**more)
    assert f"plan: {said}" in str(refused.value)


@pytest.mark.parametrize(
    "participation",
    [
        {"model": "divide", "groups": 2},
        {"model": "subsample", "repeats": 2},
        {"model": "multinomial", "weights": 2},
        {"model": "bins", "bins": [2, 2]},
        {"model": "rectified-multinomial", "weights": 2},
    ],
    ids=lambda table: table["model"],
)
def test_models_in_which_people_send_nulls_are_refused(participation):
    model = participation["model"]
    with pytest.raises(PlanError, match="who sends a null is not hidden by dummies") as refused:
        made(participation=participation)
    assert str(refused.value).endswith(f'got "{model}". Try "single".')
    with pytest.raises(PlanError, match="where there are two shufflers") as refused:
        made(randomizer=NOISY, participation=participation, shufflers=[{}, {}])
    assert str(refused.value).endswith(f'got "{model}". Try "single" or "parallel".')


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"shufflers": [ADDING, ADDING]},
        {"shufflers": [ADDING, {}]},
        {"shufflers": [ADDING | {"keep": 0.5}]},
        {"randomizer": NOISY, "shufflers": [{}, {}]},
        {"randomizer": NOISY, "shufflers": [{}, {}], "participation": {"weights": 2}},
        {"randomizer": {"mechanism": "plain", "k": 100_000}},
        {"shufflers": [ADDING] * 2, "policy": {"all_but_one": {"max_epsilon": 1.0}}},
        {"collection": {"rounds": 3}, "participation": {"noise": "reused"}},
    ],
)
def test_what_fits_is_accepted(more):
    assert made(**more).digest


WEIGHTS = "weights must be 2 to 8,192 whole numbers"


@pytest.mark.parametrize(
    ("dummies", "said"),
    [
        ({"epsilon": 0.001, "delta": 1e-8}, "epsilon must be in [0.01, 20]; got 0.001. Try 1.0."),
        ({"epsilon": 21, "delta": 1e-8}, "epsilon must be in [0.01, 20]; got 21. Try 1.0."),
        ({"epsilon": 1, "delta": 0.5}, "delta must be in [1e-15, 0.1]; got 0.5. Try 1e-8."),
        ({"epsilon": 1, "delta": 1e-16}, "delta must be in [1e-15, 0.1]; got 1e-16. Try 1e-8."),
        ({"delta": 1e-8}, "epsilon must be given. Try 1.0."),
        ({"epsilon": 1}, "delta must be given. Try 1e-8."),
        (DUMMIES | {"mean": 3}, "mean is not a key of shufflers.dummies. Try one of epsilon, "),
        (
            {"epsilon": 0.01, "delta": 1e-15},
            (
                "epsilon must be large enough for tables of 8,192 entries; got 0.01. Raise epsilon "
                "or delta."
            ),
        ),
        (DUMMIES | {"weights": [1]}, f"{WEIGHTS} with a sum of 1 to 2^64. Try [1, 2, 1]."),
        (DUMMIES | {"weights": [0, 0]}, "weights must have a sum of 1 to 2^64; got 0."),
        (DUMMIES | {"weights": [1, -2, 3]}, f"{WEIGHTS} of at least 0."),
        (DUMMIES | {"weights": [1] * 8_193}, f"{WEIGHTS} of at least 0."),
        (DUMMIES | {"weights": [2**64, 1]}, "weights must have a sum of 1 to 2^64; got 1.84e+19."),
        (
            DUMMIES | {"weights": [1, 2, 1]},
            (
                "weights must give a delta of at most 1e-08 at epsilon 1; got 0.518. Delete them: "
                "the default table suffices."
            ),
        ),
    ],
)
def test_tables_that_do_not_keep_their_promise_are_refused(dummies, said):
    with pytest.raises(PlanError) as refused:
        made(shufflers=[{"dummies": dummies}])
    assert f"plan: {said}" in str(refused.value)


def test_weights_are_accepted_exactly_up_to_their_delta():
    """[1, 40, 1] at epsilon 20: a delta of 2/42 less 1/42 squared, and hardly more."""
    weights = {"epsilon": 20.0, "weights": [1, 40, 1]}
    made(shufflers=[{"dummies": weights | {"delta": 0.04706}}])
    with pytest.raises(PlanError, match=r"got 0\.0471"):
        made(shufflers=[{"dummies": weights | {"delta": 0.04705}}])
