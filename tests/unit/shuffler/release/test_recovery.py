"""A database that was set back goes on under a signed receipt, and releases nothing twice."""

import json
import os
import shutil
from contextlib import contextmanager

import psycopg
import pytest

from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.receipt import FIRST, Receipt, ReceiptError, require_chain
from croupier.protocol.wire import seal_outer
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.handover import Handover
from croupier.shuffler.release import recovery
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.output import Output
from croupier.shuffler.release.recovery import NotSetBackError
from croupier.shuffler.witness import RolledBackError, Witness, WitnessError

REPORTS = 12
"""As many as are needed and more: two orders of them are never the same by chance."""


def fill(shuffler, number):
    """A round with as many reports as it needs."""
    epoch, key = shuffler.open_round(number)
    inner = [os.urandom(epoch.inner_length) for _ in range(REPORTS)]
    shuffler.accept(epoch, [seal_outer(each, key=key, epoch=epoch) for each in inner])
    return epoch


def run_round(shuffler, number):
    fill(shuffler, number)
    shuffler.release()


def published(shuffler):
    files = shuffler.out.glob("[!.]*.receipt.json")
    return sorted((Receipt.read(f.read_bytes()) for f in files), key=lambda r: r.number)


def intake(shuffler):
    return Witness(shuffler.house.intake, plan=shuffler.plan.digest, begins=lambda _: True)


def follow(shuffler, witness):
    """Record what the database has, as a worker does; the record."""
    with psycopg.connect(shuffler.database, autocommit=True) as connection:
        return witness.follow_connection(connection, shuffler.signers)


def put(shuffler, receipt):
    """Write a receipt into the database, as somebody can who has no key."""
    with psycopg.connect(shuffler.database) as connection:
        states.append_receipt(connection, receipt)


def contents(shuffler):
    """Everything that a recovery may change."""
    with psycopg.connect(shuffler.database) as connection:
        rows = connection.execute("TABLE croupier.batches").fetchall()
        rows += connection.execute("TABLE croupier.receipts").fetchall()
    folders = (shuffler.out, shuffler.keys.path, shuffler.handover.path)
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return rows, {path: path.read_bytes() for path in files}


@contextmanager
def set_back(shuffler):
    """A backup after round 0; then round 1 is released and round 2 opened, and the backup restored.

    Intake has seen all of it.
    """
    run_round(shuffler, 0)
    with shuffler.copied() as older:
        run_round(shuffler, 1)
        fill(shuffler, 2)
        follow(shuffler, intake(shuffler))
        shuffler.database = older
        yield


def test_published_receipts_are_put_back_and_other_rounds_given_up(shuffler):
    with set_back(shuffler):
        with pytest.raises(RolledBackError, match="croupier recover"):
            shuffler.release()
        shown = []
        receipt = shuffler.recover(lambda losses: shown.append(losses) or True)
        assert shown[0].recovery == receipt.recovery
        assert (receipt.event, receipt.number, receipt.round) == ("recovered", 2, 3)
        assert receipt.recovery.lost == (2, 3), "round 3 may have been opened by whoever was killed"
        assert (receipt.recovery.restored, receipt.recovery.published) == (1, None)
        assert receipt.recovery.explained.endswith("lost: rounds 2 to 3; 1 receipt put back")
        chain = published(shuffler)
        assert chain == shuffler.receipts()
        assert [link.event for link in chain] == ["released", "released", "recovered"]
        require_chain(chain, shuffler.signers)
        shuffler.require_shredded()

        with pytest.raises(ParameterError, match="above 3"):
            shuffler.open_round(3)
        run_round(shuffler, 4)
        require_chain(published(shuffler), shuffler.signers)
        assert [link.round for link in published(shuffler)] == [0, 1, 3, 4]
        shuffler.require_shredded()


def test_a_batch_that_the_backup_has_open_is_given_up(shuffler):
    """The backup has some of its reports at most; and here it was released from the other copy."""
    run_round(shuffler, 0)
    fill(shuffler, 1)
    with shuffler.copied() as older:
        shuffler.release()
        shuffler.database = older
        assert shuffler.states() == ["shredded", "open"]
        receipt = shuffler.recover()
        assert receipt.recovery.lost == (2,), "round 1 has its receipt"
        shuffler.require_shredded()
        assert not shuffler.release()


