"""Mechanisms in which a report supports some of the categories."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from croupier.model.channel import Channel
from croupier.model.estimate import Estimate
from croupier.model.likelihood import LikelihoodClasses
from croupier.numerics.arrays import np
from croupier.numerics.rounding import log_above
from croupier.numerics.validate import whole_number
from croupier.randomizers.categorical import CategoricalRandomizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["FrequencyOracle", "Report"]


class Report(NamedTuple):
    """One possible report: its label, its measure, and the categories that it supports."""

    label: int | tuple[int, ...]
    measure: Fraction
    supported: Sequence[bool] | NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class FrequencyOracle(CategoricalRandomizer):
    """A categorical mechanism with two levels of likelihood.

    Every report y supports a set S(y) of categories and has a measure m(y), such that

        R(x)(y) = m(y) * high  if x is in S(y),   m(y) * low  otherwise,

    so that epsilon_local = ln(high / low). The number of reports that support v, less the expected
    support from the others, estimates the number of people who hold v:

        share(v) = (support(v)/n - q) / (p - q),

    where p is the chance that a report supports its own value and q that it supports another one.
    Its variance for people with given values is [f p(1-p) + (1-f) q(1-q)] / (n (p-q)^2) at share f.

    A subclass gives the `levels`, the measure of a pattern of support, and a way to count support.
    Privacy, channel, likelihood classes, estimate and error follow.

    Reference: wang2017, the "pure" protocols; the variance is for people with given values.
    """

    pairs_dominate = True

    @property
    @abstractmethod
    def levels(self) -> tuple[Fraction, Fraction]:
        """The likelihoods (high, low) per unit of measure."""

    @abstractmethod
    def measure(self, values: Sequence[int], supported: Sequence[bool]) -> Fraction:
        """The measure of the reports that support exactly the `supported` ones of `values`.

        Up to three distinct values; the support of all other categories is free.
        """

    @property
    def unanimous(self) -> Fraction:
        """The measure of the reports that support every category, or a lower bound of it."""
        everybody = range(self.size)
        return self.measure(everybody, [True] * self.size) if self.size <= 3 else Fraction(0)

    @property
    @abstractmethod
    def report_count(self) -> int:
        """The number of possible reports."""

    @abstractmethod
    def reports(self) -> list[Report]:
        """Every possible report; called only if they are few."""

    @abstractmethod
    def supported(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which categories each report supports: a row per report, a column per category."""

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of reports that support each category, from their tally."""
        return tally

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the integers."""
        high, low = self.levels
        return log_above(high / low) if high > low > 0 else math.inf

    @cached_property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The chances (p, q) that a report supports its own value, and any one other."""
        high, low = self.levels
        own = high * self.measure((0,), (True,))
        other = high * self.measure((0, 1), (True, True))
        other += low * self.measure((0, 1), (False, True))
        return own, other

    def channel(self) -> Channel:
        """The law of a report given the value, exactly.

        Raises:
            TooLargeError: There are too many reports; ask for `likelihood_classes`.
        """
        self.require_few(self.report_count)
        reports = self.reports()
        high, low = self.levels
        draws = math.prod(self.draw_bounds)
        weights = np.where(
            np.array([report.supported for report in reports], dtype=bool).T,
            np.array([int(report.measure * high * draws) for report in reports], dtype=object),
            np.array([int(report.measure * low * draws) for report in reports], dtype=object),
        )
        labels = [report.label for report in reports]
        return Channel.from_weights(weights, draws, inputs=self.domain.labels, outputs=labels)

    def likelihood_classes(
        self, first: int, second: int, *, others: int | None = None
    ) -> LikelihoodClasses:
        """Merge reports that support the same of the two (or three) values.

        A report that does not support everything has blanket m(y) * low; one that does has
        m(y) * high under every value.
        """
        wanted = first, second, others
        if wanted not in self._classes:
            self._classes[wanted] = self._merged_classes(*wanted)
        return self._classes[wanted]

    @cached_property
    def _classes(self) -> dict[tuple[int, int, int | None], LikelihoodClasses]:
        """Those that were asked for: their fractions may have very many digits."""
        return {}

    def _merged_classes(self, first: int, second: int, others: int | None) -> LikelihoodClasses:
        values = list(dict.fromkeys([first, second, *([] if others is None else [others])]))
        for value in values:
            whole_number("value", value, least=0, most=self.size - 1)
        high, low = self.levels
        outputs = []
        for pattern in product((True, False), repeat=len(values)):
            mass = self.measure(values, pattern)
            level = {v: high if yes else low for v, yes in zip(values, pattern, strict=True)}
            if others is not None:
                outputs.append(tuple(mass * level[v] for v in (others, first, second)))
                continue
            if all(pattern):
                outputs.append((self.unanimous * high,) * 3)
                mass -= self.unanimous
            outputs.append((mass * low, mass * level[first], mass * level[second]))
        return LikelihoodClasses.merged(outputs)  # type: ignore[arg-type]

    def representative_pairs(self) -> Sequence[tuple[int, int]]:
        """One pair: the measure of a pattern of two values is the same for all of them."""
        return [(0, 1)]

    def representative_others(self, first: int, second: int) -> Sequence[int]:
        """Either value, and others; up to four cover both relations of Hadamard rows."""
        return [first, second, *range(2, min(self.size, 4))]

    def honest_chances(
        self,
        tally: NDArray[np.int64],
        traits: NDArray[np.int64],  # noqa: ARG002 - of other mechanisms
        n: int,
    ) -> list[HonestChances]:
        """The reports that support each category: between nobody's and everybody's value."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        own, other = self.support_probabilities
        labels = self.domain.labels
        support = self.support(tally)
        return [HonestChances.of(n, support, other, own, name=lambda j: f"support {labels[j]}")]

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The unbiased shares from the tally of `n` reports."""
        # Interval rules need scipy, which clients do not.
        from croupier.numerics.support_count import SupportCount  # noqa: PLC0415
        from croupier.randomizers.estimates.support_rule import SupportRule  # noqa: PLC0415

        own, other = (float(chance) for chance in self.support_probabilities)
        support = self.support(tally)
        points = (support / n - other) / (own - other)
        share = np.clip(points, 0.0, 1.0)
        variance = share * own * (1 - own) + (1 - share) * other * (1 - other)
        return Estimate(
            quantity="share",
            values=self.domain.labels,
            points=points,
            standard_errors=np.sqrt(variance / n) / (own - other),
            n=n,
            confidence=confidence,
            rule=SupportRule(SupportCount(people=n, answers=n, own=own, other=other), support),
        )

    def rms_error(self, n: int) -> float:
        """The root mean square standard error over the categories; the same for all true shares.

        Shares add up to one, so that the average of the variance over the categories is
        [p(1-p) + (k-1) q(1-q)] / (k n (p-q)^2).
        """
        own, other = (float(chance) for chance in self.support_probabilities)
        total = own * (1 - own) + (self.size - 1) * other * (1 - other)
        return math.sqrt(total / (self.size * n)) / (own - other)

    @property
    def worst_shift(self) -> Fraction:
        """1/(p - q): a report supports a value or does not, whatever else it supports."""
        own, other = self.support_probabilities
        return 1 / (own - other)


def count_values(reports: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Count how often each of 0, …, size - 1 occurs."""
    return np.bincount(reports.ravel(), minlength=size)
