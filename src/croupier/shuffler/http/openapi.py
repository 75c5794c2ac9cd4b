"""The interface of the service, for people and for programs that write clients and tests."""

import json
from typing import Any

from croupier.model.judgement import Judgement

__all__ = ["description"]

_HEX32 = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_HEX64 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_HEX128 = {"type": "string", "pattern": "^[0-9a-f]{128}$"}


def description() -> bytes:
    """The OpenAPI document that is served and published."""
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier shuffler",
            "version": "1",
            "description": "Takes sealed reports and acknowledges them once they are committed. "
            "Says the same to everybody.",
        },
        "paths": {
            "/v1/plans/{digest}": {"get": _get_plan()},
            "/v1/plans/{digest}/rounds/{round}": {"get": _get_round()},
            "/v1/plans/{digest}/reports": {"post": _post_reports()},
            "/v1/openapi.json": {"get": _get("This document", {"type": "object"})},
            "/healthz": {"get": _get("The process lives", "Health")},
            "/readyz": {"get": _get_readiness()},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"credential": {"type": "http", "scheme": "bearer"}},
        },
    }
    return json.dumps(document, indent=1).encode()


def _get_plan() -> dict[str, Any]:
    found = _get("The plan, the analyzer's key and the open rounds' keys, all signed", "KeyList")
    return found | {"parameters": [_digest()]}


def _get_round() -> dict[str, Any]:
    number = {
        "name": "round",
        "in": "path",
        "required": True,
        "schema": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
    }
    found = _get("A round's signed key and, if it depends on earlier rounds, its question", "Round")
    return found | {"parameters": [_digest(), number]}


def _post_reports() -> dict[str, Any]:
    batch = {
        "name": "Croupier-Batch",
        "in": "header",
        "required": True,
        "description": "The batch whose key the envelopes are sealed to.",
        "schema": _HEX32,
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
                "The batch is closed for ever, or never was, and has none of these envelopes; "
                "signed, and bound to the request. Only this allows to seal the report for another "
                "batch.",
                "NotAccepted",
            ),
            "410": _refused("The batch is closed, and whether it has these is not told"),
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


def _get_readiness() -> dict[str, Any]:
    found = _get("Reports can be stored", "Ready")
    found["responses"]["503"] = _json("Not now, and why; wait for Retry-After", "NotReady")
    return found


def _refused(text: str) -> dict[str, Any]:
    return _json(text, "Refusal")


def _json(text: str, schema: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema, str):
        schema = {"$ref": f"#/components/schemas/{schema}"}
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _digest() -> dict[str, Any]:
    return {"name": "digest", "in": "path", "required": True, "schema": _HEX64}


def _schemas() -> dict[str, Any]:
    version = {"schema_version": {"const": 1}}
    wire_version = {"schema_version": {"const": 2}}
    plan = {"plan": _HEX64, "signature": _HEX128}
    number = {"type": "integer", "minimum": 0}
    shuffler = _object(
        plan
        | {"kind": {"const": "shuffler"}, "round": number, "batch": _HEX32}
        | {"key": _HEX64, "analyzer": _HEX64}
    )
    question = {"type": "string", "minLength": 1, "maxLength": 4096}
    query = _object(plan | {"kind": {"const": "query"}, "round": number, "question": question})
    policy = _object(
        {
            "judgement": {"enum": [judgement.value for judgement in Judgement]},
            "judged": _HEX64,
            "despite_policy": {"type": "boolean"},
        }
    )
    analyzer = _object(plan | {"kind": {"const": "analyzer"}, "key": _HEX64, "policy": policy})
    release = _object({"from_round": number, "key": _HEX64})
    intake = _object({"from_round": number, "key": _HEX64, "seal": _HEX64})
    keys = _object(
        plan
        | {"kind": {"const": "shuffler keys"}, "version": {"type": "integer", "minimum": 1}}
        | {"release": _list_of(release), "intake": _list_of(intake)}
    )
    return {
        "KeyList": _object(
            wire_version
            | {
                "plan": {"type": "string"},
                "analyzer": analyzer,
                "keys": keys,
                "shuffler": {"type": "array", "items": shuffler},
            }
        ),
        "Round": _object(
            wire_version | {"shuffler": shuffler, "query": {"oneOf": [query, {"type": "null"}]}}
        ),
        "NotAccepted": _object(
            plan | {"kind": {"const": "not accepted"}, "batch": _HEX32, "sent": _HEX64}
        ),
        "Refusal": _object(version | {"error": {"type": "string"}}),
        "Health": _object(version | {"healthy": {"const": True}}),
        "Ready": _object(version | {"ready": {"const": True}}),
        "NotReady": _object(version | {"ready": {"const": False}, "cause": {"type": "string"}}),
    }


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
