"""Client, relay and shuffler on three hosts: who sees which address, and which lengths."""

import re
import select
import shutil
import socket
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.faults.result import Skipped
from benchmarks.network import network
from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit
from croupier.client.memory import MemoryState
from tests.unit.shuffler.http.conftest import Service

NGINX = Path(__file__).parents[1] / "deploy" / "nginx"
HOSTS = ("switch", "shuffler", "relay", "client")
"""The first has the bridge that joins the others, and sees everything that passes."""
IPV4, ANY = 0x0800, 0x0003
PLAN = {"admission": {"relay": "Example Relay"}}
SEEN = '"$request_method $uri $request_length $body_bytes_sent $http_user_agent"'


@contextmanager
def socket_of_database(folder, database):
    """A socket of the file system in front of the database: namespaces do not part those."""
    parts = conninfo_to_dict(database)
    target = (str(parts["host"]), int(parts.get("port") or 5432))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / ".s.PGSQL.5432"))
        listening.listen()
        threading.Thread(target=accept, args=(listening, target), daemon=True).start()
        yield make_conninfo(database, host=str(folder), port=5432)


def accept(listening, target):
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=join, args=(client, target), daemon=True).start()


def join(client, target):
    """Pass on what both sides send, until both have ended."""
    with client, socket.create_connection(target) as server:
        back = threading.Thread(target=pass_on, args=(server, client), daemon=True)
        back.start()
        pass_on(client, server)
        back.join()


def pass_on(source, target):
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class Capture:
    """Every packet that a host receives or sends, on all its interfaces, loopback included."""

    def __init__(self, hosts, host):
        with hosts.entered(host):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ANY))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.packets, self._over = [], False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        while not self._over:
            if select.select([self._socket], [], [], 0.2)[0]:
                self.packets.append(self._socket.recv(1 << 16))

    def close(self):
        self._over = True
        self._thread.join()
        self._socket.close()

    def peers(self):
        """The addresses in the headers of TCP; what a bridge sends to everybody is none."""
        found = [each[14:] for each in self.packets if int.from_bytes(each[12:14]) == IPV4]
        found = [each for each in found if each[9] == socket.IPPROTO_TCP]
        return {socket.inet_ntoa(each[at : at + 4]) for each in found for at in (12, 16)}

    def says(self, text):
        return any(text.encode() in each for each in self.packets)


class Behind(Service):
    """A service on the shuffler's host."""

    hosts = None

    def serving(self, *options):
        return [*self.hosts.on("shuffler"), *super().serving(*options)]


