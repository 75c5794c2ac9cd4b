"""Notes from workers to the server, in files, since a worker may die at any moment."""

import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Notes"]


@dataclass(frozen=True)
class Notes:
    """The notes that workers have left so far.

    Attributes:
        directory: The directory of the files, one per server.
    """

    directory: Path

    def has_started(self) -> None:
        """Record that this process serves."""
        (self.directory / f"started-{os.getpid()}").touch()

    def cannot_start(self, cause: str) -> None:
        """Record why this process ends."""
        (self.directory / "cause").write_text(cause)

    def count_started(self) -> int:
        """Count the processes that have ever served."""
        return len(list(self.directory.glob("started-*")))

    def cause(self) -> str:
        """Return why the last worker that left a note could not start."""
        file = self.directory / "cause"
        if file.is_file():
            return file.read_text()
        return "it died without a message. Check the system's log: memory may have run out."
