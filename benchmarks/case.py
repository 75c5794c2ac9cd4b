"""A question that we and a peer answer, and how long either takes."""

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
        install: What installs it.
        programs: What else must be on the path.
        absent: Says what else is not there; empty if all is.
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
        """Why it cannot be measured here and what to do; empty if it can."""
        if not self.version:
            return f"{self.package} is not installed: {self.install}"
        for program in self.programs:
            if shutil.which(program) is None:
                return f"{program} is not on the path: install it with the system's packages"
        return self.absent()


@dataclass(frozen=True)
class Sides:
    """Both, ready to answer.

    Attributes:
        ours: Answers once; how many seconds that took.
        theirs: The same for the peer.
        difference: How far the two answers are apart.
        tolerance: How far they may be.
        unit: What the difference is measured in.
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
        name: What it is called on the command line.
        question: What is asked, with `{size}` where the size belongs.
        peer: Who else answers.
        sides: Makes both ready for a size.
        size: How large the question is.
        small: How large it is in tests.
        rounds: How often both answer, in turns.
    """

    name: str
    question: str
    peer: Peer
    sides: Callable[[int], AbstractContextManager[Sides]]
    size: int
    small: int
    rounds: int = 5
