"""What browsers are told about pages of other origins; tests/browser asks a real one."""

import asyncio
import json
import os
import signal
from urllib.request import urlopen

import pytest
from structlog.testing import capture_logs

from croupier.hosting.http.answers import BUSY
from croupier.shuffler.database.store import StoreError
from tests.unit.shuffler.http.test_app import PATH, Queue, ask, good, make_app
from tests.unit.shuffler.http.test_readiness import within
from tests.unit.shuffler.http.test_server import workers

LISTED, SECOND = "https://www.example", "https://app.example:8443"
UNLISTED = (
    "https://evil.example",
    "https://www.example.evil.example",
    "http://www.example",
    "https://www.example:444",
    "https://WWW.example",
    "https://www.example/",
    "null",
    "*",
    "",
)
PLAN = PATH.removesuffix("/reports")
DOCUMENTS = (PLAN, f"{PLAN}/rounds/0", f"{PLAN}/rounds/1")
HEADERS = "Authorization, Content-Type, Croupier-Batch, Croupier-Proof"
ANYBODY = {"access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After"}


def named(origin):
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "Retry-After",
        "vary": "Origin",
    }


def asked(methods):
    return {
        "access-control-allow-methods": methods,
        "access-control-allow-headers": HEADERS,
        "access-control-max-age": "86400",
    }


class Browser:
    """Asks an application for pages of an origin; None is no browser."""

    def __init__(self, queue=None, origins=(LISTED, SECOND), **given):
        self.app = make_app(queue or Queue(), origins=origins, **given)

    def ask(self, method, path, origin=None, headers=None):
        given = dict(headers or {})
        if origin is not None:
            given[b"origin"] = origin.encode()
        asyncio.run(ask(self.app, given, bytes(128), method, path))
        head, body = self.app.last
        headers = {name.decode(): value.decode() for name, value in head["headers"]}
        return head["status"], headers, body["body"]

    def across(self, *given, **named):
        """The status, and the headers about origins."""
        status, headers, _ = self.ask(*given, **named)
        return status, {
            name: headers[name] for name in headers if name == "vary" or "access-" in name
        }


@pytest.mark.parametrize("origin", [LISTED, SECOND])
def test_a_listed_origin_is_named_to_itself_before_it_sends_and_after(origin):
    browser = Browser()
    told = {"access-control-allow-origin": origin, "vary": "Origin"} | asked("POST")
    assert browser.across("OPTIONS", PATH, origin) == (204, told)
    assert browser.across("POST", PATH, origin, good()) == (202, named(origin))


@pytest.mark.parametrize("origin", [*UNLISTED, None])
def test_another_origin_is_told_nothing_and_the_answer_is_the_same(origin):
    browser = Browser()
    assert browser.across("OPTIONS", PATH, origin) == (204, {"vary": "Origin"})
    status, headers, body = browser.ask("POST", PATH, origin, good())
    assert (status, headers, body) == (
        202,
        {"content-length": "0", "cache-control": "no-store", "vary": "Origin"},
        b"",
    )
    plain = Browser(origins=()).ask("POST", PATH, origin, good())
    assert plain == (202, {name: headers[name] for name in headers if name != "vary"}, b"")


def test_every_answer_of_the_route_of_reports_can_be_read_by_a_listed_origin():
    full = Browser(Queue(room=False))
    failing = Browser(Queue(error=ZeroDivisionError()))
    away = Browser(Queue(error=StoreError(OSError())))
    browser = Browser()
    cases = [
        (401, browser, {}),
        (400, browser, good() | {b"croupier-batch": b"x"}),
        (409, browser, good() | {b"croupier-batch": b"00" * 16}),
        (411, browser, good() | {b"content-length": b""}),
        (413, browser, good() | {b"content-length": b"9" * 12}),
        (415, browser, good() | {b"content-type": b"text/plain"}),
        (503, full, good()),
        (500, failing, good()),
        (503, away, good()),
    ]
    often = good()
    for _ in range(12):
        assert browser.across("POST", PATH, LISTED, often)[0] == 202
    cases.append((429, browser, often))
    for status, asking, headers in cases:
        assert asking.across("POST", PATH, LISTED, headers) == (status, named(LISTED))
        again = headers if status in {401, 429} else headers | {b"authorization": b"Bearer no"}
        assert asking.across("POST", PATH, UNLISTED[0], again)[1] == {"vary": "Origin"}
    assert browser.across("GET", PATH, LISTED) == (405, named(LISTED))
    assert full.ask("POST", PATH, LISTED, good())[1]["retry-after"] == "1"


