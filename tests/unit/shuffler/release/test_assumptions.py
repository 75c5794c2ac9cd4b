"""Rules on which the theorem of two shufflers rests: with each, an attack fails that works without.

Every test plays an attack twice: against the program as it is, and against a copy in which one rule
is switched off. The second part shows that the first one could fail.
"""

import os
import shutil

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from scipy import stats

from croupier.plan import shufflers_fit
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan
from croupier.protocol import wire
from croupier.protocol.unsealing import open_inner
from croupier.protocol.wire import Seal, encode_report, seal_report
from croupier.shuffler.release import noise, sealed_batch
from croupier.shuffler.release.keys import ReleaseKeys, TakenOver
from croupier.shuffler.release.noise import Noise
from croupier.shuffler.release.predecessor import Predecessor
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.witness import RolledBackError, Witness
from tests.unit.chain import CrashError, crash, read_rows, sign_another

SENT = [0, 1, 2, 3, 0, 1, 2, 3]
MANY = {"epsilon": 0.1, "delta": 0.01}
"""A table of many dummies, so that their places can be tested."""


def off(monkeypatch, owner, name, replacement):
    """Switch a rule off."""
    monkeypatch.setattr(owner, name, replacement)


# A4: one list of keys for everybody


def split_key(chain, batch):
    """Seal one person's report to another key of the analyzer; return whether it got through."""
    own = chain.epochs[batch.round_number]
    spy = X25519PrivateKey.generate()
    shown = type(own)(**{**own.__dict__, "analyzer": spy.public_key().public_bytes_raw()})
    key = chain.first.keys.outer_key(batch.identity).public_key()
    report = encode_report(chain.plan, 3, round_number=0)
    marked = seal_report(report, key=key, epoch=shown)
    chain.send(batch, SENT)
    assert chain.first.accept(own, [marked]) == "open"
    chain.release_first()
    chain.release_second()
    (rows,) = chain.rows(chain.second).values()
    return any(_opens(row, spy, shown) for row in rows)


def _opens(row, key, epoch):
    try:
        open_inner(row, key=key, epoch=epoch)
    except Exception:  # noqa: BLE001 - any failure means that it does not open
        return False
    return True


def test_a_split_key_downstream_is_dropped(chain):
    assert not split_key(chain, chain.open_round())


def test_without_later_keys_in_the_seals_one_person_is_singled_out(chain, monkeypatch):
    def info(epoch, seal, key):
        fields = [b"croupier", seal.encode(), epoch.batch, key]
        return b"".join(len(field).to_bytes(2) + field for field in fields)

    off(monkeypatch, wire, "_info", info)
    assert split_key(chain, chain.open_round())


# A5: exactly once


def drafts(chain, monkeypatch, number=40):
    """Kill a release before it signs, again and again; return the sizes of the drafts."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    sizes = []

    def draft(_self, _batch, counts, _file):
        sizes.append(counts.released)
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(Releaser, "_sign", draft)
        for _ in range(number):
            with pytest.raises(CrashError):
                chain.release_first()
    return sizes


def test_kill_and_retry_does_not_select_the_noise(chain, monkeypatch):
    assert len(set(drafts(chain, monkeypatch))) == 1


def test_with_fresh_draws_kill_and_retry_selects_the_noise(chain, monkeypatch):
    as_drawn = Noise.counts

    def fresh(self, round_number):
        return as_drawn(Noise(self.plan, self.hop, os.urandom(32)), round_number)

    off(monkeypatch, Noise, "counts", fresh)
    off(monkeypatch, Noise, "sealed", _sealed_as_counted)
    sizes = drafts(chain, monkeypatch)
    assert min(sizes) < np.mean(sizes) < max(sizes), "whoever kills can wait for a small one"


def _sealed_as_counted(self, epoch, *, processes=1):  # noqa: ARG001 - as the method
    counts = self.counts(epoch.round_number)
    reports = np.repeat(np.arange(len(counts)), counts)
    encoded = [encode_report(self.plan, int(r), round_number=epoch.round_number) for r in reports]
    yield noise._SealAfter(epoch, self.hop)(encoded)  # noqa: SLF001 - the same seals


def two_hand_overs(chain, monkeypatch):
    """Kill the second shuffler after it took over; show it another batch; say what it releases."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    with monkeypatch.context() as patch:
        patch.setattr(Releaser, "_sign", crash)
        with pytest.raises(CrashError):
            chain.release_second()
    sign_another(chain, batch, lambda rows: rows[:-1])
    return [each.receipt.event for each in chain.release_second() if each.receipt]


def test_a_second_hand_over_is_refused(chain, monkeypatch):
    assert two_hand_overs(chain, monkeypatch) == []


def test_without_freezing_a_second_hand_over_is_released(chain, monkeypatch):
    as_read = Predecessor.receipt
    shown = {}

    def latest(self, batch):
        receipt = as_read(self, batch)
        shown[batch] = None if receipt is None else TakenOver(receipt=receipt, keys=self.keys)
        return receipt

    def now(_, batch):
        latest(chain.predecessor(), batch)
        return shown[batch]

    off(monkeypatch, ReleaseKeys, "taken_over", now)
    off(monkeypatch, ReleaseKeys, "take_over", lambda *_: None)
    assert two_hand_overs(chain, monkeypatch) == ["released"]


