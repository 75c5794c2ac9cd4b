"""What a cache in front of the service may keep, and what it is told when it asks again."""

import re
from hashlib import sha256
from socket import create_connection

import pytest

from croupier.plan.plan import Plan
from croupier.protocol.key_list import kept_seconds
from tests.unit.shuffler.http.conftest import TABLES
from tests.unit.shuffler.http.test_readiness import within


@pytest.fixture(scope="module")
def paths(serving):
    return serving.path, f"{serving.path}/rounds/0"


def headers(reply):
    return dict(reply.headers)


@pytest.mark.parametrize(
    ("every", "seconds"),
    [("1s", 1), ("99s", 1), ("200s", 2), ("1h", 36), ("6000s", 60), ("24h", 60), ("366d", 60)],
)
def test_a_hundredth_of_a_round_is_kept_between_a_second_and_a_minute(every, seconds):
    tables = {"collection": {"every": every}, "protections": {"minimum_batch": 50}}
    assert kept_seconds(Plan.from_document(TABLES | tables)) == seconds


def test_key_lists_and_rounds_may_be_kept_and_have_a_tag_that_is_theirs(serving, paths):
    """Both workers answer, over many connections."""
    for path in paths:
        replies = [serving.get(path) for _ in range(20)]
        assert {repr(reply) for reply in replies} == {repr(replies[0])}
        assert headers(replies[0]) == {
            "content-length": str(len(replies[0].body)),
            "content-type": "application/json",
            "cache-control": "public, max-age=60",
            "etag": f'"{sha256(replies[0].body).hexdigest()[:32]}"',
        }
    tags = [headers(serving.get(path))["etag"] for path in paths]
    assert len(set(tags)) == 2


def test_a_cache_that_has_the_answer_is_told_so_without_a_body(serving, paths):
    for path in paths:
        tag = headers(serving.get(path))["etag"]
        for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            for method in ("GET", "HEAD"):
                reply = serving.request(method, path, If_None_Match=given)
                assert (reply.status, reply.body) == (304, b"")
                assert headers(reply) == {"cache-control": "public, max-age=60", "etag": tag}
        for other in ('"other"', tag.strip('"'), f'"{tag}"', "", "W/"):
            reply = serving.request("GET", path, If_None_Match=other)
            assert (reply.status, bool(reply.body)) == (200, True)


def test_a_head_has_the_headers_of_a_get(serving, paths):
    for path in paths:
        got, head = serving.get(path), serving.request("HEAD", path)
        assert (head.status, head.headers, head.body) == (200, got.headers, b"")


def test_a_tag_changes_nothing_elsewhere(serving, paths):
    tag = headers(serving.get(paths[0]))["etag"]
    for path in ("/healthz", "/readyz", f"{serving.path}/rounds/1"):
        reply = serving.request("GET", path, If_None_Match="*")
        assert reply == serving.get(path)
        assert headers(reply)["cache-control"] == "no-store"
        assert "etag" not in headers(reply)
    assert serving.request("PUT", paths[0], If_None_Match=tag).status == 405
    assert serving.send(serving.envelopes(), If_None_Match="*").status == 202


def test_a_connection_goes_on_after_an_answer_without_a_body(serving, paths):
    """A length or a chunk too much would be taken for the next answer."""
    lines = f"GET {paths[0]} HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n"
    with create_connection(("127.0.0.1", serving.port), timeout=30) as connection:
        connection.sendall(2 * lines.encode())
        read = b""
        while read.count(b"\r\n\r\n") < 2:
            read += connection.recv(1 << 16)
    assert re.fullmatch(rb"(HTTP/1.1 304 Not Modified\r\n([a-z-]+: [^\r]+\r\n){2}\r\n){2}", read)


def test_a_list_that_changes_has_another_tag_within_seconds(service):
    service.start("--workers", "1")
    before = headers(service.get(service.path))["etag"]

    def status():
        return service.request("GET", service.path, If_None_Match=before).status

    assert status() == 304
    service.set_state("sealed")
    assert within(30, lambda: status() == 200)
    assert headers(service.get(service.path))["etag"] != before
    service.set_state("open")
    assert within(30, lambda: status() == 304)
