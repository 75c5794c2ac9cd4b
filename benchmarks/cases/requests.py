"""Taking reports in, beside a bare application that only copies into PostgreSQL."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module

from benchmarks.case import Case, Peer, Sides

__all__ = ["CASES"]


def server() -> str:
    """The address of PostgreSQL."""
    default = str(import_module("benchmarks.intake").SERVER)
    return os.environ.get("CROUPIER_TEST_DATABASE", default)


def without_database() -> str:
    """The reason why there is no database; empty if there is one."""
    psycopg = import_module("psycopg")
    try:
        psycopg.connect(server(), connect_timeout=5).close()
    except psycopg.OperationalError:
        return "PostgreSQL does not answer: set CROUPIER_TEST_DATABASE"
    return ""


def requests(envelopes: int) -> Callable[[int], AbstractContextManager[Sides]]:
    """Put both under load, one after the other; return the seconds per request."""

    @contextmanager
    def sides(seconds: int) -> Iterator[Sides]:
        with import_module("benchmarks.intake").serving(server()) as intake:

            def one(who: str) -> float:
                found = intake.load(who, envelopes=envelopes, seconds=seconds)
                return float(found["seconds"] / found["requests"])

            def difference() -> float:
                one("ours")
                one("bare")
                return float(intake.lost())

            unit = "acknowledged reports that are not stored"
            yield Sides(lambda: one("ours"), lambda: one("bare"), difference, 0, unit)

    return sides


PEER = Peer(
    "uvicorn",
    "pip install -c constraints.txt '.[service]'",
    programs=("wrk",),
    absent=without_database,
)

CASES = [
    Case(
        name="intake-single",
        question="Take in reports, one per request, {size} s of load; bare ASGI and COPY",
        peer=PEER,
        sides=requests(1),
        size=3,
        small=3,
        rounds=3,
    ),
    Case(
        name="intake-batched",
        question="Take in reports, a hundred per request, {size} s of load; bare ASGI and COPY",
        peer=PEER,
        sides=requests(100),
        size=3,
        small=3,
        rounds=3,
    ),
]
