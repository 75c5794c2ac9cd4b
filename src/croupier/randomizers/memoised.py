"""k-ary randomized response with a memory: a permanent answer, and fresh noise on every report."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError
from croupier.numerics.rounding import exp_enclosure, log_above
from croupier.randomizers.categorical import Categorical
from croupier.randomizers.k_rr import (
    KaryRandomizedResponse,
    OneCategory,
    blanket_weight,
    kary_response,
    kary_response_of_one,
)
from croupier.randomizers.parameter import EPSILON, declares

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from croupier.numerics.arrays import np

__all__ = ["MemoisedResponse"]


@dataclass(frozen=True, kw_only=True)
class MemoisedResponse(OneCategory):
    """Randomise the value once and keep the answer; add fresh noise to it in every report.

    With k-RR of weight b1/D, the device draws a permanent answer from the value, once. Every report
    is k-RR of weight b2/D of the permanent answer. One report is then k-RR of the value:

        R(x)(y) = q2 + (1 - k q2) P(permanent answer is y),   q1 = b1/D, q2 = b2/D,
        b1 = ceil(D / (e^permanent + k - 1)),
        b2 = ceil(D g / (e^local - 1 + k g)),   g = (1 - (k-1) q1) - e^local q1,

    the least integers that keep one report at `max_epsilon_local` and, since all reports are made
    from the permanent answer, any number of them at `max_epsilon_permanent`. In between, m reports
    together reach `epsilon_of(m)`, exactly.

    All of a person's answers are about the value of the first one: a permanent answer per value
    would show when the value changes.

    Attributes:
        max_epsilon_permanent: The epsilon of all reports ever that may not be exceeded.

    Reference: erlingsson2014, for the two levels of noise.

    Example:
        >>> response = MemoisedResponse(k=5, max_epsilon_local=2.0, max_epsilon_permanent=6.0)
        >>> response.epsilon_local, response.epsilon_permanent
        (2.0, 6.0)
        >>> [round(response.epsilon_of(reports), 2) for reports in (1, 2, 5, 30)]
        [2.0, 3.91, 5.98, 6.0]
    """

    mechanism = "memoised-k-rr"

    max_epsilon_permanent: float = field(
        metadata=declares(EPSILON, "nats, a ceiling for all reports of one person ever")
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_epsilon_permanent", float(self.max_epsilon_permanent))
        if not self.max_epsilon_local < self.max_epsilon_permanent <= EPSILON.schema["maximum"]:
            raise ParameterError(
                "max_epsilon_permanent",
                must="be above max_epsilon_local and at most 20",
                got=self.max_epsilon_permanent,
                hint="Try three times max_epsilon_local.",
            )
        super().__post_init__()

    @cached_property
    def permanent(self) -> KaryRandomizedResponse:
        """The mechanism of the answer that is kept."""
        weight = blanket_weight(self.denominator, self.max_epsilon_permanent, self.size)
        return self._response(weight)

    @cached_property
    def instantaneous(self) -> KaryRandomizedResponse:
        """The mechanism that makes a report from the answer that is kept."""
        low, _ = exp_enclosure(self.max_epsilon_local)
        truth, other = self.permanent.levels
        gap = truth - low * other
        return self._response(math.ceil(self.denominator * gap / (low - 1 + self.size * gap)))

    def _response(self, weight: int) -> KaryRandomizedResponse:
        """Return k-RR with a given weight, which must leave the truth more likely than a lie."""
        if not 0 < self.size * weight < self.denominator:
            raise ParameterError(
                "denominator",
                must=f"be large enough for {self.size} categories and these epsilons",
                got=self.denominator,
                hint="Leave it out.",
            )
        given = {"k": self.k, "labels": self.labels, "denominator": self.denominator}
        return _Weighted(weight=weight, **given)  # type: ignore[arg-type]

    @property
    def levels(self) -> tuple[Fraction, Fraction]:
        """The chances that one report is the value, and that it is any other one."""
        own, other = self.permanent.levels
        lie = self.instantaneous.levels[1]
        kept = 1 - self.size * lie
        return lie + kept * own, lie + kept * other

    @property
    def epsilon_permanent(self) -> float:
        """The epsilon of the permanent answer, which no number of reports exceeds; rounded up."""
        return self.permanent.epsilon_local

    def epsilon_of(self, reports: int) -> float:
        """The epsilon of so many reports of one person together, exactly, rounded up.

        With p and q the levels of the permanent answer, and x = p2/q2 those of the fresh noise,

            e^epsilon = (1 + p (x^m - 1)) / (1 + q (x^m - 1)).

        The likelihood of reports with c_j of answer j is in proportion to q S + (p - q) x^(c_v),
        S the sum of all x^(c_j). The ratio for v against another value grows with c_v and falls
        with every other c_j, so that m reports of v are the worst.
        """
        own, other = self.permanent.levels
        truth, lie = self.instantaneous.levels
        if reports * math.log(truth / lie) > _AS_GOOD_AS_PERMANENT:
            return self.epsilon_permanent
        grown = (truth / lie) ** reports - 1
        return log_above((1 + own * grown) / (1 + other * grown))

    @property
    def budget_cost(self) -> float:
        """The ceiling of the permanent answer: all reports together cost it, once."""
        return self.max_epsilon_permanent

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw for the permanent answer, one for the noise of the report."""
        return (self.denominator, self.denominator)

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The first report of each person: noise on a permanent answer that is drawn as well."""
        weights = self.permanent.blanket, self.instantaneous.blanket
        answers = indices
        for weight, drawn in zip(weights, draws.T, strict=True):
            answers = kary_response(answers, drawn, blanket=weight, k=self.size)
        return answers

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int]:
        """The first report of one person."""
        weights = self.permanent.blanket, self.instantaneous.blanket
        for weight, drawn in zip(weights, draws, strict=True):
            index = kary_response_of_one(index, drawn, blanket=weight, k=self.size)
        return (index,)


_AS_GOOD_AS_PERMANENT = 200.0
"""Beyond this ln x^m, reports are bounded by the permanent answer, which they all but show."""


@dataclass(frozen=True, kw_only=True)
class _Weighted(KaryRandomizedResponse):
    """k-RR with the weight of an untrue answer in place of a ceiling."""

    max_epsilon_local: float = math.inf
    weight: int

    def __post_init__(self) -> None:
        Categorical.__post_init__(self)

    @cached_property
    def blanket(self) -> int:
        """The weight of every answer that is not the truth."""
        return self.weight
