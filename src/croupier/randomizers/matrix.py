"""A randomizer from any matrix of probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from croupier.errors import ParameterError
from croupier.model.channel import Channel
from croupier.model.domain import Categories
from croupier.model.estimate import Estimate
from croupier.model.randomizer import Randomizer
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import is_array, np
from croupier.numerics.keystream import WORD
from croupier.numerics.weight_table import WeightTable
from croupier.randomizers.estimates.linear_rule import DoubtfulRule
from croupier.randomizers.frequency_oracle import count_values
from croupier.randomizers.parameter import LABELS, MATRIX, declares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["MatrixRandomizer"]

Moments: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64]]"


@dataclass(frozen=True, kw_only=True)
class MatrixRandomizer(Randomizer):
    """Report output y for value x with the probability in row x, column y of a given matrix.

    Probabilities are rounded to integers over 2**64; a matrix of integers is taken as it is, each
    row summing to the same denominator. The epsilon is that of the integers, infinite if a row
    excludes an output that another allows.

    Shares are estimated by the right inverse of the matrix that has the least variance when all
    values are equally frequent. Its variance for people with given values is
    (1/n) [sum_x f_x sum_y R(x)(y) phi_v(y)^2 - f_v], phi_v the scores of v.

    Attributes:
        matrix: One row per value.
        labels: Names of the values, if they are not 0, 1, ….

    Example:
        >>> MatrixRandomizer(matrix=((3, 1), (1, 3))).epsilon_local
        1.0986122886681098
    """

    mechanism = "matrix"

    matrix: Sequence[Sequence[float]] | NDArray[Any] = field(
        metadata=declares(MATRIX, "one row of weights or chances per value")
    )
    labels: tuple[str | int, ...] | None = field(
        default=None, metadata=declares(LABELS, "names of the values")
    )

    def __post_init__(self) -> None:
        given: Any = self.matrix
        rows = given.tolist() if is_array(given) else given
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in rows))
        if len({len(row) for row in self.matrix}) != 1 or not len(self.matrix[0]):
            raise ParameterError("matrix", must="have rows and columns, all rows of one length")
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(self.labels))
        _ = self.table, self.domain  # refuse rows that are not a law, and labels that are none

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the integers."""
        return self.table.epsilon

    @cached_property
    def table(self) -> WeightTable:
        """The integer weights."""
        try:
            if all(isinstance(entry, int) for row in self.matrix for entry in row):
                rows = tuple(tuple(int(entry) for entry in row) for row in self.matrix)
                return WeightTable(rows, sum(rows[0]))
            probabilities = Channel.from_probabilities(self.matrix).probabilities
            return WeightTable.rounded(probabilities, WORD)
        except ParameterError as error:
            raise ParameterError("matrix", must=error.must, got=error.got) from None

    @cached_property
    def domain(self) -> Categories:
        """One category per row."""
        size = len(self.matrix)
        if self.labels is not None and len(self.labels) != size:
            raise ParameterError("labels", must=f"be {size}, one per row", got=len(self.labels))
        return Categories.of(k=None if self.labels else size, labels=self.labels)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw."""
        return (self.table.denominator,)

    @cached_property
    def report_format(self) -> ReportFormat:
        """One column."""
        return ReportFormat((len(self.matrix[0]),))

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The column that the draw picks from the value's row."""
        return self.table.respond(indices, draws[:, 0])

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int]:
        """The column that the draw picks from the value's row."""
        return (self.table.pick(index, draws[0]),)

    def channel(self) -> Channel:
        """The integers over their denominator."""
        return Channel.from_weights(
            self.table.weights, self.table.denominator, inputs=self.domain.labels
        )

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each column was reported."""
        return count_values(reports, len(self.matrix[0]))

    @cached_property
    def _scores(self) -> NDArray[np.float64]:
        """The scores, one row per column of the matrix, one column per value: W R' (R W R')^-1."""
        law = self.channel().probabilities
        possible = law.sum(axis=0) > 0
        weighted = np.zeros_like(law.T)
        weighted[possible] = law.T[possible] / law.mean(axis=0)[possible, None]
        gram = law @ weighted
        if np.linalg.matrix_rank(gram) < len(gram):
            raise ParameterError("matrix", must="have independent rows to estimate shares from")
        return weighted @ np.linalg.inv(gram)

    @cached_property
    def _moments(self) -> tuple[Moments, Moments]:
        """Noise of the scores, then of the scores that estimate the noise."""
        law = self.channel().probabilities
        own = _noise(law, self._scores)
        return own, _noise(law, self._scores @ own[0])

    def _variance(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The variance of each share's estimate from one report."""
        output = shares @ self.channel().probabilities
        return np.maximum(output @ self._scores**2 - shares, 0.0)

    def honest_chances(
        self,
        tally: NDArray[np.int64],
        traits: NDArray[np.int64],  # noqa: ARG002 - of other mechanisms
        n: int,
    ) -> list[HonestChances]:
        """The count of each output: between the least and the largest weight of its column."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        rows, total = self.table.rows, self.table.denominator
        return [HonestChances.of_outputs(n, tally, rows, total)]

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The unbiased shares from the tally of `n` reports."""
        points = tally @ self._scores / n
        shares = np.clip(points, 0.0, 1.0)
        shares /= shares.sum()
        return Estimate(
            quantity="share",
            values=self.domain.labels,
            points=points,
            standard_errors=np.sqrt(self._variance(shares) / n),
            n=n,
            confidence=confidence,
            rule=self._interval_rule(points, shares, n),
        )

    def _interval_rule(
        self, points: NDArray[np.float64], shares: NDArray[np.float64], n: int
    ) -> DoubtfulRule:
        """Intervals from the noise of each value's reports, weighted by the estimated shares."""
        (noise, jump), (doubt, leap) = self._moments
        return DoubtfulRule(
            points=points,
            n=n,
            variance=shares @ noise,
            jump=jump.max(axis=0),
            low=0.0,
            high=1.0,
            doubt=shares @ doubt,
            leap=leap.max(axis=0),
            most=noise.max(axis=0),
        )

    def rms_error(self, n: int) -> float:
        """The root mean square standard error over the values if all are equally frequent."""
        size = len(self.matrix)
        return math.sqrt(float(self._variance(np.full(size, 1 / size)).mean()) / n)

    @property
    def worst_shift(self) -> Fraction | None:
        """The largest difference between two scores of one value; None if none is estimated."""
        try:
            scores = self._scores
        except ParameterError:  # rows that are not independent: there are no estimates to move
            return None
        ends = zip(scores.max(axis=0).tolist(), scores.min(axis=0).tolist(), strict=True)
        return max(Fraction(most) - Fraction(least) for most, least in ends)


def _noise(law: NDArray[np.float64], scores: NDArray[np.float64]) -> Moments:
    """The variance of each score, and a bound of its third absolute moment over it, by values.

    By Cauchy and Schwarz the ratio is at most the root of the fourth moment over the second.
    """
    mean, *raw = (law @ scores**power for power in (1, 2, 3, 4))
    second = np.maximum(raw[0] - mean**2, 0.0)
    fourth = raw[2] - 4 * raw[1] * mean + 6 * raw[0] * mean**2 - 3 * mean**4
    ratio = np.divide(np.maximum(fourth, 0.0), second, out=np.zeros_like(second), where=second > 0)
    return second, np.sqrt(ratio)