def test_key_lists_and_rounds_are_the_same_for_every_origin():
    browser = Browser()
    for path, status in zip(DOCUMENTS, (200, 200, 404), strict=True):
        for method in ("GET", "HEAD"):
            answers = [
                browser.ask(method, path, origin) for origin in (LISTED, *UNLISTED, SECOND, None)
            ]
            assert all(answer == answers[0] for answer in answers)
            assert browser.across(method, path, LISTED) == (status, ANYBODY)
        told = {"access-control-allow-origin": "*"} | asked("GET, HEAD")
        assert browser.across("OPTIONS", path, UNLISTED[0]) == (204, told)
        assert browser.across("PUT", path, LISTED)[1] == ANYBODY
    same = {b"if-none-match": b"*"}
    assert browser.across("GET", PLAN, LISTED, same) == (304, ANYBODY)
    kept = [browser.ask("GET", path)[1]["cache-control"] for path in DOCUMENTS]
    assert kept == ["public, max-age=60"] * 2 + ["no-store"]


def test_a_preflight_has_no_body_and_is_not_kept():
    for path in (PATH, *DOCUMENTS):
        _, headers, body = Browser().ask("OPTIONS", path, LISTED)
        assert body == b""
        assert "content-length" not in headers
        assert headers["cache-control"] == "no-store"


def test_a_plan_that_lists_none_says_nothing_about_origins():
    browser = Browser(origins=())
    for path in (PATH, *DOCUMENTS[:2]):
        assert browser.across("OPTIONS", path, LISTED) == (405, {})
    assert browser.across("POST", PATH, LISTED, good()) == (202, {})
    assert browser.across("GET", PLAN, LISTED) == (200, {})
    elsewhere = Browser()
    for path in ("/healthz", "/readyz", "/v1/openapi.json"):
        assert elsewhere.across("OPTIONS", path, LISTED) == (405, {})
        assert elsewhere.across("GET", path, LISTED) == (200, {})
    for path in ("/", f"/v1/plans/{'00' * 32}", f"{PATH}/", f"{PLAN}/rounds/00"):
        assert elsewhere.across("OPTIONS", path, LISTED) == (404, {})


def test_shared_answers_stay_as_they_are():
    browser = Browser(Queue(room=False))
    before = json.dumps(BUSY.head, default=repr)
    for _ in range(3):
        assert browser.across("POST", PATH, LISTED, good()) == (503, named(LISTED))
    assert json.dumps(BUSY.head, default=repr) == before


def test_no_origin_reaches_a_log():
    browser = Browser(Queue(error=ZeroDivisionError()))
    with capture_logs() as logs:
        for origin in (LISTED, UNLISTED[0]):
            browser.across("POST", PATH, origin, good())
            browser.across("OPTIONS", PATH, origin)
    assert len(logs) == 2
    assert "example" not in json.dumps(logs)


def test_a_service_tells_browsers_and_keeps_no_origin(make_service):
    with make_service(admission={"origins": [LISTED]}) as service:
        service.start("--workers", "1")
        reply = service.send(service.envelopes(), Origin=LISTED)
        assert (reply.status, dict(reply.headers)["access-control-allow-origin"]) == (202, LISTED)
        reply = service.send(service.envelopes(), Origin=UNLISTED[0])
        assert reply.status == 202
        assert reply.headers == [
            ("content-length", "0"),
            ("cache-control", "no-store"),
            ("vary", "Origin"),
        ]
        reply = service.request("OPTIONS", f"{service.path}/reports", Origin=LISTED)
        assert (reply.status, reply.body) == (204, b"")
        assert "transfer-encoding" not in dict(reply.headers)
        for pid in workers(service):
            os.kill(pid, signal.SIGTERM)

        def published():
            return urlopen(service.served["metrics"]).read().decode()  # noqa: S310 - our own

        assert within(30, lambda: 'status="204"} 1.0' in published())
        assert "example" not in published() + service.log.read_text()
