"""A newer list of keys at a worker: followed where open rounds fit it, and never left again."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from structlog.testing import capture_logs

from croupier.errors import CroupierError, UntrustedError
from croupier.protocol.key_list import AnalyzerKey, KeyList
from croupier.protocol.signed_document import public_half
from croupier.shuffler.database.store import Store
from croupier.shuffler.http.board import Board
from croupier.shuffler.witness import Witness

LATER = timedelta(days=30)


class Served:
    """A shuffler with an analyzer, a worker's view of it, and rounds that pass."""

    def __init__(self, make_shuffler) -> None:
        root, inner = Ed25519PrivateKey.generate(), X25519PrivateKey.generate()
        self.shuffler = make_shuffler(analyzer={"key": public_half(root)})
        self.shuffler.inner = inner.public_key().public_bytes_raw()
        self.analyzer = AnalyzerKey.make(self.shuffler.plan, key=inner, signing_key=root)

    def board(self, listed):
        return Board(
            plan=self.shuffler.plan,
            analyzer=self.analyzer,
            shuffler=listed,
            keys=self.shuffler.house.intake,
            handover=self.shuffler.handover,
            most_rows=100,
        )

    def renew(self, board):
        """Look at the batches; the version of the list that clients are then shown, and rounds."""

        async def look():
            store = await Store.connect(self.shuffler.database)
            try:
                await board.renew(store)
            finally:
                await store.close()

        asyncio.run(look())
        shown = KeyList.verified(board.key_list.body["body"], self.shuffler.plan)
        return shown.keys.version, [entry.round for entry in shown.shuffler]

    def next_round(self, number):
        self.shuffler.release(now=datetime.now(UTC) + LATER)
        self.shuffler.open_round(number)

    def forget_list(self):
        """As of a worker that has not kept the list that it followed."""
        for file in self.shuffler.house.intake.path.glob("witness/*.list"):
            file.unlink()

    def rotated(self, role, from_round, listed=None):
        public = getattr(self.shuffler.house, role).rotate()
        return (listed or self.shuffler.listed).next(
            self.shuffler.plan,
            from_round=from_round,
            signing_key=self.shuffler.house.root.signer(),
            **{role: public},
        )

    @property
    def recorded(self):
        return Witness(self.shuffler.house.intake, plan=self.shuffler.plan.digest).read().listed


@pytest.fixture
def served(make_shuffler):
    return Served(make_shuffler)


@pytest.mark.parametrize("role", ["release", "intake"])
def test_a_list_that_covers_the_open_round_is_not_followed(served, role):
    first = served.shuffler.listed
    served.shuffler.open_round(0)
    board = served.board(first)
    assert served.renew(board) == (1, [0])
    served.next_round(1)  # which the worker has not seen when the list comes
    early = served.rotated(role, 1)
    board.follow(served.analyzer, early)
    with capture_logs() as logs:
        for _ in range(3):
            board.follow(served.analyzer, early)
            assert served.renew(board) == (1, [1]), "it goes on with the list before"
    (said,) = [entry for entry in logs if entry["event"].startswith("newer list of keys")]
    assert f"{role} key of round 1, which counts from round 1 on" in said["cause"]
    assert served.recorded == first.seen
    assert served.renew(served.board(early)) == (1, [1]), "so does a worker that starts"
    assert served.recorded == first.seen
    served.forget_list()
    with pytest.raises(CroupierError, match=f"{role} key of round 1, which counts from round 1 on"):
        served.renew(served.board(early))
    assert served.recorded == first.seen, "or nobody could start with the list before"

    late = served.rotated(role, 2)
    board.follow(served.analyzer, late)
    assert served.renew(board) == (1, [1]), "its new key does not count yet"
    assert served.recorded == first.seen
    served.shuffler.listed = late
    served.next_round(2)
    assert served.renew(board) == (2, [2])
    assert served.recorded == late.seen


