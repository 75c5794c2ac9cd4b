"""Two-way tables: how many people hold each combination of the answers to two questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING

from croupier.model.estimate import Estimate
from croupier.numerics.arrays import np
from croupier.randomizers.estimates.linear_rule import LinearRule, Real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from croupier.model.interval_rule import Ends
    from croupier.randomizers.frequency_oracle import FrequencyOracle

__all__ = ["CellRule", "two_way_estimate"]

_HELD = ((True, True), (True, False), (False, True), (False, False))
"""The four cases: a person holds both values, one of them, or neither; first question first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellRule(LinearRule):
    """The shares f that lie no further from the estimate x than their own noise explains.

        |x - f| <= z sqrt((variance + slope (f - x))/n) + z^2 jump/(3 n),

    since the variance of a report's score depends on the share itself, linearly.

    Direction: about the truth; coverage was measured (``benchmarks/coverage``).

    Attributes:
        slope: The change of the variance with the share.
    """

    slope: Real

    def ends(self, confidence: float) -> Ends:
        """Solve for the two shares at which both sides are equal, then cut."""
        points = np.clip(self.points, self.low, self.high)
        quantile = -NormalDist().inv_cdf((1 - confidence) / 2)
        unit = quantile**2 / self.n
        tilt = unit * self.slope / 2
        half = np.sqrt(unit * self.variance + tilt**2)
        jump = unit * self.jump / 3
        lower, upper = points + tilt - half - jump, points + tilt + half + jump
        return np.maximum(lower, self.low), np.minimum(upper, self.high)

    def among(self, people: int) -> CellRule:
        """The rule about all people; everybody answers both questions."""
        return replace(self, people=people)


def two_way_estimate(  # noqa: PLR0913 - the counts of two questions
    both: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    n: int,
    *,
    oracles: tuple[FrequencyOracle, FrequencyOracle],
    confidence: float,
) -> Estimate:
    """Estimate the share of people who hold each pair of values, row by row.

    With s and t telling whether a report supports the value a of the first and b of the second
    question, their noise being independent given the values, the mean over the reports of

        (s - q)/(p - q) (t - q')/(p' - q')

    is unbiased: the product of the inverses of the two channels, applied to the joint counts. The
    variance of a report's score is one of four, by which of the two values its sender holds; the
    shares of the four follow from the cell and the two margins.

    Args:
        both: The number of reports that support each pair of values.
        first: The number that support each value of the first question.
        second: The same of the second.
        n: The number of reports.
        oracles: The two mechanisms.
        confidence: The coverage of each interval.
    """
    (p1, q1), (p2, q2) = (map(float, each.support_probabilities) for each in oracles)
    gap = (p1 - q1) * (p2 - q2)
    support = both / n - q2 * first[:, None] / n - q1 * second[None, :] / n + q1 * q2
    points = support / gap
    share = np.clip(points, 0.0, 1.0)
    rows, columns = (
        np.clip((counts / n - other) / (own - other), 0.0, 1.0)
        for counts, own, other in ((first, p1, q1), (second, p2, q2))
    )
    moments = [_moments((p1, q1, held), (p2, q2, other)) for held, other in _HELD]
    whole, of_row, of_column, none = (square for square, _ in moments)
    outside = np.maximum(1 - rows[:, None] - columns[None, :], 0.0)
    slope = whole - of_row - of_column + none
    variance = none * outside + of_row * rows[:, None] + of_column * columns[None, :]
    variance = np.maximum(variance + slope * share, min(square for square, _ in moments))
    jump = max(cube / square for square, cube in moments)
    labels = product(*(each.domain.labels for each in oracles))
    return Estimate(
        quantity="share",
        values=[f"{one}, {two}" for one, two in labels],
        points=points.ravel(),
        standard_errors=np.sqrt(variance / n).ravel(),
        n=n,
        confidence=confidence,
        rule=CellRule(
            points=points.ravel(),
            n=n,
            variance=variance.ravel(),
            jump=np.full(points.size, jump),
            low=0.0,
            high=1.0,
            slope=np.full(points.size, slope),
        ),
    )


def _moments(
    first: tuple[float, float, bool], second: tuple[float, float, bool]
) -> tuple[float, float]:
    """The variance of a report's score, and the third absolute moment of its error.

    Args:
        first: The chances (p, q) of support, and whether the sender holds the value.
        second: The same of the second question.
    """
    scores, chances = _outcomes(first, second)
    mean = float(first[2] and second[2])
    errors = np.abs(scores - mean)
    return float(chances @ errors**2), float(chances @ errors**3)


def _outcomes(
    first: tuple[float, float, bool], second: tuple[float, float, bool]
) -> tuple[Real, Real]:
    """The four scores of a report, and their chances."""
    sides = []
    for own, other, held in (first, second):
        chance = own if held else other
        sides.append(
            (
                np.array([-other, 1 - other]) / (own - other),
                np.array([1 - chance, chance]),
            )
        )
    (one, of_one), (two, of_two) = sides
    return np.outer(one, two).ravel(), np.outer(of_one, of_two).ravel()
