import asyncio
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pyarrow.parquet
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.receipt import Receipt, require_chain
from croupier.protocol.wire import seal_inner, seal_outer
from croupier.shuffler.database.batch_states import BusyError, sole_releaser
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import TagKey
from croupier.shuffler.release.output import LostFileError, Output
from croupier.shuffler.release.release import Releaser, UnpreparedError
from croupier.shuffler.release.run import release
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.witness import RolledBackError, Witness

MINIMUM = 5
TOMORROW = datetime.now(UTC) + timedelta(days=1, hours=6)
LONG_AFTER = datetime.now(UTC) + timedelta(days=4)


def sealed_reports(count, epoch, key):
    """Inner ciphertexts (any bytes of their length, to the shuffler) and their envelopes."""
    inner = [os.urandom(epoch.inner_length) for _ in range(count)]
    return inner, [seal_outer(report, key=key, epoch=epoch) for report in inner]


def rows_in(path):
    table = pyarrow.parquet.read_table(path)
    assert table.column_names == ["inner"]
    return table["inner"].to_pylist()


def test_a_batch_is_released_once_and_leaves_nothing_behind(shuffler):
    epoch, key = shuffler.open_round()
    inner, envelopes = sealed_reports(50, epoch, key)
    shuffler.accept(epoch, envelopes)
    (settled,) = shuffler.release()

    path = shuffler.out / settled.receipt.file.name
    assert sorted(rows_in(path)) == sorted(inner)
    assert rows_in(path) != inner
    assert settled.receipt.counts.explained == "50 = 50 released"
    require_chain([settled.receipt], shuffler.signers)
    assert settled.receipt.file.is_at(path)
    assert Receipt.read(path.with_suffix(".receipt.json").read_text()) == settled.receipt
    shuffler.require_shredded()
    assert shuffler.release() == []


def test_what_is_not_a_first_valid_report_is_counted_by_reason(shuffler):
    epoch, key = shuffler.open_round()
    other, other_key = shuffler.open_round(1)
    inner, envelopes = sealed_reports(20, epoch, key)
    again = [seal_outer(report, key=key, epoch=epoch) for report in inner[:3]]
    replayed = [envelopes[0], envelopes[1]]
    flipped = [bytes([envelopes[2][0] ^ 1]) + envelopes[2][1:]]
    elsewhere = sealed_reports(4, other, other_key)[1] + sealed_reports(1, other, key)[1]
    noise = [os.urandom(epoch.envelope_length), bytes(epoch.envelope_length)]
    shuffler.accept(epoch, envelopes + again + replayed + flipped + elsewhere + noise)
    shuffler.accept(epoch, [b"short"])

    settled, held = shuffler.release()
    assert held.receipt is None
    counts = settled.receipt.counts
    assert (counts.received, counts.released, counts.duplicate) == (34, 20, 5)
    assert (counts.wrong_length, counts.cannot_open) == (1, 8)
    assert sorted(rows_in(shuffler.out / settled.receipt.file.name)) == sorted(inner)


def test_a_row_for_a_second_key_of_the_analyzer_is_dropped_and_counted(shuffler):
    """N32: shown to one person, it would find that person's row in the released file."""
    epoch, key = shuffler.open_round()
    _, envelopes = sealed_reports(20, epoch, key)
    second = X25519PrivateKey.generate()
    shown = replace(epoch, analyzer=second.public_key().public_bytes_raw())
    victim = seal_inner(bytes(epoch.report_size), epoch=shown)
    shuffler.accept(epoch, [*envelopes, seal_outer(victim, key=key, epoch=shown)])
    (settled,) = shuffler.release()
    assert settled.receipt.analyzer == epoch.analyzer.hex()
    assert (settled.receipt.counts.released, settled.receipt.counts.cannot_open) == (20, 1)
    assert victim not in rows_in(shuffler.out / settled.receipt.file.name)


def test_a_receipt_that_was_half_written_is_written_again(shuffler):
    """Killed in between, a release leaves a file whose name begins with a dot."""
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    shuffler.release()
    (receipt,) = shuffler.out.glob("[!.]*.receipt.json")
    (shuffler.out / f".partial-{receipt.name}").touch()
    later, later_key = shuffler.open_round(1)
    shuffler.accept(later, sealed_reports(MINIMUM, later, later_key)[1])
    (settled,) = shuffler.release()
    assert settled.receipt.number == 1


