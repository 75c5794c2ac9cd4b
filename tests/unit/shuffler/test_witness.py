"""A database that was set back neither opens a round nor signs a receipt a second time."""

import json
import os
import shutil
import stat
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.receipt import Receipt
from croupier.protocol.wire import seal_outer
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.release.output import Output
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.witness import (
    ForgedReceiptError,
    RolledBackError,
    Witness,
    WitnessError,
)

REPORTS = 12
"""As many as are needed and more: two orders of them are never the same by chance."""


def fill(shuffler, number=0):
    """A round with as many reports as it needs."""
    epoch, key = shuffler.open_round(number)
    shuffler.accept(
        epoch,
        [seal_outer(os.urandom(epoch.inner_length), key=key, epoch=epoch) for _ in range(REPORTS)],
    )
    return epoch


def witness(shuffler):
    return Witness(shuffler.keys, plan=shuffler.plan.digest)


def move_out(shuffler, name):
    """Publish into another directory from now on."""
    shuffler.out = shuffler.out.with_name(name)
    shuffler.out.mkdir()


def test_it_names_the_newest_round_and_the_last_receipt(shuffler):
    first = fill(shuffler)
    record = witness(shuffler).read()
    assert (record.round.number, record.round.batch) == (0, first.batch.hex())
    assert record.receipt is None
    assert abs(record.first_seen[first.batch.hex()] - datetime.now(UTC)) < timedelta(minutes=1)
    (settled,) = shuffler.release()
    record = witness(shuffler).read()
    assert (record.receipt.number, record.receipt.digest) == (0, settled.receipt.digest)
    assert not record.first_seen
    path = witness(shuffler).path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("directory", ["out", "another"])
def test_a_set_back_database_signs_nothing_whatever_the_directory(shuffler, directory):
    fill(shuffler)
    with shuffler.copied() as older:
        shuffler.release()
        if directory != "out":
            move_out(shuffler, directory)
        shuffler.database = older
        with pytest.raises(RolledBackError, match=r"receipt 0 .* set back .* --database"):
            shuffler.release()
        assert shuffler.states() == ["open"], "nothing was sealed"
        assert not shuffler.receipts()


def test_a_set_back_database_opens_no_round(shuffler):
    fill(shuffler)
    shuffler.release()
    with shuffler.copied() as older:
        shuffler.open_round(1)
        shuffler.database = older
        for number in (None, 1, 2):
            with pytest.raises(RolledBackError, match="round 1 "):
                shuffler.open_round(number)
        assert shuffler.states() == ["shredded"]


def test_of_two_copies_in_use_one_goes_on(shuffler, monkeypatch):
    """The other one may have signed, but what it signed is not published."""
    fill(shuffler)
    first, directory = shuffler.database, shuffler.out
    with shuffler.copied() as copy:
        publish = Releaser._sign  # noqa: SLF001 - where the other copy comes in between

        def late(self, *arguments):
            signed = publish(self, *arguments)
            monkeypatch.undo()
            shuffler.database, shuffler.out = first, directory
            (settled,) = shuffler.release()
            assert settled.receipt.number == 0
            return signed

        monkeypatch.setattr(Releaser, "_sign", late)
        shuffler.database = copy
        move_out(shuffler, "of_copy")
        with pytest.raises(RolledBackError, match="receipt 0 "):
            shuffler.release()
    assert len(list(directory.glob("*.receipt.json"))) == 1
    assert not list(directory.with_name("of_copy").glob("[!.]*"))


