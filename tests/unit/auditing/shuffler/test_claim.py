"""A real release passes; shufflers that lose, double, unveil or remember are caught."""

import asyncio
import os
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.auditing.shuffler.claim import audit_shuffler
from croupier.auditing.shuffler.sent import Sent, read_rows, seal_test_reports
from croupier.errors import ParameterError, UnreadableFileError
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import COLUMN
from croupier.protocol.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.protocol.wire import Epoch, encode_report
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.tags import TAG_BYTES
from tests.unit.parties import House

REPORTS = 1000
MINIMUM = 500
BATCH = bytes(16)


ANALYZER = X25519PrivateKey.generate().public_key().public_bytes_raw()


def plan_of(public):
    return Plan.from_toml(f"""
        schema = 2
        randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = 1}}
        population.enrolled = 10_000
        protections.minimum_batch = {MINIMUM}
        shufflers = [{{key = "{public}"}}]
        """)


def sealed(plan, epoch, shuffler, count=REPORTS):
    """Test reports of everybody, sent one after the other."""
    reports = [encode_report(plan, None, round_number=0) for _ in range(count)]
    return seal_test_reports(
        reports,
        epoch=epoch,
        shuffler=shuffler,
        times=np.arange(count) / 10,
    )


@pytest.fixture
def released(database, tmp_path):
    """Test reports through a store and a release job: plan, what was sent, where it went."""
    house = House(tmp_path / "keys", b"a passphrase")
    plan, keys = plan_of(house.public), house.release
    own = {"keys": keys, "handover": house.handover, "shuffler": house.listed(plan)}

    async def send():
        store = await Store.connect(database)
        try:
            await store.migrate()
            batch = await open_round(plan, store=store, analyzer=ANALYZER, round_number=0, **own)
            epoch = Epoch.of(plan, round_number=0, batch=batch.identity, analyzer=ANALYZER)
            sent = sealed(plan, epoch, keys.outer_key(batch.identity).public_key())
            tagged = [os.urandom(TAG_BYTES) + row.tobytes() for row in sent.envelopes]
            for start in range(0, REPORTS, 100):
                piece = tagged[start : start + 100]
                assert await store.accept(epoch.batch, piece, tagged=True) == "open"
            return sent
        finally:
            await store.close()

    sent = asyncio.run(send())
    out = tmp_path / "out"
    out.mkdir()
    with psycopg.connect(database, autocommit=True) as connection:
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        releaser = Releaser(
            plan=plan,
            connection=connection,
            storage=DirectoryStorage(out),
            now=lambda: tomorrow,
            **own,
        )
        (settled,) = releaser.run()
    return plan, sent, out, settled.receipt


def violated(found):
    return {check.promise for check in found.checks if check.violated}


def test_a_real_release_passes(released):
    plan, sent, out, receipt = released
    batches = {receipt.batch: read_rows(out / receipt.file.name, COLUMN)}
    found = audit_shuffler(sent, batches, [receipt], plan=plan, false_alarm=1e-9)
    assert not found.refuted, violated(found)
    assert (found.sent, found.released) == (REPORTS, REPORTS)
    promises = {check.promise for check in found.checks}
    assert promises >= {"lost", "doubled", "minimum", "count", "ciphertext", "position"}
    kept = next(check for check in found.checks if "kept their place" in check.words)
    assert 1 < kept.found_from < 0.02 * REPORTS


@pytest.fixture(scope="module")
def setting():
    plan = plan_of("00" * 32)
    epoch = Epoch.of(plan, round_number=0, batch=BATCH, analyzer=ANALYZER)
    return plan, sealed(plan, epoch, X25519PrivateKey.generate().public_key(), REPORTS)


def order(count):
    return np.random.default_rng(Keystream().words(4)).permutation(count)


def audited(setting, rows, *, sent=None, event="released", signed_rows=None):
    plan, everything = setting
    file = ReleasedFile(name="batch.parquet", size=1, sha256="0" * 64)
    size = len(rows) if signed_rows is None else signed_rows
    counts = (
        Counts(received=size, released=size)
        if event == "released"
        else Counts(received=3, disposed=3)
    )
    receipt = Receipt(
        event=event,
        plan=plan.digest,
        round=0,
        batch=BATCH.hex(),
        number=0,
        previous=FIRST,
        counts=counts,
        file=file if event == "released" else None,
    )
    batches = {BATCH.hex(): rows} if event == "released" else {}
    return audit_shuffler(sent or everything, batches, [receipt], plan=plan, false_alarm=1e-9)