def test_a_round_that_only_the_backup_has_is_given_up(shuffler):
    """Its receipt was neither published nor recorded: the witness knows a later round only."""
    run_round(shuffler, 0)
    fill(shuffler, 1)
    with shuffler.copied() as older:
        shuffler.release()
        (shuffler.out / next(shuffler.out.glob("*-1.receipt.json"))).unlink()
        witness = Witness(shuffler.keys, plan=shuffler.plan.digest)
        record = witness.read()
        shuffler.database = older
        receipt = shuffler.recover()
        assert receipt.recovery.lost == (1, 2)
        assert (receipt.number, receipt.previous) == (2, record.receipt.digest)
        assert receipt.recovery.published == published(shuffler)[0].digest
        shuffler.require_shredded()


def test_nothing_is_changed_unless_somebody_agrees(shuffler):
    with set_back(shuffler):
        before = contents(shuffler)
        assert shuffler.recover(lambda _: False) is None
        assert contents(shuffler) == before


def test_an_empty_database_is_enough_if_the_receipts_are_there(shuffler):
    run_round(shuffler, 0)
    run_round(shuffler, 1)
    fill(shuffler, 2)
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("DROP SCHEMA croupier CASCADE")
    shuffler.with_store(lambda store: store.migrate())
    receipt = shuffler.recover()
    assert (receipt.recovery.lost, receipt.recovery.restored) == ((2, 3), 2)
    run_round(shuffler, 4)
    require_chain(published(shuffler), shuffler.signers)


def test_a_receipt_that_was_signed_but_not_published_keeps_its_number(shuffler, monkeypatch):
    run_round(shuffler, 0)
    fill(shuffler, 1)
    with shuffler.copied() as older:

        def die(self, name, receipt):
            (self.storage.unpublished / name).with_suffix(".kept").write_text(receipt.text)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Output, "_publish_receipt", die)
            with pytest.raises(KeyboardInterrupt):
                shuffler.release()
        (kept,) = shuffler.out.glob("*.kept")
        unpublished = Receipt.read(kept.read_text())
        kept.unlink()
        shuffler.database = older
        shown = []
        receipt = shuffler.recover(lambda losses: shown.append(losses) or True)
        (name,) = shown[0].without_receipt
        assert name.endswith("-round-1.parquet"), "its name was given before its receipt"
        first, recovered = published(shuffler)
        assert recovered == receipt
        assert (receipt.number, receipt.previous) == (2, unpublished.digest)
        assert receipt.recovery.published == first.digest
        require_chain([first, recovered], shuffler.signers)
        require_chain([first, unpublished, recovered], shuffler.signers)
        run_round(shuffler, 3)
        require_chain(published(shuffler), shuffler.signers)

        signer = shuffler.keys.signer(shuffler.listed.release_key(1))
        other = unpublished.model_copy(update={"counts": receipt.counts, "file": None})
        other = other.model_copy(update={"event": "disposed"}).signed(signer)
        with pytest.raises(ReceiptError, match="does not name the receipt before it"):
            require_chain([first, other, recovered], shuffler.signers)


def test_a_first_receipt_that_was_not_published_can_be_missing(shuffler):
    fill(shuffler, 0)
    with shuffler.copied() as older:
        shuffler.release()
        shutil.rmtree(shuffler.out)
        shuffler.out.mkdir()
        shuffler.database = older
        receipt = shuffler.recover()
        assert (receipt.number, receipt.recovery.published) == (1, FIRST)
        run_round(shuffler, 2)
        require_chain(published(shuffler), shuffler.signers)


def test_a_second_recovery_follows_the_first(shuffler):
    with set_back(shuffler):
        first = shuffler.recover()
        fill(shuffler, 4)
        with psycopg.connect(shuffler.database) as connection:
            connection.execute("DELETE FROM croupier.receipts WHERE number > 0")
            connection.execute("DELETE FROM croupier.batches WHERE round > 0")
        second = shuffler.recover()
        assert (second.number, second.previous) == (3, first.digest)
        assert (second.recovery.lost, second.recovery.restored) == ((4, 5), 2)
        require_chain(published(shuffler), shuffler.signers)
        assert follow(shuffler, intake(shuffler)).resumed == 6


@pytest.mark.parametrize("backup", ["before the round", "before the receipt"])
def test_intake_follows_a_receipt_that_is_signed_anew(shuffler, monkeypatch, backup):
    """Intake recorded that of a release which was killed, and whose database was set back."""

    def die(*_):
        raise KeyboardInterrupt

    run_round(shuffler, 0)
    opens_late = backup == "before the round"
    if not opens_late:
        fill(shuffler, 1)
    with shuffler.copied() as older:
        if opens_late:
            fill(shuffler, 1)
        with monkeypatch.context() as patch:
            patch.setattr(Witness, "_replace", die)
            with pytest.raises(KeyboardInterrupt):
                shuffler.release()
        killed = follow(shuffler, intake(shuffler)).receipt
        abandoned, shuffler.database = shuffler.database, older
        with pytest.raises(RolledBackError, match="does not have"):
            follow(shuffler, intake(shuffler))
        if opens_late:
            shuffler.recover()
        else:
            shuffler.release()
        last = published(shuffler)[-1]
        assert (last.number, last.digest == killed.digest) == (killed.number, False)
        assert follow(shuffler, intake(shuffler)).receipt.digest == last.digest
        newest, shuffler.database = shuffler.database, abandoned
        with pytest.raises(RolledBackError, match="does not have"):
            follow(shuffler, intake(shuffler))
        shuffler.database = newest
        run_round(shuffler, 3)
        assert follow(shuffler, intake(shuffler)).receipt.number == 2