@pytest.mark.parametrize("forge", ["copied", "unsigned", "skipped"])
def test_somebody_who_writes_to_the_database_cannot_move_a_witness(shuffler, forge):
    """Whoever could would set the plan back, and let a second receipt of one number be signed."""
    for number in range(2):
        fill(shuffler, number)
        shuffler.release()
    seen = witness(shuffler).read()
    published = sorted(shuffler.out.glob("*.receipt.json"))
    first, last = (Receipt.read(path.read_bytes()) for path in published)
    forged = {
        "copied": first,
        "unsigned": last.model_copy(update={"number": 2, "previous": last.digest, "round": 2}),
        "skipped": last.model_copy(update={"number": 3}),
    }[forge]
    with psycopg.connect(shuffler.database) as connection:
        query = "INSERT INTO croupier.receipts VALUES (%s, 2, %s)"
        connection.execute(query, [bytes.fromhex(shuffler.plan.digest), forged.text])
    with pytest.raises(ForgedReceiptError, match="somebody changed its receipts"):
        shuffler.release()
    assert witness(shuffler).read() == seen


def test_a_witness_that_is_behind_catches_up(shuffler):
    """As after a crash between database and witness: it is where the database is."""
    fill(shuffler)
    shuffler.release()
    path = witness(shuffler).path
    old = path.read_bytes()
    fill(shuffler, 1)
    shuffler.release()
    new = witness(shuffler).read()
    path.write_bytes(old)
    shuffler.release()
    assert witness(shuffler).read() == new


def test_a_lost_witness_is_not_made_anew(shuffler):
    """Else a receipt is signed a second time from a database that was set back."""
    fill(shuffler)
    with shuffler.copied() as older:
        kept = shuffler.keys.path.with_name("kept")
        shutil.copytree(shuffler.keys.path / "batches", kept)
        shuffler.release()
        witness(shuffler).path.unlink()
        shutil.copytree(kept, shuffler.keys.path / "batches", dirs_exist_ok=True)
        shuffler.database = older
        move_out(shuffler, "another")
        with pytest.raises(WitnessError, match=r"is not there.*Restore it.*--adopt-database once"):
            shuffler.release()
        with pytest.raises(WitnessError, match="is not there"):
            shuffler.open_round(1)
        assert shuffler.states() == ["open"]
        assert not shuffler.receipts()
        assert witness(shuffler).read() is None


def test_whoever_is_sure_of_the_database_begins_another_witness(shuffler):
    fill(shuffler)
    shuffler.release()
    recorded = witness(shuffler).read()
    with pytest.raises(ParameterError, match=r"--adopt-database.* Leave it out: .* is there"):
        shuffler.release(adopt=True)
    witness(shuffler).path.unlink()
    shuffler.release(adopt=True)
    assert witness(shuffler).read() == recorded


def test_a_database_that_the_directory_disproves_is_not_adopted(shuffler):
    fill(shuffler)
    with shuffler.copied() as older:
        shuffler.release()
        witness(shuffler).path.unlink()
        shuffler.database = older
        with pytest.raises(RolledBackError, match="receipt 0"):
            shuffler.release(adopt=True)
        assert witness(shuffler).read() is None


def test_a_plan_of_version_0_1_gets_a_witness(shuffler):
    """Its rounds name no key of the analyzer, and it never had one."""
    fill(shuffler)
    shuffler.release()
    recorded = witness(shuffler).read()
    witness(shuffler).path.unlink()
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("UPDATE croupier.batches SET keys = (keys::jsonb - 'analyzer')::text")
    shuffler.release()
    assert witness(shuffler).read() == recorded


def test_somebody_else_s_first_round_is_no_lost_witness(shuffler, monkeypatch):
    """It was opened between a look for the witness and a look at the database."""
    progress = states.progress

    def late(*arguments, **place):
        monkeypatch.undo()
        fill(shuffler)
        return progress(*arguments, **place)

    monkeypatch.setattr(states, "progress", late)
    shuffler.release()
    assert witness(shuffler).read().round.number == 0


def test_a_job_killed_before_the_witness_wrote_publishes_later(shuffler, monkeypatch):
    fill(shuffler)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Output, "publish", die)
        with pytest.raises(KeyboardInterrupt):
            shuffler.release()
    (settled,) = shuffler.release()
    assert settled.receipt.number == 0
    shuffler.require_shredded()


def test_a_damaged_witness_is_not_taken_for_none(shuffler):
    fill(shuffler)
    witness(shuffler).path.write_bytes(b"{}}")
    with pytest.raises(WitnessError, match="Restore it"):
        shuffler.release()


