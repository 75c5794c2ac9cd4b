"""Run a program again and again: every.py SECONDS PROGRAM ARGUMENTS.

Goes on if a run fails, and notes it in a file: every.py --healthy exits with 1 from then on, until
the container is started again. The image has no shell that could do this.
"""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FAILED = Path(tempfile.gettempdir(), "failed")


class Loop:
    """A loop over runs of a program, until a signal tells it to stop.

    Attributes:
        stopped: Set by a signal, which ends the waiting but never a run.
    """

    def __init__(self) -> None:
        self.stopped = False
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def run(self, seconds: float, command: list[str]) -> None:
        """Run, note a failure, and wait."""
        while not self.stopped:
            code = subprocess.run(command, check=False).returncode  # noqa: S603 - the operator's
            if code:
                sys.stderr.write(f"{' '.join(command)} exited with {code}.\n")
                FAILED.touch()
            due = time.monotonic() + seconds
            while not self.stopped and time.monotonic() < due:
                time.sleep(0.2)


if __name__ == "__main__":
    if sys.argv[1] == "--healthy":
        sys.exit(FAILED.exists())
    Loop().run(float(sys.argv[1]), sys.argv[2:])
