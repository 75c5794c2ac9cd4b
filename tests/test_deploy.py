"""The files in deploy/: linted, compared with the program, and the proxies run for real."""

import http.client
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import tomllib
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import typer

from croupier.cli.app import app

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
LARGEST = 136_000
SENT = {
    "Authorization": "Bearer 00",
    "Content-Type": "application/octet-stream",
    "Croupier-Batch": "00",
}
UNWANTED = {
    "Cookie": "a=b",
    "Forwarded": "for=192.0.2.1",
    "Traceparent": "00-1-1-00",
    "User-Agent": "one of many",
    "X-Forwarded-For": "192.0.2.1",
    "X-Real-Ip": "192.0.2.1",
    "X-Request-Id": "1",
}


def check(*names):
    done = subprocess.run([DEPLOY / "check", *names], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["systemd", "nginx", "haproxy"])
def test_what_the_systems_own_tools_check(name):
    check(name)


@pytest.mark.proof
def test_what_linters_check():
    check("yaml", "image", "helm", "terraform", "compose")


def options(command):
    """The options of a command, as configuration spells them."""
    found = typer.main.get_command(app).get_command(None, command)
    return {
        option.removeprefix("--").replace("-", "_") for one in found.params for option in one.opts
    }


def texts():
    kinds = {".service", ".yaml", ".toml"}
    return {path: path.read_text() for path in DEPLOY.rglob("*") if path.suffix in kinds}


def test_every_variable_is_an_option_of_its_command():
    found = {
        match for text in texts().values() for match in re.findall(r"CROUPIER_([A-Z]+)_(\w+)", text)
    }
    named = {(command.lower(), option.lower()) for command, option in found}
    assert {command for command, _ in named} == {"analyze", "release", "serve", "command"}
    for command, option in named - {("command", "option")}:
        assert option in options(command), (command, option)


def test_the_configuration_names_options():
    given = tomllib.loads((DEPLOY / "croupier.toml").read_text())
    commands = {command: keys for command, keys in given.items() if isinstance(keys, dict)}
    assert set(commands) == {"analyze", "release", "serve", "status"}
    for command, keys in commands.items():
        assert set(keys) <= options(command), command
    everywhere = set(given) - set(commands)
    assert everywhere <= options("serve") & options("release")


def settings():
    """PostgreSQL's settings that docs/operating.md asks for."""
    page = (ROOT / "docs" / "operating.md").read_text()
    bullet = re.search(r"^- PostgreSQL: (.*?)^- ", page, re.MULTILINE | re.DOTALL)[1]
    return dict(pair.split("=") for pair in re.findall(r"`(\w+=[\w-]+)`", bullet))


def test_databases_have_the_settings_of_the_manual():
    wanted = settings()
    assert len(wanted) == 7
    compose = (DEPLOY / "compose" / "shuffler.yaml").read_text()
    terraform = (DEPLOY / "terraform" / "database.tf").read_text()
    given = dict(re.findall(r'^ +(\w+) += "([\w-]+)"$', terraform, re.MULTILINE))
    for name, value in wanted.items():
        assert f"- {name}={value}\n" in compose
        assert given[name] == {"off": "0"}.get(value, value)


def test_the_locks_of_the_image_are_those_of_the_project():
    lines = (DEPLOY / "image" / "python.lock").read_text().splitlines()[1:]
    locked = dict(line.lower().replace("_", "-").split()[0].split("==") for line in lines)
    constraints = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    pinned = dict(line.split("==") for line in constraints.splitlines() if "==" in line)
    assert locked.items() <= pinned.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["service"]]
    assert {re.match(r"[\w-]+", one)[0].lower() for one in wanted} <= locked.keys()


