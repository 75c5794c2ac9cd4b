"""A question that we and a peer answer, and the time of either."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import metadata

from benchmarks.timing import per_call

__all__ = ["Case", "Peer", "Sides"]


@dataclass(frozen=True)
class Peer:
    """A package that answers the same question.

    Attributes:
        package: Its name on the package index.
        install: The command that installs it.
        programs: Other programs that must be on the path.
        absent: Returns what else is missing; empty if nothing is.
    """

    package: str
    install: str = "pip install -c constraints.txt ."
    programs: tuple[str, ...] = ()
    absent: Callable[[], str] = str

    @property
    def version(self) -> str:
        """The installed version; empty if there is none."""
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return ""

    def missing(self) -> str:
        """The reason why it cannot be measured here and the remedy; empty if it can."""
        if not self.version:
            return f"{self.package} is not installed: {self.install}"
        for program in self.programs:
            if shutil.which(program) is None:
                return f"{program} is not on the path: install it with the system's packages"
        return self.absent()


@dataclass(frozen=True)
class Sides:
    """Both sides, ready to answer.

    Attributes:
        ours: Answers once and returns the seconds it took.
        theirs: The same for the peer.
        difference: The distance of the two answers.
        tolerance: The largest allowed distance.
        unit: The unit of the difference.
    """

    ours: Callable[[], float]
    theirs: Callable[[], float]
    difference: Callable[[], float]
    tolerance: float
    unit: str

    @classmethod
    def calling(
        cls,
        ours: Callable[[], object],
        theirs: Callable[[], object],
        *,
        difference: Callable[[], float],
        tolerance: float,
        unit: str,
    ) -> "Sides":
        """Two functions of this process, each called often enough to be timed."""
        return cls(lambda: per_call(ours), lambda: per_call(theirs), difference, tolerance, unit)


@dataclass(frozen=True)
class Case:
    """A question.

    Attributes:
        name: The name on the command line.
        question: The question, with `{size}` in place of the size.
        peer: The other package that answers.
        sides: Prepares both sides for a size.
        size: The size of the question.
        small: The size in tests.
        rounds: The number of times that both answer, in turns.
    """

    name: str
    question: str
    peer: Peer
    sides: Callable[[int], AbstractContextManager[Sides]]
    size: int
    small: int
    rounds: int = 5