def test_an_envelope_of_an_earlier_batch_is_refused_by_a_later_one(shuffler):
    epoch, key = shuffler.open_round()
    captured = sealed_reports(MINIMUM, epoch, key)[1]
    shuffler.accept(epoch, captured)
    shuffler.release()
    assert shuffler.accept(epoch, captured) != "open"

    later, later_key = shuffler.open_round(1)
    inner, envelopes = sealed_reports(MINIMUM, later, later_key)
    shuffler.accept(later, envelopes + captured)
    (settled,) = shuffler.release()
    assert settled.receipt.counts.cannot_open == len(captured)
    assert sorted(rows_in(shuffler.out / settled.receipt.file.name)) == sorted(inner)
    require_chain(shuffler.receipts(), shuffler.signers)


def test_people_are_counted_after_opening_and_not_before(shuffler):
    epoch, key = shuffler.open_round()
    inner, envelopes = sealed_reports(MINIMUM - 1, epoch, key)
    twice = seal_outer(inner[0], key=key, epoch=epoch)
    shuffler.accept(epoch, [*envelopes, twice, os.urandom(epoch.envelope_length)])
    (held,) = shuffler.release()
    assert held.people == MINIMUM - 1
    assert shuffler.states() == ["open"]
    assert not list(shuffler.out.iterdir())

    late, envelope = sealed_reports(1, epoch, key)
    assert shuffler.accept(epoch, envelope) == "open"
    (settled,) = shuffler.release()
    assert sorted(rows_in(shuffler.out / settled.receipt.file.name)) == sorted(inner + late)


@pytest.mark.parametrize("sent", [0, MINIMUM - 1])
def test_too_few_are_held_and_disposed_of_when_old(shuffler, sent):
    epoch, key = shuffler.open_round()
    if sent:
        shuffler.accept(epoch, sealed_reports(sent, epoch, key)[1])
    (held,) = shuffler.release()
    assert (held.people, held.batch.state) == (sent, "open")
    assert TOMORROW < held.until <= LONG_AFTER

    (settled,) = shuffler.release(LONG_AFTER)
    assert settled.receipt.event == "disposed"
    assert settled.receipt.counts.disposed == sent
    endings = sorted(path.suffixes for path in shuffler.out.iterdir())
    assert endings == [[".json"], [".receipt", ".json"]], "the list of keys, and the receipt"
    shuffler.require_shredded()


def test_an_old_batch_that_has_enough_is_released(shuffler):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    (settled,) = shuffler.release(LONG_AFTER)
    assert settled.receipt.event == "released"


def test_a_round_is_not_released_before_it_is_over(shuffler):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    (held,) = shuffler.release(datetime.now(UTC))
    assert held.people is None
    assert shuffler.states() == ["open"]


def test_several_processes_open_the_same(shuffler):
    epoch, key = shuffler.open_round()
    inner, envelopes = sealed_reports(9000, epoch, key)
    shuffler.accept(epoch, [*envelopes, os.urandom(epoch.envelope_length)])
    shuffler.accept(epoch, [b"short"])
    (settled,) = shuffler.release(processes=2)
    assert sorted(rows_in(shuffler.out / settled.receipt.file.name)) == sorted(inner)
    assert (settled.receipt.counts.wrong_length, settled.receipt.counts.cannot_open) == (1, 1)


def test_secrets_that_no_batch_names_are_swept_when_old_and_nobody_is_opening(shuffler):
    """As a crash between making and announcing leaves them; of this plan, and not too soon."""
    known, _ = shuffler.open_round()
    orphan, foreign = os.urandom(16), os.urandom(16)
    shuffler.keys.create_batch(orphan, plan=shuffler.plan.digest)
    shuffler.keys.create_batch(foreign, plan="00" * 32)
    signer, seal = shuffler.keys.signing_key("release"), shuffler.house.keys["intake"].seal
    given = {"key": bytes(32), "seal": seal, "signing_key": signer}
    shuffler.handover.put(TagKey.make(shuffler.plan, batch=orphan, **given))
    everything = {known.batch, orphan, foreign}
    shuffler.release(TOMORROW)
    assert set(shuffler.keys.batches()) == everything, "too soon"

    async def opening():
        store = await Store.connect(shuffler.database)
        async with store.opening():
            await asyncio.to_thread(shuffler.release, TOMORROW + timedelta(days=3))
        await store.close()

    with psycopg.connect(shuffler.database) as connection:
        connection.execute("UPDATE croupier.batches SET opened = opened + interval '2 days'")
    asyncio.run(opening())
    assert set(shuffler.keys.batches()) == everything, "somebody was opening a round"
    assert shuffler.handover.has(orphan)
    shuffler.release(TOMORROW + timedelta(days=3))
    assert set(shuffler.keys.batches()) == {known.batch, foreign}
    assert not shuffler.handover.has(orphan)
    assert shuffler.handover.has(known.batch)


