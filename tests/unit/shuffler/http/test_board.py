"""A worker's view of a plan that has run for long."""

import pytest

from croupier.shuffler.database.store import Store
from tests.unit.shuffler.http.test_newer_list import served  # noqa: F401 - a fixture


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
