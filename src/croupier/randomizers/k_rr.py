"""k-ary randomized response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import exp_enclosure
from croupier.randomizers.frequency_oracle import FrequencyOracle, Report, count_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["KaryRandomizedResponse", "OneCategory", "blanket_weight", "kary_response"]
__all__ += ["kary_response_of_one"]


@dataclass(frozen=True, kw_only=True)
class OneCategory(FrequencyOracle):
    """A mechanism whose report is one of the categories, and supports that one."""

    @cached_property
    def report_format(self) -> ReportFormat:
        """One category."""
        return ReportFormat((self.size,))

    def measure(self, values: Sequence[int], supported: Sequence[bool]) -> Fraction:
        """An answer supports itself only."""
        return Fraction({0: self.size - len(values), 1: 1}.get(sum(supported), 0))

    @property
    def report_count(self) -> int:
        """The number of categories."""
        return self.size

    def reports(self) -> list[Report]:
        """The categories."""
        supported = np.eye(self.size, dtype=bool)
        return [Report(answer, Fraction(1), supported[answer]) for answer in range(self.size)]

    def supported(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """An answer supports itself."""
        return np.asarray(reports[:, None] == np.arange(self.size))

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each answer was given."""
        return count_values(reports, self.size)


@dataclass(frozen=True, kw_only=True)
class KaryRandomizedResponse(OneCategory):
    """Tell the truth, or one of the k answers at random (k-RR, GRR; Warner's for k = 2).

        R(x)(y) = b/D for y != x,   R(x)(x) = (D - (k-1) b)/D,   b = ceil(D / (e^epsilon + k - 1)).

    A draw below k b picks an answer regardless of the value (the privacy blanket); any other draw
    reports the truth. One word per report, no rejection.

    Reference: warner1965; kairouz2016.

    Example:
        >>> response = KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=16)
        >>> response.channel().weights.tolist()
        [[8, 4, 4], [4, 8, 4], [4, 4, 8]]
    """

    mechanism = "k-rr"

    @cached_property
    def blanket(self) -> int:
        """The weight of every answer that is not the truth."""
        return blanket_weight(self.denominator, self.max_epsilon_local, self.size)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw."""
        return (self.denominator,)

    @property
    def alphabet_size(self) -> int:
        """The number of categories."""
        return self.size

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The answer that the draw picks, or the truth."""
        return kary_response(indices, draws[:, 0], blanket=self.blanket, k=self.size)

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int]:
        """The answer that the draw picks, or the truth."""
        return (kary_response_of_one(index, draws[0], blanket=self.blanket, k=self.size),)

    @property
    def levels(self) -> tuple[Fraction, Fraction]:
        """The chances of the truth and of any other answer."""
        truth = self.denominator - (self.size - 1) * self.blanket
        return Fraction(truth, self.denominator), Fraction(self.blanket, self.denominator)

    @property
    def answer_chances(self) -> tuple[Fraction, Fraction]:
        """The levels."""
        return self.levels


def blanket_weight(denominator: int, epsilon: float, k: int) -> int:
    """The least integer weight of an untrue answer at which the truth stays below e^epsilon of it.

    >>> blanket_weight(1 << 64, 4.0, 10)
    290051582696918270
    """
    low, _ = exp_enclosure(epsilon)
    return math.ceil(denominator / (low + k - 1))


def kary_response(
    indices: NDArray[Any], draws: NDArray[np.uint64], *, blanket: int, k: int
) -> NDArray[Any]:
    """Randomise each index below `k` with one draw."""
    answers = np.floor_divide(draws, np.uint64(blanket))
    return np.where(answers < k, answers.view(np.int64), indices)


def kary_response_of_one(index: int, draw: int, *, blanket: int, k: int) -> int:
    """Randomise one index below `k` with one draw."""
    answer = draw // blanket
    return answer if answer < k else index
