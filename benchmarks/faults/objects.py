"""A release into an object store that is killed or fails before and after every step.

The same as `points`, with the output in the bucket of a server that keeps every version: nothing
may have been written twice or deleted. Right after each fault, the bucket must hold no file of rows
that no receipt in the database names.
"""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from unittest.mock import patch

import psycopg

from benchmarks.faults.points import Start, Trial, starts, tried
from benchmarks.faults.result import Result, Skipped, timed
from benchmarks.faults.rig import site
from benchmarks.faults.verdict import Verdict
from benchmarks.object_store import BUCKET, MotoServer, moto_server
from croupier.protocol.object_store import ObjectStore
from croupier.protocol.receipt import Receipt

__all__ = ["run"]

_VERSION = re.compile(r"<(Version|DeleteMarker)>.*?<Key>([^<]+)</Key>", re.DOTALL)
_ROWS = ".parquet"


class ObjectTrial(Trial):
    """A trial whose output is a new prefix of the bucket."""

    def __init__(self, start: Start, server: MotoServer) -> None:
        super().__init__(start)
        self._server = server
        self._store = ObjectStore(BUCKET, f"trial-{token_hex(8)}")
        self.output = self._store.address

    def _seen_after_the_fault(self) -> list[str]:
        with psycopg.connect(self._site.database) as connection:
            rows = connection.execute("SELECT document FROM croupier.receipts").fetchall()
        signed = [Receipt.read(document).file for (document,) in rows]
        out = self._published()
        unsigned = [
            f"{path.name} is in the bucket, and was not signed"
            for path in out.glob(f"*{_ROWS}")
            if not any(file is not None and file.is_at(path) for file in signed)
        ]
        return unsigned + super()._seen_after_the_fault()

    def _judge(self) -> Verdict:
        outputs = ("out", str(self._published()))
        verdict = self._site.judge(
            *outputs, folder=self._folder, disposal_due=self._start.disposal_due
        )
        verdict.violations += self._written_twice()
        left = list((self._folder / "keys/release/unpublished").rglob(".*"))
        verdict.leftovers += len(left)
        return verdict

    def _published(self) -> Path:
        """Copy what is in the bucket into a directory."""
        folder = self._folder / "fetched"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, size in self._store.sizes().items():
            self._store.download(name, folder / name, size=size)
        return folder

    def _written_twice(self) -> list[str]:
        """Describe objects of which there was more than one version, or that were deleted."""
        page = self._server.request("GET", f"/{BUCKET}?versions&prefix={self._store.prefix}/")
        found = _VERSION.findall(page.decode())
        versions = Counter(key for kind, key in found if kind == "Version")
        twice = [f"{key} was written {times} times" for key, times in versions.items() if times > 1]
        return twice + [f"{key} was deleted" for kind, key in found if kind != "Version"]


@contextmanager
def _server() -> Iterator[MotoServer]:
    """Start the server, and open it for this process too.

    Raises:
        Skipped: It is not installed.
    """
    if find_spec("moto") is None or find_spec("obstore") is None:
        raise Skipped("needs moto, with flask and flask-cors, and obstore")
    with moto_server() as server, patch.dict(os.environ, server.environment):
        yield server


def run(*, every: int = 1, offset: int = 0) -> Result:
    """Try the points, each with both faults and from both starts.

    Args:
        every: Try only every n-th point.
        offset: The first of them; different for each kind of trial.
    """
    with timed("objects") as result, _server() as server, site() as where:
        server.keep_versions()
        where.variables |= server.environment
        for start in starts(where):
            offset = tried(
                result, start, lambda own: ObjectTrial(own, server), every=every, offset=offset
            )
    return result
