"""A shuffler that wants to know its senders, behind the sample of a relay."""

import ssl
import time
from http.client import HTTPSConnection
from threading import Thread

import pytest

from croupier.protocol.oblivious.capsule import KEYS_PATH, PATH
from tests.test_deploy import (
    DEPLOY,
    Backend,
    Handler,
    free_port,
    nginx_here,
    program,
    running,
    tls,
    written,
)

__all__ = ["tls"]

MARKS = {
    "Set-Cookie": "id=7",
    "ETag": '"7"',
    "Last-Modified": "Thu, 01 Jan 1970 00:00:07 GMT",
    "NEL": '{"report_to":"s","max_age":2592000,"success_fraction":1.0}',
    "Report-To": '{"group":"s","max_age":9,"endpoints":[{"url":"https://reports.example/7"}]}',
    "Reporting-Endpoints": 's="https://reports.example/7"',
    "Content-Security-Policy": "default-src 'none'; report-uri https://reports.example/7",
    "Content-Security-Policy-Report-Only": "default-src *; report-uri https://reports.example/7",
    "Alt-Svc": 'h2="reports.example:443"',
    "Link": "<https://reports.example/7>; rel=preconnect",
    "Location": "https://reports.example/7",
    "Refresh": "0; url=https://reports.example/7",
    "Accept-CH": "Sec-CH-UA-Model",
    "Clear-Site-Data": '"cache"',
    "Strict-Transport-Security": "max-age=7",
    "WWW-Authenticate": "Basic realm=7",
    "X-Accel-Limit-Rate": "10",
    "X-Accel-Redirect": KEYS_PATH,
    "X-Accel-Expires": "0",
}


class Curious(Handler):
    """Answers with everything by which a browser could be recognised or called back."""

    def answer(self, method, status):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append(method)
        body = b"%d" % len(self.server.seen) * 200
        self.send_response(status)
        for name, value in MARKS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "message/ohttp-res")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def relay(tls):
    """The port of the relay."""
    server = Backend(broken=False)
    server.RequestHandlerClass = Curious
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls / "both.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    start, port = program("nginx"), free_port()
    here = nginx_here(port, tls) | {
        "server reports.example:443": f"server 127.0.0.1:{server.port}",
        "/etc/ssl/certs/ca-certificates.crt": f"{tls}/fullchain.pem",
        "/var/cache/nginx": str(tls),
        "worker_processes auto;": "worker_processes 1; daemon off; user root;",
    }
    file = written(DEPLOY / "nginx" / "relay.conf", tls, here)
    with running([start, "-e", "stderr", "-c", file], port):
        yield port
    server.shutdown()
    server.server_close()


def ask(port, method, path):
    context = ssl._create_unverified_context()  # noqa: S323, SLF001 - nginx has a certificate of its own
    connection = HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    connection.request(method, path, b"x" * 9 if method == "POST" else None)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


@pytest.mark.parametrize(("method", "path"), [("POST", PATH), ("GET", KEYS_PATH)])
def test_no_browser_is_told_to_keep_or_call_anything(relay, method, path):
    status, headers, _ = ask(relay, method, path)
    assert status in {200, 202}
    assert headers.pop("NEL") == '{"max_age":0}'
    kept = {"Server", "Date", "Content-Type", "Content-Length", "Connection"}
    assert set(headers) <= kept


def test_the_shuffler_decides_neither_the_answer_nor_its_speed(relay):
    began = time.monotonic()
    first, second = (ask(relay, "POST", PATH)[2] for _ in range(2))
    assert first != second, "not the keys that are kept"
    assert {ask(relay, "GET", KEYS_PATH)[2] for _ in range(3)} == {b"3" * 200}
    assert time.monotonic() - began < 10
