"""Kill the server, its workers, the release job and PostgreSQL with SIGKILL; count the loss.

People and relays report over HTTP to `croupier serve` while `croupier release` runs again and again
and a process is killed at random. At the end the cluster's files are searched for data that must
not remain.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable

from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import Site, site
from benchmarks.senders import Notes

__all__ = ["counted", "run"]

VICTIMS = ("worker", "worker", "server", "release", "release", "postgres")
_NEVER_FOUND = ("envelopes_in_tables", "released_in_tables", "released_in_wal")


def run(*, seconds: float = 120.0, seed: int = 7) -> Result:
    """Kill for the given time, then count."""
    with timed("kills") as result:
        end = time.monotonic() + seconds
        _run(result, seed=seed, enough=lambda _: time.monotonic() >= end)
    return result


def counted(*, kills: int, seed: int) -> tuple[Result, dict[str, object]]:
    """Kill this number of times, then count; add the clients' answers and remaining traces."""
    with timed("kills") as result:
        figures = _run(result, seed=seed, enough=lambda done: done >= kills)
    return result, figures


def _run(result: Result, *, seed: int, enough: Callable[[int], bool]) -> dict[str, object]:
    chance = random.Random(seed)  # noqa: S311 - chooses whom to kill
    done: Counter[str] = Counter()
    with site(minimum=200, every="5s") as where:
        where.keep("server", "release")
        where.senders.start()
        while not enough(done.total()):
            _let_run(where, answers=chance.randrange(100), seconds=chance.uniform(0.0, 3.0))
            victim = chance.choice(VICTIMS)
            done[victim] += where.kill_one(victim, chance)
            print(f"{done.total()} kills: {victim}", file=sys.stderr)
        where.senders.stop()
        where.processes.pop("release").wait()
        where.finish()
        result.verdict = where.judge()
        result.faults = done.total()
        where.stop("server")
        where.cluster.stop()
        found = _traces(where)
    result.verdict.violations += [
        f"{found[name]} {name.replace('_', ' ')}" for name in _NEVER_FOUND if found[name]
    ]
    counts = {victim: done[victim] for victim in dict.fromkeys(VICTIMS)}
    return {"seed": seed, "kills": counts, **_told(where.senders.notes), **found}


def _let_run(where: Site, *, answers: int, seconds: float) -> None:
    """Keep the server and the releases going.

    Args:
        where: The deployment.
        answers: The number of further answers to clients to wait for, at most half a minute.
        seconds: The time to run after that.
    """
    wanted = where.senders.notes.answers.total() + answers
    end = time.monotonic() + 30
    reached = False
    while time.monotonic() < end:
        where.keep("server", "release")
        if not reached and where.senders.notes.answers.total() >= wanted:
            reached, end = True, time.monotonic() + seconds
        time.sleep(0.02)


def _traces(where: Site) -> dict[str, int]:
    """Count the envelopes and released ciphertexts that the stopped cluster's files still hold."""
    notes = where.senders.notes
    wanted = {"envelopes": notes.envelopes, "released": list(notes.person)}
    files = [path for path in where.cluster.data.rglob("*") if path.is_file()]
    log = b"".join(path.read_bytes() for path in files if "pg_wal" in path.parts)
    rest = b"".join(path.read_bytes() for path in files if "pg_wal" not in path.parts)
    found = {}
    for name, entries in wanted.items():
        sample = entries[:: max(1, len(entries) // 300)]
        found[f"{name}_in_tables"] = sum(entry in rest for entry in sample)
        found[f"{name}_in_wal"] = sum(entry in log for entry in sample)
        found[f"{name}_searched"] = len(sample)
    return found


def _told(notes: Notes) -> dict[str, object]:
    """Describe what the clients experienced."""
    answers = {str(status or "none"): times for status, times in sorted(notes.answers.items())}
    return {"retries": notes.retries, "answers": answers}