def test_a_round_before_the_newest_is_not_opened_late(shuffler):
    shuffler.open_round(3)
    with pytest.raises(ParameterError, match="above 3"):
        shuffler.open_round(1)


def test_another_plan_s_directory_is_refused_before_anything_is_sealed(shuffler):
    fill(shuffler)
    shuffler.release()
    receipt = next(shuffler.out.glob("*.receipt.json"))
    receipt.write_text(receipt.read_text().replace(shuffler.plan.digest, "00" * 32))
    fill(shuffler, 1)
    with pytest.raises(ParameterError, match="hold the batches of one plan"):
        shuffler.release()
    assert shuffler.states()[1] == "open"


def test_a_directory_that_lacks_the_last_receipt_is_refused(shuffler):
    fill(shuffler)
    shuffler.release()
    first = shuffler.out
    move_out(shuffler, "second")
    fill(shuffler, 1)
    shuffler.release()
    shuffler.out = first
    fill(shuffler, 2)
    with pytest.raises(ParameterError, match="hold receipt 1"):
        shuffler.release()
    assert shuffler.states()[2] == "open"
    shuffler.out = first.with_name("second")
    (settled,) = shuffler.release()
    assert settled.receipt.number == 2


def test_a_receipt_of_another_history_is_refused(shuffler):
    """Same number, another content: the directory is of a copy that went its own way."""
    fill(shuffler)
    shuffler.release()
    file = next(shuffler.out.glob("*.receipt.json"))
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | {"signature": "00" * 64}))
    with pytest.raises(RolledBackError, match="receipt 0"):
        shuffler.release()


def rotated(shuffler, from_round):
    return shuffler.listed.next(
        shuffler.plan,
        from_round=from_round,
        signing_key=shuffler.house.root.signer(),
        release=shuffler.house.release.rotate(),
    )


def test_it_remembers_the_newest_list_of_keys(shuffler):
    first, second, other = shuffler.listed, rotated(shuffler, 1), rotated(shuffler, 4)
    fill(shuffler)
    assert witness(shuffler).read().listed == first.seen
    shuffler.listed = second
    shuffler.release()
    assert witness(shuffler).read().listed == first.seen, "its new key does not count yet"
    fill(shuffler, 1)
    (settled,) = shuffler.release()
    assert witness(shuffler).read().listed == second.seen
    for listed, problem in ((first, "is version 1, and 2 was"), (other, "a second one of version")):
        shuffler.listed = listed
        move_out(shuffler, f"out-{listed.digest}")  # where none is published
        with pytest.raises(UntrustedError, match=problem):
            shuffler.release()
        with pytest.raises(UntrustedError, match=problem):
            shuffler.open_round(2)
        assert not list(shuffler.out.iterdir())
    assert shuffler.states() == ["shredded", "shredded"]
    record = witness(shuffler).read()
    assert (record.listed, record.receipt.digest) == (second.seen, settled.receipt.digest)


def test_a_list_that_the_open_round_does_not_fit_is_not_recorded(shuffler):
    first = shuffler.listed
    fill(shuffler)
    shuffler.release()
    fill(shuffler, 1)
    shuffler.listed = rotated(shuffler, 1)
    with pytest.raises(UntrustedError, match="release key of round 1, which counts from round 1"):
        shuffler.release()
    with pytest.raises(UntrustedError, match="release key of round 1, which counts from round 1"):
        shuffler.open_round(2)
    assert witness(shuffler).read().listed == first.seen
    shuffler.listed = first
    assert [outcome.receipt.round for outcome in shuffler.release()] == [1]


def test_a_witness_of_before_has_followed_no_list(shuffler):
    fill(shuffler)
    path = witness(shuffler).path
    record = json.loads(path.read_bytes())
    del record["listed"]
    path.write_text(json.dumps(record))
    assert witness(shuffler).read().listed is None
    shuffler.release()
    assert witness(shuffler).read().listed == shuffler.listed.seen
