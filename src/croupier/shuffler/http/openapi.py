"""The OpenAPI description of the service, for people and for generators of clients and tests."""

import json
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from croupier.protocol.key_list import KeyList, NotAccepted
from croupier.protocol.query import Round
from croupier.protocol.signed_document import Bytes16, Bytes32, RoundNumber
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.http.answers import Health, NotReady, Ready, Refusal

__all__ = ["description"]


def description() -> bytes:
    """Return the OpenAPI document that is served and published."""
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier shuffler",
            "version": "1",
            "description": "Takes sealed reports and acknowledges them once they are committed. "
            "Gives everybody the same answers.",
        },
        "paths": {
            "/v1/plans/{digest}": {"get": _get_plan()},
            "/v1/plans/{digest}/rounds/{round}": {"get": _get_round()},
            "/v1/plans/{digest}/reports": {"post": _post_reports()},
            "/v1/openapi.json": {"get": _get("This document", {"type": "object"})},
            "/healthz": {"get": _get("The process is alive", "Health")},
            "/readyz": {"get": _get_readiness("Nothing needs the operator")},
            "/readyz/host": {"get": _get_readiness("This host can store reports")},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"credential": {"type": "http", "scheme": "bearer"}},
        },
    }
    return json.dumps(document, indent=1).encode()


def _get_plan() -> dict[str, Any]:
    found = _get("The plan, the analyzer's key and the open rounds' keys, all signed", "KeyList")
    found["responses"]["410"] = _superseded()
    return found | {"parameters": [_digest()]}


def _get_round() -> dict[str, Any]:
    number = {
        "name": "round",
        "in": "path",
        "required": True,
        "schema": TypeAdapter(RoundNumber).json_schema(),
    }
    found = _get("A round's signed key and, if it depends on earlier rounds, its question", "Round")
    found["responses"]["410"] = _superseded()
    return found | {"parameters": [_digest(), number]}


def _post_reports() -> dict[str, Any]:
    batch = {
        "name": "Croupier-Batch",
        "in": "header",
        "required": True,
        "description": "The batch whose key the envelopes are sealed to.",
        "schema": TypeAdapter(Bytes16).json_schema(),
    }
    return {
        "summary": "Send envelopes",
        "description": "As many whole envelopes as the plan says for one person, one after the "
        "other; a relay's credential may send many. Repeating a request is safe.",
        "security": [{"credential": []}],
        "parameters": [_digest(), batch],
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        },
        "responses": {
            "202": {"description": "Committed, now or before. The body is empty."},
            "400": _refused(
                "No whole envelopes, too few or too many, no batch named, a header twice, an "
                "upgrade, or not HTTP/1.1"
            ),
            "401": _refused("No valid credential"),
            "404": _refused("No such plan"),
            "409": _json(
                "The batch is closed for ever, or never existed, and has none of these envelopes; "
                "signed, and bound to the request. Only this allows sealing the report for another "
                "batch.",
                "NotAccepted",
            ),
            "410": _json(
                "The batch is closed, and whether it has these envelopes is not disclosed; or the "
                "plan was superseded, with the signed pointer to its successor",
                {"anyOf": [_reference("Refusal"), _reference("SupersededPlan")]},
            ),
            "411": _refused("No length given, or a transfer encoding"),
            "413": _refused("Too many envelopes for one request"),
            "415": _refused("Another content type"),
            "429": _refused("Too often; wait for Retry-After"),
            "500": _refused("The server failed; repeating the request is safe"),
            "503": _refused(
                "Overloaded, full, being released, not known yet, or without database; wait for "
                "Retry-After, the connection stays open"
            ),
        },
    }


def _get(summary: str, schema: str | dict[str, Any]) -> dict[str, Any]:
    responses = {"200": _json(summary, schema), "404": _refused("Nothing is here")}
    return {"summary": summary, "responses": responses}


def _get_readiness(summary: str) -> dict[str, Any]:
    found = _get(summary, "Ready")
    found["responses"]["503"] = _json("Not ready, with the cause; wait for Retry-After", "NotReady")
    return found


def _refused(text: str) -> dict[str, Any]:
    return _json(text, "Refusal")


def _superseded() -> dict[str, Any]:
    words = "The plan was superseded; the pointer to its successor is signed by its shuffler's root"
    return _json(words, "SupersededPlan")


def _json(text: str, schema: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema, str):
        schema = _reference(schema)
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _reference(schema: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{schema}"}


def _digest() -> dict[str, Any]:
    schema = TypeAdapter(Bytes32).json_schema()
    return {"name": "digest", "in": "path", "required": True, "schema": schema}


def _schemas() -> dict[str, Any]:
    """Return the schemas of served documents and their parts, from their types."""
    served = (KeyList, Round, SupersededPlan, NotAccepted, Refusal, Health, Ready, NotReady)
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
