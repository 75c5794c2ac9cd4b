"""docs/plan.md has a line for every key, and says of it what the code says."""

import re
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest

from croupier.plan.plan import Plan
from croupier.plan.problems import toml_value
from croupier.plan.schema import plan_schema
from croupier.plan.sections import ParticipationSection
from croupier.randomizers import MECHANISMS, parameters

PAGE = (Path(__file__).parents[3] / "docs" / "plan.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip("`"): cells[1:]
    for cells in (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| `")
    )
}
COMPUTED = {
    "name": "the stem of the file",
    "protections.disposal_age": "3 rounds",
    "guarantee.delta": "0.01 / enrolled",
}


WORDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "array": "list",
    "object": "table",
}
SCHEMA = plan_schema()


def resolved(node):
    """The table that a reference leads to."""
    return SCHEMA["$defs"][node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else node


def kind(path):
    """The type of a key, in words."""
    node = SCHEMA
    for part in path.split("."):
        node = resolved(node.get("items", node))
        node = node["allOf"][0]["then"] if "mechanism" in node.get("properties", {}) else node
        node = node["additionalProperties"] if part == "RUNG" else node["properties"][part]
        node = resolved(node)
    if "[smhd]" in node.get("pattern", ""):
        return "duration"
    return " or ".join(WORDS[branch["type"]] for branch in node.get("anyOf", [node]))


def expected(path, field):
    """The line of a key."""
    default = toml_value(field.default) if field.default else "none"
    if isinstance(field.default, float):
        default = toml_value(field.default)
    if isinstance(field.default, timedelta):
        default = '"24h"'
    default = "required" if field.is_required() else COMPUTED.get(path, default)
    return [
        kind(path),
        field.description,
        default,
        field.json_schema_extra["must"].removeprefix("be "),
    ]


def test_every_key_has_its_line(plan_keys):
    lines = {path: expected(path, field) for path, field in plan_keys.items()}
    for path, line in lines.items():
        assert ROWS.get(path) == line, f"Write: | `{path}` | {' | '.join(line)} |"


def test_no_line_is_about_a_key_that_does_not_exist(plan_keys):
    models = get_args(ParticipationSection.model_fields["model"].annotation)
    names = {name for mechanism in MECHANISMS for name in parameters(mechanism)}
    assert set(ROWS) - set(plan_keys) <= {"randomizer", "mechanism", *names, *models}


def test_every_parameter_of_a_mechanism_has_its_line():
    names = {"mechanism"} | {name for mechanism in MECHANISMS for name in parameters(mechanism)}
    assert names - {"queries", "weights"} <= set(ROWS)


def test_every_participation_model_has_its_line():
    assert set(get_args(ParticipationSection.model_fields["model"].annotation)) <= set(ROWS)


@pytest.mark.parametrize("number", range(len(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))))
def test_every_fragment_is_part_of_a_plan(number):
    fragment = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[number]
    base = "schema = 2\npopulation.enrolled = 2_000\nprotections.minimum_batch = 1_500\n"
    if "questions" not in fragment:
        base += 'randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}\n'
    assert Plan.from_toml(base + fragment)
