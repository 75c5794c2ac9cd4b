"""Fetching a token: in every round, by everybody, the same bytes again, and never a wrong one."""

import json

import pytest

from croupier.client.conversation import Outcome, Post, Response, Server, Wait, converse
from croupier.client.fetch_token import TokenOutcome, fetch_token
from croupier.client.memory import BudgetError, FileState, MemoryState
from croupier.errors import DataError, UntrustedError
from tests.unit.client.script import Script
from tests.unit.client.token_site import (
    CREDENTIAL,
    ISSUER,
    ROUNDS,
    SERVER,
    Site,
    fetch,
    held,
    make,
    memory,
    signers,
    site,
    state_of,
    talk,
)

__all__ = ["memory", "signers", "site"]


def test_secrets_are_remembered_before_they_are_used_and_never_sent(site, memory):
    client = make(site, memory)
    steps = fetch_token(client, server=SERVER)
    asked = steps.send(site(next(steps)))
    entry = held(memory, site, 1)
    assert entry.request == asked.body.hex()
    assert entry.signature is None
    with pytest.raises(StopIteration):
        steps.send(site(asked))
    after = held(memory, site, 1)
    assert (after.seed, after.request, after.inverse) == (entry.seed, None, None)
    site.open(1)
    talk(client, site)
    for secret in (entry.seed, entry.inverse):
        for step in site.steps:
            shown = f"{step.url}{step.headers}{step.body.hex()}".lower()
            assert secret not in shown


def test_a_restart_at_any_point_sends_the_same_bytes(site, tmp_path):
    path = tmp_path / "memory.json"
    for is_answered in (False, True, False):
        steps = fetch_token(make(site, FileState(path)), server=SERVER)
        asked = steps.send(site(next(steps)))
        if is_answered:
            assert site.issue(asked).status == 200  # and the answer is lost
        steps.close()
        site.steps.append(asked)
    assert fetch(make(site, FileState(path)), site) is TokenOutcome.HELD
    assert len({step.body for step in site.asked()}) == 1
    assert len(site.people.issued) == 1
    before = len(site.asked())
    assert fetch(make(site, FileState(path)), site) is TokenOutcome.HELD
    assert len(site.asked()) == before


def test_a_busy_issuer_is_asked_again_with_the_same_bytes(site, memory):
    site.answers = [None, Response(429, b""), Response(503, b"", "7")]
    assert fetch(make(site, memory), site) is TokenOutcome.HELD
    assert len(site.asked()) == 4
    assert len({step.body for step in site.asked()}) == 1


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Response(401, b""), TokenOutcome.REFUSED),
        (Response(404, b""), TokenOutcome.REFUSED),
        (Response(409, b""), TokenOutcome.REFUSED),
        (Response(410, b""), TokenOutcome.CLOSED),
        (Response(301, b""), TokenOutcome.REFUSED),
    ],
)
def test_an_issuer_that_gives_none(site, memory, answer, outcome):
    site.answers = [answer]
    client = make(site, memory)
    assert fetch(client, site) is outcome
    assert len(site.asked()) == 1
    site.open(1)
    assert talk(client, site).outcome is Outcome.NO_TOKEN
    assert site.reports() == []


def test_a_memory_that_was_lost_gets_no_second_token(site):
    assert fetch(make(site, MemoryState()), site) is TokenOutcome.HELD
    assert fetch(make(site, MemoryState()), site) is TokenOutcome.REFUSED


def test_a_signature_of_another_key_is_an_alarm_and_nothing_is_spent(site, memory, signers):
    client = make(site, memory)
    site.answers = [Response(200, b"\1" * 256)]
    with pytest.raises(UntrustedError, match="is not of the key that the plan's issuer published"):
        fetch(client, site)
    blinded, own = bytes.fromhex(held(memory, site, 1).request)[3:], signers[ROUNDS]
    number = int.from_bytes(blinded) % own.key.modulus
    site.answers = [Response(200, own.sign(number.to_bytes(256)))]  # a key for this person alone
    with pytest.raises(UntrustedError, match="is not of the key"):
        fetch(client, site)
    site.answers = [Response(200, b"short")]
    with pytest.raises(UntrustedError, match="has another length"):
        fetch(client, site)
    assert held(memory, site, 1).signature is None
    site.open(1)
    assert talk(client, site).outcome is Outcome.NO_TOKEN
    assert site.reports() == []


