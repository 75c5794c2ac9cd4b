"""Sampled sign: one randomised coordinate of a vector of signs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from croupier.errors import TooLargeError
from croupier.model.channel import Channel
from croupier.model.domain import SignVectors
from croupier.model.estimate import Estimate
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import log_above
from croupier.randomizers.calibrated import CalibratedRandomizer
from croupier.randomizers.estimates.linear_rule import LinearRule
from croupier.randomizers.k_rr import blanket_weight, kary_response, kary_response_of_one
from croupier.randomizers.parameter import WHOLE, declares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["SampledSign"]

_MOST_DIMENSIONS = 16


@dataclass(frozen=True, kw_only=True)
class SampledSign(CalibratedRandomizer):
    """Pick one of d coordinates at random and report it with its sign, randomised.

        R(x)(j, s) = (1/d) a/D if s = x_j,  (1/d) b/D otherwise,
        b = ceil(D / (e^epsilon + 1)),  a = D - b.

    The mean sign of coordinate j is estimated by d/(a - b) D times the sum of the signs reported
    for it, over n. Signs square to one, so the variance is (d D^2/(a-b)^2 - 1)/n for people with
    given signs, whatever they are.

    Attributes:
        dimension: The number d of coordinates.

    Reference: wang2025, the gradients of the example on in-out attacks; duchi2018.

    Example:
        >>> SampledSign(dimension=13170, max_epsilon_local=2.0).report_format.size
        2
    """

    mechanism = "sampled-sign"
    pairs_dominate = True

    dimension: int = field(metadata=declares(WHOLE, "signs per person"))

    @cached_property
    def domain(self) -> SignVectors:
        """The vectors of signs."""
        return SignVectors(self.dimension)

    @cached_property
    def _blanket(self) -> int:
        return blanket_weight(self.denominator, self.max_epsilon_local, 2)

    @property
    def _levels(self) -> tuple[Fraction, Fraction]:
        dimension = self.domain.dimension
        low = Fraction(self._blanket, self.denominator * dimension)
        return Fraction(1, dimension) - low, low

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the integers."""
        high, low = self._levels
        return log_above(high / low) if high > low > 0 else math.inf

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """A coordinate and a draw for its sign."""
        return (self.domain.dimension, self.denominator)

    @cached_property
    def report_format(self) -> ReportFormat:
        """The coordinate and 0 for -1, 1 for +1."""
        return ReportFormat((self.dimension, 2))

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """Randomise the sign at the drawn coordinate."""
        coordinate = draws[:, 0].astype(np.int64)
        own = indices[np.arange(len(indices)), coordinate]
        sign = kary_response(own, draws[:, 1], blanket=self._blanket, k=2)
        return np.stack([coordinate, sign], axis=1)

    def respond_one(self, index: Sequence[int], draws: Sequence[int]) -> tuple[int, int]:
        """Randomise the sign at the drawn coordinate."""
        coordinate, draw = draws
        own = index[coordinate]
        return coordinate, kary_response_of_one(own, draw, blanket=self._blanket, k=2)

    def channel(self) -> Channel:
        """The law of a report given the vector of signs; for few dimensions.

        Raises:
            TooLargeError: There are too many vectors; ask for `likelihood_classes`.
        """
        if self.dimension > _MOST_DIMENSIONS:
            raise TooLargeError(
                "The channel of sampled-sign",
                entries=2**self.dimension,
                limit=2**_MOST_DIMENSIONS,
                hint="Use likelihood_classes, which does not list the vectors.",
            )
        vectors = list(product((-1, 1), repeat=self.dimension))
        reports = list(product(range(self.dimension), (0, 1)))
        other = self._blanket
        weights = [
            [self.denominator - other if vector[j] == 2 * s - 1 else other for j, s in reports]
            for vector in vectors
        ]
        total = self.denominator * self.dimension
        return Channel.from_weights(
            np.array(weights, dtype=object), total, inputs=vectors, outputs=reports
        )

    def likelihood_classes(  # type: ignore[override]
        self, first: Sequence[int], second: Sequence[int], *, others: Sequence[int] | None = None
    ) -> LikelihoodClasses:
        """Merge reports that agree with the same vectors of signs.

        Opposite vectors are easiest to tell apart; they give the classes of binary response.
        """
        vectors = [first, second] if others is None else [first, second, others]
        high, low = self._levels
        signs = 2 * self.domain.encode(np.array(vectors)) - 1
        columns, counts = np.unique(signs, axis=1, return_counts=True)
        outputs = []
        for column, count in zip(columns.T.tolist(), counts.tolist(), strict=True):
            for sign in (-1, 1):
                chances = [count * (high if entry == sign else low) for entry in column]
                reference = count * low if others is None else chances[2]
                outputs.append((reference, chances[0], chances[1]))
        return LikelihoodClasses.merged(outputs)

    def representative_pairs(self) -> Sequence[tuple[Any, Any]]:
        """Opposite vectors.

        If two vectors agree in a coordinate, its two outcomes have the same mean gain (high +
        low)(1 - e^epsilon)/2 as if they differ, but closer together. Spreading them out can only
        raise the expected positive part.
        """
        signs = np.ones(self.dimension, dtype=np.int64)
        return [(signs, -signs)]

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Reports of +1 less reports of -1, for each coordinate."""
        signs = 2 * reports[:, 1].astype(np.int64) - 1
        sums = np.bincount(reports[:, 0], weights=signs, minlength=self.dimension)
        return np.rint(sums).astype(np.int64)

    def traits(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports for each coordinate."""
        return np.bincount(reports[:, 0].astype(np.int64), minlength=self.dimension)

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """The reports for each coordinate, drawn whatever the signs are, and those of each sign."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        high, low = self._levels
        signs = np.concatenate([(traits + tally) // 2, (traits - tally) // 2])
        drawn = Fraction(1, self.dimension)

        def signed(entry: int) -> str:
            sign = "+1" if entry < self.dimension else "-1"
            return f"are {sign} for coordinate {entry % self.dimension}"

        return [
            HonestChances.of(n, traits, drawn, name="are for coordinate {}".format),
            HonestChances.of(n, signs, low, high, name=signed),
        ]

    @property
    def _slope(self) -> float:
        high, low = self._levels
        return float(1 / (high - low))

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The unbiased mean sign of every coordinate."""
        points = self._slope * tally / n
        error = self.rms_error(n)
        return Estimate(
            quantity="mean",
            values=range(self.dimension),
            points=points,
            standard_errors=np.full(self.dimension, error),
            n=n,
            confidence=confidence,
            rule=LinearRule(
                points=points,
                n=n,
                variance=np.full(self.dimension, n * error**2),
                jump=np.full(self.dimension, self._jump),
                low=-1.0,
                high=1.0,
            ),
        )

    @property
    def _jump(self) -> float:
        """The third absolute moment of a report's error over its variance."""
        high, low = map(float, self._levels)
        outcomes = (self._slope - 1, high), (-self._slope - 1, low), (-1.0, 1 - high - low)
        second, third = (sum(c * abs(e) ** power for e, c in outcomes) for power in (2, 3))
        return third / second

    def rms_error(self, n: int) -> float:
        """The standard error of one coordinate: sqrt((d D^2/(a-b)^2 - 1)/n), whatever the signs."""
        return math.sqrt((self._slope**2 / self.dimension - 1) / n)

    @property
    def worst_shift(self) -> Fraction:
        """The number d D/(a - b): a report chooses its coordinate, and +1 or -1 there."""
        high, low = self._levels
        return 1 / (high - low)
