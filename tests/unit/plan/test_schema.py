"""The published schema is what the code says, lets good plans through and stops broken ones."""

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from croupier.plan.plan import Plan
from croupier.plan.schema import plan_schema
from croupier.randomizers import MECHANISMS, parameters

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "docs" / "plan.schema.json"
PLANS = sorted((ROOT / "examples" / "plans").glob("*.toml"))
TEXT = """
schema = 2
randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
population.enrolled = 1_000_000
protections.minimum_batch = 200_000
"""


@pytest.fixture(scope="module")
def validator():
    schema = plan_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_published_schema_is_current():
    command = "python -m croupier.plan.schema > docs/plan.schema.json"
    assert json.loads(PUBLISHED.read_text()) == plan_schema(), f"Run: {command}"


def test_no_words_of_the_model_are_left(validator):
    words = json.dumps(validator.schema)
    for word in ('"null"', '"must"', '"ge"', '"gt"', '"le"', '"lt"', "P1D"):
        assert word not in words


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_examples_are_valid(validator, path):
    validator.validate(tomllib.loads(path.read_text()))
    validator.validate(Plan.load(path).document())


def test_a_short_plan_and_its_full_form_are_valid(validator):
    validator.validate(tomllib.loads(TEXT))
    validator.validate(Plan.from_toml(TEXT).document())


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("schema = 2", "schema = 1", "schema"),
        ("schema = 2", "", ""),
        ("schema = 2", "schema = 2\nextra = 1", ""),
        ("k-rr", "krr", "randomizer.mechanism"),
        ("k = 50", "k = 1", "randomizer.k"),
        ("k = 50", "kk = 50", "randomizer"),
        ("k = 50", 'labels = ["a", "a"]', "randomizer.labels"),
        ("k = 50", "grid = {low = 0}", "randomizer"),
        ('"k-rr", k = 50', '"laplace", grid = {low = 0}', "randomizer.grid"),
        ("max_epsilon_local = 4.0", "max_epsilon_local = 21", "randomizer.max_epsilon_local"),
        ("randomizer = ", "random = ", ""),
        ("1_000_000", '"many"', "population.enrolled"),
        ("1_000_000", "1.5", "population.enrolled"),
        ("200_000", "1", "protections.minimum_batch"),
        ("200_000", '9\ncollection.every = "1 week"', "collection.every"),
        ("200_000", "9\nshufflers = [{}, {}, {}]", "shufflers"),
        ("200_000", "9\nshufflers = [{keep = 2}]", "shufflers.0.keep"),
        ("200_000", "9\nshufflers = [{dummies = {epsilon = 1}}]", "shufflers.0.dummies"),
        ("200_000", '9\nanalyzer.operator = ""', "analyzer.operator"),
        ("200_000", "9\nguarantee.delta = 1", "guarantee.delta"),
        ("200_000", "9\nguarantee.delta = 0", "guarantee.delta"),
        ("200_000", "9\nparticipation.groups = 0", "participation.groups"),
        ("200_000", "9\npolicy.batch.max_guess_of_two = 51", "policy.batch.max_guess_of_two"),
        ("200_000", "9\npolicy.nobody.max_epsilon = 1", "policy"),
        ("200_000", '9\nquestions = [{mechanism = "k-rr"}]', ""),
    ],
)
def test_broken_plans_are_not_valid(validator, old, new, where):
    assert old in TEXT
    errors = list(validator.iter_errors(tomllib.loads(TEXT.replace(old, new))))
    assert where in [".".join(map(str, error.absolute_path)) for error in errors]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_mechanism_takes_its_own_parameters_only(validator, mechanism):
    known = {name for other in MECHANISMS for name in parameters(other)}
    foreign = sorted({"epsilon_local", "bogus", *known} - {*parameters(mechanism)})
    for name in foreign:
        document = tomllib.loads(TEXT) | {"randomizer": {"mechanism": mechanism, name: None}}
        refusals = [error.message for error in validator.iter_errors(document)]
        assert any("Additional properties" in said and f"'{name}'" in said for said in refusals)


def test_what_a_mechanism_needs_must_be_given(validator):
    document = tomllib.loads(TEXT) | {"randomizer": {"mechanism": "laplace"}}
    missing = {error.message.split("'")[1] for error in validator.iter_errors(document)}
    assert missing == {"max_epsilon_local", "grid"}


def test_words_of_a_question_are_allowed_with_every_mechanism(validator):
    words = {"name": "shoes", "text": "Which size?"}
    for mechanism in MECHANISMS:
        asked = {"mechanism": mechanism} | words
        document = tomllib.loads(TEXT) | {"randomizer": asked}
        paths = {error.absolute_path[-1] for error in validator.iter_errors(document)}
        assert paths <= {"randomizer"}
        assert not any("Additional" in error.message for error in validator.iter_errors(document))


def test_every_key_says_what_it_means(validator):
    tables = validator.schema["$defs"]
    branches = [branch["then"] for branch in tables["Question"]["allOf"]]
    for table in [*tables.values(), *branches]:
        for name, entry in table.get("properties", {}).items():
            assert "description" in entry or "$ref" in entry or "const" in entry, name
