"""The files in deploy/: linted, compared with the program, and the proxies run for real."""

import ast
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

from benchmarks.machine import free_port
from croupier.cli.app import app
from croupier.protocol.admission.enrolment import MOST_PROOF

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
LARGEST = 136_000
SENT = {
    "Authorization": "Bearer 00",
    "Content-Type": "application/octet-stream",
    "Croupier-Batch": "00",
    "Croupier-Proof": "00",
    "If-None-Match": '"00"',
    "Origin": "https://www.example",
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
    return set(typer.main.get_command(app).options(command))


def texts():
    kinds = {".service", ".yaml", ".toml"}
    return {path: path.read_text() for path in DEPLOY.rglob("*") if path.suffix in kinds}


def test_every_variable_is_an_option_of_its_command():
    pattern = r"CROUPIER_(ISSUER_SERVE|[A-Z]+)_(\w+)"
    found = {match for text in texts().values() for match in re.findall(pattern, text)}
    named = {(command.lower().replace("_", " "), option.lower()) for command, option in found}
    commands = {"analyze", "issuer serve", "release", "serve", "command"}
    assert {command for command, _ in named} == commands
    for command, option in named - {("command", "option")}:
        assert option in options(command), (command, option)


def test_the_configuration_names_options():
    given = tomllib.loads((DEPLOY / "croupier.toml").read_text())
    given["issuer serve"] = given.pop("issuer")["serve"]
    commands = {command: keys for command, keys in given.items() if isinstance(keys, dict)}
    assert set(commands) == {"analyze", "issuer serve", "release", "serve", "status"}
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
    compose = [(DEPLOY / "compose" / f"{side}.yaml").read_text() for side in ("shuffler", "issuer")]
    terraform = (DEPLOY / "terraform" / "database.tf").read_text()
    given = dict(re.findall(r'^ +(\w+) += "([\w-]+)"$', terraform, re.MULTILINE))
    for name, value in wanted.items():
        assert all(f"- {name}={value}\n" in text for text in compose)
        assert given[name] == {"off": "0"}.get(value, value)


def test_the_locks_of_the_image_are_those_of_the_project():
    text = (DEPLOY / "image" / "python.lock").read_text()
    assert "://" not in text, "a lock names files by their checksums, and no address"
    lines = text.splitlines()[1:]
    locked = dict(line.lower().replace("_", "-").split()[0].split("==") for line in lines)
    constraints = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    pinned = dict(line.split("==") for line in constraints.splitlines() if "==" in line)
    assert locked.items() <= pinned.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (extras,) = re.findall(
        r"^EXTRAS = (.*)$", (DEPLOY / "image" / "build").read_text(), re.MULTILINE
    )
    wanted = [*project["dependencies"]]
    for extra in ast.literal_eval(extras):
        wanted += project["optional-dependencies"][extra]
    client = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text())["project"]
    wanted.remove(f"{client['name']}=={project['version']}")  # built from the commit, like croupier
    wanted += client["dependencies"]
    assert {"obstore>=0.12", "uvicorn>=0.54"} < set(wanted)
    assert {re.match(r"[\w-]+", one)[0].lower() for one in wanted} <= locked.keys()


def test_units_and_services_leave_metrics_where_they_can_write():
    for command in ("release", "analyze"):
        variable = f"CROUPIER_{command.upper()}_METRICS_FILE"
        unit = (DEPLOY / "systemd" / f"croupier-{command}@.service").read_text()
        (folder,) = re.findall(rf"^Environment={variable}=(.*)/%i\.prom$", unit, re.MULTILINE)
        assert folder in " ".join(re.findall(r"^ReadWritePaths=(.*)$", unit, re.MULTILINE)).split()
        side = {"release": "shuffler", "analyze": "analyzer"}[command]
        compose = (DEPLOY / "compose" / f"{side}.yaml").read_text()
        (folder,) = re.findall(rf"^ +{variable}: (.*)/steps\.prom$", compose, re.MULTILINE)
        assert re.search(rf"^ +- \./state/metrics:{folder}$", compose, re.MULTILINE)
        job = (DEPLOY / "helm/croupier/templates" / f"{command}.yaml").read_text()
        (folder,) = re.findall(rf"- name: {variable}\n +value: (.*)/", job)
        assert f"mountPath: {folder}\n" in job


SAMPLES = {
    "compose",
    "grafana",
    "haproxy",
    "helm",
    "image",
    "nginx",
    "prometheus",
    "systemd",
    "terraform",
}
"""The directories that the tests below, and those of the proxies, have looked at."""


def test_no_sample_is_left_out():
    assert {path.name for path in DEPLOY.iterdir() if path.is_dir()} - {".linters"} == SAMPLES


