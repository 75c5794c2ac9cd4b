"""Several plans on one service: each has its batch, its clients and its incidents."""

import shutil

import pytest

from croupier.shuffler.witness import Witness
from tests.unit.shuffler.http.conftest import deployed
from tests.unit.shuffler.http.test_readiness import within


@pytest.fixture
def pair(tmp_path, make_database):
    """Two plans of one operator, served by one process; the second shares keys with the first."""
    with deployed(tmp_path, make_database) as first:
        second = first.beside("second")
        for each in (first, second):
            each.open_round()
        first.start("--workers", "1", plans=[second])
        second.served, second.port = first.served, first.port
        second.batch = first.served["plans"][1]["batch"]
        assert within(120, lambda: first.get("/readyz").status == 200)
        yield first, second


def test_reports_go_to_the_batch_of_their_plan(pair):
    first, second = pair
    assert [plan["plan_digest"] for plan in first.served["plans"]] == [
        first.plan.digest,
        second.plan.digest,
    ]
    for service, count in ((first, 1), (second, 2)):
        for _ in range(count):
            assert service.send(service.envelopes()).status == 202
        assert len(service.stored()) == count
    # A batch of another plan is one that never existed.
    assert first.send(first.envelopes(), Croupier_Batch=second.batch).status == 409
    assert len(second.stored()) == 2


def test_a_plan_that_fails_leaves_the_other_and_the_host_ready(pair):
    first, second = pair
    tag = second.handover.path / f"{second.batch}.tag"
    kept = second.directory / "kept"
    shutil.move(tag, kept)
    assert within(30, lambda: first.get("/readyz").status == 503)
    (incident,) = first.get("/readyz").document["incidents"]
    assert (incident["incident"], incident["plan"]) == ("batch-key", second.plan.digest)
    assert first.get("/readyz/host").status == 200
    assert first.send(first.envelopes()).status == 202
    assert second.send(second.envelopes()).status == 503
    shutil.move(kept, tag)
    assert within(30, lambda: first.get("/readyz").status == 200)
    assert second.send(second.envelopes()).status == 202


def test_serve_does_not_start_with_a_plan_that_cannot_be_served_and_starts_without_it(pair):
    first, second = pair
    first.stop()
    witness = Witness(second.house.intake, plan=second.plan.digest).path
    witness.unlink()
    code, said = first.run(first.serving_all(second))
    assert (code, str(witness) in said["error"]) == (1, True)
    first.start("--workers", "1")
    assert first.send(first.envelopes()).status == 202


def test_files_of_one_plan_are_not_given_for_several(service):
    second = service.beside("second")
    code, document = service.run(
        [*service.serving("--workers", "1"), "--plan", str(second.directory / "plan.toml")]
    )
    assert code == 2
    assert "must be left out if several plans are given" in document["error"]


def test_a_plan_is_served_once(service):
    plan = str(service.directory / "plan.toml")
    command = service.serving_all(service)
    code, document = service.run(command)
    assert code == 2
    assert "must name each plan once" in document["error"]
    assert plan in command