def test_an_honest_order_passes(setting):
    _, sent = setting
    assert not audited(setting, sent.inner[order(REPORTS)]).refuted


def test_one_dropped(setting):
    _, sent = setting
    found = audited(setting, sent.inner[order(REPORTS)][1:])
    assert violated(found) == {"lost"}


def test_one_doubled(setting):
    _, sent = setting
    places = order(REPORTS)
    found = audited(setting, sent.inner[np.append(places, places[5])])
    assert violated(found) == {"doubled"}


def test_bytes_unchanged(setting):
    _, sent = setting
    rows = sent.envelopes[order(REPORTS)]
    assert violated(audited(setting, rows)) == {"lost", "ciphertext"}


def test_some_bytes_unchanged(setting):
    """One row that carries a piece of its envelope along."""
    _, sent = setting
    rows = sent.inner[order(REPORTS)].copy()
    rows[7, 16:32] = sent.envelopes[3, 5:21]
    found = audited(setting, rows)
    assert violated(found) == {"lost", "ciphertext"}


def test_order_kept_for_two_in_a_hundred(setting):
    _, sent = setting
    places = np.arange(REPORTS)
    moved = order(REPORTS)[REPORTS // 50 :]
    places[np.sort(moved)] = moved
    found = audited(setting, sent.inner[places])
    assert violated(found) == {"position"}


def test_order_of_the_envelopes_bytes(setting):
    _, sent = setting
    by_bytes = sorted(range(REPORTS), key=lambda i: sent.envelopes[i].tobytes())
    assert "ciphertext" in violated(audited(setting, sent.inner[by_bytes]))


def test_order_of_times(setting):
    _, sent = setting
    times = order(REPORTS) / 7.0
    late = Sent(sent.envelopes, sent.inner, times, sent.batch)
    found = audited(setting, sent.inner[np.argsort(times)], sent=late)
    assert "timing" in violated(found)


def test_too_small_and_miscounted(setting):
    _, sent = setting
    small = Sent(sent.envelopes[:20], sent.inner[:20], sent.time[:20], sent.batch[:20])
    found = audited(setting, sent.inner[order(20)], sent=small, signed_rows=21)
    assert violated(found) == {"minimum", "count"}


def test_an_order_of_too_few_reports_is_said_not_to_be_looked_at(setting):
    _, sent = setting
    few = Sent(sent.envelopes[:5], sent.inner[:5], sent.time[:5], sent.batch[:5])
    found = audited(setting, sent.inner[order(REPORTS)], sent=few)
    assert not found.refuted
    assert not found.power
    assert "order is not tested: that takes 8 test reports" in found.notes[0]


def test_what_was_disposed_of_is_not_lost(setting):
    found = audited(setting, [], event="disposed")
    assert not found.refuted
    assert found.released == 0


def test_other_peoples_reports_are_not_foreign(setting):
    """Half of the batch is somebody else's."""
    _, sent = setting
    half = REPORTS // 2
    known = Sent(sent.envelopes[:half], sent.inner[:half], sent.time[:half], sent.batch[:half])
    assert not audited(setting, sent.inner[order(REPORTS)], sent=known).refuted


def receipts_of(plan, batches):
    """One receipt of release a batch, not chained: chains are checked before an audit."""
    file = ReleasedFile(name="batch.parquet", size=1, sha256="0" * 64)
    return [
        Receipt(
            event="released",
            plan=plan.digest,
            round=0,
            batch=name,
            number=number,
            previous=FIRST,
            counts=Counts(received=len(rows), released=len(rows)),
            file=file,
        )
        for number, (name, rows) in enumerate(batches.items())
    ]


def names(count):
    return [f"{number:032x}" for number in range(count)]


def test_equal_rows_of_two_batches_are_a_note(setting):
    """Somebody else sends the same inner ciphertexts into two batches."""
    plan, sent = setting
    other = np.frombuffer(os.urandom(20 * sent.inner.shape[1]), dtype=np.uint8).reshape(20, -1)
    one, two = names(2)
    halves = Sent(sent.envelopes, sent.inner, sent.time, (one,) * MINIMUM + (two,) * MINIMUM)
    batches = {
        name: np.concatenate([part, other])[order(MINIMUM + 20)]
        for name, part in ((one, sent.inner[:MINIMUM]), (two, sent.inner[MINIMUM:]))
    }
    found = audit_shuffler(halves, batches, receipts_of(plan, batches), plan=plan, false_alarm=1e-9)
    assert not found.refuted, violated(found)
    assert found.notes == ("20 rows are also in another batch: somebody sent them twice",)


def test_reports_of_a_batch_without_a_receipt_are_not_lost(setting):
    plan, sent = setting
    one, two = names(2)
    halves = Sent(sent.envelopes, sent.inner, sent.time, (one,) * MINIMUM + (two,) * MINIMUM)
    batches = {one: sent.inner[order(MINIMUM)]}
    found = audit_shuffler(halves, batches, receipts_of(plan, batches), plan=plan, false_alarm=1e-9)
    assert not found.refuted, violated(found)
    assert found.notes == ("500 reports wait for the receipt of their batch",)


def test_reports_that_were_sent_repeatedly_count_once(setting):
    _, sent = setting
    twice = np.repeat(np.arange(REPORTS), 2)
    times = np.arange(2 * REPORTS) / 10
    resent = Sent(sent.envelopes[twice], sent.inner[twice], times, sent.batch * 2)
    found = audited(setting, sent.inner[order(REPORTS)], sent=resent)
    assert not found.refuted, violated(found)
    assert found.sent == REPORTS
    assert violated(audited(setting, sent.inner[order(REPORTS)][1:], sent=resent)) == {"lost"}


@pytest.mark.parametrize(
    "shuffling",
    [
        f'{{order = "mallows", alpha = 1.0, groups = {{sha256 = "{"0" * 64}", sensitivity = 20}}}}',
        f'{{groups = {{sha256 = "{"0" * 64}"}}}}',
    ],
    ids=["mallows", "groups"],
)
def test_an_order_that_is_not_uniform_is_not_held_to_be(setting, shuffling):
    _, sent = setting
    plan = Plan.from_toml(f"""
        schema = 2
        randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = 1}}
        population.enrolled = 10_000
        protections.minimum_batch = {MINIMUM}
        shuffling = {shuffling}
        """)
    found = audited((plan, sent), sent.inner)
    assert not found.refuted, violated(found)
    assert "order is not tested" in found.notes[0]


@pytest.mark.parametrize("honest", [False, True])
def test_many_small_batches_in_the_order_of_sending(setting, honest):
    plan, sent = setting
    plan = plan.model_copy(
        update={"protections": plan.protections.model_copy(update={"minimum_batch": 10})}
    )
    batch = [name for name in names(100) for _ in range(10)]
    spread = Sent(sent.envelopes, sent.inner, sent.time, tuple(batch))
    batches = {}
    for number, name in enumerate(names(100)):
        part = sent.inner[10 * number : 10 * number + 10]
        batches[name] = part[order(10)] if honest else part
    found = audit_shuffler(spread, batches, receipts_of(plan, batches), plan=plan, false_alarm=1e-9)
    assert ("position" in violated(found)) is not honest
    assert found.refuted is not honest


def test_files_of_what_was_sent(setting, tmp_path):
    _, sent = setting
    sent.save(tmp_path / "sent.parquet")
    again = Sent.load(tmp_path / "sent.parquet")
    assert (again.inner == sent.inner).all()
    assert (again.envelopes == sent.envelopes).all()
    assert (again.time == sent.time).all()
    assert again.batch == sent.batch
    with pytest.raises(ParameterError, match="columns"):
        read_rows(tmp_path / "sent.parquet", "other")
    with pytest.raises(ParameterError, match="exist"):
        Sent.load(tmp_path / "nothing.parquet")
    with pytest.raises(ParameterError, match="one envelope"):
        Sent(sent.envelopes, sent.inner[1:], sent.time, sent.batch)


def test_a_file_with_a_spoiled_page_is_named_and_no_more(setting, tmp_path):
    """Arrow raises OSError for it, with text of its own."""
    _, sent = setting
    path = tmp_path / "sent.parquet"
    sent.save(path)
    data = bytearray(path.read_bytes())
    data[4:20] = b"\xff" * 16  # the header of the first page, after the magic number
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError, match=r"sent\.parquet cannot be read"):
        Sent.load(path)