def test_a_replaced_key_of_a_round_is_an_alarm(site, memory, signers):
    client = make(site, memory)
    fetch(client, site)
    site.tokens = site.listed([signers[0], signers[ROUNDS], *signers[2:ROUNDS]], earlier=None)
    with pytest.raises(UntrustedError, match="second one of version 1"):
        fetch(client, site)
    with memory.update() as state:
        state.listed_issuer.clear()
    with pytest.raises(UntrustedError, match="the issuer's key of the round was replaced"):
        fetch(client, site)
    site.open(1)
    with memory.update() as state:
        state.listed_issuer.clear()
    with pytest.raises(UntrustedError, match="the issuer's key of the round was replaced"):
        talk(client, site)
    assert site.reports() == []
    assert state_of(memory).spent == {}


def test_only_the_round_after_all_open_ones_is_asked_for(site, memory):
    site.open(0)
    site.open(0, 1)
    client = make(site, memory)
    assert fetch(client, site) is TokenOutcome.HELD
    assert list(state_of(memory).tokens) == [f"{site.plan.digest}/2"]
    site.open(3)
    assert fetch(client, site) is TokenOutcome.UNLISTED
    assert len(site.asked()) == 1
    assert state_of(memory).tokens == {}  # round 2 has passed


def test_a_round_that_opened_meanwhile_gives_none(site, memory):
    steps = fetch_token(make(site, memory), server=SERVER)
    asked = steps.send(site(next(steps)))
    site.open(1)
    with pytest.raises(StopIteration) as end:
        steps.send(site(asked))
    assert end.value.value is TokenOutcome.CLOSED


def times(done):
    """When a conversation sends its report and asks for its token, by the waits before."""
    now, found = 0.0, {}
    for step in done.steps:
        if isinstance(step, Wait):
            now += step.seconds
        elif isinstance(step, Post):
            found["token" if step.url.startswith(ISSUER) else "report"] = now
    return found


def test_the_times_of_asking_and_answering_are_independent(signers):
    """Either comes first, and whoever does not answer asks at such a time as well."""
    found = []
    for _ in range(29):
        site = Site(signers)
        client = make(site, MemoryState(), spread=100.0)
        fetch(client, site)
        site.open(1)
        done = talk(client, site)
        assert done.outcome is Outcome.ACCEPTED
        found.append(times(done))
    assert all(0 <= moment <= 100 for each in found for moment in each.values())
    first = sum(each["token"] < each["report"] for each in found)
    assert 2 <= first <= 27, "of 29 fair coins, with a chance of 1 in 8 million to fail"
    late = Site(signers)
    assert times(talk(make(late, MemoryState(), spread=100.0), late)).keys() == {"token"}


def test_an_issuer_that_signs_wrongly_is_told_once_the_report_is_sent(site, memory):
    client = make(site, memory, spread=100.0)
    fetch(client, site)
    site.open(1)
    site.answers.append(Response(200, bytes(256)))
    with pytest.raises(UntrustedError):
        talk(client, site)
    assert len(site.reports()) == 1


@pytest.mark.parametrize(
    ("given", "value", "error"),
    [({"budget": 0.0}, 1, BudgetError), ({}, 77, DataError)],
)
def test_a_token_is_fetched_also_by_whoever_cannot_answer(site, memory, given, value, error):
    client = make(site, memory, **given)
    fetch(client, site)
    site.open(1)
    with pytest.raises(error):
        talk(client, site, value)
    assert held(memory, site, 2).signature is not None
    assert site.reports() == []


def test_a_token_is_fetched_in_rounds_that_are_not_ones_turn(signers):
    site = Site(
        signers,
        participation={"model": "divide", "groups": 4},
        collection={"every": "24h", "rounds": 1},
    )
    memory = MemoryState()
    client = make(site, memory, group=2)
    fetch(client, site)
    site.open(1)
    rounds = site.parties.rounds(site.keys[1])

    def answer(step, _=None):
        return Response(200, rounds[0]) if step.url.endswith("/rounds/1") else site(step)

    assert Script(converse(client, 1, server=SERVER), answer).outcome is Outcome.ABSENT
    assert held(memory, site, 2).signature is not None


def test_a_device_enrols_before_it_asks(site, memory):
    enrolling = Server(url="https://reports.example", issuer=f"{ISSUER}/", proof="letmein")
    answer = json.dumps({"credential": CREDENTIAL, "schema_version": 1}).encode()
    site.answers = [Response(200, answer)]
    assert fetch(make(site, memory), site, enrolling) is TokenOutcome.HELD
    enrol, asked = site.asked()
    assert enrol.url == f"{ISSUER}/v1/enrol"
    assert asked.url == f"{ISSUER}/v1/plans/{site.plan.digest}/rounds/1/token"
