"""Release into an object store, stopped at every step."""

import pyarrow.parquet
import pytest

from croupier.errors import ParameterError
from croupier.protocol.object_store import ObjectStore
from croupier.protocol.receipt import Receipt, require_chain
from croupier.shuffler.release import object_storage
from croupier.shuffler.release.object_storage import (
    ObjectStorage,
    UnconditionalStoreError,
    open_storage,
)
from croupier.shuffler.release.output import LostFileError, Output
from croupier.shuffler.release.storage import TakenError
from croupier.shuffler.witness import RolledBackError, Witness
from tests.unit.shuffler.release.test_release import MINIMUM, sealed_reports

STEPS = ("create", "replace", "upload", "digest", "read", "sizes")


class Stop(BaseException):
    """The moment at which a job is killed."""


class Fragile(ObjectStore):
    """Objects, until the n-th request: before it is sent, or after it was answered."""

    def stop_at(self, step):
        object.__setattr__(self, "left", step)
        return self

    def _count(self):
        object.__setattr__(self, "left", self.left - 1)
        if self.left < 0:
            raise Stop


def _fragile(name):
    def call(self, *arguments, **options):
        self._count()
        result = getattr(ObjectStore, name)(self, *arguments, **options)
        self._count()
        return result

    return call


for step in STEPS:
    setattr(Fragile, step, _fragile(step))


class Place:
    """The prefix of a shuffler's plan, and the keys beside which files wait."""

    def __init__(self, shuffler, address):
        self.shuffler, self.address, self.store = shuffler, address, ObjectStore.at(address)

    def open(self):
        home, plan = self.shuffler.keys.path, self.shuffler.plan.digest
        return open_storage(self.address, plan=plan, home=home)

    def fill(self, number=0, count=MINIMUM):
        epoch, key = self.shuffler.open_round(number)
        inner, envelopes = sealed_reports(count, epoch, key)
        self.shuffler.accept(epoch, envelopes)
        return inner

    def release(self, storage=None):
        return self.shuffler.release(storage=storage or self.open())

    def stop_before_publishing(self, monkeypatch):
        """Release until the receipt is signed."""
        with monkeypatch.context() as patch:
            patch.setattr(Output, "publish", _stop)
            with pytest.raises(Stop):
                self.release()

    def names(self):
        return sorted(self.store.sizes())

    def waiting(self):
        return [path.name for path in self.open().unpublished.iterdir()]

    def rows(self, file, folder):
        folder.mkdir(exist_ok=True)
        self.store.download(file.name, folder / file.name, size=file.size)
        assert file.is_at(folder / file.name)
        return pyarrow.parquet.read_table(folder / file.name)["inner"].to_pylist()


@pytest.fixture
def place(shuffler, prefix):
    return Place(shuffler, prefix)


def test_a_batch_is_published_with_its_receipt_and_the_list_of_keys(place, tmp_path):
    inner = place.fill()
    (settled,) = place.release()
    stem = settled.receipt.file.name.removesuffix(".parquet")
    expected = [f"{stem}.parquet", f"{stem}.receipt.json", "croupier-plan", "shuffler-keys.json"]
    assert place.names() == sorted(expected)
    assert sorted(place.rows(settled.receipt.file, tmp_path / "copy")) == sorted(inner)
    assert Receipt.read(place.store.read(f"{stem}.receipt.json").data) == settled.receipt
    place.shuffler.require_shredded()
    assert place.waiting() == []
    assert place.open().unpublished.stat().st_mode & 0o077 == 0
    assert place.release() == []

    place.fill(1)
    (later,) = place.release()
    require_chain([settled.receipt, later.receipt], place.shuffler.signers)


def test_a_job_that_is_stopped_at_any_request_is_finished_by_the_next(place, tmp_path):
    """Before and after each: one file, one receipt, and no unsigned file in the bucket."""
    inner, step = place.fill(), -1
    settled, seen = [], set()
    while not settled:
        step += 1
        fragile = Fragile.at(place.address).stop_at(step)
        storage = ObjectStorage(fragile, place.open().unpublished)
        try:
            settled = place.release(storage)
        except Stop:
            receipts = {receipt.file.name: receipt for receipt in place.shuffler.receipts()}
            for name in place.names():
                seen.add((name, place.store.read(name).tag))
                if name.endswith(".parquet"):
                    assert receipts[name].file.sha256 == place.store.digest(name, size=1)
    assert step > 10, "it was stopped"
    assert len({name for name, _ in seen}) == len(seen), "nothing was written twice"
    (batch,) = settled
    assert sorted(place.rows(batch.receipt.file, tmp_path / "copy")) == sorted(inner)
    place.shuffler.require_shredded()
    assert place.waiting() == []