def test_another_database_named_by_mistake_destroys_no_key(shuffler):
    shuffler.open_round()
    here = shuffler.keys.batches()
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("DELETE FROM croupier.batches")
    with pytest.raises(RolledBackError, match="is another one"):
        shuffler.release(TOMORROW + timedelta(days=30))
    Witness(shuffler.keys, plan=shuffler.plan.digest).path.unlink()
    shuffler.release(TOMORROW + timedelta(days=30))
    assert shuffler.keys.batches() == here


def test_two_jobs_do_not_release_at_once(shuffler):
    with (
        psycopg.connect(shuffler.database, autocommit=True) as connection,
        sole_releaser(connection, plan=shuffler.plan.digest),
        pytest.raises(BusyError),
    ):
        shuffler.release()


def test_a_file_that_was_signed_for_and_is_gone_stops_the_shredding(shuffler, monkeypatch):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    with monkeypatch.context() as patch:
        patch.setattr(Output, "publish", _die)
        with pytest.raises(KeyboardInterrupt):
            shuffler.release()
    (temporary,) = shuffler.out.iterdir()
    content = temporary.read_bytes()
    temporary.unlink()
    with pytest.raises(LostFileError):
        shuffler.release()
    assert shuffler.states() == ["released"]
    assert shuffler.tables()

    temporary.write_bytes(content)
    (settled,) = shuffler.release()
    assert settled.receipt
    shuffler.require_shredded()


def test_a_directory_shows_that_the_database_was_set_back(shuffler):
    """Also where the key directory was set back with it, as by a snapshot of the whole host."""
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    shuffler.release()
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("TRUNCATE croupier.receipts, croupier.batches")
    Witness(shuffler.keys, plan=shuffler.plan.digest).path.unlink()
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    with pytest.raises(RolledBackError, match=r"receipt 0, which .*out names"):
        shuffler.release()
    assert shuffler.states() == ["open"]
    assert not shuffler.receipts()
    assert not list(shuffler.out.glob(".*")), "nothing was written"


def test_others_may_read_what_is_published(shuffler):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    masked = os.umask(0o027)
    try:
        shuffler.release()
    finally:
        os.umask(masked)
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in shuffler.out.iterdir()}
    assert modes == {".parquet": 0o640, ".json": 0o640}


@pytest.mark.parametrize("sent", [MINIMUM - 1, MINIMUM])
def test_a_batch_whose_key_is_lost_is_held_with_the_reason(shuffler, sent):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(sent, epoch, key)[1])
    folder = shuffler.keys.path / "batches" / epoch.batch.hex()
    folder.rename(shuffler.out.with_name("moved"))
    (held,) = shuffler.release()
    assert held.people == sent
    assert f"Its key is not in {folder}. Put it back" in held.problem
    assert shuffler.states() == ["open"]
    shuffler.out.with_name("moved").rename(folder)
    (settled,) = shuffler.release()
    assert (settled.receipt is None) == (sent < MINIMUM)
    assert settled.problem is None


@pytest.mark.parametrize("sent", [MINIMUM - 1, MINIMUM])
def test_a_batch_whose_key_is_damaged_is_held_with_the_reason(shuffler, sent):
    """It opens, and is another key than clients sealed to."""
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(sent, epoch, key)[1])
    file = shuffler.keys.path / "batches" / epoch.batch.hex() / "outer.pem"
    whole = file.read_bytes()
    shuffler.keys.create_batch(bytes(16), plan=shuffler.plan.digest)
    file.write_bytes((file.parent.with_name("00" * 16) / "outer.pem").read_bytes())
    (held,) = shuffler.release()
    assert held.people == sent
    assert f"Its key is damaged in {file.parent}. Put back a copy" in held.problem
    assert shuffler.states() == ["open"], "intake was not interrupted"
    file.write_bytes(b"damaged")
    if sent < MINIMUM:
        (held,) = shuffler.release()
        assert held.problem == (
            "outer.pem does not open. Check the passphrase, or restore the file."
        )
    file.write_bytes(whole)
    (settled,) = shuffler.release()
    assert (settled.receipt is not None) == (sent == MINIMUM)


@pytest.mark.parametrize("younger", [timedelta(), timedelta(days=2, hours=12)])
def test_a_batch_whose_key_is_lost_is_disposed_of_when_old(shuffler, younger):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    shuffler.keys.destroy(epoch.batch)
    if younger:
        (held,) = shuffler.release(LONG_AFTER - younger)
        assert held.batch.state == "open", "the key may be put back"
        assert not shuffler.receipts()
    epoch, key = shuffler.open_round(1)
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    lost, later = shuffler.release(LONG_AFTER)
    assert lost.receipt.counts.explained == f"{MINIMUM} = {MINIMUM} disposed"
    assert later.receipt.event == "released"
    shuffler.require_shredded()