@pytest.mark.parametrize(
    ("side", "own", "outside"),
    [
        ("shuffler", {"serve", "release"}, {"proxy"}),
        ("issuer", {"issuer"}, {"issuer", "proxy"}),  # it asks the shuffler for its key list
    ],
)
def test_compose_shows_the_proxy_alone(side, own, outside):
    """And who else leads outside."""
    text = (DEPLOY / "compose" / f"{side}.yaml").read_text()
    services, _, rest = text.partition("\nservices:\n")[2].partition("\nnetworks:\n")
    by_name = dict(
        re.findall(r"^  (\w+):\n((?:(?:    .*| *#.*)?\n)+)", services + "\n", re.MULTILINE)
    )
    assert set(by_name) == {"database", "proxy"} | own
    ports = {name: re.findall(r"ports: (.*)", each) for name, each in by_name.items()}
    assert ports.pop("proxy") == ['["443:443"]']
    assert not any(ports.values())
    assert "network_mode" not in text
    leading = {
        name for name, rest in re.findall(r"^  (\w+): \{(.*)\}", rest, re.MULTILINE) if not rest
    }
    assert leading == {"outside", "database"}  # the second is a volume
    joined = {name: re.search(r"networks: \[(.*)\]", each)[1] for name, each in by_name.items()}
    assert {name for name, each in joined.items() if "outside" in each} == outside
    assert "./nginx.conf:/etc/nginx/nginx.conf:ro" in by_name["proxy"]


@pytest.mark.parametrize(
    ("sample", "backend"), [("nginx", "serve:8000"), ("issuer", "issuer:8001")]
)
def test_compose_takes_the_proxy_that_passes_on_what_clients_ask(sample, backend):
    """The nginx.conf of its README is a sample, which a test below runs, with other addresses."""
    page = (DEPLOY / "compose" / "README.md").read_text()
    made_from = rf"^(sed .* \.\./nginx/{sample}\.conf) > nginx\.conf$"
    (command,) = re.findall(made_from, page, re.MULTILINE)
    done = subprocess.run(
        ["/bin/bash", "-c", command], cwd=DEPLOY / "compose", capture_output=True, check=True
    )
    made = done.stdout.decode()
    locations = re.findall(r"location (\S+) \{([^}]*)", made)
    assert [path for path, _ in locations] == ["/v1/", "/"]
    assert locations[1][1].split() == ["return", "404;"]
    assert re.findall(r"^ +server (.*:\d+)", made, re.MULTILINE) == [backend]


def test_the_units_of_services_listen_on_this_host_alone():
    units = [DEPLOY / "systemd" / f"croupier-{name}.service" for name in ("serve", "issuer")]
    for file in (*units, DEPLOY / "croupier.toml"):
        assert not re.search(r"(?im)^(?!#).*(\b|_)host *=", file.read_text()), file


def test_the_chart_lets_proxy_and_prometheus_in_and_nobody_else():
    folder = DEPLOY / "helm/croupier/templates"
    text = "\n".join(file.read_text() for file in sorted(folder.iterdir()))
    kinds = set(re.findall(r"^kind: (\w+)$", text, re.MULTILINE))
    assert not kinds & {"Ingress", "Gateway", "HTTPRoute", "IngressRoute", "VirtualService"}
    assert not re.search(r"\b(NodePort|LoadBalancer|hostPort|hostNetwork|externalIPs)\b", text)
    services = [each.partition("\n---")[0] for each in text.split("kind: Service\n")[1:]]
    ports = [re.findall(r"^ +(?:- )?port: (\S+)$", each, re.MULTILINE) for each in services]
    assert sorted(ports) == [["8000"], ["8001"]]
    policy = (folder / "networkpolicy.yaml").read_text()
    allowed = re.findall(r"- from:\n(.*?)ports:\n +- port: (\d+)", policy, re.DOTALL)
    sources = {port: re.findall(r"\.Values\.network\.(\w+)", text) for text, port in allowed}
    proxy, monitoring = ["proxyNamespace"], ["monitoringNamespace"]
    assert sources == {"8000": proxy, "8001": proxy, "9000": monitoring, "9001": monitoring}


def test_terraform_lets_nobody_but_the_proxy_in():
    text = "\n".join(file.read_text() for file in sorted((DEPLOY / "terraform").glob("*.tf")))
    assert not re.search(r'"aws_(lb|alb|elb|api|cloudfront|global)', text), "let it pass /v1/ alone"
    rules = re.findall(
        r'^resource "aws_\w*ingress_rule" "\w+" \{(.*?)^\}', text, re.MULTILINE | re.DOTALL
    )
    facts = [dict(re.findall(r"^  (\w+) += (.*)$", rule, re.MULTILINE)) for rule in rules]
    opened = {(each["referenced_security_group_id"], each["from_port"]) for each in facts}
    hosts, proxy = "aws_security_group.hosts.id", "var.proxy_security_group_id"
    assert opened == {(proxy, "8000"), (hosts, "5432")}
    assert all(each["from_port"] == each["to_port"] for each in facts)
    assert not re.search(r"cidr_ipv[46]|cidr_blocks|ingress \{", text)


