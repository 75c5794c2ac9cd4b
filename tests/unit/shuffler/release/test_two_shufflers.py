"""Two shufflers in a row: what passes, and what a crash leaves."""

import shutil
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.engines.base import engine
from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.party_keys import FIRST_LIST_FILE, Signers
from croupier.protocol.receipt import Receipt
from croupier.shuffler.database.store import Store
from croupier.shuffler.release import release as releasing
from croupier.shuffler.release.noise import Noise
from croupier.shuffler.release.object_storage import open_storage, read_storage
from croupier.shuffler.release.output import name_of
from croupier.shuffler.witness import RolledBackError
from tests.unit.chain import SENT, CrashError, collected, crash

LATE = datetime.now(UTC) + timedelta(days=30)


def receipt_of(side):
    (path,) = side.out.glob("*.receipt.json")
    return Receipt.read(path.read_bytes())


def drawn(chain, side, batch, hop):
    """The dummies that a shuffler draws for a batch, before its secret is destroyed."""
    secret = side.keys.noise_secret(batch.identity)
    return Noise(chain.plan, hop, secret).counts(batch.round_number)


def test_every_report_and_every_dummy_arrives_once(chain):
    batch = chain.open_round()
    chain.send(batch, SENT)
    dummies = drawn(chain, chain.first, batch, 0) + drawn(chain, chain.second, batch, 1)
    chain.release_first()
    (outcome,) = [each for each in chain.release_second() if each.receipt]
    assert outcome.receipt.counts.released == len(SENT) + dummies.sum()
    assert chain.counts().tolist() == (np.bincount(SENT, minlength=4) + dummies).tolist()
    first = receipt_of(chain.first)
    assert outcome.receipt.taken_over == first.digest
    assert outcome.receipt.counts.received == first.counts.released
    assert first.counts.accepted == len(SENT)
    name = name_of(batch, "taken-over.json")
    assert Receipt.read((chain.second.out / name).read_bytes()) == first
    assert (chain.second.out / FIRST_LIST_FILE).exists()


def test_all_secrets_are_destroyed_and_one_round_is_ahead(chain):
    collected(chain)
    chain.release_second()
    chain.first.require_shredded()
    assert chain.second.states() == ["shredded"]
    chain.open_round()
    chain.open_round()
    assert chain.first.states() == ["shredded", "open"], "one round at a time takes reports"
    assert chain.second.states() == ["shredded", "open", "open"], "and the next one is prepared"


def test_rows_have_one_length_and_tell_nothing_of_their_origin(chain):
    collected(chain)
    chain.release_second()
    (handed,), (released,) = (
        list(chain.rows(side).values()) for side in (chain.first, chain.second)
    )
    assert {len(row) for row in handed} == {32 + 48 + 48}
    assert {len(row) for row in released} == {32 + 48}


def test_dummies_of_the_first_open_like_reports_at_the_second(chain):
    """No later party can check anything that a dummy lacks."""
    collected(chain)
    chain.release_second()
    counts = receipt_of(chain.second).counts
    assert counts.cannot_open == counts.wrong_length == counts.duplicate == 0


@pytest.mark.parametrize("name", ["duckdb"])
def test_an_engine_releases_the_same_counts(chain, tmp_path, name):
    batch = chain.open_round()
    chain.send(batch, SENT)
    dummies = drawn(chain, chain.first, batch, 0) + drawn(chain, chain.second, batch, 1)
    with engine(name) as runner:
        chain.release_first(engine=runner, scratch=tmp_path)
        chain.release_second(engine=runner, scratch=tmp_path)
    assert chain.counts().tolist() == (np.bincount(SENT, minlength=4) + dummies).tolist()
    assert (
        receipt_of(chain.first).counts.added
        == dummies.sum() - receipt_of(chain.second).counts.added
    )