@pytest.mark.parametrize("role", ["release", "intake"])
def test_a_worker_that_starts_shows_the_list_that_the_others_show(served, role):
    served.shuffler.open_round(0)
    board = served.board(served.shuffler.listed)
    assert served.renew(board) == (1, [0])
    second = served.shuffler.listed = served.rotated(role, 1)
    board.follow(served.analyzer, second)
    started = served.board(second)
    assert served.renew(started) == served.renew(board) == (1, [0])
    assert started.key_list == board.key_list
    served.next_round(1)
    assert served.renew(started) == served.renew(board) == (2, [1])
    assert started.key_list == board.key_list


@pytest.mark.parametrize("roles", [("release", "intake"), ("intake", "intake")])
def test_a_list_that_a_worker_missed_stops_no_round(served, roles):
    """Keys were rotated twice before the next round: its keys are in the newest list as well."""
    served.shuffler.open_round(0)
    board = served.board(served.shuffler.listed)
    assert served.renew(board) == (1, [0])
    second = served.rotated(roles[0], 1)
    newest = served.shuffler.listed = served.rotated(roles[1], 2, second)
    board.follow(served.analyzer, newest)
    assert served.renew(board) == (1, [0])
    served.next_round(1)
    assert served.renew(board) == (3, [1])
    served.shuffler.release(now=datetime.now(UTC) + LATER)
    assert served.renew(served.board(newest)) == (3, []), "nor the start of another worker"
    served.shuffler.open_round(2)
    assert served.renew(board) == (3, [2])
    assert served.recorded == newest.seen


def test_a_round_that_is_opened_by_the_list_before_takes_reports(served):
    """By a release that began before the keys were rotated; another rotation repairs it."""
    first = served.shuffler.listed
    served.shuffler.open_round(0)
    board = served.board(first)
    served.renew(board)
    second = served.rotated("release", 1)
    board.follow(served.analyzer, second)
    served.renew(board)
    served.next_round(1)
    assert served.renew(board) == (1, [1])
    assert served.renew(served.board(first)) == (1, [1]), "and so does who starts again"
    again = served.rotated("release", 2)
    served.shuffler.listed = again
    board.follow(served.analyzer, again)
    served.next_round(2)
    assert served.renew(board) == (2, [2])


def test_a_list_by_which_a_finished_round_is_not_signed_is_refused(served):
    """Its receipt could not be verified any more."""
    first = served.shuffler.listed
    served.shuffler.open_round(0)
    served.next_round(1)
    served.shuffler.release(now=datetime.now(UTC) + LATER)
    early = served.rotated("release", 1)
    served.shuffler.listed = early
    with pytest.raises(UntrustedError, match="is not signed by"):
        served.shuffler.open_round(2)
    with pytest.raises(UntrustedError, match="is not signed by"):
        served.shuffler.release(now=datetime.now(UTC) + LATER)
    served.shuffler.listed = first
    served.shuffler.open_round(2)
    assert served.renew(served.board(first)) == (1, [2])


def test_a_worker_that_lagged_behind_takes_the_list_of_the_open_round(served):
    first = served.shuffler.listed
    served.shuffler.open_round(0)
    board = served.board(first)
    served.renew(board)
    served.shuffler.listed = served.rotated("intake", 1, served.rotated("release", 1))
    served.next_round(1)
    with pytest.raises(CroupierError):
        served.renew(board)
    board.follow(served.analyzer, served.shuffler.listed)
    assert served.renew(board) == (3, [1])


def test_no_worker_starts_with_a_list_before_the_newest(served):
    first = served.shuffler.listed
    served.shuffler.open_round(0)
    second = served.rotated("intake", 1)
    lagging, board = served.board(first), served.board(first)
    assert served.renew(lagging) == (1, [0])
    served.renew(board)
    board.follow(served.analyzer, second)
    served.shuffler.listed = second
    served.next_round(1)
    assert served.renew(board) == (2, [1])
    with pytest.raises(UntrustedError, match="is version 1, and 2 was seen before"):
        served.renew(served.board(first))
    other = served.rotated("release", 6, first)
    with pytest.raises(UntrustedError, match="is a second one of version 2"):
        served.renew(served.board(other))
    assert served.renew(served.board(second)) == (2, [1])
