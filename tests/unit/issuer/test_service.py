"""The issuer as a service: real processes, a real database, the client's own enrolment."""

import json
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.client.client import Client
from croupier.client.conversation import submit
from croupier.client.enrolment import admitted
from croupier.client.memory import MemoryState
from croupier.client.server import Server
from croupier.errors import NotAdmittedError
from croupier.issuer.http.openapi import description
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.admission.token_keys import TokenKeys
from tests.unit.issuer.service import issuing

ROOT = Path(__file__).parents[3]
ORIGIN = "https://www.example"
PLAN = f"""schema = 2
randomizer = {{mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}}
population.enrolled = 30
protections.minimum_batch = 10
admission.origins = ["{ORIGIN}"]
shufflers = [{{key = "{"ab" * 32}"}}]
analyzer.key = "{"cd" * 32}"
"""
DEVICE = "5e" * 32
PATIENCE = 300
"""Seconds: a busy machine is no failure."""


def person(proof):
    """Admit proofs of the form NAME!, one device per name."""
    return proof.removesuffix("!") if proof.endswith("!") else None


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    write_secret(tmp_path / "secret")
    return tmp_path


def ask(address, method, path, body=b"", **headers):
    place = urlsplit(address)
    with closing(HTTPConnection(place.hostname, place.port, timeout=PATIENCE)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, named)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


def enrol(address, device=DEVICE, proof="", **headers):
    body = json.dumps({"schema_version": 1, "device": device, "proof": proof}).encode()
    return ask(address, "POST", "/v1/enrol", body, content_type="application/json", **headers)


def test_devices_enrol_and_pages_of_listed_origins_may(folder, database):
    with issuing(folder, database, "--admit", "open", "--workers", "2") as (served, process):
        server = served["server"]
        status, headers, body = enrol(server, Origin=ORIGIN)
        assert (status, headers["access-control-allow-origin"]) == (200, ORIGIN)
        credential = json.loads(body)["credential"]
        checked = BearerCredentials(read_secret(folder / "secret"))
        assert checked.check(f"Bearer {credential}".encode()).relay is False
        assert enrol(server)[2] == body, "the same device, the same credential"
        assert enrol(server, device="5f" * 32)[2] != body
        assert "access-control-allow-origin" not in enrol(server, Origin="https://other")[1]
        status, headers, _ = ask(server, "OPTIONS", "/v1/enrol", Origin=ORIGIN)
        assert (status, headers["access-control-allow-origin"]) == (204, ORIGIN)
        assert enrol(server, proof="x")[0] == 403
        for wrong, status in [(b"{}", 400), (b"x" * 9000, 413)]:
            assert (
                ask(server, "POST", "/v1/enrol", wrong, content_type="application/json")[0]
                == status
            )
        assert ask(server, "POST", "/v1/enrol", b"{}", content_type="text/plain")[0] == 415
        assert ask(server, "GET", "/v1/enrol")[0] == 405
        assert ask(server, "GET", "/v1/other")[0] == 404
        assert ask(server, "GET", "/readyz")[0] == 200
        assert ask(server, "GET", "/v1/openapi.json")[2] == description()
        token = f"/v1/plans/{'ab' * 32}/rounds/0/token"
        bearer = f"Bearer {credential}"
        assert ask(server, "POST", token, b"x")[0] == 401
        assert ask(server, "POST", token, b"x", Authorization=bearer)[0] == 404
        log = (folder / "issuer-log").read_text()
        for private in (credential, DEVICE, ORIGIN):
            assert private not in log
        assert process.poll() is None


def test_no_more_people_than_the_plan_has_and_no_faster_than_allowed(folder, database):
    options = ["--admit", "open", "--maximum-people", "3", "--enrolments-per-minute", "5"]
    with issuing(folder, database, *options, "--workers", "2") as (served, _):
        devices = [f"{number:064x}" for number in (1, 2, 3, 4, 1, 5, 6)]
        found = [enrol(served["server"], device=device)[0] for device in devices]
    assert found == [200, 200, 200, 403, 200, 429, 429]