@pytest.mark.parametrize("ahead", ["now", "host"])
def test_a_clock_that_jumps_disposes_of_nothing(shuffler, ahead):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM - 1, epoch, key)[1])
    clocks = {"now": TOMORROW, "host": TOMORROW}
    wrong = clocks | {ahead: TOMORROW + timedelta(days=31)}
    orphan = os.urandom(16)
    shuffler.keys.create_batch(orphan, plan=shuffler.plan.digest)
    (held,) = shuffler.release(**wrong)
    assert "until they agree" in held.problem
    assert shuffler.states() == ["open"]
    assert set(shuffler.keys.batches()) == {epoch.batch, orphan}
    (held,) = shuffler.release(**clocks)
    assert held.problem is None


def test_a_round_that_the_database_dates_back_is_as_young_as_the_host_saw_it(shuffler):
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM - 1, epoch, key)[1])
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("UPDATE croupier.batches SET opened = opened - interval '31 days'")
    (held,) = shuffler.release()
    assert TOMORROW < held.until <= LONG_AFTER
    (settled,) = shuffler.release(LONG_AFTER)
    assert settled.receipt.event == "disposed"


def test_a_batch_whose_table_is_lost_is_disposed_of_when_old(shuffler):
    epoch, _ = shuffler.open_round()
    with psycopg.connect(shuffler.database) as connection:
        connection.execute(f"DROP TABLE croupier.env_{epoch.batch.hex()}".encode())
    (held,) = shuffler.release()
    assert held.people == 0
    (settled,) = shuffler.release(LONG_AFTER)
    assert (settled.receipt.event, settled.receipt.counts.received) == ("disposed", 0)
    shuffler.require_shredded()


def test_the_database_says_what_time_it_is(shuffler):
    """Hosts whose clocks differ would release or dispose of a round too early."""
    epoch, key = shuffler.open_round()
    shuffler.accept(epoch, sealed_reports(MINIMUM, epoch, key)[1])
    settings = {"plan": shuffler.plan, "storage": DirectoryStorage(shuffler.out), **shuffler.own}
    with psycopg.connect(shuffler.database, autocommit=True) as connection:
        (now,) = connection.execute("SELECT now()").fetchone()
        (held,) = Releaser(connection=connection, **settings).run()
        opened = held.batch.opened
        assert timedelta() <= now - opened < timedelta(minutes=1)
        assert opened.microsecond == 0
        assert held.until == opened + shuffler.plan.collection.every

        # A database whose clock is a day ahead: the only clock that is asked.
        connection.execute("CREATE SCHEMA ahead")
        connection.execute(
            "CREATE FUNCTION ahead.now() RETURNS timestamptz LANGUAGE sql "
            "AS $$ SELECT pg_catalog.now() + interval '1 day' $$"
        )
        connection.execute("SET search_path = ahead, pg_catalog")
        (settled,) = Releaser(connection=connection, **settings).run()
    assert settled.receipt.event == "released"


def test_groups_without_their_law_and_foreign_keys_are_refused(shuffler):
    for changes, problem in [
        ({"shuffling__groups": {"sha256": "0" * 64}}, "groups"),
        ({"shufflers__key": "00" * 32}, "is of another plan"),
    ]:
        plan = shuffler.plan.replace(**changes)
        with pytest.raises((ParameterError, UntrustedError), match=problem):
            Releaser(
                plan=plan, connection=None, **shuffler.own, storage=DirectoryStorage(shuffler.out)
            )


def test_what_a_relay_sends_twice_counts_once(shuffler):
    epoch, key = shuffler.open_round()
    inner, envelopes = sealed_reports(MINIMUM, epoch, key)
    shuffler.accept(epoch, envelopes + envelopes, tagged=False)
    (settled,) = shuffler.release()
    assert (
        settled.receipt.counts.explained
        == f"{2 * MINIMUM} = {MINIMUM} released + {MINIMUM} duplicate"
    )
    assert sorted(rows_in(shuffler.out / settled.receipt.file.name)) == sorted(inner)


def _die(*_):
    raise KeyboardInterrupt


def test_a_database_that_was_never_served_from_is_named_as_that(shuffler, make_database):
    with make_database() as empty, pytest.raises(UnpreparedError, match="--next-round"):
        list(
            release(
                empty, plan=shuffler.plan, **shuffler.own, storage=DirectoryStorage(shuffler.out)
            )
        )