def rendered(**values):
    """The documents of the chart, by kind and name."""
    folder = Path(os.environ.get("CROUPIER_LINTERS", DEPLOY / ".linters"))
    helm = folder / "bin/helm"
    if not helm.exists():
        pytest.skip("helm is not installed (deploy/check helm)")
    given = {"image.digest": "sha256:0", **values}
    pairs = ",".join(f"{name}={value}" for name, value in given.items())
    command = [helm, "template", "try", DEPLOY / "helm/croupier", "--set", pairs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^kind: (\w+)\nmetadata:\n  name: (\S+)$", done.stdout, re.MULTILINE)
    texts = re.split(r"^---$", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(found, texts, strict=True))


def test_release_alone_reaches_an_object_store_and_only_if_one_is_named():
    policy, job = ("NetworkPolicy", "try-object-store"), ("CronJob", "try-release-steps")
    plain = rendered()
    assert policy not in plain
    assert "value: /var/lib/croupier/released/steps\n" in plain[job]
    named = rendered(
        **{
            "release.objectStore": "s3://batches/croupier",
            "release.objectStoreSecret": "store",
            "network.objectStoreCidr": "10.0.3.0/24",
        }
    )
    assert named.keys() - plain.keys() == {policy}
    assert "app.kubernetes.io/component: release\n" in named[policy]
    assert re.search(r"cidr: 10\.0\.3\.0/24\n +ports:\n +- port: 443\n", named[policy])
    assert "value: s3://batches/croupier/steps\n" in named[job]
    assert "croupier-released" not in named[job]


def test_the_issuer_reaches_the_shuffler_and_its_database_and_nobody_else():
    plain, issuer = rendered(), rendered(**{"operator": "issuer", "issuer.inviter": "00"})
    assert not [name for _, name in plain if "issuer" in name]
    policies = {name for kind, name in issuer if kind == "NetworkPolicy"}
    assert policies == {"try-deny", "try-issuer", "try-database"}
    egress = issuer["NetworkPolicy", "try-issuer"].partition("egress:")[2]
    assert re.search(r"cidr: 192\.0\.2\.0/24\n +ports:\n +- port: 443\n", egress)
    assert not [kind for kind, _ in issuer if kind == "CronJob"]


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


def nginx_here(port, tls):
    return {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "listen [::]:443 ssl;": "",
        "/etc/nginx/tls": str(tls),
        "/run/nginx.pid": f"{tls}/pid",
        "worker_processes auto;": "worker_processes 1; daemon off;",
    }


@pytest.fixture
def nginx(tls, backends):
    start, port = program("nginx"), free_port()
    here = nginx_here(port, tls) | addresses(backends)
    file = written(DEPLOY / "nginx" / "nginx.conf", tls, here)
    with running([start, "-e", "stderr", "-c", file], port):
        yield port


@pytest.fixture
def issuer_proxy(tls, backends):
    start, port = program("nginx"), free_port()
    here = nginx_here(port, tls) | {"10.0.3.11:8001": f"127.0.0.1:{backends[1].port}"}
    file = written(DEPLOY / "nginx" / "issuer.conf", tls, here)
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
    private = ("/metrics", "/readyz", "/readyz/host", "/healthz")
    for path in (*private, "/", "/V1/", *(f"/{each}" for each in private), "/x/v1/"):
        assert ask(proxy, "GET", path) == 404, path
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


def test_the_issuers_proxy_passes_on_what_devices_ask_and_nothing_about_them(
    issuer_proxy, backends
):
    _, issuer = backends
    for path in ("/metrics", "/readyz", "/healthz", "/", "/x/v1/"):
        assert ask(issuer_proxy, "GET", path) == 404, path
    longest = bytes(MOST_PROOF + 256)
    assert ask(issuer_proxy, "POST", "/v1/enrol", longest, SENT | UNWANTED) == 202
    assert ask(issuer_proxy, "POST", "/v1/enrol", longest + b"x", SENT) == 413
    ((_, path, headers, received),) = issuer.seen
    assert (path, received) == ("/v1/enrol", longest)
    passed = {"Authorization", "Content-Type", "Origin"}
    own = {name.title(): value for name, value in headers.items()}
    assert set(own) - {"Connection"} == {*passed, "Host", "Content-Length"}
    assert {name: own[name] for name in passed} == {name: SENT[name] for name in passed}


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
