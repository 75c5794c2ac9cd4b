"""Notes that workers leave for the server: files, for a worker may die at any moment."""

import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Notes"]


@dataclass(frozen=True)
class Notes:
    """What workers have told so far.

    Attributes:
        directory: Where the files are: of one server.
    """

    directory: Path

    def has_started(self) -> None:
        """Tell that this process serves."""
        (self.directory / f"started-{os.getpid()}").touch()

    def cannot_start(self, cause: str) -> None:
        """Tell why this process ends."""
        (self.directory / "cause").write_text(cause)

    def count_started(self) -> int:
        """How many processes have ever served."""
        return len(list(self.directory.glob("started-*")))

    def cause(self) -> str:
        """Why the last one that said so could not start."""
        file = self.directory / "cause"
        if file.is_file():
            return file.read_text()
        return "it died without a word. Look at the system's log: it may lack memory."
