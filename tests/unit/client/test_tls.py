"""Certificates that cannot be trusted are named at once; silence is waited for."""

import asyncio
import os
import socket
import ssl

import httpx
import pytest

from croupier.client.client import Client
from croupier.client.conversation import (
    Get,
    Outcome,
    Server,
    ask_patiently,
    converse,
    submit,
    submit_async,
)
from croupier.client.memory import MemoryState
from croupier.client.mirror import look
from croupier.client.tls import certificate_error
from croupier.errors import CertificateError
from tests.certificates import WRONG, Authority, TlsServer


@pytest.fixture
def authority(tmp_path, monkeypatch):
    """An authority that this process trusts."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


def never(_):
    pytest.fail("the client waits, though waiting does not help")


def steps_of(url, seconds=3600.0):
    return ask_patiently(Get(f"{url}/v1/plans/x"), seconds=seconds)


def test_a_certificate_that_is_right(authority):
    """Else the tests below would show nothing but a client that trusts nobody."""
    with TlsServer(authority.context("right"), b"{}") as server:
        assert submit(steps_of(server.url), sleep=never).body == b"{}"


def concurrently(steps, *, sleep):
    return asyncio.run(submit_async(steps, sleep=sleep))


@pytest.mark.parametrize("carry_out", [submit, concurrently])
@pytest.mark.parametrize("kind", WRONG)
def test_a_certificate_that_is_wrong_is_named_at_once(authority, kind, carry_out):
    with TlsServer(authority.context(kind), b"{}") as server:
        with pytest.raises(CertificateError) as refused:
            carry_out(steps_of(server.url), sleep=never)
        assert server.connections == 1
    assert (refused.value.host, refused.value.reason) == ("localhost", WRONG[kind])
    said = f"The connection to localhost cannot be trusted: {WRONG[kind]}. {refused.value.hint}"
    assert str(refused.value) == said
    assert refused.value.hint.endswith(".")


def test_a_port_without_tls_is_named_at_once():
    with TlsServer(None) as server, pytest.raises(CertificateError) as refused:
        submit(steps_of(server.url), sleep=never)
    assert refused.value.reason == "no TLS on this port"


def test_a_version_of_tls_that_is_too_old_is_named_at_once(authority):
    context = authority.context("right")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with TlsServer(context) as server, pytest.raises(CertificateError) as refused:
        submit(steps_of(server.url), sleep=never)
    assert "no common version" in refused.value.reason


def test_nothing_is_randomised_or_spent(authority, parties):
    memory = MemoryState()
    client = Client(parties.plan, attribute="emoji", budget=9.0, memory=memory)
    with TlsServer(authority.context("self-signed")) as server:
        steps = converse(client, 1, server=Server(url=server.url, credential="letmein"))
        with pytest.raises(CertificateError):
            submit(steps, sleep=never)
    with memory.update() as state:
        assert not state.spent
        assert not state.sealed


def test_a_mirror_is_named_as_well(authority, parties):
    client = Client(parties.plan, attribute="emoji", budget=9.0, memory=MemoryState())
    keys = parties.key_list(parties.open()).to_bytes()
    right, wrong = authority.context("right"), authority.context("expired")
    with TlsServer(right, keys) as server, TlsServer(wrong, keys) as mirror:
        both = Server(url=server.url, credential="letmein", mirrors=(mirror.url,))
        with pytest.raises(CertificateError, match="expired"):
            submit(converse(client, 1, server=both), sleep=never)


def test_a_comparison_goes_on_without_that_address(authority, parties):
    keys = parties.key_list(parties.open()).to_bytes()
    right, wrong = authority.context("right"), authority.context("expired")
    with TlsServer(right, keys) as server, TlsServer(wrong, keys) as mirror:
        found = submit(look(parties.plan, [mirror.url, server.url]), sleep=never)
    assert found.agreed == 1
    (missing,) = found.missing
    assert isinstance(missing.refusal, CertificateError)
    assert not missing.is_silent


def refused(connection):
    connection.close()


def cut_off(connection):
    """Answer the handshake's first message with the end of the connection."""
    connection.recv(16)
    connection.shutdown(socket.SHUT_RDWR)


class Breaking(TlsServer):
    """Breaks off every connection during the handshake."""

    def __init__(self, way):
        super().__init__(None)
        self.way = way

    def answer(self, connection):
        self.way(connection)


@pytest.mark.parametrize("way", [refused, cut_off])
def test_a_handshake_that_breaks_off_is_silence(way):
    pauses = []
    with Breaking(way) as server:
        assert submit(steps_of(server.url, seconds=10.0), sleep=pauses.append) is None
        assert server.connections == len(pauses) + 1 > 2


def forged(wrapped):
    """A record that nobody sealed, as anybody on the way can send it."""
    with socket.socket(fileno=os.dup(wrapped.fileno())) as bare:
        bare.sendall(b"\x17\x03\x03\x00\x40" + os.urandom(64))


class Tampered(TlsServer):
    """Sends a forged record in place of an answer."""

    def answer(self, connection):
        with self.context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(65536)
            forged(wrapped)
            wrapped.recv(65536)


class Asking(TlsServer):
    """Refuses clients without a certificate, and lets them read why."""

    def answer(self, connection):
        given = {"server_side": True, "do_handshake_on_connect": False}
        with self.context.wrap_socket(connection, **given) as wrapped:
            with pytest.raises(ssl.SSLError):
                wrapped.do_handshake()
            with socket.socket(fileno=os.dup(wrapped.fileno())) as bare:
                while bare.recv(65536):
                    pass


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_forged_record_is_silence(authority, version):
    context, pauses = authority.context("right"), []
    context.minimum_version = context.maximum_version = version
    with Tampered(context) as server:
        assert submit(steps_of(server.url, seconds=3.0), sleep=pauses.append) is None
        assert server.connections == len(pauses) + 1 > 1


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_asks_for_a_certificate_of_the_client_is_named(authority, version):
    """With TLS 1.3 the client learns of it when it reads the answer."""
    context = authority.context("right")
    context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    with Asking(context) as server, pytest.raises(CertificateError) as refused:
        submit(steps_of(server.url), sleep=never)
    if version is ssl.TLSVersion.TLSv1_3:
        assert refused.value.reason == "the server asks for a certificate of the client"


def test_a_closed_port_is_silence(parties):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"https://localhost:{taken.getsockname()[1]}"
    client = Client(parties.plan, attribute="emoji", budget=9.0, memory=MemoryState())
    steps, pauses = converse(client, 1, server=Server(url=url, credential="x")), []
    assert submit(steps, sleep=pauses.append) is Outcome.EXPIRED
    assert len(pauses) > 2


def test_a_circle_of_causes_comes_to_an_end():
    first, second = httpx.ConnectError("first"), httpx.ConnectError("second")
    first.__cause__, second.__cause__ = second, first
    assert certificate_error(first, url="https://reports.example") is None