def test_a_batch_that_the_first_disposed_of_is_disposed_of(chain):
    batch = chain.open_round()
    chain.send(batch, SENT[:2])
    chain.release_first(now=LATE)
    (outcome,) = [each for each in chain.release_second() if each.receipt]
    assert outcome.receipt.event == "disposed"
    assert outcome.receipt.counts.received == 0
    assert outcome.reason == "The first shuffler disposed of it."


def test_a_batch_waits_for_its_hand_over_as_long_as_it_takes(chain):
    """Nothing is kept of it but a key, and the first shuffler may be collecting for it."""
    chain.open_round()
    (outcome,) = chain.release_second(now=LATE)
    assert (outcome.receipt, outcome.until, outcome.problem) == (None, None, None)


def test_a_batch_that_the_first_went_past_is_disposed_of(chain):
    chain.open_second()
    chain.open_second()
    later = [each for each in chain.offered() if each.opening.round == 1]
    batch = chain.opened_at_first(offered=later)
    assert batch.round_number == 1
    chain.send(batch, SENT)
    chain.release_first()
    outcomes = chain.release_second()
    events = {each.batch.round_number: each.receipt.event for each in outcomes}
    assert events == {0: "disposed", 1: "released"}
    skipped = "The first shuffler went on to a later round without it."
    assert [each.reason for each in outcomes] == [skipped, None]


def test_a_late_hand_over_is_released(chain):
    collected(chain)
    outcomes = chain.release_second(now=LATE)
    assert "released" in {outcome.receipt.event for outcome in outcomes}


def test_the_first_waits_for_the_second_to_open_a_round(chain):
    with pytest.raises(ParameterError, match="second shuffler's opening of round 0"):
        chain.open_at(chain.first, offered=[])


def test_both_open_for_one_key_of_the_analyzer(chain):
    chain.open_second()
    chain.analyzer = X25519PrivateKey.generate()
    with pytest.raises(ParameterError, match="second shuffler opened the round for"):
        chain.open_at(chain.first, offered=chain.offered())


@pytest.mark.parametrize("side", ["first", "second"])
@pytest.mark.parametrize("kills", [30, pytest.param(1000, marks=pytest.mark.proof)])
def test_a_killed_release_adds_the_same_dummies(chain, monkeypatch, side, kills):
    """Kill and retry does not select the noise: many drafts, one number of dummies.

    The draft is dropped before it is signed, as a kill would drop it.
    """
    batch = collected(chain) if side == "second" else chain.open_round()
    if side == "first":
        chain.send(batch, SENT)
    sizes = []

    def draft(_self, _batch, counts, _file):
        sizes.append((counts.added, counts.released))
        raise CrashError

    monkeypatch.setattr(releasing.Releaser, "_sign", draft)
    run = chain.release_first if side == "first" else chain.release_second
    for _ in range(kills):
        with pytest.raises(CrashError):
            run()
    assert len(set(sizes)) == 1


def test_a_thousand_draws_from_one_secret_are_one(chain):
    noise = Noise(chain.plan, 0, bytes(range(32)))
    first = noise.counts(0)
    assert all((noise.counts(0) == first).all() for _ in range(1000))
    others = {tuple(Noise(chain.plan, 0, bytes([n] * 32)).counts(0)) for n in range(200)}
    assert len(others) > 10, "another secret draws anew"


def test_a_set_back_database_releases_nothing_again(chain):
    collected(chain)
    with chain.second.copied() as copy:
        chain.release_second()
        chain.second.database = copy
        with pytest.raises(RolledBackError):
            chain.release_second()