class Site:
    """The shuffler behind its proxy, and the relay before it, as deploy/ has them."""

    def __init__(self, stack, hosts, folder, make_database):
        self.hosts, self.folder = hosts, folder
        database = stack.enter_context(make_database())
        place = Path(stack.enter_context(TemporaryDirectory()))
        self.service = Behind(
            folder, stack.enter_context(socket_of_database(place, database)), **PLAN
        )
        self.service.hosts = hosts
        self.service.house.intake.rotate_gateway()
        self.certificate()
        self.captures = {host: Capture(hosts, host) for host in ("shuffler", "client")}
        for each in self.captures.values():
            stack.callback(each.close)
        stack.callback(self.stop)
        self.service.start("--workers", "1")
        self.log = folder / "relay.log"
        stack.enter_context(self.nginx("shuffler", "nginx.conf", self.proxy()))
        stack.enter_context(self.nginx("relay", "relay.conf", self.relay()))

    def stop(self):
        if self.service.process is not None:
            self.service.stop()

    def certificate(self):
        """One certificate for proxy and relay, which client and relay trust."""
        names = [f"IP:{self.hosts.address(host)}" for host in ("shuffler", "relay")]
        alternative = ",".join(["DNS:reports.example", *names])
        made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        made += ["-nodes", "-days", "2", "-subj", "/CN=reports.example"]
        made += ["-addext", f"subjectAltName={alternative}"]
        files = ["-keyout", self.folder / "privkey.pem", "-out", self.folder / "fullchain.pem"]
        subprocess.run([*made, *files], check=True, capture_output=True)

    def proxy(self):
        port = self.service.port
        return {f"10.0.1.1{i}:8000": f"127.0.0.1:{port}" for i in (1, 2)}

    def relay(self):
        """The sample; it logs lengths in this test, to show what a relay could see."""
        return {
            "server reports.example:443": f"server {self.hosts.address('shuffler')}:443",
            "/etc/ssl/certs/ca-certificates.crt": f"{self.folder}/fullchain.pem",
            "/var/cache/nginx": str(self.folder),
            "proxy_cache_valid 200 1m;": "proxy_cache_valid 200 1d;",
            "    access_log off;": f"    log_format seen {SEEN};\n    access_log {self.log} seen;",
        }

    @contextmanager
    def nginx(self, host, name, replacements):
        text = (NGINX / name).read_text()
        common = {
            "listen [::]:443 ssl;": "",
            "/etc/nginx/tls": str(self.folder),
            "/run/nginx.pid": f"{self.folder}/{name}.pid",
            "worker_processes auto;": "worker_processes 1; daemon off; user root;",
        }
        for old, new in (common | replacements).items():
            assert old in text, old
            text = text.replace(old, new)
        file = self.folder / name
        file.write_text(text)
        command = [*self.hosts.on(host), "nginx", "-e", "stderr", "-c", file]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, stderr=log)
        try:
            self.wait(host)
            yield
        finally:
            process.terminate()
            process.wait(60)

    def wait(self, host, seconds=60):
        end = time.monotonic() + seconds
        with self.hosts.entered(host):
            while not listens(self.hosts.address(host)):
                assert time.monotonic() < end, "nginx does not start"
                time.sleep(0.1)

    def address(self, host):
        return f"https://{self.hosts.address(host)}"

    def send(self, value):
        """One person's report from the client's host."""
        memory = MemoryState()
        client = Client(self.service.plan, attribute="a", budget=9.0, memory=memory, spread=0)
        server = Server(
            url="https://reports.example",
            relay=self.address("relay"),
            credential=self.service.credentials.issue(),
        )
        with self.hosts.entered("client"):
            return submit(converse(client, value, server=server))

    def seen(self):
        """The requests that the relay saw: method and path, and all lengths of each."""
        found = {}
        for line in self.log.read_text().splitlines():
            method, path, *lengths = line.split()
            found.setdefault((method, path), []).append(lengths)
        return found


def listens(address):
    with socket.socket() as one:
        return one.connect_ex((address, 443)) == 0


@pytest.fixture
def site(tmp_path, make_database, monkeypatch):
    for program in ("nginx", "openssl"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    with ExitStack() as stack:
        try:
            hosts = stack.enter_context(network(*HOSTS))
        except Skipped as reason:
            pytest.skip(str(reason))
        monkeypatch.setenv("SSL_CERT_FILE", f"{tmp_path}/fullchain.pem")
        yield Site(stack, hosts, tmp_path, make_database)


def everything_stored(database):
    """Every row of every table, as text."""
    with psycopg.connect(database) as connection:
        names = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        rows = [
            str(connection.execute(f"SELECT t::text FROM {name} t".encode()).fetchall())  # noqa: S608
            for (name,) in names
        ]
    return "\n".join(rows)


@pytest.mark.slow
def test_the_shuffler_never_sees_the_clients_address_and_the_relay_one_length(site):
    client, relay = (site.hosts.address(host) for host in ("client", "relay"))
    assert [site.send(value) for value in (0, 9, 4)] == [Outcome.ACCEPTED] * 3
    assert len(site.service.stored()) == 3
    shuffler = site.captures["shuffler"]
    assert relay in shuffler.peers()
    assert client not in shuffler.peers()
    assert not shuffler.says(client)
    kept = everything_stored(site.service.database) + site.service.log.read_text()
    kept += (site.folder / "nginx.conf.log").read_text()
    assert client not in kept

    seen = site.seen()
    assert set(seen) == {("POST", "/v1/ohttp"), ("GET", "/v1/ohttp-keys")}
    for lengths in seen.values():
        assert len({tuple(each) for each in lengths}) == 1
    assert sorted(len(each) for each in seen.values()) == [3, 9]
    # The keys were kept: the shuffler was asked for them once, in the clear behind its own proxy.
    asked = [re.findall(rb"GET (/v1/\S+) HTTP", each) for each in shuffler.packets]
    # Loopback shows a packet twice.
    assert sum(b"/v1/ohttp-keys" in each for each in asked) == 2
    assert site.captures["client"].peers() == {client, relay}

    # The same look finds an address that is there.
    with site.hosts.entered("client"):
        found = httpx.get(f"{site.address('shuffler')}{site.service.path}")
    assert found.status_code == 200
    site.wait("shuffler")
    deadline = time.monotonic() + 60
    while client not in shuffler.peers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert client in shuffler.peers()
