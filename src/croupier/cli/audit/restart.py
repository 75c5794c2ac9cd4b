"""The same calls in two fresh processes, where noise from a fixed seed repeats."""

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from croupier.auditing.mechanism.column import Fingerprints, fingerprints
from croupier.auditing.mechanism.finding import Audit, Shares
from croupier.auditing.mechanism.ratio import flip_coins
from croupier.auditing.mechanism.repeats import Repeat, repeats_at
from croupier.auditing.mechanism.target import Places, target_of
from croupier.cli.audit.imported import imported, listed_values
from croupier.numerics.keystream import Keystream

__all__ = ["Restarted", "answer", "with_restart"]

_CALLS = 10_000
_PATIENCE = 60.0
"""Seconds for one process; a slower one is not looked at."""

_PROGRAM = "import sys; from croupier.cli.audit.restart import answer; answer(sys.argv[1:])"


@dataclass(frozen=True)
class Restarted:
    """A mechanism that is called in processes of its own.

    Attributes:
        target: MODULE:FUNCTION, importable from the working directory.
        inputs: The values, as given on the command line.
        vectorised: Whether the function takes an array.
    """

    target: str
    inputs: str
    vectorised: bool

    def words(self, calls: Places, folder: Path) -> Fingerprints | None:
        """Call it in a fresh process and return the words of its outputs; None if it fails."""
        asked, told = folder / "asked.npy", folder / "told.npy"
        told.unlink(missing_ok=True)
        np.save(asked, calls)
        kind = "vectorised" if self.vectorised else "single"
        flags = [self.target, self.inputs, kind, str(asked), str(told)]
        try:
            subprocess.run(  # noqa: S603 - our own program, and what is audited anyway
                [sys.executable, "-c", _PROGRAM, *flags],
                check=True,
                capture_output=True,
                timeout=_PATIENCE,
            )
            return np.asarray(np.load(told), dtype=np.uint64)
        except (OSError, ValueError, subprocess.SubprocessError):
            return None


def answer(flags: list[str]) -> None:
    """Make the calls of a file and write the words of their outputs to another one."""
    target, inputs, kind, asked, told = flags
    called = target_of(imported(target), vectorised=kind == "vectorised")
    np.save(told, fingerprints(called.outputs(listed_values(inputs), np.load(asked))))


def with_restart(found: Audit, restarted: Restarted) -> Audit:
    """Add to an audit a comparison of calls with the same calls after a restart.

    Coins choose the inputs in both processes (`repeats_at`). If the mechanism cannot be called in a
    process of its own, the audit stays as it was.
    """
    names = [repr(value) for value in listed_values(restarted.inputs)]
    pair = [names.index(repr(value)) for value in found.witness.inputs]
    calls = [np.where(flip_coins(_CALLS, Keystream()), *pair) for _ in range(2)]
    with TemporaryDirectory() as folder:
        words = [restarted.words(places, Path(folder)) for places in calls]
    if words[0] is None or words[1] is None:
        return found
    restart = repeats_at(
        np.concatenate([words[0], words[1]]),
        np.concatenate(calls),
        Repeat(_CALLS),
        inputs=found.witness.inputs,
        start=0,
        delta=found.evidence.delta or 0.0,
        confidence=Shares.confidence(Shares.RESTART, found.evidence.confidence),
    )
    return replace(found, restart=replace(restart, distance=None))
