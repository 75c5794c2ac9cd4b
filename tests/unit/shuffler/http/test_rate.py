import multiprocessing
import os
import signal
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from fcntl import LOCK_EX, lockf
from math import exp, factorial
from pathlib import Path

import pytest

from croupier.hosting.http import rate
from croupier.hosting.http.rate import RateLimit, early_refusal
from tests.unit.shuffler.http.test_readiness import within
from tests.unit.shuffler.http.test_server import workers

SPAWN = multiprocessing.get_context("spawn")


def test_a_sender_is_limited_alone_and_forgotten_after_a_minute():
    now = 0.0
    limit = RateLimit(3, clock=lambda: now)
    assert [limit.allows(b"a", 2), limit.allows(b"a", 2), limit.allows(b"a", 1)] == [
        True,
        False,
        True,
    ]
    assert limit.allows(b"b", 3)
    now = 59.9
    assert not limit.allows(b"a", 1)
    now = 60.0
    assert limit.allows(b"a", 3)


@pytest.mark.parametrize("most", [1, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 10**12])
def test_a_limit_of_any_size_is_reached_and_not_exceeded(most):
    limit = RateLimit(most, columns=4, clock=lambda: 0.0)
    assert limit.allows(b"a", most)
    assert not limit.allows(b"a", 1)


def test_nobody_exceeds_the_limit_however_many_share_a_place():
    limit = RateLimit(12, columns=16, clock=lambda: 0.0)
    allowed = {bytes([sender]): 0 for sender in range(200)}
    for _ in range(20):
        for sender in allowed:
            allowed[sender] += limit.allows(sender, 1)
    assert max(allowed.values()) <= 12
    assert min(allowed.values()) < 12, "with so few columns most are refused early"


def crowd(senders, name):
    return [struct.pack("=4sI", name, number) for number in range(senders)]


def test_as_many_are_refused_early_as_the_bound_says(monkeypatch):
    """Under a fixed key, so that the count is the same in every run."""
    monkeypatch.setattr(rate.os, "urandom", bytes)
    limit = RateLimit(12, clock=lambda: 0.0)
    for sender in crowd(99_999, b"busy"):
        for _ in range(12):
            limit.allows(sender, 1)
    refused = sum(not limit.allows(sender, 1) for sender in crowd(100_000, b"once"))
    expected = 100_000 * early_refusal(senders=100_000)
    assert 0.7 * expected < refused < 1.3 * expected, "55.5 are expected, with a deviation of 7.5"


def test_the_documented_chances_are_computed():
    assert 1 / 1_900 < early_refusal(senders=100_000) <= 1 / 1_800
    share = 99_999 / (1 << 22)
    dozen = exp(-share) * sum(share**count / factorial(count) for count in range(12, 60))
    assert dozen**2 < 1e-50


def test_one_request_each_of_100_000_senders_refuses_nobody():
    limit = RateLimit(12, clock=lambda: 0.0)
    assert all(limit.allows(sender, 1) for sender in crowd(100_000, b"once"))


def test_nothing_of_a_sender_is_in_the_memory_and_a_place_is_of_one_minute(monkeypatch):
    now = 0.0
    monkeypatch.setattr(rate, "_PARTS", 1)
    limit = RateLimit(12, columns=1 << 20, clock=lambda: now)
    sender = os.urandom(16)

    def remembered():
        limit.allows(sender, 1)
        size = os.fstat(limit.memory).st_size
        return os.pread(limit.memory, size, 0)

    first = remembered()
    now = 60.0
    second = remembered()
    assert sender not in first + second
    filled = [[at for at, sums in enumerate(seen[32:]) if sums] for seen in (first, second)]
    assert [len(places) for places in filled] == [2, 2]
    assert filled[0] != filled[1]


def count_allowed(limit, sender, tries, result):
    result.put(sum(limit.allows(sender, 1) for _ in range(tries)))


def test_processes_share_one_limit():
    limit, result = RateLimit(5_000), SPAWN.SimpleQueue()
    processes = [
        SPAWN.Process(target=count_allowed, args=(limit, b"a", 4_000, result)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    allowed = [result.get() for _ in processes]
    for process in processes:
        process.join()
    assert sum(allowed) == 5_000
    assert not limit.allows(b"a", 1)
    assert limit.allows(b"b", 5_000)


def hold(limit, holding):
    limit.allows(b"a", 1)
    lockf(limit.memory, LOCK_EX)
    holding.set()
    time.sleep(600)


def test_a_process_that_is_killed_while_it_counts_blocks_nobody():
    limit, holding = RateLimit(2), SPAWN.Event()
    process = SPAWN.Process(target=hold, args=(limit, holding))
    process.start()
    assert holding.wait(60)
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(limit.allows, b"a", 1)
        time.sleep(0.2)
        assert not waiting.done(), "the lock is held"
        os.kill(process.pid, signal.SIGKILL)
        assert waiting.result(60)
    process.join()
    assert not limit.allows(b"a", 1), "what the killed process has counted stays"


def test_a_process_that_is_killed_while_a_minute_begins_is_succeeded(monkeypatch):
    now = 0.0
    limit = RateLimit(1, clock=lambda: now)
    assert limit.allows(b"a", 1)
    now = 60.0

    def killed(_size):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rate.os, "urandom", killed)
        with pytest.raises(KeyboardInterrupt):
            limit.allows(b"a", 1)
    assert [limit.allows(b"a", 1) for _ in range(2)] == [True, False]


def test_without_memory_files_an_unlinked_one_is_used(monkeypatch):
    monkeypatch.delattr(rate.os, "memfd_create")
    limit = RateLimit(1)
    assert "(deleted)" in str(Path(f"/proc/self/fd/{limit.memory}").readlink())
    assert [limit.allows(b"a", 1) for _ in range(2)] == [True, False]


def test_the_memory_is_given_back():
    before = list(Path("/proc/self/fd").iterdir())
    limit = RateLimit(1)
    assert limit.allows(b"a", 1)
    assert len(list(Path("/proc/self/fd").iterdir())) > len(before)
    del limit
    assert list(Path("/proc/self/fd").iterdir()) == before


def test_a_service_of_two_workers_holds_one_limit_also_when_one_is_killed(service):
    """Every request on a connection of its own, so that both workers take part."""
    service.start("--workers", "2")

    def have_started(count):
        return within(30, lambda: service.log.read_text().count("worker started") == count)

    def accepted(token):
        with ThreadPoolExecutor(16) as senders:
            bodies = [service.envelopes() for _ in range(40)]
            replies = list(senders.map(lambda body: service.send(body, token), bodies))
        statuses = [reply.status for reply in replies]
        assert set(statuses) <= {202, 429}
        return statuses.count(202)

    first, second = service.credentials.issue(), service.credentials.issue()
    assert have_started(2)
    began = time.monotonic()
    assert accepted(first) == 12
    os.kill(workers(service)[0], signal.SIGKILL)
    assert have_started(3)
    again = accepted(first)
    other = accepted(second)
    assert time.monotonic() - began < 60, "too slow: another minute has begun"
    assert (again, other) == (0, 12)
