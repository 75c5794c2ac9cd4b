"""A release that is killed or fails before and after every statement and every file change.

One deployment is made and its round is filled by a relay over HTTP. Every trial starts from a copy
of its database, keys and files. The release of the trial, which also opens the next round, is
stopped at one point. Right afterwards, keys and envelopes must be intact unless the signed file and
its receipt are in place. Then two releases run at once, and every report must be in one file, once.
A release that was not killed but met an error must end with a sentence, and the next one must
finish.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg

from benchmarks.faults.command import Finished, Running
from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, Site, site
from benchmarks.faults.tripwire import Tripwire
from benchmarks.faults.verdict import Verdict
from benchmarks.house import House
from croupier.protocol.receipt import Receipt

__all__ = ["ACTIONS", "Action", "Start", "Trial", "run", "starts", "tried"]

Action = Literal["kill", "error"]
ACTIONS: tuple[Action, ...] = ("kill", "error")
_DISPOSED = 6
_STRIDE = 3


@dataclass(frozen=True)
class Start:
    """A deployment whose round is over, to be copied.

    Attributes:
        site: The deployment.
        database: The name of its database.
        folder: Its files.
        disposal_due: True if its batch is too small, and too old to wait for more.
    """

    site: Site
    database: str
    folder: Path
    disposal_due: bool


class Trial:
    """A copy of a start, released with a fault at one point."""

    output = "out"

    def __init__(self, start: Start) -> None:
        self._start, self._site = start, start.site
        self._folder = start.folder.with_name("trial")
        self._site.copy_database(start.database, "trial")
        self._site.use("trial")
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(start.folder, self._folder)
        (batch,) = House.at(self._folder, self._site.keys.passphrase).release.batches()
        self._batch = batch.hex()
        self._secrets = self._batch_keys()

    def points(self) -> list[str]:
        """Describe every point that a release meets."""
        notes = self._folder / "points"
        done = self._release(Tripwire(notes))
        if done.code not in {0, _DISPOSED}:
            raise SystemExit(done.said)
        return notes.read_text().splitlines()

    def run(self, at: int, action: Action) -> Verdict:
        """Stop the release at a point, let others finish, and judge."""
        violations = []
        done = self._release(Tripwire(self._folder / "points", at, action))
        if action == "kill" and done.code != -9:
            violations.append(f"the release met no such point and ended with {done.code}")
        if action == "error" and not done.told:
            violations.append(f"the release ended with {done.code} and no sentence: {done.said}")
        violations += self._seen_after_the_fault()
        jobs = [self._begin() for _ in range(2 if action == "kill" else 1)]
        ends = [job.wait() for job in jobs]
        violations += [f"the next release said: {e.said}" for e in ends if not e.told]
        verdict = self._judge()
        verdict.violations += violations
        return verdict

    def _seen_after_the_fault(self) -> list[str]:
        """Describe what must not be seen while nobody has continued yet."""
        if self._is_whole() or self._is_published():
            return []
        return ["keys or envelopes are gone before the file is in place"]

    def _judge(self) -> Verdict:
        return self._site.judge(folder=self._folder, disposal_due=self._start.disposal_due)

    def _published(self) -> Path:
        """The directory with what is published."""
        return self._folder / self.output

    def _begin(self, prepare: Tripwire | None = None) -> Running:
        return self._site.start_release(
            "--next-round", folder=self._folder, out=self.output, prepare=prepare
        )

    def _release(self, prepare: Tripwire) -> Finished:
        return self._begin(prepare).wait()

    def _batch_keys(self) -> dict[str, bytes]:
        """The remaining secrets of the batch: those of release, and those handed over."""
        keys = self._folder / "keys"
        release = keys / "release" / "batches" / self._batch
        files = [*release.glob("*"), *keys.glob(f"handover/{self._batch}.tag")]
        return {path.name: path.read_bytes() for path in files}

    def _is_whole(self) -> bool:
        """Tell whether the batch could be opened once more."""
        with psycopg.connect(self._site.database) as connection:
            name = f"croupier.env_{self._batch}"
            row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [name]).fetchone()
        return self._batch_keys() == self._secrets and bool(row and row[0])

    def _is_published(self) -> bool:
        """Tell whether the signed receipt is in the database and in its place, with its file."""
        with psycopg.connect(self._site.database) as connection:
            rows = connection.execute("SELECT document FROM croupier.receipts").fetchall()
        out = self._published()
        beside = [Receipt.read(path.read_bytes()) for path in out.glob("[!.]*.receipt.json")]
        for receipt in (Receipt.read(document) for (document,) in rows):
            if receipt.batch == self._batch:
                in_place = receipt.file is None or receipt.file.is_at(out / receipt.file.name)
                return in_place and receipt in beside
        return False


def run(*, every: int = 1, offset: int = 0) -> Result:
    """Try the points, each with both faults and from both starts.

    Args:
        every: Try only every n-th point.
        offset: The first of them; different for each kind of trial.
    """
    with timed("points") as result, site() as where:
        for start in starts(where):
            offset = tried(result, start, Trial, every=every, offset=offset)
    return result


def tried(
    result: Result, start: Start, trial: Callable[[Start], Trial], *, every: int, offset: int
) -> int:
    """Try the points of one start with both faults; return the offset for the next."""
    met = trial(start).points()
    name = "disposal" if start.disposal_due else "release"
    result.remarks.append(f"{len(met)} points of a {name}")
    for action in ACTIONS:
        offset += _STRIDE
        for at in range(offset % every, len(met), every):
            verdict = trial(start).run(at, action)
            which = f"{action} {met[at]} (point {at} of a {name})"
            print(f"{at + 1} of {len(met)}: {action}, {name}", file=sys.stderr)
            verdict.violations = [f"{which}: {text}" for text in verdict.violations]
            result.verdict.add(verdict)
            result.faults += 1
    return offset


def starts(where: Site) -> Iterator[Start]:
    """A round with enough people, and one with too few that has waited too long."""
    where.open_round()
    where.serve()
    where.is_ready()
    where.fill(MINIMUM)
    where.stop("server")
    where.age(days=1)
    yield _kept(where, "enough", disposal_due=False)
    where.use("postgres")
    where.release("--next-round")
    where.serve()
    where.is_ready()
    where.fill(MINIMUM - 1)
    where.stop("server")
    where.age(days=60)
    yield _kept(where, "too_few", disposal_due=True)


def _kept(where: Site, name: str, *, disposal_due: bool) -> Start:
    where.copy_database(where.name, name)
    folder = where.folder / name
    (where.folder / "out").mkdir(exist_ok=True)
    for part in ("keys", "out"):
        shutil.copytree(where.folder / part, folder / part)
    for file in ("plan.toml", "shuffler.json"):
        shutil.copy(where.folder / file, folder)
    return Start(where, name, folder, disposal_due)
