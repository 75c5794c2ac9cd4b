import asyncio
import os

import pytest

from croupier.errors import ParameterError
from croupier.shuffler.database.store import StoreError
from croupier.shuffler.intake.intake import Intake, IntakeFullError, IntakeLimits

BATCH, OTHER = os.urandom(16), os.urandom(16)
WIDTH = 160


class FakeStore:
    """Remembers what it is given; can be told to wait, to fail, or to be closed."""

    def __init__(self):
        self.commits = []
        self.state = "open"
        self.failures = 0
        self.surprise = None
        self.connections = 0
        self.unreachable = False
        self.go = asyncio.Event()
        self.go.set()

    async def connect(self):
        if self.unreachable:
            raise StoreError(OSError())
        self.connections += 1
        return self

    async def accept(self, batch, rows, *, tagged):
        await self.go.wait()
        if self.failures:
            self.failures -= 1
            raise StoreError(OSError())
        if self.surprise:
            raise self.surprise
        self.commits.append((batch, tagged, list(rows)))
        return self.state

    async def close(self):
        pass


def rows(count=1):
    return [os.urandom(WIDTH) for _ in range(count)]


def run(work, **limits):
    async def started():
        store = FakeStore()
        intake = Intake(store.connect, IntakeLimits(linger=0.001, **limits))
        intake.start()
        await work(intake, store)
        await intake.close()
        return store

    return asyncio.run(asyncio.wait_for(started(), 20))


def offer(intake, sent, batch=BATCH, *, tagged=True):
    return asyncio.ensure_future(intake.offer(batch, sent, tagged=tagged))


def writers():
    return [task for task in asyncio.all_tasks() if task.get_coro().__name__ == "_write"]


