"""Full file systems: that of the released files, then that of the database.

The first begins with one page and grows by one page per release, so that every write of a release
is the first that does not fit. The second is filled up under senders, and then gets room again.
"""

import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psycopg

from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, Site, site

__all__ = ["run"]

_PAGE = 4
_DATABASE = "300m"
_REPORTS = 300


def run(*, seconds: float = 10.0) -> Result:
    """Fill both, the second for the given number of seconds."""
    disks = {"out": f"{_PAGE}k", "cluster": _DATABASE}
    with timed("full") as result, site(mounted=disks) as where:
        where.open_round()
        where.serve()
        where.is_ready()
        where.fill(_REPORTS)
        where.age(days=1)
        result.faults += _grow(where, result)
        result.faults += 1
        where.release("--next-round")
        _fill_database(where, result, seconds=seconds)
        where.finish()
        result.verdict.add(where.judge())
    return result


def _grow(where: Site, result: Result) -> int:
    """Release with increasing room; return how often there was too little."""
    for pages in range(1, 64):
        size = f"remount,size={pages * _PAGE}k"
        subprocess.run(["mount", "-o", size, str(where.folder / "out")], check=True)  # noqa: S603, S607
        done = where.release()
        if done.code == 0:
            return pages - 1
        if not done.told:
            result.verdict.violations.append(f"{pages} pages of room: {done.said or 'silence'}")
    result.verdict.violations.append("room alone did not help")
    return pages


def _fill_database(where: Site, result: Result, *, seconds: float) -> None:
    """Take all room from the database while people report and batches are released."""
    subprocess.run(  # noqa: S603 - a folder of ours
        ["mount", "-o", "remount,size=8m", str(where.folder / "out")],  # noqa: S607
        check=True,
    )
    before = where.senders.notes.answers.copy()
    where.senders.start()
    ballast = where.cluster.data / "ballast"
    _take_all(ballast)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done = where.release("--next-round")
        if not done.told:
            result.verdict.violations.append(f"no room for the database: {done.said}")
        _take_all(ballast)
        time.sleep(0.5)
    where.senders.stop()
    refused = where.senders.notes.answers - before
    ballast.unlink()
    if not _answers(where):  # without room for its log, PostgreSQL ends itself
        result.remarks.append("PostgreSQL ended itself for want of room")
        where.cluster.start()
    where.fill(MINIMUM)
    told = ", ".join(f"{times} x {status or 'none'}" for status, times in sorted(refused.items()))
    result.remarks.append(f"answers while the database had no room: {told}")


def _take_all(ballast: Path) -> None:
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(_PAGE << 10))


def _answers(where: Site) -> bool:
    try:
        psycopg.connect(where.cluster.database).close()
    except psycopg.OperationalError:
        return False
    return True