def test_a_loop_goes_on_after_a_failure_and_says_so(tmp_path):
    runs = tmp_path / "runs"
    program = f"import sys; f = open({str(runs)!r}, 'a'); f.write('x'); sys.exit(6)"
    every = [sys.executable, DEPLOY / "compose" / "every.py"]
    environment = {"TMPDIR": str(tmp_path)}
    healthy = [*every, "--healthy"]
    assert subprocess.run(healthy, env=environment, check=False).returncode == 0
    command = [*every, "0.1", sys.executable, "-c", program]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as loop:
        wait_until(lambda: runs.exists() and len(runs.read_text()) > 1)
        assert subprocess.run(healthy, env=environment, check=False).returncode == 1
        loop.send_signal(signal.SIGTERM)
        assert loop.wait(20) == 0
        assert b"exited with 6" in loop.stderr.read()


def wait_until(condition, seconds=20):
    due = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < due
        time.sleep(0.05)


class Backend(ThreadingHTTPServer):
    """Stands for `croupier serve`: notes what reaches it; a broken one hangs up on every report."""

    daemon_threads = True

    def __init__(self, *, broken):
        super().__init__(("127.0.0.1", 0), Handler)
        self.broken, self.ready, self.seen = broken, True, []
        self.port = self.server_address[1]

    def reports(self):
        return [one for one in self.seen if one[0] == "POST"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        ready = self.path != "/readyz/host" or self.server.ready
        self.answer("GET", 200 if ready else 503)

    def do_POST(self):
        self.answer("POST", 202)

    def answer(self, method, status):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((method, self.path, dict(self.headers.items()), body))
        if method == "POST" and self.server.broken:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def backends():
    started = [Backend(broken=True), Backend(broken=False)]
    for one in started:
        Thread(target=one.serve_forever, daemon=True).start()
    yield started
    for one in started:
        one.shutdown()
        one.server_close()


@pytest.fixture
def tls(tmp_path):
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    new = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ed25519",
        "-nodes",
        "-subj",
        "/CN=reports.example",
    ]
    subprocess.run([*new, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    (tmp_path / "both.pem").write_text(certificate.read_text() + key.read_text())
    return tmp_path


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def written(template, folder, replacements):
    """A sample with this machine's ports and paths; each replacement must find something."""
    text = template.read_text()
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    file = folder / template.name
    file.write_text(text)
    return file


@contextmanager
def running(command, port):
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            wait_until(lambda: answers(port) or process.poll() is not None)
            assert process.poll() is None, process.stderr.read().decode()
            yield port
        finally:
            process.terminate()


def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def program(name):
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/usr/local/sbin:/usr/local/bin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def addresses(backends):
    return {f"10.0.1.1{i}:8000": f"127.0.0.1:{one.port}" for i, one in enumerate(backends, 1)}


@pytest.fixture
def nginx(tls, backends):
    start, port = program("nginx"), free_port()
    here = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "listen [::]:443 ssl;": "",
        "/etc/nginx/tls": str(tls),
        "/run/nginx.pid": f"{tls}/pid",
        "worker_processes auto;": "worker_processes 1; daemon off;",
    }
    file = written(DEPLOY / "nginx" / "nginx.conf", tls, here | addresses(backends))
    with running([start, "-e", "stderr", "-c", file], port):
        yield port


@pytest.fixture
def haproxy(tls, backends):
    start, port = program("haproxy"), free_port()
    here = {
        "bind :443": f"bind 127.0.0.1:{port}",
        "/etc/haproxy/tls/reports.example.pem": f"{tls}/both.pem",
        "    user haproxy\n    group haproxy\n": "",
        "inter 2s": "inter 200ms",
        "maxconn 8000": "maxconn 200",
    }
    file = written(DEPLOY / "haproxy" / "haproxy.cfg", tls, here | addresses(backends))
    with running([start, "-db", "-f", file], port):
        yield port


@pytest.fixture(params=["nginx", "haproxy"])
def proxy(request):
    return request.getfixturevalue(request.param)


def ask(port, method, path, body=b"", headers=()):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=context)
    with closing(connection):
        connection.request(method, path, body or None, dict(headers))
        return connection.getresponse().status


def test_a_proxy_passes_on_what_clients_ask_and_nothing_else(proxy, backends):
    for path in ("/metrics", "/readyz", "/healthz", "/"):
        assert ask(proxy, "GET", path) == 404
    assert ask(proxy, "GET", "/v1/openapi.json") == 200
    asked = {one[1] for backend in backends for one in backend.seen}
    assert asked - {"/readyz/host"} == {"/v1/openapi.json"}  # HAProxy itself asks the other


