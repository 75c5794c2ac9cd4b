"""A worker's view of a plan that has run for long, and of a database that somebody changed."""

import json

import psycopg
import pytest

from croupier.errors import UntrustedError
from croupier.shuffler.database.store import Store
from croupier.shuffler.witness import Witness
from tests.unit.shuffler.http.test_newer_list import served  # noqa: F401 - a fixture
from tests.unit.shuffler.release.test_recovery import fill, run_round


@pytest.fixture
def read(monkeypatch):
    """The rounds that each look has read from the database."""
    looks, look = [], Store.look

    async def recorded(self, since):
        sights = await look(self, since)
        looks.append([batch.round_number for sight in sights.values() for batch in sight.batches])
        return sights

    monkeypatch.setattr(Store, "look", recorded)
    return looks


def test_rounds_that_are_over_are_read_once(served, read):  # noqa: F811
    served.shuffler.open_round(0)
    board = served.board(served.shuffler.listed)
    served.renew(board)
    for number in (1, 2, 3):
        served.next_round(number)
        assert served.renew(board) == (1, [number])
        served.renew(board)
    assert read == [[0], [1, 0], [1], [2, 1], [2], [3, 2], [3]]
    assert sorted(known.round for known in board.batches.values()) == [0, 1, 2, 3]
    assert sorted(board.rounds) == [0, 1, 2, 3]
    assert [known.round for known in board.batches.values() if known.state == "open"] == [3]
    anew = served.board(served.shuffler.listed)
    served.renew(anew)
    assert (anew.batches, anew.rounds) == (board.batches, board.rounds)


def test_a_witness_that_was_put_back_is_read_from_where_it_ends(served, read):  # noqa: F811
    served.shuffler.open_round(0)
    board = served.board(served.shuffler.listed)
    served.renew(board)
    (path,) = served.shuffler.house.intake.path.glob("witness/*.json")
    older = path.read_bytes()
    for number in (1, 2):
        served.next_round(number)
        served.renew(board)
    path.write_bytes(older)
    assert served.renew(board) == (1, [2])
    assert read[-1] == [2, 1, 0]


def test_after_a_recovery_a_worker_knows_what_a_new_one_knows(served):  # noqa: F811
    """It could not reach the database from before the recovery until after the next round began."""
    shuffler = served.shuffler
    run_round(shuffler, 0)
    with shuffler.copied() as older:
        run_round(shuffler, 1)
        fill(shuffler, 2)
        board, slow = served.board(shuffler.listed), served.board(shuffler.listed)
        assert served.renew(board) == served.renew(slow) == (1, [2])
        shuffler.database = older
        shuffler.recover()
        assert served.renew(board) == (1, [])
        fill(shuffler, 4)
        anew = served.board(shuffler.listed)
        assert served.renew(anew) == (1, [4])
        for each in (board, slow):
            assert served.renew(each) == (1, [4])
            assert (each.batches, each.rounds) == (anew.batches, anew.rounds)
            assert (each.full_batches, each.occurrences) == (0, ())


FORGED = {
    "another round's": "UPDATE croupier.batches SET keys = "
    "(SELECT keys FROM croupier.batches WHERE round = 0) WHERE round = 1",
    "another key's": "UPDATE croupier.batches SET keys = "
    "replace(keys, (keys::json ->> 'key'), repeat('ab', 32)) WHERE round = 1",
}


@pytest.mark.parametrize("forged", FORGED)
def test_the_opening_of_a_round_is_that_of_its_row(served, forged):  # noqa: F811
    """Somebody who can write to the database and has no key makes a worker show no other round."""
    shuffler = served.shuffler
    run_round(shuffler, 0)
    fill(shuffler, 1)
    board = served.board(shuffler.listed)
    assert served.renew(board) == (1, [1])
    with psycopg.connect(shuffler.database) as connection:
        connection.execute(FORGED[forged])
    for each in (board, served.board(shuffler.listed)):
        with pytest.raises(UntrustedError, match="the opening of a round is"):
            served.renew(each)
        assert (each.key_list.status, each.batches, each.rounds) == (503, {}, {})
    with pytest.raises(UntrustedError, match="the opening of a round is"):
        shuffler.release()


@pytest.mark.parametrize("copied", [True, False])
def test_somebody_without_a_key_cannot_add_a_round(served, copied):  # noqa: F811
    shuffler = served.shuffler
    run_round(shuffler, 0)
    fill(shuffler, 1)
    board = served.board(shuffler.listed)
    served.renew(board)
    keys = (shuffler.house.intake, shuffler.keys)
    witnesses = [Witness(directory, plan=shuffler.plan.digest) for directory in keys]
    seen = [witness.read() for witness in witnesses]
    with psycopg.connect(shuffler.database) as connection:
        ((text,),) = connection.execute("SELECT keys FROM croupier.batches WHERE round = 1")
        document = json.loads(text) | ({} if copied else {"round": 2**31 - 1, "batch": "ab" * 16})
        row = (b"\xab" * 16, bytes.fromhex(shuffler.plan.digest), 2**31 - 1, json.dumps(document))
        query = "INSERT INTO croupier.batches VALUES (%s, %s, %s, 'shredded', now(), %s)"
        connection.execute(query, row)
    for refused in (lambda: served.renew(board), shuffler.release, shuffler.recover):
        with pytest.raises(UntrustedError):
            refused()
    assert [witness.read() for witness in witnesses] == seen
    with psycopg.connect(shuffler.database) as connection:
        connection.execute("DELETE FROM croupier.batches WHERE round > 1")
    assert served.renew(board) == (1, [1])
    shuffler.release()
