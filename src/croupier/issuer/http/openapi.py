"""The OpenAPI description of the issuer, for people and for generators of clients and tests."""

import json
from typing import Any

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
from croupier.protocol.admission.enrolment import EnrolmentAnswer, EnrolmentRequest
from croupier.protocol.admission.token import REQUEST_LENGTH, SIGNATURE_LENGTH
from croupier.protocol.admission.token_keys import TokenKeys

__all__ = ["description"]

_SERVED = (EnrolmentRequest, EnrolmentAnswer, TokenKeys, Refusal, Health, Ready, NotReady)


def description() -> bytes:
    """Return the OpenAPI document that is served and published."""
    keys = get("The list of token keys, one per round, signed by the issuer's root", "TokenKeys")
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier issuer",
            "version": "1",
            "description": "Enrols devices, and gives enrolled people one token per coming round. "
            "It does not see the tokens that it signs.",
        },
        "paths": {
            "/v1/enrol": {"post": _enrol()},
            "/v1/plans/{digest}/rounds/{round}/token": {"post": _issue()},
            "/v1/plans/{digest}/token-keys": {"get": keys | {"parameters": [digest()]}},
            "/v1/openapi.json": {"get": get("This document", {"type": "object"})},
            "/healthz": {"get": get("The process is alive", "Health")},
            "/readyz": {"get": get_readiness("Nothing needs the operator")},
        },
        "components": {
            "schemas": schemas(_SERVED),
            "securitySchemes": {"credential": {"type": "http", "scheme": "bearer"}},
        },
    }
    return json.dumps(document, indent=1).encode()


def _enrol() -> dict[str, Any]:
    content = {"application/json": {"schema": reference("EnrolmentRequest")}}
    return {
        "summary": "Enrol a device",
        "description": "Repeating a request is safe: a device always gets the same credential.",
        "requestBody": {"required": True, "content": content},
        "responses": {
            "200": json_answer("The device's credential", "EnrolmentAnswer"),
            "400": refused("Not a request of this shape"),
            "403": refused("The proof is not accepted, or as many people as allowed are enrolled"),
            "409": refused("Another device was enrolled with this proof"),
            **_common(),
        },
    }


def _issue() -> dict[str, Any]:
    content = _binary("application/private-token-request", REQUEST_LENGTH)
    return {
        "summary": "Get the token of a coming round",
        "description": "A TokenRequest of RFC 9578, type 2, for the key of the round. Repeating it "
        "is safe: the same blinded message is signed again.",
        "security": [{"credential": []}],
        "parameters": [digest(), round_number()],
        "requestBody": {"required": True, "content": content},
        "responses": {
            "200": {
                "description": "The blind signature: a TokenResponse of RFC 9578",
                "content": _binary("application/private-token-response", SIGNATURE_LENGTH),
            },
            "400": refused("Not a request for the key of this round"),
            "401": refused("No valid credential of a person"),
            "404": refused("No such plan, or no key of this round"),
            "409": refused("Another message was signed for this person and round"),
            "410": refused("The round has opened, or its turn is yet to come"),
            **_common(),
        },
    }


def _common() -> dict[str, Any]:
    return {
        "411": refused("No length given, or a transfer encoding"),
        "413": refused("Too long"),
        "415": refused("Another content type"),
        "429": refused("Too often; wait for Retry-After"),
        "500": refused("The server failed; repeating the request is safe"),
        "503": refused("Without database, or overloaded; wait for Retry-After"),
    }


def _binary(kind: str, length: int) -> dict[str, Any]:
    schema = {"type": "string", "format": "binary", "minLength": length, "maxLength": length}
    return {kind: {"schema": schema}}
