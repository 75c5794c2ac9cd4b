"""Hand-overs that the second of two shufflers refuses: the first may be corrupt."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from croupier.errors import ParameterError
from croupier.protocol.receipt import Receipt, ReleasedFile
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.storage import DirectoryStorage
from tests.unit.chain import SENT, CrashError, collected, crash, sign_another

LATE = datetime.now(UTC) + timedelta(days=30)


class TestTheSecondRefuses:
    """The first shuffler may be corrupt: the second checks what can be checked."""

    @staticmethod
    def held(chain, **settings):
        outcomes = chain.release_second(**settings)
        assert all(outcome.receipt is None for outcome in outcomes)
        assert not list(chain.second.out.glob("*.parquet"))
        return " ".join(outcome.problem or "" for outcome in outcomes)

    def test_nothing_before_the_first_has_released(self, chain):
        batch = chain.open_round()
        chain.send(batch, SENT)
        assert self.held(chain) == ""

    def test_a_changed_file(self, chain):
        collected(chain)
        (path,) = chain.first.out.glob("*.parquet")
        data = bytearray(path.read_bytes())
        data[100] ^= 1
        path.write_bytes(bytes(data))
        assert "not the one that was signed" in self.held(chain)

    def test_a_missing_file(self, chain):
        collected(chain)
        for path in chain.first.out.glob("*.parquet"):
            path.unlink()
        assert "lacks" in self.held(chain)

    def test_a_signed_file_that_is_no_batch_by_its_name_at_the_first(self, chain):
        """Not by that of the private copy which was checked."""
        collected(chain)
        (path,), (beside,) = (chain.first.out.glob(end) for end in ("*.parquet", "*.receipt.json"))
        path.write_bytes(b"no batch")
        signed = Receipt.read(beside.read_bytes()).model_copy(
            update={"file": ReleasedFile.of(path, name=path.name)}
        )
        key = chain.first.keys.signer(chain.first.listed.release_key(0))
        beside.write_text(signed.signed(key).text)
        assert f"Receipt 0 is about {path.name}, which is not a Parquet file" in self.held(chain)

    def test_a_receipt_of_another_signer(self, chain):
        collected(chain)
        (path,) = chain.first.out.glob("*.receipt.json")
        receipt = Receipt.read(path.read_bytes())
        key = chain.second.keys.signer(chain.second.listed.release_key(0))
        path.write_text(receipt.signed(key).text)
        assert "not signed" in self.held(chain)

    def test_too_few_people(self, make_chain):
        chain = make_chain()
        collected(chain)
        (path,) = chain.first.out.glob("*.receipt.json")
        receipt = Receipt.read(path.read_bytes())
        counts = receipt.counts.model_copy(
            update={"added": receipt.counts.released - 3, "received": 3}
        )
        key = chain.first.keys.signer(chain.first.listed.release_key(0))
        path.write_text(receipt.model_copy(update={"counts": counts}).signed(key).text)
        assert "has 3 people, and the minimum is 5" in self.held(chain)

    def test_too_few_rows_that_open(self, chain):
        """The first one may sign any counts; the second counts what opens."""
        batch = collected(chain)
        sign_another(chain, batch, lambda rows: [bytes(len(row)) for row in rows])
        assert "has at most 0 rows that open, and the minimum is 5" in self.held(chain)

    def test_a_second_hand_over(self, chain, monkeypatch):
        """Once a batch is taken over, no other one takes its place, even after a crash."""
        batch = collected(chain)
        aside = chain.first.out.parent / "aside"
        shutil.copytree(chain.first.out, aside)
        monkeypatch.setattr(Releaser, "_sign", crash)
        with pytest.raises(CrashError):
            chain.release_second()
        monkeypatch.undo()
        sign_another(chain, batch, lambda rows: rows[1:])
        assert "not the one that was signed" in self.held(chain)
        storage = DirectoryStorage(aside)
        (outcome,) = chain.release_second(storage=storage)
        assert outcome.receipt.event == "released"

    def test_a_gap_in_the_chain(self, chain):
        for number in range(3):
            batch = chain.open_round()
            assert batch.round_number == number
            chain.send(batch, SENT)
            chain.release_first()
            if number == 0:
                chain.release_second()
        (missing,) = chain.first.out.glob("*round-1.receipt.json")
        missing.rename(missing.with_name("gone"))
        outcomes = chain.release_second()
        problems = [outcome.problem for outcome in outcomes]
        assert any(problem and "does not follow" in problem for problem in problems)
        assert len(list(chain.second.out.glob("*.parquet"))) == 1

    def test_the_receipts_before_the_last_taken_over_may_not_vanish(self, chain):
        for number in range(2):
            batch = chain.open_round()
            chain.send(batch, SENT)
            chain.release_first()
            if number == 0:
                chain.release_second()
        (missing,) = chain.first.out.glob("*round-0.receipt.json")
        missing.unlink()
        problems = [outcome.problem or "" for outcome in chain.release_second()]
        assert "has a gap" in " ".join(problems)

    def test_an_older_list_of_the_first_shufflers_keys(self, chain):
        collected(chain)
        newer = chain.first.listed.model_copy(update={"version": 2})
        seen = newer.seen
        lists = chain.second.keys.path / "lists"
        lists.mkdir()
        (lists / f"{chain.plan.digest}.json").write_text(seen.model_dump_json())
        assert "was seen before" in self.held(chain)

    def test_a_plan_without_a_place_to_take_over_from(self, chain):
        with pytest.raises(ParameterError, match="--from"):
            chain.second.release()

    def test_a_first_shuffler_that_takes_over(self, chain):
        chain.open_round()
        chain.second = chain.first
        with pytest.raises(ParameterError, match="Leave it out"):
            chain.release_second()


def test_a_place_that_cannot_be_believed_disposes_of_nothing(chain, tmp_path):
    """A mistyped place, or a damaged receipt in it, says nothing about rounds that are open."""
    collected(chain)
    chain.release_second()
    chain.open_round()
    (chain.first.out / "damaged.receipt.json").write_text("{}")
    for storage in (DirectoryStorage(chain.first.out), DirectoryStorage(chain.second.out)):
        outcomes = chain.release_second(now=LATE, storage=storage)
        assert [(each.receipt, each.incident) for each in outcomes] == [(None, "hand-over")]
    (chain.first.out / "damaged.receipt.json").unlink()
    empty = tmp_path / "empty"
    empty.mkdir()
    (waiting,) = chain.release_second(now=LATE, storage=DirectoryStorage(empty))
    assert waiting.receipt is None


def test_a_refused_hand_over_is_held_for_the_disposal_age_from_then_on(chain):
    collected(chain)
    (path,) = chain.first.out.glob("*.parquet")
    data = path.read_bytes()
    path.unlink()
    (first,) = chain.release_second(now=LATE)
    assert (first.receipt, first.until) == (None, LATE + chain.plan.protections.disposal_age)
    path.write_bytes(data)
    (released,) = chain.release_second(now=LATE + timedelta(hours=1))
    assert released.receipt.event == "released"


def test_a_refused_hand_over_is_disposed_of_in_the_end(chain):
    collected(chain)
    for path in chain.first.out.glob("*.parquet"):
        path.unlink()
    (held,) = chain.release_second(now=LATE)
    (settled,) = chain.release_second(now=held.until)
    assert settled.receipt.event == "disposed"
    assert settled.reason.startswith("It was refused for ")
    assert "lacks" in settled.reason