def test_a_prefix_has_one_plan(place, shuffler):
    place.open()
    with pytest.raises(ParameterError, match="hold the batches of one plan"):
        open_storage(place.address, plan="0" * 64, home=shuffler.keys.path)
    open_storage(place.address + "2", plan="0" * 64, home=shuffler.keys.path)


@pytest.mark.parametrize(("method", "header"), [("create", "None-Match"), ("replace", "If-Match")])
def test_a_store_that_ignores_conditions_is_refused(place, monkeypatch, method, header):
    monkeypatch.setattr(ObjectStore, method, lambda *_, **__: True)
    if method == "replace":
        place.store.create("croupier-plan", place.shuffler.plan.digest.encode())
    place.fill()
    with pytest.raises(UnconditionalStoreError, match=header):
        place.release()
    assert place.shuffler.states() == ["open"]


@pytest.mark.parametrize(
    ("ending", "error"), [("parquet", TakenError), ("receipt.json", RolledBackError)]
)
def test_a_name_that_is_taken_is_never_overwritten(place, ending, error, monkeypatch):
    place.fill()
    place.stop_before_publishing(monkeypatch)
    (receipt,) = place.shuffler.receipts()
    name = receipt.file.name.removesuffix("parquet") + ending
    before = receipt.file.model_copy(update={"sha256": "0" * 64})
    other = receipt.model_copy(update={"file": before}).text.encode()
    place.store.create(name, other)
    with pytest.raises(error):
        place.release()
    assert place.store.read(name).data == other
    assert place.shuffler.states() == ["released"]
    assert place.shuffler.tables()


def test_a_receipt_under_the_name_of_another_is_never_overwritten(place, monkeypatch):
    place.fill()
    (first,) = place.release()
    place.fill(1)
    place.stop_before_publishing(monkeypatch)
    _, second = place.shuffler.receipts()
    name = second.file.name.replace(".parquet", ".receipt.json")
    place.store.create(name, first.receipt.text.encode())
    with pytest.raises(TakenError, match=f"has another {name} than the one that was signed"):
        place.release()
    assert place.store.read(name).data == first.receipt.text.encode()
    assert place.shuffler.states() == ["shredded", "released"]


def test_a_signed_file_that_is_gone_can_be_put_into_the_store_by_hand(place, monkeypatch):
    place.fill()
    place.stop_before_publishing(monkeypatch)
    (temporary,) = place.open().unpublished.iterdir()
    moved = temporary.rename(place.shuffler.out / "moved")
    with pytest.raises(LostFileError, match="Put back the file with SHA-256"):
        place.release()
    assert place.shuffler.tables()
    (receipt,) = place.shuffler.receipts()
    place.store.upload(receipt.file.name, moved)
    (settled,) = place.release()
    assert settled.receipt == receipt
    place.shuffler.require_shredded()


def test_a_list_of_keys_is_replaced_by_a_newer_one_only(place):
    storage = place.open()
    assert storage.put("shuffler-keys.json", b"1", over=None)
    assert not storage.put("shuffler-keys.json", b"2", over=None)
    assert not storage.put("shuffler-keys.json", b"2", over=b"0")
    assert storage.put("shuffler-keys.json", b"2", over=b"1")
    assert storage.read("shuffler-keys.json") == b"2"


def test_a_file_that_is_too_large_is_refused_before_it_is_signed(place, monkeypatch):
    monkeypatch.setattr(object_storage, "LARGEST", 100)
    place.fill()
    with pytest.raises(ParameterError, match="of more than 100 bytes"):
        place.release()
    assert place.shuffler.receipts() == []
    monkeypatch.undo()


def test_a_prefix_shows_that_the_database_was_set_back(place):
    place.fill()
    place.release()
    with place.shuffler.copied() as database:
        place.fill(1)
        place.release()
        Witness(place.shuffler.keys, plan=place.shuffler.plan.digest).path.unlink()
        place.shuffler.database = database
        with pytest.raises(RolledBackError, match=f"receipt 1, which {place.address} names"):
            place.shuffler.release(storage=place.open(), adopt=True)


def _stop(*_arguments):
    raise Stop
