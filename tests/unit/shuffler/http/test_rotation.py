"""A rotation of keys while a collection runs: no new plan, no restart, and no way back."""

import json
import time

import pytest

from croupier.client.client import Client
from croupier.client.memory import FileState
from croupier.errors import UntrustedError
from croupier.protocol.key_list import KeyList, NotAccepted, sent_digest
from croupier.protocol.party_keys import Signers
from tests.unit.shuffler.http.test_readiness import start, within

TABLES = {
    "protections": {"minimum_batch": 3, "disposal_age": "72h"},
    "collection": {"every": "1s", "rounds": 9},
}


def served(service):
    return KeyList.verified(service.get(service.path).body, service.plan)


def rotate(service, role):
    """As the operator does who has the root at hand; the exit code and what was printed."""
    phrase = [] if role != "release" else ["--passphrase-file", service.phrase]
    files = ["--keys", service.house.path / role, "--shuffler", service.directory / "shuffler.json"]
    root = ["--root", service.house.root.path, "--handover", service.house.handover.path]
    return service.croupier(
        "keys", "rotate", role, service.directory / "plan.toml", *files, *root, *phrase
    )


def fill(service, client, number):
    """Three people's reports of a round, one of them of a client that remembers."""
    # Either worker may answer, and each looks for new rounds by itself.
    answers = (service.get(service.path).body for _ in range(1000))
    listed = next(answer for answer in answers if b'"round":%d,' % number in answer)
    report = client.report(1, key_list=listed)
    assert report.round_number == number
    service.batch = report.batch
    others = [
        Client(service.plan, attribute="a", budget=99.0, memory=FileState(path)).report(
            2, key_list=listed
        )
        for path in (service.directory / f"other-{number}-{one}.json" for one in range(2))
    ]
    for each in (report, *others):
        assert service.send(each.body).status == 202
    return listed


@pytest.mark.parametrize("role", ["release", pytest.param("intake", marks=pytest.mark.proof)])
def test_a_key_is_replaced_while_a_collection_runs(make_service, role):
    with make_service(**TABLES) as service:
        start(service, "--workers", "1")
        memory = FileState(service.directory / "memory.json")
        client = Client(service.plan, attribute="emoji", budget=99.0, memory=memory)
        before = fill(service, client, 0)
        closed = service.batch

        code, done = rotate(service, role)
        assert (code, done["from_round"], done["list_version"]) == (0, 1, 2), done
        time.sleep(2.5)
        assert served(service).keys.version == 1, "the new key does not count yet"
        assert [entry.round for entry in served(service).shuffler] == [0]
        code, document = service.release("--next-round")
        assert (code, document["open_round"]) == (0, 1), document
        assert within(60, lambda: [e.round for e in served(service).shuffler] == [1])
        assert served(service).keys.version == 2, "without a restart"
        fill(service, client, 1)
        listed = served(service).keys
        if role == "release":
            assert listed.release_key(0) != listed.release_key(1)
        else:
            assert listed.intake_key(0) != listed.intake_key(1)

        signers, token = Signers.of(service.plan, listed), service.credentials.issue()
        for batch in (closed, "00" * 16):
            body = service.envelopes()
            reply = service.send(body, token, Croupier_Batch=batch)
            assert reply.status == (410 if batch == closed else 409)
        word = NotAccepted.verified(reply.body, signers, round_number=1)
        assert word.sent == sent_digest(f"Bearer {token}".encode(), body)

        time.sleep(1)
        code, document = service.release()
        assert (code, document["batches"][0]["receipt"]["counts"]["released"]) == (0, 3)
        receipts = sorted((service.directory / "out").glob("*.receipt.json"))
        assert len(receipts) == 2
        verify = ["receipt", "verify", *receipts, "--plan", service.directory / "plan.toml"]
        assert service.croupier(*verify)[0] == 0, "old receipts and new ones"
        with pytest.raises(UntrustedError, match="was seen before"):
            client.report(1, key_list=before)

        first = service.listed.to_bytes()
        (service.directory / "shuffler.json").write_bytes(first)
        time.sleep(2.5)
        assert served(service).keys.version == 2, "a running worker does not go back"
        assert within(60, lambda: "those read before stay" in service.log.read_text())


def test_a_replaced_key_signs_nothing_from_its_successors_round_on(make_parties):
    """As after a theft: what the old keys sign of later rounds is not believed."""
    parties = make_parties()
    stolen, thief_intake = parties.release, parties.intake
    other = make_parties()
    parties.keys = parties.list_of_keys(2, release=[(5, other.release)], intake=[(5, other.intake)])
    assert KeyList.verified(parties.key_list(parties.open(4)).to_bytes(), parties.plan)
    forged = parties.key_list(parties.open(5, signing_key=stolen)).to_bytes()
    with pytest.raises(UntrustedError, match="release key of round 5"):
        KeyList.verified(forged, parties.plan)
    true = parties.key_list(parties.open(5, signing_key=other.release)).to_bytes()
    assert KeyList.verified(true, parties.plan)
    parties.intake = thief_intake
    refusal = parties.refusal("00" * 16, b"body").to_bytes()
    NotAccepted.verified(refusal, parties.signers, round_number=4)
    with pytest.raises(UntrustedError, match="intake key of round 5"):
        NotAccepted.verified(refusal, parties.signers, round_number=5)


def test_a_list_that_the_root_did_not_sign_is_not_followed(service):
    start(service, "--workers", "1")
    document = json.loads(service.listed.to_bytes())
    forged = json.dumps(document | {"version": 3}).encode()
    (service.directory / "shuffler.json").write_bytes(forged)
    assert within(30, lambda: service.get("/readyz").status == 503)
    (incident,) = service.get("/readyz").document["incidents"]
    assert incident["incident"] == "signed-files"
    assert service.get("/readyz/host").status == 200, "the list from before stays"
    assert served(service).keys == service.listed
    assert service.send(service.envelopes()).status == 202
    (service.directory / "shuffler.json").write_bytes(service.listed.to_bytes())
    assert within(30, lambda: service.get("/readyz").status == 200)
