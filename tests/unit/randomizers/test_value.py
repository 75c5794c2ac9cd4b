"""Mechanisms are values: they print as what makes them, are compared and changed by parameters."""

import json
from dataclasses import fields, replace

import pytest

import croupier.randomizers
from croupier.errors import ParameterError, RenamedError
from croupier.model import Grid
from croupier.randomizers import MECHANISMS, parameters, randomizer

GRID = {"low": 0.0, "high": 4.0, "step": 1.0}
SPECIFICATIONS = [
    {"mechanism": "k-rr", "k": 5},
    {"mechanism": "k-rr", "labels": ["cat", "dog", 7], "denominator": 2**32},
    {"mechanism": "symmetric-unary", "k": 6},
    {"mechanism": "memoised-k-rr", "k": 50, "max_epsilon_permanent": 8.0},
    {"mechanism": "optimized-unary", "k": 50},
    {"mechanism": "rappor", "k": 10, "hashes": 1},
    {"mechanism": "local-hashing", "k": 30, "buckets": 5},
    {"mechanism": "dictionary", "k": 30, "functions": 16},
    {"mechanism": "text", "longest": 3, "alphabet": "abc", "normalisation": "lower"},
    {"mechanism": "distribution", "grid": GRID, "fanout": 2},
    {"mechanism": "hadamard", "k": 12},
    {"mechanism": "subset-selection", "k": 20},
    {"mechanism": "laplace", "grid": GRID},
    {"mechanism": "gaussian", "grid": GRID, "tail": 4.0},
    {"mechanism": "one-bit-mean", "grid": GRID},
    {"mechanism": "sampled-sign", "dimension": 6},
    {"mechanism": "matrix", "matrix": [[3, 1], [1, 3]], "labels": ["no", "yes"]},
    {"mechanism": "plain", "labels": ["cat", "dog", 7]},
    {
        "mechanism": "parallel",
        "queries": [
            {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
            {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
        ],
        "weights": [1, 3],
    },
    {
        "mechanism": "together",
        "queries": [
            {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
            {"mechanism": "laplace", "grid": GRID, "max_epsilon_local": 2.0},
        ],
    },
]
NAMES = {name: getattr(croupier.randomizers, name) for name in croupier.randomizers.__all__}


def made_of(specification, epsilon=2.0):
    asked = "max_epsilon_local" in parameters(specification["mechanism"])
    return randomizer(**specification | ({"max_epsilon_local": epsilon} if asked else {}))


@pytest.fixture(params=SPECIFICATIONS, ids=lambda own: own["mechanism"])
def made(request):
    return made_of(request.param)


def test_every_mechanism_is_covered():
    assert {own["mechanism"] for own in SPECIFICATIONS} == set(MECHANISMS)


def test_what_is_printed_makes_it_again(made):
    again = eval(repr(made), {"Grid": Grid} | NAMES)  # noqa: S307 - what is printed is ours
    assert again == made
    assert hash(again) == hash(made)
    assert again.specification == made.specification


def test_a_specification_makes_it_again(made):
    again = randomizer(**json.loads(json.dumps(made.specification, default=vars)))
    assert again == made
    assert again.specification == made.specification


def test_a_copy_is_equal_and_a_changed_one_is_not(made):
    assert replace(made) == made
    assert replace(made).specification == made.specification
    if made.mechanism == "plain":
        assert replace(made, labels=("cat", "dog")) != made
    elif made.mechanism not in {"matrix", "parallel", "together"}:
        other = replace(made, max_epsilon_local=1.5)
        assert other.max_epsilon_local == 1.5
        assert other.epsilon_local <= 1.5 < made.epsilon_local
        assert other != made
        assert other.specification != made.specification
        assert replace(other, max_epsilon_local=made.max_epsilon_local) == made


def test_every_field_is_a_parameter(made):
    own = [field.name for field in fields(made) if field.name != "batches"]
    assert own == list(parameters(made.mechanism))


def test_integers_stay_below_the_ceiling(made):
    if made.mechanism in {"matrix", "parallel", "plain", "together"}:
        assert made.epsilon_local <= made.budget_cost
        return
    for ceiling in (0.5, 2.0, 7.3):
        other = replace(made, max_epsilon_local=ceiling)
        assert 0 < other.epsilon_local <= other.max_epsilon_local == ceiling
        all_reports = getattr(other, "max_epsilon_permanent", ceiling)
        assert other.budget_cost == all_reports >= ceiling


def test_the_old_name_is_refused_by_a_sentence_that_names_the_new_one(made):
    specification = dict(made.specification)
    if "max_epsilon_local" in specification:
        specification["epsilon_local"] = specification.pop("max_epsilon_local")
        with pytest.raises(
            ParameterError, match="`epsilon_local` must be called max_epsilon_local"
        ):
            randomizer(**specification)
        del specification["mechanism"]
        with pytest.raises(RenamedError, match=r"epsilon_local of \w+ is now max_epsilon_local"):
            type(made)(**specification)
    else:
        with pytest.raises(ParameterError, match="`epsilon_local` is not a parameter of"):
            randomizer(**specification, epsilon_local=1.0)
