"""A live shuffler audited by two commands: send into it, then compare what it released."""

import json
import os
import subprocess
import time

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.auditing.shuffler.sent import Sent
from croupier.protocol.batch_file import write_batch
from croupier.protocol.receipt import Receipt, ReleasedFile
from tests.warm import croupier

TABLES = {
    "collection": {"every": "3s"},
    "protections": {"minimum_batch": 50, "disposal_age": "72h"},
}
COUNT = 120


def audit(service, *arguments, **variables):
    """The exit code of `croupier audit shuffler`, and what it printed."""
    plan = service.directory / "plan.toml"
    command = [croupier(), "audit", "shuffler", "--plan", plan, *arguments]
    done = subprocess.run(
        [*map(str, command)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def sending(service, *options, credential="", file="sent.parquet"):
    url = f"http://127.0.0.1:{service.port}"
    output = ("-o", service.directory / file)
    variables = {"CROUPIER_CREDENTIAL": credential} if credential else {}
    return audit(service, "--send", url, *output, *options, **variables)


def released(service):
    """The receipt of the batch, once its round is over."""
    (service.directory / "out").mkdir(exist_ok=True)
    deadline = time.monotonic() + 60
    while True:
        code, _ = service.release()
        assert code == 0
        for receipt in (service.directory / "out").glob("*.receipt.json"):
            return receipt
        assert time.monotonic() < deadline
        time.sleep(0.5)


def comparing(service, receipt, *options):
    return audit(service, receipt, "--sent", service.directory / "sent.parquet", *options)


@pytest.mark.parametrize("persons", [False, True])
def test_two_commands_audit_a_running_service(make_service, persons):
    with make_service(**TABLES) as service:
        service.start("--workers", "1")
        if persons:
            tokens = [service.credentials.issue() for _ in range(COUNT)]
            (service.directory / "tokens").write_text("\n".join(tokens))
            code, out, err = sending(service, "--credentials", service.directory / "tokens")
        else:
            relay = service.credentials.issue(relay=True)
            code, out, err = sending(service, "--count", COUNT, credential=relay)
        assert code == 0, err
        assert out.startswith(f"SENT  {COUNT} test reports into batch {service.batch}")
        assert "croupier audit shuffler" in out
        sent = Sent.load(service.directory / "sent.parquet")
        assert len(sent) == COUNT
        assert set(sent.batch) == {service.batch}
        assert (np.diff(sent.time) >= 0).all()
        assert sorted(row.tobytes() for row in sent.envelopes) == service.stored()
        assert (service.directory / "sent.parquet").stat().st_mode & 0o077 == 0
        receipt = released(service)
        code, out, err = comparing(service, receipt, "--false-alarm", "1e-9")
        assert code == 0, (out, err)
        assert f"samples    {COUNT} sent, {COUNT} released in 1 batch\n" in out
        assert "kept their place" in out
        code, out, _ = comparing(service, forged(service, receipt, sent), "--json")
        assert code == 5
        assert "position" in {
            check["promise"] for check in json.loads(out)["checks"] if check["violated"]
        }


def forged(service, receipt, sent):
    """The same batch in the order of sending, with a receipt that the shuffler signed."""
    folder = service.directory / "forged"
    folder.mkdir()
    read = Receipt.read(receipt.read_bytes())
    file = folder / read.file.name
    write_batch(sent.inner, file)
    key = service.keys.signing_key("release")
    made = read.model_copy(update={"file": ReleasedFile.of(file, name=file.name)}).signed(key)
    beside = folder / receipt.name
    beside.write_text(made.text)
    (folder / "shuffler-keys.json").write_bytes(service.listed.to_bytes())
    return beside


def test_a_plan_whose_rounds_ask_by_query(make_service):
    participation = {"model": "rectified-multinomial", "weights": 2}
    with make_service(**TABLES, participation=participation) as service:
        service.start("--workers", "1", first=["--query", service.query(0)])
        relay = service.credentials.issue(relay=True)
        code, _, err = sending(service, "--count", COUNT, credential=relay)
        assert code == 0, err
        code, out, err = comparing(service, released(service))
        assert code == 0, (out, err)
        assert f"samples    {COUNT} sent, {COUNT} released" in out


def test_what_is_refused(make_service):
    with make_service(**TABLES) as service:
        service.start("--workers", "1")
        relay = service.credentials.issue(relay=True)
        stranger = Ed25519PrivateKey.generate().private_bytes_raw().hex() + "00"
        code, _, err = sending(service, "--count", 5, credential=stranger)
        assert code == 1
        assert "refused" in err
        assert "credential" in err
        assert stranger not in err
        assert not (service.directory / "sent.parquet").exists()
        code, _, err = sending(service, "--count", 5)
        assert code == 2
        assert "--credential" in err
        (service.directory / "tokens").write_text("")
        code, _, err = sending(service, "--credentials", service.directory / "tokens")
        assert code == 2
        assert "one credential per line" in err
        code, _, _ = sending(service, "--count", 5, credential=relay)
        assert code == 0
        code, _, err = sending(service, "--count", 5, credential=relay)
        assert code == 2
        assert "not exist yet" in err
        code, _, err = audit(service)
        assert code == 2
        assert "--send" in err
        code, _, err = sending(service, "some.receipt.json", credential=relay, file="new.parquet")
        assert code == 2


def test_what_was_accepted_before_a_refusal_is_kept(make_service):
    """The second credential is not one of the service: one report is on record."""
    with make_service(**TABLES) as service:
        service.start("--workers", "1")
        tokens = [service.credentials.issue(), "ab" * 33]
        (service.directory / "tokens").write_text("\n".join(tokens))
        code, _, err = sending(service, "--credentials", service.directory / "tokens")
        assert code == 1
        assert "1 test report was accepted before" in err
        assert len(Sent.load(service.directory / "sent.parquet")) == 1
