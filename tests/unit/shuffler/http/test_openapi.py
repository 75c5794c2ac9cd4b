"""The published interface says what is served: no entry more, and none less."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from croupier.hosting.http.answers import not_ready
from croupier.hosting.incidents import Occurrence
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.http.openapi import description
from croupier.shuffler.http.outcomes import superseded

FULL = Occurrence("disk-full", "the disk is full")
PUBLISHED = Path(__file__).parents[4] / "docs" / "openapi.json"
DESCRIBED = json.loads(description())
ADAPTIVE = {"participation": {"model": "rectified-multinomial", "weights": 2}}


def test_the_published_description_is_current():
    assert PUBLISHED.read_bytes() == description() + b"\n", "run scripts/openapi"


def is_described(kind, document):
    schema = {"$ref": f"#/components/schemas/{kind}"} | DESCRIBED
    return Draft202012Validator(schema).is_valid(document)


@pytest.fixture(scope="module")
def served(serving, make_parties):
    """A document of every kind, from a running service."""
    old, successor = make_parties(), make_parties().plan
    gone = superseded(SupersededPlan.make(old.plan, successor, signing_key=old.shuffler))
    refused = serving.send(serving.envelopes(), Croupier_Batch="00" * 16)
    serving.house.intake.rotate_gateway()
    signed = serving.when_found(f"{serving.path}/gateway")
    return {
        "KeyList": serving.get(serving.path).document,
        "Round": serving.get(f"{serving.path}/rounds/0").document,
        "ListedGateway": signed.document,
        "SupersededPlan": json.loads(gone.body["body"]),
        "NotAccepted": refused.document,
        "Refusal": serving.get(f"{serving.path}/rounds/1").document,
        "Health": serving.get("/healthz").document,
        "Ready": serving.get("/readyz").document,
        "NotReady": json.loads(not_ready((FULL,)).body["body"]),
    }


def test_every_answer_has_its_kind(served):
    content = [
        schema["schema"].get("$ref", "").rpartition("/")[2]
        for path in DESCRIBED["paths"].values()
        for method in path.values()
        for answer in method["responses"].values()
        for schema in answer.get("content", {}).values()
    ]
    assert set(content) - {""} == set(served)
    fitting = {
        kind: [name for name in served if is_described(name, served[kind])] for kind in served
    }
    assert fitting == {kind: [kind] for kind in served}


def test_a_query_is_described(make_service):
    with make_service(**ADAPTIVE) as service:
        service.start("--workers", "1", first=["--query", service.query(0)])
        document = service.get(f"{service.path}/rounds/0").document
        assert document["query"]["question"] == "crashed?"
        assert is_described("Round", document)
        for entries in altered(document["query"]):
            assert not is_described("Round", document | {"query": entries})


def altered(document):
    """A document with an entry more, and with each entry left out, null or in a list."""
    yield document | {"more": 1}
    for name, value in document.items():
        yield {other: document[other] for other in document if other != name}
        yield document | {name: [value]}
        if value is not None:
            yield document | {name: None}


def test_another_document_is_not_described(served):
    for kind, document in served.items():
        for other in altered(document):
            assert not is_described(kind, other), (kind, other)
    listed = served["KeyList"]
    for part in ("analyzer", "keys"):
        for other in altered(listed[part]):
            absent = part == "analyzer" and "policy" not in other
            assert is_described("KeyList", listed | {part: other}) == absent, other
    for other in altered(listed["shuffler"][0]):
        assert not is_described("KeyList", listed | {"shuffler": [other]}), other


@pytest.mark.parametrize("number", [0, 2**31 - 1, 2**31, -1])
def test_a_round_is_below_2_to_the_31(served, number):
    document = served["Round"]
    other = document | {"shuffler": document["shuffler"] | {"round": number}}
    assert is_described("Round", other) == (0 <= number < 2**31)
    where = DESCRIBED["paths"]["/v1/plans/{digest}/rounds/{round}"]["get"]["parameters"][1]
    assert Draft202012Validator(where["schema"]).is_valid(number) == (0 <= number < 2**31)
