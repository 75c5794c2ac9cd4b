"""The OpenAPI description of the service, for people and for generators of clients and tests."""

import json
from typing import Any

from pydantic import TypeAdapter

from croupier.hosting.http.answers import Health, NotReady, Ready, Refusal
from croupier.hosting.http.openapi import (
    digest,
    get,
    get_readiness,
    json_answer,
    reference,
    refused,
    round_number,
    schemas,
)
from croupier.protocol.key_list import KeyList, NotAccepted
from croupier.protocol.oblivious.capsule import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE
from croupier.protocol.oblivious.gateway_keys import ListedGateway
from croupier.protocol.query import Round
from croupier.protocol.signed_document import Bytes16
from croupier.protocol.superseded import SupersededPlan

__all__ = ["description"]

_DOCUMENTS = (KeyList, Round, ListedGateway, SupersededPlan, NotAccepted)
_SERVED = (*_DOCUMENTS, Refusal, Health, Ready, NotReady)


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
            "/v1/plans/{digest}": {"get": _get_plan(), "options": _preflight()},
            "/v1/plans/{digest}/rounds/{round}": {
                "get": _get_round(),
                "options": _preflight(round_number()),
            },
            "/v1/plans/{digest}/reports": {"post": _post_reports(), "options": _preflight()},
            "/v1/plans/{digest}/gateway": {"get": _get_gateway(), "options": _preflight()},
            "/v1/ohttp": {"post": _post_sealed(), "options": _preflight_of_relay()},
            "/v1/ohttp-keys": {"get": _get_keys(), "options": _preflight_of_relay()},
            "/v1/openapi.json": {"get": get("This document", {"type": "object"})},
            "/healthz": {"get": get("The process is alive", "Health")},
            "/readyz": {"get": get_readiness("Nothing needs the operator")},
            "/readyz/host": {"get": get_readiness("This host can store reports")},
        },
        "components": {
            "schemas": schemas(_SERVED),
            "securitySchemes": {
                "credential": {"type": "http", "scheme": "bearer"},
                "token": {
                    "type": "http",
                    "scheme": "PrivateToken",
                    "description": "A token of the round (RFC 9577), if the plan admits by token",
                },
            },
        },
    }
    return json.dumps(document, indent=1).encode()


def _get_plan() -> dict[str, Any]:
    found = get("The plan, the analyzer's key and the open rounds' keys, all signed", "KeyList")
    return _kept(found) | {"parameters": [digest()]}


def _get_round() -> dict[str, Any]:
    found = get("A round's signed key and, if it depends on earlier rounds, its question", "Round")
    return _kept(found) | {"parameters": [digest(), round_number()]}


def _get_gateway() -> dict[str, Any]:
    found = get(
        "The gateway's keys, signed by intake, and the list that names its key", "ListedGateway"
    )
    found["responses"]["404"] = refused("No such plan, or no gateway")
    return _kept(found) | {"parameters": [digest()]}


def _get_keys() -> dict[str, Any]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {
        "summary": "The gateway's keys (RFC 9458, section 3)",
        "responses": {
            "200": {"description": "The newest first", "content": {KEYS_TYPE: binary}},
            "304": {"description": "The cache that sent If-None-Match has them."},
            "404": refused("There is no gateway"),
        },
    }


def _post_sealed() -> dict[str, Any]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    problem = {"schema": {"type": "object"}}
    return {
        "summary": "Send a request through a relay (RFC 9458)",
        "description": "The sealed request is one for a path below /v1/plans/. It is answered as "
        "if it had come by itself. All answers have one length.",
        "requestBody": {"required": True, "content": {REQUEST_TYPE: binary}},
        "responses": {
            "200": {"description": "The sealed answer", "content": {RESPONSE_TYPE: binary}},
            "400": {
                "description": "Sealed to a key that is not in use: fetch the keys again",
                "content": {"application/problem+json": problem},
            },
            "404": refused("There is no gateway"),
            "411": refused("No length given, or a transfer encoding"),
            "413": refused("Longer than any request of a plan"),
            "415": refused("Another content type"),
            "500": refused("The server failed; repeating the request is safe"),
        },
    }


