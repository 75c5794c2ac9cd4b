"""Parts of the public file, such as squares of a map, and the estimates of what is released there.

Where a plan mixes by groups, a released row has a place in the public file: that to which the
shuffler moved it. An estimate by part is about the people whose reports were released in the part.
Which people these are is decided by the order, which looks at nobody's answer: given the order and
who took part, they are fixed, and only the noise of their reports is random. So intervals hold
about them exactly as they hold about everybody.

They do not hold about the people who live in the part: the order carried some reports away and
others in. How many is a fact about the order, see `Displacement`, and cannot be corrected for
without assuming what people elsewhere answered.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from croupier.analyzer.displacement import Displacement
from croupier.errors import ParameterError
from croupier.model.estimate import Estimate
from croupier.model.randomizer import Randomizer
from croupier.randomizers.distribution import Distribution
from croupier.randomizers.grid_mean import GridMean
from croupier.randomizers.several import SeveralQuestions

__all__ = [
    "REST",
    "AskedByPart",
    "FileParts",
    "PartCounts",
    "PartEstimate",
    "PartEstimates",
    "Square",
]
__all__ += ["add_part", "least_reports", "pooled_parts", "require_by_part", "squares_of"]

_HALF_WIDTH = 0.1
"""Half of the widest interval that says something, as a share of what is possible."""

REST = "the rest"
"""The name of small parts together."""


@dataclass(frozen=True)
class Square:
    """A square of a map; with one coordinate, a stretch of it.

    Attributes:
        low: Its least coordinates.
        side: Its side.
    """

    low: tuple[float, ...]
    side: float

    def __str__(self) -> str:
        ends = (f"{low:.4g} to {low + self.side:.4g}" for low in self.low)
        return ", ".join(ends)


@dataclass(frozen=True, kw_only=True, eq=False)
class FileParts:
    """A division of the places of a public file into parts.

    Attributes:
        by: What divides it: "place", "group" or the name of a column.
        names: The name of each part: a square, the name of a group, or an entry of the column.
        part_of: For every place the number of its part.
        displacement: How far reports are moved.
        least: The number of reports that a part needs to be estimated by itself; None derives it
            from the mechanism.
    """

    by: str
    names: Sequence[Hashable]
    part_of: NDArray[np.int64]
    displacement: Displacement
    least: int | None = None

    @property
    def squares(self) -> tuple[Square, ...]:
        """The parts that are squares of a map."""
        return tuple(name for name in self.names if isinstance(name, Square))


def squares_of(
    coordinates: NDArray[np.float64], side: float
) -> tuple[tuple[Square, ...], NDArray[np.int64]]:
    """Return the squares of a grid that hold a place, and the number of the square of each place.

    >>> squares, number = squares_of(np.array([[0.0], [0.3], [1.0]]), 0.5)
    >>> [str(square) for square in squares], number.tolist()
    (['0 to 0.5', '0.5 to 1'], [0, 0, 1])
    """
    low = coordinates.min(axis=0)
    many = np.maximum(1, np.ceil(np.ptp(coordinates, axis=0) / side - 1e-9)).astype(np.int64)
    # The last square of a row includes its far end.
    cells = np.minimum(((coordinates - low) / side).astype(np.int64), many - 1)
    taken, number = np.unique(cells, axis=0, return_inverse=True)
    corners = (low + taken * side).tolist()
    return tuple(Square(tuple(corner), side) for corner in corners), number.reshape(-1)


@dataclass(frozen=True, eq=False)
class PartCounts:
    """The sums over the answers in one part of a batch.

    Attributes:
        answers: The number of reports with an answer.
        tally: Their sums.
    """

    answers: int
    tally: NDArray[np.int64]

    def __add__(self, other: "PartCounts") -> "PartCounts":
        """Return the sums of both."""
        return PartCounts(self.answers + other.answers, self.tally + other.tally)


@dataclass(frozen=True, eq=False)
class PartEstimate:
    """The estimate of one question about the people whose reports were released in a part.

    Attributes:
        question: The name of the question.
        part: The name of the part; `REST` for small ones together.
        parts: The number of parts of the file that it covers: 1, or more for small ones together.
        stayed: Of the reports released there, the share that was sent from there, on average over
            the plan's order.
        estimate: About the reports that were released there.
    """

    question: str
    part: Hashable
    parts: int
    stayed: float
    estimate: Estimate

    @property
    def square(self) -> Square | None:
        """The part as a square of a map."""
        return self.part if isinstance(self.part, Square) else None


@dataclass(frozen=True, eq=False)
class PartEstimates:
    """The estimates of all parts.

    Attributes:
        by: What divides the file: "place", "group" or the name of a column.
        estimates: One per question and part that has enough reports, in the order of the parts.
        least: The number of reports that a part needed, by question.
        withheld: The number of parts, and of their reports, that even together have too few, by
            question.
        displacement: How far reports are moved.
        confidence: The coverage of each interval, or of all together.
        together: True if the intervals of all questions, parts and values hold together.
    """

    by: str
    estimates: tuple[PartEstimate, ...]
    least: Mapping[str, int]
    withheld: Mapping[str, tuple[int, int]]
    displacement: Displacement
    confidence: float
    together: bool = False

    def simultaneous(self) -> "PartEstimates":
        """Return the same; intervals hold together for all questions, parts and values."""
        if self.together:
            return self
        statements = sum(len(one.estimate.values) for one in self.estimates)
        wider = (
            replace(one, estimate=one.estimate.simultaneous(statements)) for one in self.estimates
        )
        return replace(self, estimates=tuple(wider), together=True)

    @classmethod
    def of(
        cls, file: FileParts, asked: Iterable["AskedByPart"], *, confidence: float
    ) -> "PartEstimates":
        """Estimate every question in every part that has enough reports.

        Parts with fewer are put together; if even then they have too few, they are withheld. Which
        ones depends on numbers of reports, not on what they say, so that no interval is chosen by
        its result.
        """
        found: list[PartEstimate] = []
        least: dict[str, int] = {}
        withheld: dict[str, tuple[int, int]] = {}
        for own in asked:
            needed = least[own.question] = file.least or own.least(confidence)
            enough = [part for part, sums in own.sums.items() if own.suffices(sums, needed)]
            small = sorted(own.sums.keys() - set(enough))
            for part in sorted(enough):
                stayed = file.displacement.stayed_in([part])
                estimate = own.estimate(own.sums[part], confidence)
                found.append(PartEstimate(own.question, file.names[part], 1, stayed, estimate))
            rest = own.together(small)
            if own.suffices(rest, needed):
                stayed = file.displacement.stayed_in(small)
                estimate = own.estimate(rest, confidence)
                found.append(PartEstimate(own.question, REST, len(small), stayed, estimate))
            elif small:
                withheld[own.question] = len(small), rest.answers
        return cls(file.by, tuple(found), least, withheld, file.displacement, confidence)


@dataclass(frozen=True, eq=False)
class AskedByPart:
    """The sums of one question by part, over all rounds that asked it.

    Attributes:
        question: Its name.
        randomizer: The mechanism of its rounds.
        index: Its number among parallel questions; 0 otherwise.
        sums: The sums of each part that has an answer.
    """

    question: str
    randomizer: Randomizer
    index: int
    sums: Mapping[int, PartCounts]

    def together(self, parts: Sequence[int]) -> PartCounts:
        """Return the sums of some parts together."""
        none = PartCounts(0, np.zeros(self.randomizer.tally_size, dtype=np.int64))
        return sum((self.sums[part] for part in parts), start=none)

    def suffices(self, sums: PartCounts, needed: int) -> bool:
        """Tell if there are so many reports, and an answer to whatever people draw by lot."""
        drawn = (answered for answered, _ in self.randomizer.lots(sums.tally))
        return sums.answers >= needed and all(drawn)

    def estimate(self, sums: PartCounts, confidence: float) -> Estimate:
        """Estimate the question from the sums of a part."""
        made = self.randomizer
        if isinstance(made, SeveralQuestions):
            found = made.estimate_tallies(sums.tally, sums.answers, confidence=confidence)
            return found[self.index]
        return made.estimate_tally(sums.tally, sums.answers, confidence=confidence)

    def least(self, confidence: float) -> int:
        """Return the number of reports from which an interval says something: see `_HALF_WIDTH`."""
        made = self.randomizer
        if isinstance(made, SeveralQuestions):
            error = made.rms_errors(1)[self.index]
            return least_reports(made.queries[self.index], error, confidence)
        return least_reports(made, made.rms_error(1), confidence)


def least_reports(asked: Randomizer, error: float, confidence: float) -> int:
    """Return the number of reports at which half an interval is a tenth of what is possible.

    Args:
        asked: The mechanism of the question.
        error: The standard error of an estimate from one report.
        confidence: The coverage of the interval.
    """
    extent = asked.grid.high - asked.grid.low if isinstance(asked, GridMean) else 1.0
    factor = -NormalDist().inv_cdf((1 - confidence) / 2)
    return max(2, math.ceil((factor * error / (_HALF_WIDTH * float(extent))) ** 2))


def require_by_part(randomizers: Iterable[Randomizer]) -> None:
    """Refuse questions whose estimates cannot be told by part."""
    for made in randomizers:
        if made.varies_by_batch or isinstance(made, Distribution):
            raise ParameterError(
                "by",
                must="be left out: texts, dictionaries and distributions are not told by part",
                got=made.mechanism,
            )


def add_part(held: dict[int, PartCounts], part: int, own: PartCounts) -> None:
    """Add sums to those of a part."""
    held[part] = held[part] + own if part in held else own


def pooled_parts(batches: Iterable[Mapping[int, PartCounts]]) -> dict[int, PartCounts]:
    """Return the sums of every part over several batches."""
    found: dict[int, PartCounts] = {}
    for batch in batches:
        for part, own in batch.items():
            add_part(found, part, own)
    return found
