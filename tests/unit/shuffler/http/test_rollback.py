"""A service on a database that was set back says so, and signs no refusal."""

import json
import subprocess

import psycopg

from croupier.protocol.key_list import AnalyzerKey
from croupier.shuffler.witness import Record, Witness
from tests.unit.shuffler.http.conftest import within


def forget(service):
    """Set the database back to before the round was opened."""
    with psycopg.connect(service.database) as connection:
        connection.execute("DELETE FROM croupier.batches")


def wait_until_not_ready(service):
    assert within(60, lambda: service.get("/readyz").status == 503)


def test_serve_does_not_start_on_a_database_that_was_set_back(service):
    service.start("--workers", "1")
    service.stop()
    forget(service)
    done = subprocess.run(
        service.serving(), env=service.environment, capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 1
    for words in ("does not have round 0", "set back", "--database"):
        assert words in json.loads(done.stdout)["error"]
    with psycopg.connect(service.database) as connection:
        assert connection.execute("SELECT FROM croupier.batches").fetchone() is None


def test_a_running_worker_signs_no_refusal_for_a_round_that_was_forgotten(service):
    """Neither before it has looked at its batches again nor after."""
    service.start("--workers", "1")
    other = "00" * 16
    refused = service.send(service.envelopes(), Croupier_Batch=other)
    assert refused.status == 409, "a batch that never was is refused with a signature"
    forget(service)
    assert service.send(service.envelopes(), Croupier_Batch=other).status == 503
    wait_until_not_ready(service)
    assert service.get(f"{service.path}").status == 503
    for batch in (other, service.batch):
        assert service.send(service.envelopes(), Croupier_Batch=batch).status == 503


def test_a_round_is_recorded_before_it_is_announced(service):
    """Also one that was opened by somebody who died before recording it."""
    service.start("--workers", "1")
    witness = Witness(service.house.intake, plan=service.plan.digest)
    service.stop()
    witness.path.write_text(Record().model_dump_json())
    service.start("--workers", "1")
    assert service.get(f"{service.path}").status == 200
    assert witness.read().round.batch == service.batch


def test_without_its_witness_a_plan_is_not_served(service):
    """A running worker says so, signs no refusal, and goes on when the witness is put back."""
    service.start("--workers", "1")
    path = Witness(service.house.intake, plan=service.plan.digest).path
    moved = path.rename(path.with_name("moved"))
    other = "00" * 16
    assert service.send(service.envelopes(), Croupier_Batch=other).status == 503
    assert within(30, lambda: service.get("/readyz").status == 503)
    assert service.get(f"{service.path}").status == 503
    assert "Restore it" in service.log.read_text()
    moved.rename(path)
    assert within(30, lambda: service.get("/readyz").status == 200)
    assert service.send(service.envelopes(), Croupier_Batch=other).status == 409
    service.stop()
    path.unlink()
    code, said = service.run(service.serving())
    assert code == 1
    lock = path.with_suffix(".lock")
    assert f"move {lock} away, and no file of another plan" in said["error"]
    assert said["error"].endswith("See docs/incidents/witness.md.")
    assert not path.exists()
    lock.unlink()
    service.start("--workers", "1")
    assert path.exists()


def test_an_intake_that_loses_the_folder_of_its_witness_makes_another(service):
    """Like a host that is new: the tag key of the newest round shows that nothing was set back."""
    service.start("--workers", "1")
    witness = Witness(service.house.intake, plan=service.plan.digest)
    recorded = witness.read()
    witness.path.parent.rename(service.directory / "lost")
    assert within(30, witness.path.exists)
    assert witness.read().round == recorded.round
    assert recorded.listed
    assert within(30, lambda: witness.read().listed == recorded.listed)
    assert service.get("/readyz").status == 200


def test_a_round_for_another_key_of_the_analyzer_takes_nothing_until_it_is_signed_here(service):
    """A host whose file of the analyzer is not the round's stands by, and follows a new file."""
    service.start("--workers", "1")
    service.set_state("shredded")
    file = service.directory / "analyzer.json"
    before = AnalyzerKey.model_validate_json(file.read_bytes())
    service.analyzer.rotate()
    second = AnalyzerKey.make(
        service.plan,
        key=service.analyzer.sealing_key("analyzer"),
        signing_key=service.analyzer.signing_key("analyzer"),
        policy=before.policy,
    )
    other = service.directory / "second.json"
    other.write_bytes(second.to_bytes())
    code, done = service.release("--next-round", "--analyzer", other)
    assert (code, done["open_round"]) == (0, 1)
    wait_until_not_ready(service)
    assert service.get(service.path).status == 503
    assert service.send(service.envelopes()).status == 503
    other.replace(file)
    assert within(60, lambda: service.get("/readyz").status == 200)
    listed = service.get(service.path).document
    assert (listed["analyzer"]["key"], listed["shuffler"][0]["round"]) == (second.key, 1)
    service.batch = listed["shuffler"][0]["batch"]
    assert service.send(service.envelopes()).status == 202


def test_nothing_is_served_beside_a_damaged_witness(service):
    service.start("--workers", "1")
    Witness(service.house.intake, plan=service.plan.digest).path.write_bytes(b"{")
    assert service.send(service.envelopes(), Croupier_Batch="00" * 16).status == 503
    wait_until_not_ready(service)
    assert service.get(service.path).status == 503
    assert service.send(service.envelopes()).status == 503


def recover(service):
    """Run `croupier recover` beside the service."""
    command = service.command("release", "-o", service.directory / "out", "--yes")
    command[command.index("release")] = "recover"
    return service.run(command)


def test_a_running_service_goes_on_after_a_recovery_and_refuses_no_lost_report(service):
    """A batch that it does not know may have held the report before it was lost."""
    service.start("--workers", "1")
    body, token = service.envelopes(), service.credentials.issue()
    assert service.send(body, token).status == 202
    with psycopg.connect(service.database) as connection:
        connection.execute("DELETE FROM croupier.batches")
    service.drop_table()
    wait_until_not_ready(service)
    lost = service.batch
    code, done = recover(service)
    assert (code, done["receipt"]["recovery"]["lost"]) == (0, [0, 1]), done
    for batch in (lost, "00" * 16):
        assert within(60, lambda: service.send(body, token, Croupier_Batch=batch).status == 410)  # noqa: B023
    analyzer = service.directory / "analyzer.json"
    code, done = service.release("--next-round", "--analyzer", analyzer)
    assert (code, done["open_round"]) == (0, 2), done
    assert within(60, lambda: service.get("/readyz").status == 200)
    (opened,) = service.get(service.path).document["shuffler"]
    assert service.send(body, token, Croupier_Batch=lost).status == 410
    assert service.send(service.envelopes(), Croupier_Batch=opened["batch"]).status == 202