class Clock:
    """What intake takes for the time: it passes when a test says so."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr("croupier.shuffler.intake.intake.time", made)
    return made


async def settle():
    for _ in range(5):
        await asyncio.sleep(0.005)


def test_nobody_is_told_before_the_commit():
    async def work(intake, store):
        store.go.clear()
        answer = offer(intake, rows())
        await settle()
        assert not answer.done()
        assert not store.commits
        store.go.set()
        assert await answer == "open"
        assert store.commits

    run(work)


def test_who_waits_together_is_committed_together_by_batch_and_kind():
    async def work(intake, store):
        store.go.clear()
        first = offer(intake, rows())
        await settle()
        later = [offer(intake, rows(3)) for _ in range(4)]
        later += [offer(intake, rows(), OTHER), offer(intake, rows(), OTHER, tagged=False)]
        await settle()
        store.go.set()
        assert await asyncio.gather(first, *later) == ["open"] * 7
        assert [(b, tagged, len(sent)) for b, tagged, sent in store.commits] == [
            (BATCH, True, 1),
            (BATCH, True, 12),
            (OTHER, True, 1),
            (OTHER, False, 1),
        ]

    run(work)


def test_what_one_sender_offers_is_never_split():
    async def work(intake, store):
        answers = [offer(intake, rows(30), tagged=False) for _ in range(5)]
        await asyncio.gather(*answers)
        assert all(len(sent) % 30 == 0 for _, _, sent in store.commits)

    run(work, commit=40 * WIDTH)


def test_there_is_room_until_the_limit_and_again_after_the_commit():
    async def work(intake, store):
        store.go.clear()
        waiting = [offer(intake, rows(5)) for _ in range(2)]
        await settle()
        assert not intake.has_room(WIDTH)
        store.go.set()
        await asyncio.gather(*waiting)
        assert intake.has_room(10 * WIDTH)
        assert not intake.has_room(10 * WIDTH + 1)

    run(work, waiting=10 * WIDTH)


def test_the_first_row_of_a_tag_goes_into_a_commit():
    async def work(intake, store):
        store.go.clear()
        blocker = offer(intake, rows())
        await settle()
        (first,) = rows()
        second = first[:32] + os.urandom(WIDTH - 32)
        answers = [offer(intake, [row]) for row in (first, second, first)]
        await settle()
        store.go.set()
        assert await asyncio.gather(blocker, *answers) == ["open"] * 4
        assert store.commits[-1][2] == [first]

    run(work)


def test_a_failed_commit_is_told_and_the_next_goes_through_a_new_connection():
    async def work(intake, store):
        store.failures = 1
        with pytest.raises(StoreError):
            await intake.offer(BATCH, rows(), tagged=True)
        assert await intake.offer(BATCH, rows(), tagged=True) == "open"
        assert store.connections == 2
        assert (intake.tally.failed, intake.tally.committed) == (1, 1)

    run(work)


@pytest.mark.parametrize("connected", [False, True])
def test_without_a_database_nobody_waits_for_it(connected):
    async def work(intake, store):
        if connected:
            assert await intake.offer(BATCH, rows(), tagged=True) == "open"
        store.failures, store.unreachable = connected, True
        for _ in range(3):
            with pytest.raises(StoreError):
                await intake.offer(BATCH, rows(), tagged=True)
        store.unreachable = False
        assert await intake.offer(BATCH, rows(), tagged=True) == "open"

    run(work)


def test_a_closed_batch_is_told_to_everybody_and_counted():
    async def work(intake, store):
        store.state = "sealed"
        assert await intake.offer(BATCH, rows(2), tagged=True) == "sealed"
        assert intake.tally.refused == 2
        assert intake.tally.committed == 0

    run(work)


def test_closing_commits_what_waits():
    answers = []

    async def work(intake, store):
        store.go.clear()
        answers.extend(offer(intake, rows()) for _ in range(50))
        await settle()
        asyncio.get_running_loop().call_later(0.05, store.go.set)

    store = run(work)
    assert [answer.result() for answer in answers] == ["open"] * 50
    assert sum(len(sent) for _, _, sent in store.commits) == 50


def test_a_sender_who_leaves_does_not_disturb_the_others():
    async def work(intake, store):
        store.go.clear()
        gone, stays = offer(intake, rows()), offer(intake, rows())
        await settle()
        gone.cancel()
        await settle()
        store.go.set()
        assert await stays == "open"
        assert sum(len(sent) for _, _, sent in store.commits) == 2
        assert intake.has_room(intake.limits.waiting)

    run(work)


def test_nothing_is_not_taken_for_an_offer():
    async def work(intake, store):
        for empty in ([], [b""]):
            with pytest.raises(ParameterError):
                await intake.offer(BATCH, empty, tagged=True)
        assert await intake.offer(BATCH, rows(), tagged=True) == "open"
        assert len(store.commits) == 1

    run(work)


@pytest.mark.parametrize("broken", ["accept", "connect", "close"])
def test_an_error_that_nobody_expects_is_told_to_its_senders_and_ends_nothing(broken):
    quoted = "what an error may quote"
    kinds = []

    async def work(intake, store):
        intake.failed = kinds.append
        where = intake if broken == "connect" else store
        works = getattr(where, broken)

        async def fail(*_given, **_named):
            raise ValueError(quoted)

        setattr(where, broken, fail)
        store.failures = int(broken == "close")
        with pytest.raises(StoreError) as told:
            await intake.offer(BATCH, rows(), tagged=True)
        assert quoted not in str(told.value)
        await settle()
        setattr(where, broken, works)
        assert await intake.offer(BATCH, rows(), tagged=True) == "open"
        assert intake.failure() is None
        assert intake.tally.replaced == 0

    run(work)
    assert kinds == ["ValueError"]


def test_a_writer_that_ends_is_replaced_and_its_senders_are_told():
    async def work(intake, store):
        store.go.clear()
        answer = offer(intake, rows())
        await settle()
        (writer,) = writers()
        writer.cancel()
        with pytest.raises(StoreError):
            await answer
        await settle()
        store.go.set()
        assert await intake.offer(BATCH, rows(), tagged=True) == "open"
        assert intake.tally.replaced == 1
        assert intake.failure() is None

    run(work)


def test_a_writer_that_ends_while_idle_is_replaced():
    async def work(intake, _store):
        await settle()
        (writer,) = writers()
        writer.cancel()
        await settle()
        assert await intake.offer(BATCH, rows(), tagged=True) == "open"
        assert intake.tally.replaced == 1

    run(work)


def test_intake_says_that_nothing_is_committed_until_something_is(clock):
    async def work(intake, store):
        assert intake.failure() is None
        store.go.clear()
        answer = offer(intake, rows())
        await settle()
        assert intake.failure() is None
        clock.now += 0.3
        assert intake.failure() == "Reports wait, but none is committed."
        store.go.set()
        assert await answer == "open"
        assert intake.failure() is None

    run(work, patience=0.2)


def test_who_would_wait_for_long_is_sent_away_at_once_and_a_few_are_not(clock):
    async def work(intake, store):
        store.go.clear()
        waiting = [offer(intake, rows()) for _ in range(5)]
        await settle()
        assert intake.has_room(WIDTH), "nobody has waited for long"
        clock.now += 0.3
        assert not intake.has_room(WIDTH)
        with pytest.raises(IntakeFullError):
            await intake.offer(BATCH, rows(), tagged=True)
        store.go.set()
        assert await asyncio.gather(*waiting) == ["open"] * 5
        assert intake.has_room(WIDTH)
        store.go.clear()
        few = [offer(intake, rows()) for _ in range(2)]
        await settle()
        clock.now += 0.3
        assert intake.has_room(WIDTH), "a few may wait, however slow the database is"
        store.go.set()
        assert await asyncio.gather(*few) == ["open"] * 2

    run(work, delay=0.2, burst=4 * WIDTH)
