"""Each of two shufflers compares its own batches with the receipts that the other publishes."""

import psycopg
import pytest

from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.release.run import in_vain
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.release.successor import FirstReleaser, Successor
from tests.unit.chain import SENT, collected
from tests.unit.shuffler.release.test_two_shufflers import LATE


def successor(chain):
    """The second shuffler's output, as the first one reads it."""
    return Successor(chain.plan, DirectoryStorage(chain.second.out))


def release_first(chain, **settings):
    """A run of the first shuffler that sees the second one's receipts."""
    return chain.first.release(job=FirstReleaser, second=successor(chain), **settings)


@pytest.fixture
def lost(chain):
    """A batch of the first shuffler, whose round the second one has lost with its database."""
    with chain.second.copied() as older:
        batch = chain.open_round()
        chain.send(batch, SENT)
        chain.second.database = older
        assert batch.round_number in chain.second.recover().recovery.lost
        yield batch


def test_a_batch_that_is_collected_and_has_a_receipt_of_the_second(chain):
    """As a first shuffler sees it whose database and witness are older copies."""
    batch = collected(chain)
    assert successor(chain).given_up(batch) is None
    chain.release_second()
    said = successor(chain).given_up(batch)
    assert "Round 0 is open here, but the second shuffler has released its batch" in said
    assert successor(chain).given_up(chain.open_round()) is None


def test_a_round_that_the_second_lost_is_held_and_then_disposed_of(chain, lost):
    for moment in (lost.opened, None):
        (held,) = release_first(chain, now=moment)
        assert held.receipt is None
        assert held.incident == "database-set-back"
        assert "the second shuffler has signed that it lost the round" in held.problem
    assert not list(chain.first.out.glob("*.parquet"))
    (disposed,) = release_first(chain, now=held.until)
    assert disposed.receipt.counts.disposed == len(SENT)
    assert disposed.reason == held.problem


def test_a_batch_that_the_second_disposed_of_is_held(chain, monkeypatch):
    batch = chain.open_round()
    chain.send(batch, SENT)
    monkeypatch.setattr("croupier.shuffler.release.predecessor.Predecessor.given_up", lambda *_: "")
    chain.release_second()
    (held,) = release_first(chain)
    assert "the second shuffler has disposed of its batch" in held.problem
    assert chain.first.states() == ["open"]


def test_nothing_follows_from_receipts_of_the_second_that_cannot_be_believed(chain, lost):
    (path,) = chain.second.out.glob("*.receipt.json")
    path.write_text("{}")
    with pytest.raises(ReceiptError):
        successor(chain).given_up(lost)
    (released,) = release_first(chain)
    assert released.receipt.event == "released"


def test_a_batch_that_is_handed_over_and_was_lost(chain, lost):
    chain.release_first()
    assert in_vain(chain.second.database, chain.plan, chain.predecessor()) == [lost.round_number]


def test_duplicates_that_the_second_dropped(chain):
    collected(chain)
    chain.release_second()
    (path,) = chain.second.out.glob("*.receipt.json")
    receipt = Receipt.read(path.read_bytes())
    counts = {"duplicate": 2, "received": receipt.counts.received + 2}
    changed = receipt.model_copy(update={"counts": receipt.counts.model_copy(update=counts)})
    key = chain.second.keys.signer(chain.second.listed.release_key(0))
    path.write_text(changed.signed(key).text)
    (warning,) = successor(chain).warnings()
    assert "dropped 2 duplicates of round 0" in warning


def test_a_batch_that_is_handed_over_and_was_disposed_of(chain):
    """It is told until another batch is taken over."""
    collected(chain)
    assert in_vain(chain.second.database, chain.plan, chain.predecessor()) == []
    (path,) = chain.first.out.glob("*.parquet")
    data = path.read_bytes()
    path.unlink()
    (held,) = chain.release_second(now=LATE)
    chain.release_second(now=held.until)
    path.write_bytes(data)
    assert chain.release_second() == []
    assert in_vain(chain.second.database, chain.plan, chain.predecessor()) == [0]
    collected(chain)
    chain.release_second()
    assert in_vain(chain.second.database, chain.plan, chain.predecessor()) == []


def test_the_last_batch_that_was_taken_over_is_not_one_that_was_disposed_of(chain):
    def last(plan=chain.plan.digest):
        with psycopg.connect(chain.second.database) as connection:
            return states.last_taken_over(connection, plan=plan)

    assert last() is None
    collected(chain)
    chain.release_second()
    collected(chain)
    (released,) = chain.release_second()
    assert last() == released.receipt
    batch = chain.open_round()
    chain.send(batch, SENT[:2])
    chain.release_first(now=LATE)
    (disposed,) = chain.release_second()
    assert disposed.receipt.event == "disposed"
    assert last() == released.receipt
    assert last("0" * 64) is None
