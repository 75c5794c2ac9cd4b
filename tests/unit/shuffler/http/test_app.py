"""The application without a server: many requests, quickly."""

import asyncio
import json
import os
import random
from collections import Counter
from types import SimpleNamespace
from unittest.mock import AsyncMock

from structlog.testing import capture_logs

from croupier.hosting.http import answers
from croupier.hosting.http.answers import document, kept
from croupier.hosting.http.readiness import stop_host
from croupier.hosting.incidents import Occurrence
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.database.store import StoreError
from croupier.shuffler.http import outcomes
from croupier.shuffler.http.app import App
from croupier.shuffler.http.board import KnownBatch
from croupier.shuffler.http.reports import Reports, RequestLimits, SenderRates

DIGEST = "5e" * 32
PATH = f"/v1/plans/{DIGEST}/reports"
BATCH = os.urandom(16)
CREDENTIALS = BearerCredentials(os.urandom(32))


class Queue:
    """An intake that keeps what it is offered."""

    def __init__(self, *, room=True, error=None):
        self.offered = []
        self.room, self.error = room, error

    def has_room(self, _size):
        return self.room

    async def offer(self, batch, rows, *, tagged):
        if self.error:
            raise self.error
        self.offered.append((batch, tagged, rows))
        return "open"


class Batches:
    """A store in which some batches of a plan were opened."""

    def __init__(self, *opened, plan=DIGEST):
        self.opened = {(batch, plan) for batch in opened}

    async def has_batch(self, batch, *, plan):
        return (batch, plan) in self.opened


NONE = Batches()


def make_app(queue, *, full=False, store=NONE, incidents=lambda: (), superseded=(), origins=()):
    board = SimpleNamespace(
        tokens=None,
        plan=SimpleNamespace(digest=DIGEST, admission=SimpleNamespace(origins=origins, relay=None)),
        envelope_length=128,
        messages=1,
        batches={BATCH.hex().encode(): KnownBatch(BATCH, 0, "open", bytes(32), full=full)},
        key_list=kept(b"{}", seconds=60),
        rounds={0: kept(b"{}", seconds=60)},
        not_accepted=AsyncMock(return_value=document(409, b"{}")),
    )
    limits = RequestLimits()
    reports = Reports(
        intake=queue,
        credentials=CREDENTIALS,
        lookups=lambda: store,
        limits=limits,
        rates=SenderRates.of(limits),
    )
    return App([board], reports=reports, incidents=incidents, superseded=superseded)


def good():
    return {
        b"authorization": b"Bearer " + CREDENTIALS.issue().encode(),
        b"content-type": b"application/octet-stream",
        b"croupier-batch": BATCH.hex().encode(),
        b"content-length": b"128",
    }


