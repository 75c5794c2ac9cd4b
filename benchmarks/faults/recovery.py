"""A recovery that is killed or fails before and after every statement and every file change.

Two rounds are released and a third is filled by a relay over HTTP; then the database is set back to
where it was after the first. Every trial starts from a copy of that. Its recovery is stopped at one
point, and a release runs before the recovery is repeated: it must refuse, or find the recovery
signed and finish it. Afterwards every report of the released rounds must be in one file, once; the
third round must be lost, its keys gone, and named in the one receipt of the recovery; and the next
round must open above it.
"""

import shutil
import sys
from pathlib import Path

from benchmarks.faults import command
from benchmarks.faults.command import Finished
from benchmarks.faults.points import ACTIONS, Action
from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, NEXT, Site, site
from benchmarks.faults.tripwire import Tripwire
from benchmarks.faults.verdict import Verdict
from benchmarks.house import House
from croupier.protocol.receipt import Receipt

__all__ = ["run"]

_STRIDE = 3
_LOST = (2, 3)
_FILES = ("plan.toml", "shuffler.json", "analyzer.json")


def run(*, every: int = 1, offset: int = 0) -> Result:
    """Try the points, each with both faults.

    Args:
        every: Try only every n-th point.
        offset: The first of them; different for each kind of fault.
    """
    with timed("recover") as result, site() as where:
        start = _set_back(where)
        met = _Trial(where, start).points()
        result.remarks.append(f"{len(met)} points of a recovery")
        for action in ACTIONS:
            offset += _STRIDE
            for at in range(offset % every, len(met), every):
                verdict = _Trial(where, start).run(at, action)
                print(f"{at + 1} of {len(met)}: {action}, recovery", file=sys.stderr)
                which = f"{action} {met[at]} (point {at} of a recovery)"
                verdict.violations = [f"{which}: {text}" for text in verdict.violations]
                result.verdict.add(verdict)
                result.faults += 1
        given_up = f"{result.faults * MINIMUM:,} reports of the round that is given up"
        result.remarks.append(f"{given_up} are not counted as lost")
    return result


def _set_back(where: Site) -> Path:
    """A folder of files that are newer than the database `backup`."""
    _fill(where)
    where.age(days=1)
    where.release()
    where.copy_database("postgres", "backup")
    _fill(where)
    where.age(days=1)
    where.release()
    _fill(where)
    folder = where.folder / "start"
    for part in ("keys", "out"):
        shutil.copytree(where.folder / part, folder / part)
    for file in _FILES:
        shutil.copy(where.folder / file, folder)
    return folder


def _fill(where: Site) -> None:
    where.open_round()
    where.serve()
    where.is_ready()
    where.fill(MINIMUM)
    where.stop("server")


class _Trial:
    """A copy of the start, recovered with a fault at one point."""

    def __init__(self, where: Site, start: Path) -> None:
        self._site, self._folder = where, start.with_name("trial")
        where.copy_database("backup", "trial")
        where.use("trial")
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(start, self._folder)

    def points(self) -> list[str]:
        """Describe every point that a recovery meets."""
        notes = self._folder / "points"
        done = self._recover(Tripwire(notes))
        if done.code != 0:
            raise SystemExit(done.said)
        return notes.read_text().splitlines()

    def run(self, at: int, action: Action) -> Verdict:
        """Stop the recovery at a point, let others finish it, and judge."""
        violations = []
        done = self._recover(Tripwire(self._folder / "points", at, action))
        if action == "kill" and done.code != -9:
            violations.append(f"the recovery met no such point and ended with {done.code}")
        if action == "error" and not done.told:
            violations.append(f"it ended with {done.code} and no sentence: {done.said}")
        between = self._site.release(folder=self._folder)
        if between.code != 0 and "set back" not in between.said:
            violations.append(f"a release in between said: {between.said}")
        for _ in range(2):
            repeated = self._recover()
            if repeated.code != 0:
                violations.append(f"the next recovery said: {repeated.said}")
        violations += self._keys_left()
        opened = self._site.release(*NEXT, folder=self._folder)
        if opened.code != 0 or f"round {_LOST[-1] + 1}" not in opened.said:
            violations.append(f"no next round: {opened.said}")
        verdict = self._site.judge(folder=self._folder)
        verdict.lost -= MINIMUM  # the reports of the round that is given up
        verdict.violations += violations + self._receipts()
        return verdict

    def _recover(self, prepare: Tripwire | None = None) -> Finished:
        return command.start(
            *("recover", "--plan", "plan.toml", "-o", "out", "--yes"),
            folder=self._folder,
            environment=self._site.environment,
            prepare=prepare,
        ).wait()

    def _keys_left(self) -> list[str]:
        house = House.at(self._folder, self._site.keys.passphrase)
        left = {*house.release.batches(), *house.handover.path.glob("*")}
        return ["keys of a lost round are left"] if left else []

    def _receipts(self) -> list[str]:
        """Say what is wrong with the published receipts."""
        found = [
            Receipt.read(path.read_bytes())
            for path in (self._folder / "out").glob("[!.]*.receipt.json")
        ]
        chain = sorted(found, key=lambda receipt: receipt.number)
        events = [receipt.event for receipt in chain]
        lost = [receipt.recovery.lost for receipt in chain if receipt.recovery]
        if (events, lost) != (["released", "released", "recovered"], [_LOST]):
            return [f"the receipts are {events}, lost are {lost}"]
        return []