KILLED = {
    "before it is signed": (recovery.Recoverer, "_sign"),
    "before it is recorded": (Witness, "_replace"),
    "before it is published": (Output, "publish_recovery"),
    "before keys are destroyed": (Handover, "destroy"),
    "between keys": (ReleaseKeys, "destroy"),
}


@pytest.mark.parametrize("finish", ["recover", "release"])
@pytest.mark.parametrize("place", KILLED)
def test_a_recovery_that_was_killed_is_finished_by_the_next_run(
    shuffler, monkeypatch, place, finish
):
    def die(*_, **__):
        raise KeyboardInterrupt

    with set_back(shuffler):
        with monkeypatch.context() as patch:
            patch.setattr(*KILLED[place], die)
            with pytest.raises(KeyboardInterrupt):
                shuffler.recover()
        if place == "before it is signed":
            assert len(shuffler.receipts()) == 1
            with pytest.raises(RolledBackError):
                shuffler.release()
            finish = "recover"
        getattr(shuffler, finish)()
        shuffler.require_shredded()
        assert [link.event for link in published(shuffler)] == ["released"] * 2 + ["recovered"]
        before = contents(shuffler)
        assert shuffler.recover() == published(shuffler)[-1], "repeated, it changes nothing"
        assert contents(shuffler) == before


def test_it_refuses_if_nothing_was_set_back(shuffler):
    run_round(shuffler, 0)
    fill(shuffler, 1)
    before = contents(shuffler)
    with pytest.raises(NotSetBackError, match="not set back"):
        shuffler.recover()
    assert contents(shuffler) == before


def test_it_refuses_without_a_witness(shuffler):
    with set_back(shuffler):
        Witness(shuffler.keys, plan=shuffler.plan.digest).path.unlink()
        with pytest.raises(WitnessError, match="is not there"):
            shuffler.recover()
        assert len(shuffler.receipts()) == 1


def test_it_refuses_a_directory_that_lacks_receipts(shuffler):
    with set_back(shuffler):
        run = shuffler.out
        shuffler.out = run.with_name("empty")
        shuffler.out.mkdir()
        with pytest.raises(ParameterError, match="The database has receipt 0"):
            shuffler.recover()
        for file in run.glob("*-round-0.receipt.json"):
            shutil.copy(file, shuffler.out)
        shown = []
        shuffler.recover(lambda losses: shown.append(losses) and False)
        assert shown[0].recovery.published, "of which it says that it is missing"
        with psycopg.connect(shuffler.database) as connection:
            connection.execute("DELETE FROM croupier.receipts")
            connection.execute("DELETE FROM croupier.batches")
        (shuffler.out / next(shuffler.out.glob("*.receipt.json"))).unlink()
        with pytest.raises(ParameterError, match="knows receipt 1"):
            shuffler.recover()
        for file in run.glob("*-round-1.receipt.json"):
            shutil.copy(file, shuffler.out)
        with pytest.raises(ParameterError, match="Receipt 1 is the first there"):
            shuffler.recover()
        assert not shuffler.receipts()


def test_it_refuses_a_receipt_that_release_did_not_sign(shuffler):
    with set_back(shuffler):
        (file,) = shuffler.out.glob("*-round-1.receipt.json")
        document = json.loads(file.read_text())
        file.write_text(json.dumps(document | {"signature": "00" * 64}))
        with pytest.raises(ReceiptError, match="is not signed"):
            shuffler.recover()
        file.unlink()
        (first,) = shuffler.out.glob("*-round-0.receipt.json")
        document = json.loads(first.read_text())
        first.write_text(json.dumps(document | {"signature": "00" * 64}))
        with pytest.raises(ReceiptError, match="another one than that in the database"):
            shuffler.recover()
        assert len(shuffler.receipts()) == 1


