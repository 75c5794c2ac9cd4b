"""Each of two shufflers compares its own batches with the receipts that the other publishes."""

import psycopg

from croupier.protocol.receipt import Receipt
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.release.run import in_vain
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.release.successor import Successor
from tests.unit.shuffler.release.test_two_shufflers import LATE, SENT, collected


def seen(chain, batches):
    successor = Successor(chain.plan, DirectoryStorage(chain.second.out))
    return list(successor.warnings(batches))


def test_a_batch_that_is_collected_and_has_a_receipt_of_the_second(chain):
    """As a first shuffler sees it whose database and witness are older copies."""
    batch = collected(chain)
    assert seen(chain, [batch]) == []
    chain.release_second()
    (warning,) = seen(chain, [batch])
    assert "Round 0 is open here, but the second shuffler has released its batch" in warning
    assert seen(chain, [chain.open_round()]) == []


def test_duplicates_that_the_second_dropped(chain):
    collected(chain)
    chain.release_second()
    (path,) = chain.second.out.glob("*.receipt.json")
    receipt = Receipt.read(path.read_bytes())
    counts = {"duplicate": 2, "received": receipt.counts.received + 2}
    changed = receipt.model_copy(update={"counts": receipt.counts.model_copy(update=counts)})
    key = chain.second.keys.signer(chain.second.listed.release_key(0))
    path.write_text(changed.signed(key).text)
    (warning,) = seen(chain, [])
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
