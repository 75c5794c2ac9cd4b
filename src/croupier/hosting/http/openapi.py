"""Parts of OpenAPI descriptions that all services share."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from croupier.protocol.signed_document import Bytes32, RoundNumber

__all__ = ["digest", "get", "get_readiness", "json_answer", "reference", "refused", "round_number"]
__all__ += ["schemas"]


def get(summary: str, schema: str | dict[str, Any]) -> dict[str, Any]:
    """Describe the reading of a document."""
    responses = {"200": json_answer(summary, schema), "404": refused("Nothing is here")}
    return {"summary": summary, "responses": responses}


def get_readiness(summary: str) -> dict[str, Any]:
    """Describe the readiness of the service."""
    found = get(summary, "Ready")
    found["responses"]["503"] = json_answer(
        "Not ready, with the cause; wait for Retry-After", "NotReady"
    )
    return found


def refused(text: str) -> dict[str, Any]:
    """Describe a refusal."""
    return json_answer(text, "Refusal")


def json_answer(text: str, schema: str | dict[str, Any]) -> dict[str, Any]:
    """Describe an answer in JSON, of a schema or of the component of that name."""
    if isinstance(schema, str):
        schema = reference(schema)
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def reference(schema: str) -> dict[str, Any]:
    """Refer to a component."""
    return {"$ref": f"#/components/schemas/{schema}"}


def round_number() -> dict[str, Any]:
    """Describe the round in a path."""
    schema = TypeAdapter(RoundNumber).json_schema()
    return {"name": "round", "in": "path", "required": True, "schema": schema}


def digest() -> dict[str, Any]:
    """Describe the digest of the plan in a path."""
    schema = TypeAdapter(Bytes32).json_schema()
    return {"name": "digest", "in": "path", "required": True, "schema": schema}


def schemas(served: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """Return the schemas of served documents and their parts, from their types."""
    _, made = models_json_schema(
        [(each, "serialization") for each in served],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Untitled,
    )
    return {name: _summarised(schema) for name, schema in made["$defs"].items()}


class _Untitled(GenerateJsonSchema):
    """A generator without titles, which repeat names, and defaults, which are never written."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def _summarised(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a component without its title, described by the first paragraph of its docstring."""
    words = schema["description"].partition("\n\n")[0].replace("\n", " ")
    return {name: schema[name] for name in schema if name != "title"} | {"description": words}
