"""The program's commands, each in a separate process forked from one with all imports.

Starting an interpreter takes a second; this takes a few milliseconds, and a harness that tries
every point of a release runs it a thousand times.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

__all__ = ["Finished", "Running", "start"]

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "benchmarks.faults.__main__",  # and with it everything that a harness imports
        "croupier.cli",
        "croupier.shuffler.release.opening",
        "croupier.shuffler.release.recovery",
        "croupier.shuffler.release.release",
        "croupier.shuffler.release.rounds",
        "pyarrow.parquet",
    ]
)


@dataclass(frozen=True)
class Finished:
    """A command that has ended.

    Attributes:
        code: Its exit code; negative if a signal ended it.
        said: The output of both streams.
    """

    code: int
    said: str

    @property
    def told(self) -> bool:
        """True if it ended as specified: with a result, or with a sentence that names the cause."""
        failed_in_silence = self.code != 0 and not self.said.strip()
        blunt = "Traceback" in self.said or "Please report it" in self.said
        return not (failed_in_silence or blunt)


class Running:
    """A command that was started."""

    def __init__(self, process: multiprocessing.process.BaseProcess, output: Path) -> None:
        self.process, self._output = process, output

    def wait(self, seconds: float = 120) -> Finished:
        """Wait for its end; a command that takes longer is killed and its output dropped."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
            return Finished(1, "")
        said = self._output.read_text()
        self._output.unlink()
        return Finished(self.process.exitcode, said)


def start(
    *arguments: str,
    folder: Path,
    environment: Mapping[str, str],
    prepare: Callable[[], None] | None = None,
) -> Running:
    """Start a command.

    Args:
        arguments: The arguments, as on the command line.
        folder: The folder in which it runs.
        environment: Additions to the environment.
        prepare: Called in the process before the command; must be picklable.
    """
    output = folder / f"said-{token_hex(8)}"
    given = (arguments, folder, dict(environment), output, prepare)
    process = _CONTEXT.Process(target=_run, args=given)
    process.start()
    return Running(process, output)


def _run(
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    output: Path,
    prepare: Callable[[], None] | None,
) -> None:
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    os.environ.update(environment)
    from croupier.cli import main  # noqa: PLC0415 - imported where all commands are forked from

    if prepare is not None:
        prepare()
    sys.argv = ["croupier", *arguments]
    main()
