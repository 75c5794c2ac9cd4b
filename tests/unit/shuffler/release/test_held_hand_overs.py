"""A batch that was handed over and cannot be released is held for the disposal age from then on."""

from datetime import UTC, datetime, timedelta

import pytest

from croupier.cli.output.release import HELD_UP, exit_code
from croupier.shuffler.refusals import refusal
from croupier.shuffler.release.release import Releaser
from tests.unit.chain import (
    CrashError,
    collected,
    crash,
    sign_another,
)

LATE = datetime.now(UTC) + timedelta(days=1000)
"""Long after the round was opened."""
HOUR = timedelta(hours=1)


def folder_of(chain, batch):
    return chain.second.keys.path / "batches" / batch.identity.hex()


def held(chain, now):
    outcomes = chain.release_second(now=now)
    assert [each.receipt for each in outcomes] == [None]
    assert exit_code(outcomes) == HELD_UP
    return outcomes[0]


def settled(chain, now):
    (outcome,) = chain.release_second(now=now)
    assert chain.second.states() == ["shredded"]
    assert not list((chain.second.keys.path / "batches").iterdir()), "nothing stays of the batch"
    return outcome


@pytest.mark.parametrize("lost", ["outer.pem", "noise.key", ""])
def test_a_key_that_is_put_back_in_time_opens_the_batch(chain, tmp_path, lost):
    """Also if the round is old when its batch is handed over; without a name, all keys are lost."""
    batch = collected(chain)
    path = folder_of(chain, batch) / lost
    path.rename(tmp_path / "aside")
    outcome = held(chain, LATE)
    until = LATE + chain.plan.protections.disposal_age
    assert outcome.incident == "batch-key"
    assert outcome.problem.endswith(f"That is on {until:%Y-%m-%d %H:%M} UTC.")
    held(chain, until - HOUR)
    (tmp_path / "aside").rename(path)
    assert settled(chain, until - HOUR).receipt.event == "released"


@pytest.mark.parametrize("lost", ["outer.pem", ""])
def test_a_key_that_stays_away_is_waited_for_and_then_given_up(chain, tmp_path, lost):
    batch = collected(chain)
    (folder_of(chain, batch) / lost).rename(tmp_path / "aside")
    held(chain, LATE)
    outcome = settled(chain, LATE + chain.plan.protections.disposal_age)
    assert outcome.receipt.event == "disposed"
    assert outcome.reason.startswith("Its key was gone or damaged for ")


def test_a_key_that_does_not_open_is_never_given_up(chain):
    batch = collected(chain)
    path = folder_of(chain, batch) / "outer.pem"
    whole = path.read_bytes()
    path.write_bytes(b"under another passphrase")
    much_later = LATE + 10 * chain.plan.protections.disposal_age
    assert held(chain, LATE).incident == "passphrase"
    assert held(chain, much_later).incident == "passphrase"
    path.write_bytes(whole)
    assert settled(chain, much_later).receipt.event == "released"


def test_a_key_that_is_lost_after_the_batch_was_taken_over(chain, tmp_path, monkeypatch):
    batch = collected(chain)
    with monkeypatch.context() as patch:
        patch.setattr(Releaser, "_sign", crash)
        with pytest.raises(CrashError):
            chain.release_second()
    assert chain.second.states() == ["sealed"]
    path = folder_of(chain, batch) / "noise.key"
    path.rename(tmp_path / "aside")
    assert held(chain, LATE).incident == "batch-key"
    (tmp_path / "aside").rename(path)
    assert settled(chain, LATE + HOUR).receipt.event == "released"


def test_too_few_rows_that_open_are_a_refused_hand_over(chain):
    """It is taken over, so that no other one takes its place: waiting for people is in vain."""
    batch = collected(chain)
    sign_another(chain, batch, lambda rows: [bytes(len(row)) for row in rows])
    few = "The first shuffler's hand-over has at most 0 rows that open, and the minimum is 5."
    outcome = held(chain, LATE)
    assert (outcome.problem, outcome.incident) == (few, "hand-over")
    assert outcome.until == LATE + chain.plan.protections.disposal_age
    assert refusal(chain.second.keys.path, batch.identity) == few, "as status says"
    assert held(chain, outcome.until - HOUR).until == outcome.until
    outcome = settled(chain, outcome.until)
    assert outcome.receipt.event == "disposed"
    assert outcome.reason.endswith(few)
