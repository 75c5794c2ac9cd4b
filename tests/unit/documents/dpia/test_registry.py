"""Records follow the schema that the registry publishes, and invent nothing."""

import json
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from croupier.assessment.ladder.gaussian import gaussian_row
from croupier.assessment.ladder.ladder import assess
from croupier.documents.dpia.registry import SCHEMA, UNKNOWN_DATE, registry_record, unknown_fields
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

ROOT = Path(__file__).parents[4]
PUBLISHED = json.loads(
    (ROOT / "tests" / "vectors" / "deployments-registry-schema.json").read_text()
)
PLANS = sorted((ROOT / "examples" / "plans").glob("*.toml"))

FULL = """
schema = 2
title = "Which pets?"
purpose = "Plan the food that is stocked."
randomizer = {mechanism = "k-rr", labels = ["cat", "dog"], max_epsilon_local = 1.5, text = "Pet?"}
population.enrolled = 5_000
protections.minimum_batch = 2_000
guarantee.delta = 1e-6
collection.rounds = 4
record.controller = "Example Inc."
"""


@cache
def _proved(text):
    plan = Plan.from_toml(text)
    ladder = assess(plan)
    return ladder, gaussian_row(plan, Rung(ladder.headline.rung))


def _record(text=FULL, **known):
    return registry_record(*_proved(text), **known)


def _errors(record):
    checker = Draft7Validator(PUBLISHED, format_checker=Draft7Validator.FORMAT_CHECKER)
    return [error.message for error in checker.iter_errors(json.loads(json.dumps(record)))]


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_every_example_follows_the_schema(path):
    record = _record(path.read_text())
    assert _errors(record) == []
    assert "basic.publication_date" in unknown_fields(record)


def test_the_schema_names_its_source():
    assert SCHEMA in PUBLISHED["$comment"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("status", "Done"),
        ("tier", 4),
        ("deployment.basic.publication_date", "soon"),
        ("deployment.basic.data_product_type", "Figures"),
        ("deployment.privacy_loss.privacy_parameters.mu", 0.1),
    ],
)
def test_a_wrong_record_is_noticed(path, value):
    record = _record()
    *parents, last = path.split(".")
    table = record
    for name in parents:
        table = table[name]
    table[last] = value
    assert _errors(record)


def test_facts_come_from_the_plan_and_the_rest_is_named():
    record = _record(published=date(2026, 11, 17), region="Malta")
    basic = record["deployment"]["basic"]
    assert basic == {
        "name": "Which pets?",
        "data_curators": ["Example Inc."],
        "intended_use": "Plan the food that is stocked.",
        "data_product_type": "Summary statistics",
        "data_product_region": "Malta",
        "description": "Pet? Published: estimates.",
        "publication_date": "2026-11-17",
    }
    assert record["url_slug"] == "which-pets--example-inc--2026"
    assert record["deployment"]["deployment_model"]["release_type"] == "Many releases"
    assert unknown_fields(record) == [
        "implementation.preprocessing_and_hyperparameter_tuning",
        "administrative.sources",
        "administrative.registry_authors",
    ]
    assert Plan.from_toml(FULL).digest in record["deployment"]["administrative"]["notes"]
    assert _errors(record) == []


def test_what_is_unknown_is_empty():
    text = FULL.replace("collection.rounds = 4\n", "")
    known = ('title = "', 'purpose = "', "record.")
    record = _record("\n".join(line for line in text.splitlines() if not line.startswith(known)))
    basic = record["deployment"]["basic"]
    assert (basic["data_curators"], basic["intended_use"]) == ([""], "")
    assert basic["publication_date"] == UNKNOWN_DATE
    assert "data_product_sector" not in basic
    assert "release_type" not in record["deployment"]["deployment_model"]


def test_numbers_are_rounded_to_the_cautious_side():
    ladder, gaussian = _proved(FULL)
    loss = _record()["deployment"]["privacy_loss"]
    epsilon = loss["privacy_parameters"]["epsilon"]
    assert 0 <= epsilon - ladder.headline.epsilon.value < 0.01 * epsilon
    assert loss["privacy_parameters"]["delta"] == 1e-6
    mu = float(loss["privacy_parameters_details"].partition("mu = ")[2].partition(". ")[0])
    assert mu >= gaussian.mu