def test_it_refuses_while_a_release_runs_or_a_round_is_opened(shuffler, monkeypatch):
    monkeypatch.setattr(states, "_PATIENCE", "100ms")
    with set_back(shuffler), psycopg.connect(shuffler.database, autocommit=True) as other:
        with (
            states.sole_releaser(other, plan=shuffler.plan.digest),
            pytest.raises(states.BusyError),
        ):
            shuffler.recover()
        with states.nobody_opening(other), pytest.raises(states.BusyError):
            shuffler.recover()
        assert len(shuffler.receipts()) == 1


def test_intake_goes_on_after_a_recovery_and_not_before(shuffler):
    with set_back(shuffler):
        before = intake(shuffler).read()
        assert before.round.number == 2
        with pytest.raises(RolledBackError, match="round 2 "):
            follow(shuffler, intake(shuffler))
        receipt = shuffler.recover()
        record = follow(shuffler, intake(shuffler))
        assert (record.resumed, record.round, record.receipt.digest) == (4, None, receipt.digest)
        assert not record.first_seen
        fill(shuffler, 4)
        record = follow(shuffler, intake(shuffler))
        assert (record.resumed, record.round.number) == (4, 4)
        with psycopg.connect(shuffler.database) as connection:
            connection.execute("DELETE FROM croupier.batches WHERE round = 4")
        with pytest.raises(RolledBackError, match="round 4 "):
            follow(shuffler, intake(shuffler))


def test_intake_goes_on_with_a_round_that_release_did_not_record(shuffler):
    """Release was killed between opening it and recording it; intake had shown it."""
    run_round(shuffler, 0)
    with shuffler.copied() as older:
        path = Witness(shuffler.keys, plan=shuffler.plan.digest).path
        before = path.read_bytes()
        fill(shuffler, 1)
        path.write_bytes(before)
        assert follow(shuffler, intake(shuffler)).round.number == 1
        shuffler.database = older
        with pytest.raises(NotSetBackError):
            shuffler.recover()
        path.write_bytes(intake(shuffler).path.read_bytes())
        assert shuffler.recover().recovery.lost == (1, 2)
        assert follow(shuffler, intake(shuffler)).resumed == 3


def test_nobody_without_the_release_key_can_set_a_plan_back(shuffler):
    with set_back(shuffler):
        newer = shuffler.database.replace("_copy", "")
        genuine = shuffler.recover()
    shuffler.database = newer
    witness = intake(shuffler)
    copy = witness.path.read_bytes()
    last = published(shuffler)[1]
    draft = genuine.model_copy(update={"number": 2, "previous": last.digest})
    forger = shuffler.house.intake.signing_key("intake")
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("DELETE FROM croupier.batches WHERE round = 2")
    with pytest.raises(RolledBackError, match="round 2 "):
        follow(shuffler, witness)
    put(shuffler, draft.signed(forger))
    with pytest.raises(UntrustedError, match="is not signed"):
        follow(shuffler, witness)
    assert witness.path.read_bytes() == copy


def test_a_recovery_cannot_be_used_a_second_time(shuffler):
    """By somebody who sets the database back to where it was recovered."""
    with set_back(shuffler):
        shuffler.recover()
        run_round(shuffler, 4)
        follow(shuffler, intake(shuffler))
        with psycopg.connect(shuffler.database) as connection:
            connection.execute("DELETE FROM croupier.receipts WHERE number > 2")
            connection.execute("DELETE FROM croupier.batches WHERE round = 4")
        for witness in (intake(shuffler), Witness(shuffler.keys, plan=shuffler.plan.digest)):
            with pytest.raises(RolledBackError, match=r"round 4 |receipt 3 "):
                follow(shuffler, witness)


def test_the_next_round_is_opened_for_a_key_that_is_named(shuffler):
    """The newest round of the backup may be for a key of the analyzer that was replaced."""
    with set_back(shuffler):
        shuffler.recover()
        inner, shuffler.inner = shuffler.inner, None
        with pytest.raises(ParameterError, match="also after croupier recover"):
            shuffler.open_round(4)
        shuffler.inner = inner
        shuffler.open_round(4)


def test_what_a_crash_left_of_destroyed_keys_is_removed_and_other_plans_keep_theirs(shuffler):
    with set_back(shuffler):
        (lost,) = shuffler.keys.batches()
        folder = shuffler.keys.path / "batches" / lost.hex()
        for file in folder.iterdir():
            if file.name == "plan":
                file.write_bytes(os.urandom(64))
            else:
                file.unlink()
        others = [os.urandom(16), os.urandom(16)]
        for other in others:
            shuffler.keys.create_batch(other, plan="ab" * 32)
        (shuffler.keys.path / "batches" / others[0].hex() / "outer.pem").unlink()
        shuffler.recover()
        assert shuffler.keys.batches() == sorted(others)