def test_a_lost_secret_of_dummies_is_never_replaced(chain):
    """Without its secret the batch is held, and disposed of in time: nothing is drawn anew."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    (chain.first.keys.path / "batches" / batch.identity.hex() / "noise.key").unlink()
    (outcome,) = chain.release_first()
    assert outcome.receipt is None
    assert outcome.incident == "batch-key"
    (outcome,) = chain.release_first(now=LATE)
    assert outcome.receipt.event == "disposed"
    assert "key was gone" in outcome.reason


def test_a_share_of_the_reports_is_kept_and_not_told(make_chain):
    """The receipt says how many dummies less reports left out, and neither number alone."""
    chain = make_chain(keep=0.5, population={"enrolled": 1000}, protections={"minimum_batch": 5})
    batch = chain.open_round()
    chain.send(batch, [0] * 400)
    dummies = drawn(chain, chain.first, batch, 0)
    chain.release_first()
    counts = receipt_of(chain.first).counts
    assert counts.accepted == 400
    kept = counts.released - dummies.sum()
    assert 100 < kept < 300, "half of them, but for a chance below 1e-20"
    assert counts.added == kept - 400 + dummies.sum()
    assert "sample" not in receipt_of(chain.first).text


def test_the_same_reports_are_kept_when_a_release_is_repeated(make_chain):
    chain = make_chain(keep=0.5)
    noise = Noise(chain.plan, 0, bytes(32))
    rows = np.arange(64 * 128, dtype=np.uint32).view(np.uint8).reshape(-1, 128)
    kept = noise.kept(rows)
    assert 0 < len(kept) < len(rows)
    assert (noise.kept(rows) == kept).all()
    assert len(noise.kept(rows[::-1])) == len(kept), "whatever the order"


def test_documents_of_one_shuffler_do_not_pass_for_the_other(chain):
    with pytest.raises(UntrustedError):
        Signers.of(chain.plan, chain.second.listed, 0)
    with pytest.raises(UntrustedError):
        Signers.of(chain.plan, chain.first.listed, 1)


def test_a_release_that_died_after_signing_publishes_both_receipts(chain, monkeypatch):
    """Even if the first shuffler no longer shows anything: its receipt was kept."""
    collected(chain)
    monkeypatch.setattr(releasing.Output, "publish_taken_over", crash)
    with pytest.raises(CrashError):
        chain.release_second()
    monkeypatch.undo()
    shutil.rmtree(chain.first.out)
    chain.first.out.mkdir()
    chain.release_second()
    assert len(list(chain.second.out.glob("*.taken-over.json"))) == 1
    assert (chain.second.out / FIRST_LIST_FILE).exists()
    assert receipt_of(chain.second).event == "released"


def test_nothing_of_the_database_tells_reports_from_dummies(chain):
    """The second shuffler stores no rows at all."""
    collected(chain)
    chain.release_second()
    with psycopg.connect(chain.second.database) as connection:
        row = connection.execute("SELECT count(*) FROM croupier.batches").fetchone()
    assert row == (1,)
    assert not chain.second.tables()


def test_both_publish_into_an_object_store(chain, prefix):
    """The first one's batch is copied to a private file and compared before it is opened."""
    home = chain.second.keys.path
    place = open_storage(f"{prefix}/first", plan=chain.plan.digest, home=chain.first.keys.path)
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first(storage=place)
    outcomes = chain.release_second(storage=read_storage(f"{prefix}/first", home))
    assert [each.receipt.event for each in outcomes] == ["released"]
    assert chain.counts().sum() == outcomes[0].receipt.counts.released


def test_a_round_that_could_not_be_opened_is_opened_by_the_next_run(chain, monkeypatch):
    """The name of a batch is the second shuffler's, so that the next attempt has the same."""
    monkeypatch.setattr(Store, "open_batch", crash)
    with pytest.raises(CrashError):
        chain.open_second()
    monkeypatch.undo()
    chain.open_second()
    monkeypatch.setattr(Store, "open_batch", crash)
    with pytest.raises(CrashError):
        chain.opened_at_first(offered=chain.offered())
    monkeypatch.undo()
    batch = chain.opened_at_first(offered=chain.offered())
    chain.send(batch, SENT)
    chain.release_first()
    assert "released" in {each.receipt.event for each in chain.release_second() if each.receipt}


def test_a_round_that_another_job_has_opened_is_returned(chain):
    first = chain.open_round()
    again = chain.opened_at_first(offered=chain.offered())
    assert again.identity == first.identity
    assert chain.first.keys.has_batch(first.identity, noise=True)
