"""Tokens: spent on one report of their round, and linked to nobody."""

import pytest

from croupier.client.client import Client
from croupier.client.conversation import Get, Outcome, Response, Server, Wait, converse
from croupier.client.fetch_token import fetch_token
from croupier.client.forward import Prepared, deliver, prepare
from croupier.client.memory import MemoryState
from croupier.client.relay import send_all
from croupier.client.tokens import NoTokenError
from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.admission.token import (
    REQUEST_LENGTH,
    Token,
    challenge,
    is_spent_by_its_owner,
    read_request,
)
from croupier.protocol.admission.token_keys import key_id
from tests.unit.client.script import Script
from tests.unit.client.token_site import (
    CREDENTIAL,
    ISSUER,
    SERVER,
    Site,
    fetch,
    make,
    memory,
    signers,
    site,
    state_of,
    talk,
)

__all__ = ["memory", "signers", "site"]


def test_a_new_device_answers_from_the_following_round_on(site, memory):
    client = make(site, memory)
    assert talk(client, site).outcome is Outcome.NO_TOKEN
    assert (state_of(memory).spent, state_of(memory).sealed, site.reports()) == ({}, {}, [])
    site.open(1)
    assert talk(client, site).outcome is Outcome.ACCEPTED
    assert [step.url.rsplit("/", 2)[1] for step in site.asked()] == ["1", "2"]


def test_what_is_asked_and_what_is_spent(site, memory, signers):
    client = make(site, memory)
    fetch(client, site)
    site.open(1)
    talk(client, site)
    asked, report = site.asked()[0], site.reports()[0]
    assert asked.url == f"{ISSUER}/v1/plans/{site.plan.digest}/rounds/1/token"
    assert asked.headers == {
        "User-Agent": "croupier",
        "Accept-Encoding": "identity",
        "Content-Type": "application/private-token-request",
        "Authorization": f"Bearer {CREDENTIAL}",
    }
    key = signers[1].key
    assert len(asked.body) == REQUEST_LENGTH == 259
    assert read_request(asked.body, key_id(key)) is not None
    assert set(report.headers) == {
        "User-Agent",
        "Accept-Encoding",
        "Content-Type",
        "Croupier-Batch",
        "Authorization",
        "Croupier-Proof",
    }
    token = Token.of_header(report.headers["Authorization"].encode())
    answers = challenge(site.plan.digest, 1, issuer=site.plan.issuer_key)
    assert token.is_valid(key, key_id=key_id(key), challenge=answers)
    batch = bytes.fromhex(report.headers["Croupier-Batch"])
    proof = bytes.fromhex(report.headers["Croupier-Proof"])
    given = {"plan": site.plan.digest, "batch": batch}
    assert is_spent_by_its_owner(token, proof, body=report.body, **given)
    assert not is_spent_by_its_owner(token, proof, body=report.body + b"x", **given)


def test_intake_gets_nothing_twice_and_no_credential(site, memory):
    client = make(site, memory)
    fetch(client, site)
    for number in (1, 2):
        site.open(number)
        assert talk(client, site).outcome is Outcome.ACCEPTED
    first, second = site.reports()
    same = {"User-Agent", "Accept-Encoding", "Content-Type"}
    assert {name for name in first.headers if first.headers[name] == second.headers[name]} == same
    tokens = [
        Token.of_header(report.headers["Authorization"].encode()) for report in (first, second)
    ]
    for entry in ("nonce", "challenge", "key_id"):
        assert len({getattr(token.given, entry) for token in tokens}) == 2
    assert len({token.signature for token in tokens}) == 2
    assert first.headers["Croupier-Proof"][:64] != second.headers["Croupier-Proof"][:64]
    assert first.body != second.body
    sent = [step for step in site.steps if not step.url.startswith(ISSUER)]
    assert CREDENTIAL not in repr([(step.url, step.headers, step.body) for step in sent])
    seen_by_issuer = b"".join(step.body for step in site.asked())
    assert all(token.given.nonce not in seen_by_issuer for token in tokens)
    assert all(token.signature not in seen_by_issuer for token in tokens)


def test_every_request_of_a_kind_has_one_length(signers):
    found = set()
    for value in (0, 9):
        site, memory = Site(signers), MemoryState()
        client = make(site, memory)
        fetch(client, site)
        for number in (1, 2, 3):
            site.open(number)
            talk(client, site, value)
        found |= {
            (
                step.url.startswith(ISSUER),
                len(step.url),
                len(step.body),
                *map(len, step.headers.values()),
            )
            for step in (*site.asked(), *site.reports())
        }
    assert len(found) == 2


@pytest.mark.parametrize("stalled", [0.0, 5.0, 400.0])
def test_what_takes_time_moves_neither_token_nor_report(site, memory, stalled):
    """A function that finds the value takes longer for some values, and a server may be slow."""
    now = [1_800_000_000.0]
    client = make(site, memory, clock=lambda: now[0], spread=1_000.0)
    fetch(client, site)
    site.open(1)
    client.token_delay = lambda: 800.0
    client._delay = lambda: 700.0  # noqa: SLF001 - as if drawn
    times, stalls = {}, iter([stalled])

    def at_its_time(steps, answer=None):
        """Carry out the steps on a clock that their waits move."""
        while True:
            step = steps.send(answer)
            if isinstance(step, Wait):
                now[0], answer = now[0] + step.seconds, None
                continue
            times[step.url.rsplit("/", 1)[1]] = now[0] - 1_800_000_000.0
            now[0] += next(stalls, 0.0)
            answer = site(step)

    with pytest.raises(StopIteration) as end:
        at_its_time(converse(client, 1, server=SERVER))
    assert end.value.value is Outcome.ACCEPTED
    assert times["token"] == pytest.approx(800.0)
    assert times["reports"] == pytest.approx(700.0 + stalled)