async def ask(app, headers, body=b"", method="POST", path=PATH):
    """The status, and whether the body was asked for."""
    asked, sent = [], []

    async def receive():
        asked.append(True)
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": list(headers.items())}
    await app(scope, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    app.last = sent
    return sent[0]["status"], bool(asked)


def spoil(headers, rng):
    """One header changed so that the request cannot be right."""
    name = rng.choice(list(headers))
    value = bytearray(headers[name])
    kind = rng.randrange(4)
    if kind == 0:
        del headers[name]
        return
    if kind == 1:
        value[rng.randrange(len(value))] ^= 1 << rng.randrange(5)  # not the case of a digit
    elif kind == 2:
        value = bytearray(rng.randbytes(rng.randrange(80)))
    else:
        del value[rng.randrange(len(value))]
    headers[name] = bytes(value)


def test_a_hundred_thousand_malformed_requests_store_nothing_and_are_not_read():
    rng = random.Random(20261115)  # noqa: S311 - repeatable, nothing secret
    queue = Queue()
    app = make_app(queue)
    seen = Counter()

    async def work():
        for _ in range(100_000):
            headers = good()
            spoil(headers, rng)
            status, asked = await ask(app, headers, bytes(128))
            seen[status] += 1
            # Only a batch that was never opened: its refusal is bound to what was sent.
            assert asked == (status == 409)

    asyncio.run(work())
    assert not queue.offered
    assert set(seen) == {400, 401, 409, 411, 415}
    assert app.tally == seen


def test_the_same_requests_unspoiled_are_stored():
    queue = Queue()
    app = make_app(queue)
    body = os.urandom(128)
    assert asyncio.run(ask(app, good(), body)) == (202, True)
    ((batch, tagged, (row,)),) = queue.offered
    assert (batch, tagged, row[32:]) == (BATCH, True, body)


def test_a_full_queue_a_full_batch_and_a_failed_database_are_told_to_wait():
    assert asyncio.run(ask(make_app(Queue(room=False)), good())) == (503, False)
    assert asyncio.run(ask(make_app(Queue(), full=True), good())) == (503, False)
    failing = Queue(error=StoreError(OSError()))
    assert asyncio.run(ask(make_app(failing), good(), bytes(128))) == (503, True)


def test_a_batch_that_this_worker_has_not_seen_yet_is_not_called_unopened():
    """Another worker may have stored the report: a refusal would let it into a second batch."""
    opened = os.urandom(16)
    headers = good() | {b"croupier-batch": opened.hex().encode()}
    foreign = Batches(opened, plan="00" * 32)
    for store, status in ((NONE, 409), (foreign, 409), (Batches(opened), 503), (None, 503)):
        app = make_app(Queue(), store=store)
        assert asyncio.run(ask(app, headers, bytes(128))) == (status, True)


def test_a_sender_who_goes_away_gets_no_answer_and_leaves_nothing():
    queue = Queue()
    messages = iter(
        [
            {"type": "http.request", "body": bytes(64), "more_body": True},
            {"type": "http.disconnect"},
        ]
    )

    async def receive():
        return next(messages)

    async def send(_message):
        raise AssertionError

    scope = {"type": "http", "method": "POST", "path": PATH, "headers": list(good().items())}
    asyncio.run(make_app(queue)(scope, receive, send))
    assert not queue.offered


def test_a_body_of_another_length_than_said_is_refused():
    for length in (0, 127, 129, 256):
        queue = Queue()
        assert asyncio.run(ask(make_app(queue), good(), bytes(length))) == (400, True)
        assert not queue.offered


def test_a_length_of_thousands_of_digits_is_not_computed_with():
    for digits in (b"0" * 5_000 + b"128", b"9" * 5_000):
        headers = good() | {b"content-length": digits}
        assert asyncio.run(ask(make_app(Queue()), headers, bytes(128))) == (413, False)


def test_whoever_is_sent_away_loses_none_of_the_requests_of_a_minute():
    queue = Queue(room=False)
    app, headers = make_app(queue), good()

    async def work():
        for _ in range(50):
            assert await ask(app, headers) == (503, False)
        queue.room = True
        return await ask(app, headers, bytes(128))

    assert asyncio.run(work()) == (202, True)


def test_an_error_is_told_to_its_sender_and_logged_by_its_kind():
    quoted = "what an error may quote"
    app = make_app(Queue(error=ZeroDivisionError(quoted)))
    with capture_logs() as logs:
        assert asyncio.run(ask(app, good(), bytes(128))) == (500, True)
    assert [(entry["event"], entry["kind"]) for entry in logs] == [
        ("request failed", "ZeroDivisionError")
    ]
    assert quoted not in str(app.last)


def test_health_says_that_the_process_lives_and_readiness_what_the_operator_must_act_on():
    found = []
    app = make_app(Queue(), incidents=lambda: tuple(found))

    def get(path):
        status, _ = asyncio.run(ask(app, {}, method="GET", path=path))
        head, body = app.last
        return status, dict(head["headers"]).get(b"retry-after"), json.loads(body["body"])

    assert get("/healthz") == (200, None, {"schema_version": 1, "healthy": True})
    ready = (200, None, {"schema_version": 1, "ready": True})
    assert get("/readyz") == get("/readyz/host") == ready
    found.append(Occurrence("disk-full", "the disk is full"))
    incident = {
        "incident": "disk-full",
        "plan": None,
        "cause": "The disk is full.",
        "page": "incidents/disk-full",
    }
    unready = {"schema_version": 1, "ready": False, "cause": "The disk is full."}
    assert get("/readyz") == (503, b"1", unready | {"incidents": [incident]})
    assert get("/readyz/host") == ready, "another host would find the same disk"
    found.append(Occurrence("batch-key", "a tag key is missing", DIGEST))
    status, _, document = get("/readyz/host")
    assert (status, [each["incident"] for each in document["incidents"]]) == (503, ["batch-key"])


def test_an_incident_of_one_plan_stops_the_host_only_if_all_plans_have_one():
    lost = [Occurrence("batch-key", "a tag key is missing", plan) for plan in "ab"]
    down = Occurrence("database-down", "the database is down")
    assert stop_host(lost[:1], "ab") == ()
    assert stop_host(lost, "ab") == tuple(lost)
    assert stop_host([lost[0], down], "ab") == (lost[0], down)
    assert stop_host([Occurrence("batch-full", "full", "a")], "a") == ()


def test_a_superseded_plan_has_one_answer_for_everybody(parties):
    successor = parties.plan.replace(collection__rounds=9)
    pointer = SupersededPlan.make(parties.plan, successor, signing_key=parties.shuffler)
    queue = Queue()
    app = make_app(queue, superseded=(pointer,))
    path = f"/v1/plans/{parties.plan.digest}"
    seen, refused = [], []

    async def work():
        for headers in (good(), {}, {b"origin": b"https://www.example"}):
            for end in ("", "/rounds/0", "/reports"):
                for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS"):
                    asked = await ask(app, headers, bytes(128), method, path + end)
                    assert asked == (410, False)
                    (refused if end == "/reports" else seen).append(app.last)
        assert await ask(app, good(), bytes(128)) == (202, True)
        assert (await ask(app, {}, method="GET", path=PATH.removesuffix("/reports")))[0] == 200
        for end in ("/reports/", "/rounds/00", "/round/0"):
            assert (await ask(app, {}, method="GET", path=path + end))[0] == 404
        assert (await ask(app, good(), path=f"/v1/plans/{'00' * 32}/reports"))[0] == 404

    asyncio.run(work())
    assert all(answer == seen[0] for answer in seen)
    assert all(answer == refused[0] for answer in refused)
    assert seen[0][1]["body"] == refused[0][1]["body"] == pointer.to_bytes()
    assert dict(seen[0][0]["headers"])[b"access-control-allow-origin"] == b"*"
    assert b"access-control-allow-origin" not in dict(refused[0][0]["headers"])
    assert len(queue.offered) == 1


def test_no_cache_keeps_an_answer_but_the_description_and_key_lists_and_rounds(parties):
    """A refusal after its cause is gone would be shown to others."""
    successor = parties.plan.replace(collection__rounds=9)
    pointer = SupersededPlan.make(parties.plan, successor, signing_key=parties.shuffler)
    found = iter([(Occurrence("disk-full", "the disk is full"),), ()])
    app = make_app(Queue(), incidents=lambda: next(found), superseded=(pointer,))
    plan = PATH.removesuffix("/reports")
    unknown = good() | {b"croupier-batch": b"00" * 16}
    asked = [
        (200, {}, "GET", "/healthz"),
        *((status, {}, "GET", "/readyz") for status in (503, 200)),
        *((404, {}, "GET", path) for path in ("/", f"{plan}/rounds/1")),
        *((405, {}, method, path) for method, path in (("PUT", plan), ("GET", PATH))),
        (410, {}, "GET", f"/v1/plans/{parties.plan.digest}"),
        (202, good(), "POST", PATH),
        (401, {}, "POST", PATH),
        (409, unknown, "POST", PATH),
    ]

    async def work():
        for status, headers, method, path in asked:
            assert (await ask(app, headers, bytes(128), method, path))[0] == status
            assert caching(app.last) == [b"no-store"], (status, path)
        await ask(app, {}, method="GET", path="/v1/openapi.json")
        assert caching(app.last) == [b"max-age=3600"]
        for path in (plan, f"{plan}/rounds/0"):
            await ask(app, {}, method="GET", path=path)
            assert caching(app.last) == [b"public, max-age=60"]

    asyncio.run(work())
    given = vars(answers) | vars(outcomes)
    constants = [each for each in given.values() if isinstance(each, answers.Answer)]
    assert len(constants) > 20
    assert {tuple(caching([each.head])) for each in constants} == {(b"no-store",)}


def caching(sent):
    return [value for name, value in sent[0]["headers"] if name == b"cache-control"]