def _preflight_of_relay() -> dict[str, Any]:
    return {
        "summary": "Ask, as a browser, whether a page of another origin may use this path",
        "responses": {
            "204": {"description": "It may: Access-Control-Allow-Origin is *"},
            "404": refused("There is no gateway"),
            "405": refused("No plan lists origins"),
        },
    }


def _preflight(*parameters: dict[str, Any]) -> dict[str, Any]:
    summary = "Ask, as a browser, whether a page of another origin may use this path"
    return {
        "summary": summary,
        "parameters": [digest(), *parameters],
        "responses": {
            "204": {
                "description": "Access-Control-Allow-Origin names the origin if it may: on reports "
                "if the plan lists it; elsewhere it is *"
            },
            "404": refused("Nothing is here"),
            "405": refused("The plan lists no origins"),
            "410": _superseded(),
        },
    }


def _post_reports() -> dict[str, Any]:
    batch = {
        "name": "Croupier-Batch",
        "in": "header",
        "required": True,
        "description": "The batch whose key the envelopes are sealed to.",
        "schema": TypeAdapter(Bytes16).json_schema(),
    }
    proof = {
        "name": "Croupier-Proof",
        "in": "header",
        "required": False,
        "description": "With a token: its one-time public key, and that key's signature of plan, "
        "batch and body.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{192}$"},
    }
    return {
        "summary": "Send envelopes",
        "description": "As many whole envelopes as the plan says for one person, one after the "
        "other; a relay's credential may send many. Repeating a request is safe.",
        "security": [{"credential": []}, {"token": []}],
        "parameters": [digest(), batch, proof],
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        },
        "responses": {
            "202": {"description": "Committed, now or before. The body is empty."},
            "400": refused(
                "No whole envelopes, too few or too many, no batch named, a header twice, an "
                "upgrade, or not HTTP/1.1"
            ),
            "403": refused("The plan's reports come through its relay; this one did not"),
            "401": refused("No valid credential; or no token of this round that its owner spends"),
            "404": refused("No such plan"),
            "409": json_answer(
                "The batch is closed for ever, or never existed, and has none of these envelopes; "
                "signed, and bound to the request. Only this allows sealing the report for another "
                "batch.",
                "NotAccepted",
            ),
            "410": json_answer(
                "The batch is closed, and whether it has these envelopes is not disclosed; or the "
                "plan was superseded, with the signed pointer to its successor",
                {"anyOf": [reference("Refusal"), reference("SupersededPlan")]},
            ),
            "411": refused("No length given, or a transfer encoding"),
            "413": refused("Too many envelopes for one request"),
            "415": refused("Another content type"),
            "429": refused("Too often; wait for Retry-After"),
            "500": refused("The server failed; repeating the request is safe"),
            "503": refused(
                "Overloaded, full, being released, not known yet, or without database; wait for "
                "Retry-After, the connection stays open"
            ),
        },
    }


def _kept(found: dict[str, Any]) -> dict[str, Any]:
    """Add what a cache may keep, and the answer for plans that were superseded."""
    text = {"schema": {"type": "string"}}
    headers = {
        "Cache-Control": text
        | {"description": "public; max-age is a hundredth of a round, 1 to 60 seconds"},
        "ETag": text | {"description": "A hash of the body"},
    }
    found["responses"]["200"]["headers"] = headers
    found["responses"]["304"] = {
        "description": "The cache that sent If-None-Match has this document. The body is empty.",
        "headers": headers,
    }
    found["responses"]["410"] = _superseded()
    return found


def _superseded() -> dict[str, Any]:
    words = "The plan was superseded; the pointer to its successor is signed by its shuffler's root"
    return json_answer(words, "SupersededPlan")
