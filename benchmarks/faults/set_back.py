"""A database that is reset to an older copy, as if a backup were restored by mistake.

The copy is older than the last receipt, while keys and released files are as they were. A service
that continued from it would sign a second receipt with the same number, or reopen a round that
clients were told is over. So a release must refuse, into the same directory and into another; and
so must a server.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import psycopg

from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, Site, site

__all__ = ["run"]

_FOLDERS = ("keys", "out")


def run() -> Result:
    """Reset to before the last round was opened, and to while it was open."""
    with timed("set_back") as result, site() as where:
        _collect(where)
        where.release()
        where.copy_database("postgres", "before_the_round")
        _collect(where)
        where.copy_database("postgres", "within_the_round")
        where.release()
        result.verdict.add(where.judge())
        for name in _FOLDERS:
            shutil.copytree(where.folder / name, where.folder / "kept" / name)
        for copy in ("before_the_round", "within_the_round"):
            for attempt, name in _ATTEMPTS.items():
                _set_back(where, copy)
                found = attempt(where)
                result.faults += 1
                setting = copy.replace("_", " ")
                result.verdict.violations += [f"{setting}, {name}: {text}" for text in found]
    return result


def _collect(where: Site) -> None:
    """Fill a round, and let it end."""
    where.open_round()
    where.serve()
    where.is_ready()
    where.fill(MINIMUM)
    where.stop("server")
    where.age(days=1)


def _set_back(where: Site, copy: str) -> None:
    where.copy_database(copy, "postgres")
    for name in (*_FOLDERS, "elsewhere"):
        shutil.rmtree(where.folder / name, ignore_errors=True)
    for name in _FOLDERS:
        shutil.copytree(where.folder / "kept" / name, where.folder / name)


def _release_into(out: str) -> Callable[[Site], list[str]]:
    def attempt(where: Site) -> list[str]:
        before = _rounds(where)
        where.age(days=60)  # a batch whose keys are gone waits for them until it is this old
        done = where.release("--next-round", out=out)
        found = _forks(where)
        if done.code in {0, 4, 6}:
            found.append("it went on")
        if _rounds(where) > before:
            found.append("it opened a round again")
        return found

    return attempt


def _serve(where: Site) -> list[str]:
    where.serve()
    if not where.is_ready():
        where.stop("server")
        return []
    found = ["it went on"]
    where.stop("server")
    where.age(days=60)
    where.release(out="elsewhere")
    return found + _forks(where)


def _forks(where: Site) -> list[str]:
    outputs = [name for name in ("out", "elsewhere") if Path(where.folder / name).exists()]
    return [text for text in where.judge(*outputs).violations if "fork" in text]


def _rounds(where: Site) -> int:
    with psycopg.connect(where.cluster.database) as connection:
        row = connection.execute("SELECT count(*) FROM croupier.batches").fetchone()
    return int(row[0]) if row else 0


_ATTEMPTS = {
    _release_into("out"): "release into the same directory",
    _release_into("elsewhere"): "release into another directory",
    _serve: "serve",
}
