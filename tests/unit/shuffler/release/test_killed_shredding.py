"""A second shuffler that is killed while it destroys the keys of a batch which it has released."""

import os
import shutil

import psycopg
import pytest

from croupier.protocol.party_keys import FIRST_LIST_FILE
from croupier.protocol.receipt import Receipt
from croupier.shuffler.release import output
from croupier.shuffler.release.keys import ReleaseKeys
from tests.unit.chain import CrashError, collected, crash

STEPS = ("fsync", "unlink", "rmdir")


@pytest.fixture
def released(chain, monkeypatch):
    """A chain whose second shuffler died before it destroyed the keys, and the batch."""
    batch = collected(chain)
    with monkeypatch.context() as patch:
        patch.setattr(ReleaseKeys, "destroy", crash)
        with pytest.raises(CrashError):
            chain.release_second()
    assert chain.second.states() == ["released"]
    return chain, batch


def die_at(patch, number):
    """Die before or after the step of that number that changes files, while keys are destroyed."""
    met = iter(range(10**6))
    destroy = ReleaseKeys.destroy

    def dying(call):
        def step(*given, **options):
            if next(met) == number:
                raise CrashError
            result = call(*given, **options)
            if next(met) == number:
                raise CrashError
            return result

        return step

    def watched(keys, batch):
        with pytest.MonkeyPatch.context() as inside:
            for name in STEPS:
                inside.setattr(os, name, dying(getattr(os, name)))
            destroy(keys, batch)

    patch.setattr(ReleaseKeys, "destroy", watched)


def set_back(chain, kept):
    """Let the batch be released and not shredded again."""
    batches = chain.second.keys.path / "batches"
    shutil.rmtree(batches)
    shutil.copytree(kept, batches)
    with psycopg.connect(chain.second.database) as connection:
        connection.execute("UPDATE croupier.batches SET state = 'released'")


def test_the_next_run_destroys_the_keys_wherever_the_last_one_died(released, tmp_path, monkeypatch):
    chain, _ = released
    kept = tmp_path / "kept"
    shutil.copytree(chain.second.keys.path / "batches", kept)
    points = 0
    while True:
        set_back(chain, kept)
        with monkeypatch.context() as patch:
            die_at(patch, points)
            try:
                chain.release_second()
            except CrashError:
                points += 1
            else:
                break
        (outcome,) = chain.release_second()
        assert outcome.receipt.event == "released"
        assert chain.second.states() == ["shredded"]
        assert not chain.second.keys.batches()
    assert points > 20, "each file is overwritten and removed, and so is their folder"


def test_a_damaged_record_of_what_was_taken_over_is_not_read_once_it_is_published(released):
    chain, batch = released
    file = chain.second.keys.path / "batches" / batch.identity.hex() / "taken-over"
    file.write_bytes(b"\xff" * file.stat().st_size)
    (outcome,) = chain.release_second()
    assert outcome.receipt.event == "released"
    assert chain.second.states() == ["shredded"]


def test_a_run_that_died_while_it_published_shows_the_receipt_with_its_list(chain, monkeypatch):
    """The receipt comes after the list: if it is there, nothing is missing."""
    batch = collected(chain)
    with monkeypatch.context() as patch:
        patch.setattr(output, "_put_once", crash)
        with pytest.raises(CrashError):
            chain.release_second()
    assert (chain.second.out / FIRST_LIST_FILE).exists()
    chain.release_second()
    name = output.name_of(batch, "taken-over.json")
    shown = Receipt.read((chain.second.out / name).read_bytes())
    (own,) = chain.second.receipts()
    assert own.taken_over == shown.digest