def test_a_proxy_repeats_a_report_and_tells_nothing_about_its_sender(proxy, backends):
    broken, working = backends
    body = bytes(range(128))
    for _ in range(10):
        assert ask(proxy, "POST", "/v1/plans/0/reports", body, SENT | UNWANTED) == 202
    assert broken.reports(), "no report had to be repeated"
    assert len(working.reports()) == 10
    for _, path, headers, received in [*broken.reports(), *working.reports()]:
        assert (path, received) == ("/v1/plans/0/reports", body)
        own = {name.title(): value for name, value in headers.items()}
        assert set(own) - {"Connection"} == {*SENT, "Host", "Content-Length"}
        assert SENT.items() <= own.items()


def test_a_proxy_limits_bodies(proxy, backends):
    announced = SENT | {"Content-Length": str(LARGEST + 1)}
    assert ask(proxy, "POST", "/v1/plans/0/reports", headers=announced) == 413
    assert not [one for backend in backends for one in backend.reports()]
    backends[0].broken = False
    assert ask(proxy, "POST", "/v1/plans/0/reports", bytes(LARGEST), SENT) == 202


def test_haproxy_leaves_out_a_host_that_is_not_ready(haproxy, backends):
    bad, good = backends
    bad.broken = bad.ready = False
    checks = len(bad.seen)
    wait_until(lambda: len(bad.seen) > checks + 4)
    before = len(bad.reports())
    for _ in range(6):
        assert ask(haproxy, "POST", "/v1/plans/0/reports", b"x", SENT) == 202
    assert len(bad.reports()) == before
    assert len(good.reports()) == 6


def is_closed(connection):
    connection.settimeout(0)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_haproxy_limits_connections_per_address(haproxy):
    with ExitStack() as stack:
        opened = [
            stack.enter_context(socket.create_connection(("127.0.0.1", haproxy))) for _ in range(40)
        ]
        wait_until(lambda: sum(map(is_closed, opened)) >= 8)
        # The connection that found the port open may be counted as well.
        assert sum(map(is_closed, opened)) <= 9


def built(folder, name):
    archive = folder / name
    command = [DEPLOY / "image" / "build", "--output", archive]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return archive, done.stdout.strip()


@pytest.mark.proof
def test_an_image_has_one_digest_and_starts_read_only_without_root(tmp_path):
    for tool in ("apt-get", "buildah", "crun", "dpkg-deb", "git", "setpriv", "umoci", "unshare"):
        program(tool)
    archive, first = built(tmp_path, "first.tar")
    _, second = built(tmp_path, "second.tar")
    assert re.fullmatch("sha256:[0-9a-f]{64}", first)
    assert first == second
    with home(tmp_path) as folder:
        assert in_image(folder, archive, "--version").stdout.startswith("croupier ")
        refused = in_image(folder, archive, "init", "--yes", "-o", "/etc/plan.toml")
        assert "Read-only file system" in refused.stderr
        assert in_image(folder, archive, "init", "--yes").returncode == 0
        assert (folder / "plan.toml").stat().st_uid == NOBODY


NOBODY = 65534


@contextmanager
def home(folder):
    """A directory of somebody who is not root, with a path that others may enter."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    for one in (folder, *folder.parents[:-2]):
        one.chmod(one.stat().st_mode | 0o011)
    made = folder / "home"
    made.mkdir()
    os.chown(made, NOBODY, NOBODY)
    yield made


def in_image(folder, archive, *arguments):
    """Run a command of the image as nobody.

    Where cgroups are in hybrid mode, which crun does not support, their second half is hidden from
    it in a mount namespace of its own.
    """
    hide = "umount /sys/fs/cgroup/unified 2>/dev/null; exec "
    nobody = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --inh-caps=-all "
    command = shlex.join(map(str, (DEPLOY / "image" / "run", archive, *arguments)))
    private = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
    environment = {"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.run(
        [*private, hide + nobody + command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