def released_twice(chain):
    """Set the second database back to before its release, and release elsewhere; count files."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    keys = chain.second.keys.path
    kept = keys.with_name("kept")
    shutil.copytree(keys / "batches", kept)
    elsewhere = chain.second.out.with_name("elsewhere")
    elsewhere.mkdir()
    with chain.second.copied() as copy:
        chain.release_second()
        shutil.copytree(kept, keys / "batches", dirs_exist_ok=True)
        chain.second.database = copy
        chain.release_second(output=elsewhere)
    return len([*chain.second.out.glob("*.parquet"), *elsewhere.glob("*.parquet")])


def test_a_database_that_is_set_back_releases_nothing_twice(chain):
    with pytest.raises(RolledBackError):
        released_twice(chain)


def test_without_the_witness_a_batch_has_two_versions(chain, monkeypatch):
    """Even then the noise is the same: it belongs to the batch's key."""
    off(monkeypatch, Witness, "follow_connection", lambda *_: None)
    assert released_twice(chain) == 2
    elsewhere = chain.second.out.with_name("elsewhere")
    versions = [
        read_rows(path) for d in (chain.second.out, elsewhere) for path in d.glob("*.parquet")
    ]
    assert len(versions[0]) == len(versions[1])


# A6: every report that can be sent has dummies


NULLS = {
    "schema": 2,
    "questions": [{"mechanism": "plain", "k": 3}],
    "population": {"enrolled": 100},
    "participation": {"model": "multinomial", "weights": 2},
    "protections": {"minimum_batch": 50},
    "shufflers": [{"dummies": {"epsilon": 1.0, "delta": 1e-8}}],
}


def test_nulls_without_dummies_are_refused():
    with pytest.raises(PlanError, match="who sends a null is not hidden"):
        Plan.from_document(NULLS)


def test_without_that_rule_no_dummy_is_a_null(monkeypatch):
    """The number of nulls that are released would be the number of people who sent one."""
    off(monkeypatch, shufflers_fit, "_require_one_crowd", lambda *_, **__: None)
    off(monkeypatch, shufflers_fit, "_require_small_alphabet", lambda *_: None)
    plan = Plan.from_document(NULLS)
    kinds = range(len(Noise(plan, 0, bytes(32)).counts(0)))
    made = {encode_report(plan, report, round_number=0) for report in kinds}
    assert len(made) == 3
    assert encode_report(plan, None, round_number=0) not in made


# A7: dummies are like reports, anywhere in the batch


def place_of_dummies(chain):
    """Return the chance that an order as unusual as that of the dummies is uniform."""
    batch = chain.open_round()
    envelopes = chain.send(batch, SENT * 20)
    assert len({len(envelope) for envelope in envelopes}) == 1
    key, epoch = chain.first.keys.outer_key(batch.identity), chain.epochs[0]
    opened = {_outer(envelope, key, epoch) for envelope in envelopes}
    chain.release_first()
    (rows,) = chain.rows(chain.first).values()
    mine = np.array([row in opened for row in rows])
    assert mine.sum() == len(envelopes)
    return stats.mannwhitneyu(np.flatnonzero(mine), np.flatnonzero(~mine)).pvalue


def _outer(envelope, key, epoch):
    from croupier.protocol.unsealing import open_outer  # noqa: PLC0415 - only here

    return open_outer(envelope, key=key, epoch=epoch).inner


def test_dummies_lie_anywhere(make_chain, alarm):
    assert place_of_dummies(make_chain(dummies=MANY)) > alarm


def test_without_mixing_the_place_tells_dummies(make_chain, monkeypatch, alarm):
    off(monkeypatch, sealed_batch, "mixed", lambda rows: rows)
    assert place_of_dummies(make_chain(dummies=MANY)) < alarm


def lengths_of_rows(chain):
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    (rows,) = chain.rows(chain.first).values()
    return {len(row) for row in rows}


def test_dummies_have_the_length_of_reports(chain):
    assert lengths_of_rows(chain) == {chain.plan.protections.report_size + 2 * 48}


def refused_at_the_second(chain):
    """Count the rows of the first shuffler that the second one cannot open."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    (outcome,) = [each for each in chain.release_second() if each.receipt]
    return outcome.receipt.counts.cannot_open


def test_no_later_party_tells_dummies_from_reports(chain):
    assert refused_at_the_second(chain) == 0


def test_dummies_bound_to_another_list_stand_out(chain, monkeypatch):
    """If dummies were sealed with anything that reports are not, the next party would see them."""
    as_sealed = noise.seal_after

    def other(report, *, hop, epoch):
        changed = type(epoch)(**{**epoch.__dict__, "round_number": epoch.round_number + 1})
        return as_sealed(report, hop=hop, epoch=changed)

    off(monkeypatch, noise, "seal_after", other)
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    (outcome,) = [each for each in chain.release_second() if each.receipt]
    assert outcome.receipt.counts.cannot_open > 0


def test_the_second_layer_holds_nothing_but_the_inner_ciphertext(chain):
    batch = chain.open_round()
    epoch = chain.epochs[batch.round_number]
    assert epoch.length(Seal.SECOND) == epoch.length(Seal.INNER) + 48


def test_storage_is_only_read_by_the_second(chain):
    """The second shuffler writes nothing into the first one's place."""
    batch = chain.open_round()
    chain.send(batch, SENT)
    chain.release_first()
    before = {path.name: path.read_bytes() for path in chain.first.out.iterdir()}
    chain.release_second(storage=DirectoryStorage(chain.first.out))
    assert {path.name: path.read_bytes() for path in chain.first.out.iterdir()} == before
