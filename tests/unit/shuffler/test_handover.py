"""Tag keys go from release to intake and to nobody else, and are gone with their batch."""

import os

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.protocol.key_directory import DamagedKeyError, KeyFileError
from croupier.shuffler.handover import Handover, TagKey

BATCH, KEY = bytes(range(16)), os.urandom(32)


@pytest.fixture
def handover(tmp_path):
    return Handover(tmp_path / "keys" / "handover")


def handed(parties, batch=BATCH, signing_key=None):
    seal = parties.seal.public_key().public_bytes_raw().hex()
    return TagKey.make(
        parties.plan, batch=batch, key=KEY, seal=seal, signing_key=signing_key or parties.release
    )


def taken(handover, parties, *, key=None, batch=BATCH):
    return handover.take(batch, round_number=0, key=key or parties.seal, signers=parties.signers)


def test_what_is_put_is_taken(handover, parties):
    assert not handover.has(BATCH)
    handover.put(handed(parties))
    assert handover.has(BATCH)
    assert taken(handover, parties) == KEY
    assert KEY.hex().encode() not in handover.file(BATCH).read_bytes()


def test_nobody_else_opens_it(handover, parties):
    handover.put(handed(parties))
    with pytest.raises(KeyFileError, match="sealed to another key of intake"):
        taken(handover, parties, key=X25519PrivateKey.generate())


def test_what_release_did_not_sign_for_this_batch_is_refused(handover, parties, make_parties):
    for signer in (parties.intake, parties.analyzer, make_parties().release):
        handover.put(handed(parties, signing_key=signer))
        with pytest.raises(
            KeyFileError, match=r"\.tag is damaged, or is not signed by the shuffler's release key"
        ):
            taken(handover, parties)
    other = bytes(16)
    handover.put(handed(parties, batch=other))
    handover.file(other).rename(handover.file(BATCH))
    with pytest.raises(DamagedKeyError):
        taken(handover, parties)
    handover.put(handed(make_parties()))
    with pytest.raises(DamagedKeyError):
        taken(handover, parties)
    handover.put(handed(parties, signing_key=parties.shuffler))
    assert taken(handover, parties) == KEY, "the root may: it does when keys are migrated"


def test_a_missing_one_is_named(handover, parties):
    with pytest.raises(KeyFileError, match=r"\.tag is not there\. Put it back"):
        taken(handover, parties)


def test_one_that_cannot_be_read_is_named(handover, parties):
    handover.file(BATCH).mkdir(parents=True)
    with pytest.raises(KeyFileError, match=r"\.tag cannot be read \(Is a directory\)"):
        taken(handover, parties)


def test_it_is_overwritten_before_it_is_removed(handover, parties, monkeypatch):
    handover.put(handed(parties))
    whole = handover.file(BATCH).read_bytes()
    partial = handover.path / f".partial-{BATCH.hex()}.tag"
    partial.write_bytes(whole)
    left = []

    def watched(path):
        left.append(path.read_bytes())
        os.unlink(path)  # noqa: PTH108 - the method is replaced here

    monkeypatch.setattr("pathlib.Path.unlink", watched)
    for _ in range(2):
        handover.destroy(BATCH)
    assert len(left) == 2, "what a crash left, too"
    assert all(len(data) == len(whole) and data[:64] != whole[:64] for data in left)
    assert not list(handover.path.iterdir())