def test_a_function_of_the_operator_decides_and_a_person_is_one_device(folder, database):
    check = "tests.unit.issuer.test_service:person"
    with issuing(folder, database, "--admit", check) as (served, _):
        server = served["server"]
        assert [
            enrol(server, device=f"{number:064x}", proof=proof)[0]
            for number, proof in enumerate(["ann!", "ann!", "ann", "bob!"])
        ] == [200, 409, 403, 200]
        assert enrol(server, device=f"{0:064x}", proof="ann!")[0] == 200


def test_the_python_client_enrols_by_itself_and_once(folder, database):
    plan = Plan.load(folder / "plan.toml")
    check = "tests.unit.issuer.test_service:person"
    with issuing(folder, database, "--admit", check) as (served, _):
        memory = MemoryState()
        client = Client(plan, attribute="x", budget=9, memory=memory)

        def admit(proof):
            server = Server(url="http://127.0.0.1:1", issuer=served["server"], proof=proof)
            return submit(admitted(client, server, seconds=10))

        first = admit("ann!").credential
        assert admit("ann!").credential == first
        other = Client(plan, attribute="x", budget=9, memory=MemoryState())
        server = Server(url="http://127.0.0.1:1", issuer=served["server"], proof="ann!")
        with pytest.raises(NotAdmittedError):
            submit(admitted(other, server, seconds=10))
    checked = BearerCredentials(read_secret(folder / "secret"))
    assert checked.check(f"Bearer {first}".encode())


def test_the_published_description_is_current():
    published = (ROOT / "docs/issuer-openapi.json").read_bytes()
    assert published == description() + b"\n", "Run: scripts/openapi"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--admit", "secret"], "--admit-secret"),
        (["--admit", "invitation"], "--inviter"),
        (["--admit", "no.such:check"], "package.module:function"),
    ],
)
def test_a_check_that_cannot_be_made_is_named(folder, croupier_of, options, words):
    code, said = croupier_of(folder, *options)
    assert code == 2
    assert words in said


def test_one_issuer_does_not_serve_plans_of_both_kinds(folder, croupier_of):
    """Intake has the secret of credentials, and could fetch people's tokens with it."""
    root = Ed25519PrivateKey.generate()
    admits = (
        f'by = "token"\nadmission.key = "{root.public_key().public_bytes_raw().hex()}"\nadmission.'
    )
    text = PLAN.replace("admission.origins", f"admission.{admits}origins")
    plan = Plan.from_toml(text)
    keys = [BlindKey(2**2047 + 1)]
    (folder / "token.toml").write_text(text)
    listed = TokenKeys.make(plan, first=0, keys=keys, signing_key=root)
    (folder / "issuer.json").write_bytes(listed.to_bytes())
    code, said = croupier_of(folder, "--plan", folder / "token.toml", "--admit", "open")
    assert code == 2
    assert "all admit by token, or all by credential" in said


@pytest.fixture
def croupier_of(monkeypatch, capsys):
    """Run `issuer serve` in this process; it must refuse before it listens."""
    from croupier.cli import main  # noqa: PLC0415 - as the program does

    def run(folder, *options):
        files = ["--plan", folder / "plan.toml", "--secret", folder / "secret"]
        monkeypatch.setenv("CROUPIER_DATABASE", "postgresql://127.0.0.1:1/none")
        monkeypatch.setattr(
            "sys.argv", [*map(str, ["croupier", "issuer", "serve", *files, *options])]
        )
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, capsys.readouterr().err.replace("\n", " ")

    return run


def test_a_list_of_revoked_credentials_that_is_gone_is_an_incident_until_it_is_back(
    folder, database
):
    revoked, aside = folder / "revoked.txt", folder / "aside.txt"
    revoked.touch()
    given = ["--admit", "open", "--revoked", revoked]
    with issuing(folder, database, *given) as (served, _):
        server = served["server"]
        assert ask(server, "GET", "/readyz")[0] == 200
        revoked.rename(aside)
        told = json.loads(eventually(server, 503))
        assert [each["incident"] for each in told["incidents"]] == ["revoked-list"]
        assert "(No such file or directory)" in told["cause"]
        aside.rename(revoked)
        eventually(server, 200)


def eventually(server, wanted):
    """The body of /readyz once it has a status."""
    due = time.monotonic() + PATIENCE
    while True:
        status, _, body = ask(server, "GET", "/readyz")
        if status == wanted:
            return body
        assert time.monotonic() < due
        time.sleep(0.1)