def test_a_prepared_report_spends_its_token_when_it_is_delivered(site, memory):
    now = [1_800_000_000.0]
    client = make(site, memory, clock=lambda: now[0])
    assert Script(prepare(client, 1, server=SERVER), site).outcome is Outcome.NO_TOKEN
    assert state_of(memory).spent == {}
    fetch(client, site)
    site.open(1)
    made = Script(prepare(client, 1, server=SERVER), site).outcome
    assert isinstance(made, Prepared)
    now[0] = made.due
    site.posts = [Response(503, b""), Response(503, b"", "99")]
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.EXPIRED
    again = make(site, memory, clock=lambda: now[0])
    assert Script(deliver(again, server=SERVER), site).outcome is Outcome.ACCEPTED
    reports = site.reports()
    assert len(reports) == 3
    assert len({(r.body, *r.headers.values()) for r in reports}) == 1
    assert reports[0].headers["Authorization"].startswith("PrivateToken token=")


def test_a_report_whose_token_is_lost_is_never_sent_with_the_credential(site, memory):
    now = [1_800_000_000.0]
    client = make(site, memory, clock=lambda: now[0])
    fetch(client, site)
    site.open(1)
    now[0] = Script(prepare(client, 1, server=SERVER), site).outcome.due
    with memory.update() as state:
        state.tokens.clear()
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.NO_TOKEN
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.NOTHING
    assert site.reports() == []


def refusing(site, *, then):
    """Sign that the batch is closed, and open another round."""

    def answer(step):
        batch, sent = step.headers["Croupier-Batch"], step.headers["Authorization"]
        site.open(then)
        return Response(409, site.parties.refusal(batch, step.body, sent).to_bytes())

    return answer


def test_a_refused_report_is_sealed_again_with_the_token_of_the_other_round(site, memory):
    client = make(site, memory)
    fetch(client, site)
    site.open(1)
    fetch(client, site)
    site.posts = [refusing(site, then=2)]
    assert talk(client, site).outcome is Outcome.ACCEPTED
    first, second = site.reports()
    tokens = [Token.of_header(r.headers["Authorization"].encode()) for r in (first, second)]
    expected = [challenge(site.plan.digest, n, issuer=site.plan.issuer_key) for n in (1, 2)]
    assert [token.given.challenge for token in tokens] == expected


def test_without_that_token_the_round_is_lost(site, memory):
    client = make(site, memory)
    fetch(client, site)
    site.open(1)
    site.posts = [refusing(site, then=2)]
    site.answers = [Response(410, b"")]  # the next token is asked for before or after
    assert talk(client, site).outcome is Outcome.CLOSED
    assert len(site.reports()) == 1


def test_a_refusal_is_bound_to_the_token(site, memory):
    client = make(site, memory)
    fetch(client, site)
    site.open(1)

    def of_the_credential(step):
        batch = step.headers["Croupier-Batch"]
        refusal = site.parties.refusal(batch, step.body, f"Bearer {CREDENTIAL}")
        return Response(409, refusal.to_bytes())

    site.posts = [of_the_credential]
    with pytest.raises(UntrustedError, match="is not about the request that was sent"):
        talk(client, site)


def test_the_token_of_a_report_that_waits_is_not_forgotten(site, memory):
    client = make(site, memory)
    fetch(client, site)
    site.open(1)
    made = Script(prepare(client, 1, server=SERVER), site).outcome
    assert isinstance(made, Prepared)
    site.open(2)
    fetch(client, site)
    assert {place[65:] for place in state_of(memory).tokens} == {"1", "3"}
    client.settle(client.waiting(), is_delivered=False)
    fetch(client, site)
    assert {place[65:] for place in state_of(memory).tokens} == {"3"}


def test_what_is_refused_at_once(site, memory, parties):
    alone = Server(url="https://reports.example", credential=CREDENTIAL)
    client = make(site, memory)
    for steps in (
        converse(client, 1, server=alone),
        prepare(client, 1, server=alone),
        fetch_token(client, server=alone),
    ):
        with pytest.raises(ParameterError, match="`issuer` must be given"):
            next(steps)
    other = Client(parties.plan, attribute="emoji", budget=9.0, memory=memory)
    with pytest.raises(ParameterError, match='must be "token" to fetch tokens'):
        next(fetch_token(other, server=SERVER))
    with pytest.raises(ParameterError, match="a relay has no tokens"):
        next(send_all(site.plan, [], server=SERVER, sent=lambda _: None))
    with pytest.raises(NoTokenError, match="no token for round 0"):
        client.report(1, key_list=site.key_list())


def test_plans_that_admit_by_credential_ask_for_no_token(parties, memory):
    client = Client(parties.plan, attribute="emoji", budget=9.0, memory=memory)
    keys = parties.key_list(parties.open()).to_bytes()
    steps = converse(client, 1, server=SERVER)
    done = Script(steps, lambda step, _: Response(200 if isinstance(step, Get) else 202, keys))
    assert done.outcome is Outcome.ACCEPTED
    assert [step.headers["Authorization"] for step in done.posts] == [f"Bearer {CREDENTIAL}"]
    written = state_of(memory).model_dump_json()
    assert "tokens" not in written
    assert "listed_issuer" not in written


def test_a_token_is_not_printed(site, memory):
    client = make(site, memory)
    fetch(client, site)
    site.open(1)
    submission = client.report(1, key_list=site.key_list())
    assert submission.spent.authorization not in repr(submission)
