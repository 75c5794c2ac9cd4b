"""The published schema of plan files, for editors and other programs.

Rewrite it: ``python -m croupier.plan.schema > docs/plan.schema.json``
"""

import json
import sys
from typing import Any

from croupier.plan.plan import Plan
from croupier.plan.question import Question
from croupier.randomizers import MECHANISMS, parameters

__all__ = ["plan_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def plan_schema() -> dict[str, Any]:
    """The keys and values of a plan file, as JSON Schema.

    It covers keys, types and limits of single values. `Plan.load` checks what must fit together.

    >>> plan_schema()["properties"]["schema"]["const"]
    2
    """
    schema: dict[str, Any] = _plain(Plan.model_json_schema(by_alias=True))
    schema["$defs"]["Question"] = _question()
    question = {"$ref": "#/$defs/Question"}
    properties = schema["properties"]
    properties["randomizer"] = question | {
        "description": "The mechanism, if there is one question."
    }
    properties["questions"] |= {"items": question, "minItems": 1}
    schema["required"].remove("questions")
    choice = [{"required": ["randomizer"]}, {"required": ["questions"]}]
    return {"$schema": _DIALECT, "title": "croupier plan"} | schema | {"oneOf": choice}


def _question() -> dict[str, Any]:
    """One branch per mechanism, told apart by its name."""
    words = _plain(Question.model_json_schema())["properties"]
    del words["randomizer"]
    branches = []
    for mechanism in MECHANISMS:
        own = parameters(mechanism)
        described = {
            name: dict(one.kind.schema) | {"description": _sentence(one.means)}
            for name, one in own.items()
        }
        named = {"mechanism": {"const": mechanism}}
        branch = {
            "properties": named | words | described,
            "required": [name for name, one in own.items() if one.required],
            "additionalProperties": False,
        }
        branches.append({"if": {"properties": named, "required": ["mechanism"]}, "then": branch})
    means = "See `croupier mechanisms`."
    return {
        "type": "object",
        "description": "A mechanism and its parameters.",
        "required": ["mechanism"],
        "properties": {"mechanism": {"enum": [*MECHANISMS], "description": means}},
        "allOf": branches,
    }


def _plain(node: Any) -> Any:
    """Return the schema in standard words, without nulls, which TOML does not have."""
    if isinstance(node, list):
        return [_plain(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    node = {_LIMITS.get(name, name): _plain(entry) for name, entry in node.items()}
    if "anyOf" in node:
        some = [branch for branch in node.pop("anyOf") if branch != {"type": "null"}]
        node |= some[0] if len(some) == 1 else {"anyOf": some}
    if not isinstance(node.get("default"), int | float) and "enum" not in node:
        node.pop("default", None)  # a default of the model, in words that no file has
    if isinstance(node.get("title"), str):
        del node["title"]
    if isinstance(must := node.pop("must", None), str):
        node["description"] = _sentence(node["description"]) + f" Must {must}."
    return node


def _sentence(comment: str) -> str:
    return f"{comment[0].upper()}{comment[1:]}."


if __name__ == "__main__":
    sys.stdout.write(json.dumps(plan_schema(), indent=2, sort_keys=True) + "\n")
