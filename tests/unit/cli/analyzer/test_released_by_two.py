"""Batches and receipts of two shufflers, as the analyzer reads them from either place."""

import pytest

from croupier.analyzer.released import verified_batches
from croupier.cli.analyzer.fetched import BATCH, fetched
from croupier.errors import ParameterError
from croupier.protocol.object_store import ObjectStore
from croupier.protocol.party_keys import FIRST_LIST_FILE
from croupier.protocol.receipt import ReceiptError
from tests.conftest import fresh_database
from tests.unit.chain import Chain

SENT = [0, 0, 0, 1, 1, 2, 0, 3]


@pytest.fixture
def chain(database, tmp_path):
    """Two shufflers that have released a batch."""
    with fresh_database() as other:
        made = Chain(database, other, tmp_path)
        made.send(made.open_round(), SENT)
        made.release_first()
        made.release_second()
        yield made


@pytest.fixture
def verify(chain, croupier, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(chain.plan.to_toml())
    return lambda *files: croupier("receipt", "verify", *files, "--plan", plan)


def test_a_batch_in_an_object_store_is_checked_with_all_that_it_needs(chain, prefix, verify):
    store = ObjectStore.at(prefix)
    for path in chain.second.out.iterdir():
        assert store.upload(path.name, path)
    with fetched([prefix], BATCH) as files:
        (batch,) = verified_batches(chain.plan, files)
    assert batch.taken_over.digest == batch.receipt.taken_over
    assert "VALID  1 signed, chained receipts, number 0\n" in verify(prefix).out
    (name,) = (path.name for path in chain.second.out.glob("*.taken-over.json"))
    for named in (name, "*.taken-over.json"):
        said = verify(f"{prefix}/{named}")
        assert said.code == 0, said.err
        assert "VALID  1 signed receipts of the first shuffler, number 0\n" in said.out
    said = verify(f"{prefix}/2020-*.taken-over.json")
    assert said.code == 2
    assert "name an object that ends in .taken-over.json" in said.err


def test_a_missing_list_of_the_first_shuffler_is_named(chain, verify):
    (chain.second.out / FIRST_LIST_FILE).unlink()
    with pytest.raises(ReceiptError, match=rf"put {FIRST_LIST_FILE}.* beside it"):
        verified_batches(chain.plan, [*chain.second.out.glob("*.parquet")])
    said = verify(*chain.second.out.glob("*.taken-over.json"))
    assert said.code == 1
    assert f"put {FIRST_LIST_FILE}" in said.err


def test_a_batch_of_the_first_shuffler_is_refused_as_that(chain):
    with pytest.raises(ParameterError, match=r"be released by the second shuffler.*second one pub"):
        verified_batches(chain.plan, [*chain.first.out.glob("*.parquet")])
