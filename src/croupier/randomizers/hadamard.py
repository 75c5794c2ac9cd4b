"""Hadamard response."""

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

    from croupier.numerics.honest_chances import HonestChances

__all__ = ["HadamardResponse"]


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(FrequencyOracle):
    """Report a column of a Hadamard matrix, more likely one where the value's row is positive.

    K is the least power of two above k; category x owns row x + 1 of the K x K matrix, and column y
    supports x if the entry there is +1, that is if (x+1) AND y has an even number of ones:

        R(x)(y) = (2/K) a/D if y supports x,   (2/K) (D-a)/D otherwise,
        D - a = ceil(D / (e^epsilon + 1)).

    The column is drawn uniformly; if it lies on the wrong side, the bit of the column at the row's
    lowest set bit is flipped, which maps one half of the columns onto the other.

    Reference: acharya2019, with one block; the row of ones is not used.

    Example:
        >>> HadamardResponse(k=5, max_epsilon_local=2.0).columns
        8
    """

    mechanism = "hadamard"

    @cached_property
    def columns(self) -> int:
        """K, the size of the Hadamard matrix."""
        return 1 << self.size.bit_length()

    @cached_property
    def _miss(self) -> int:
        low, _ = exp_enclosure(self.max_epsilon_local)
        return math.ceil(self.denominator / (low + 1))

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """A side and a column."""
        return (self.denominator, self.columns)

    @cached_property
    def report_format(self) -> ReportFormat:
        """One column."""
        return ReportFormat((self.columns,))

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """A uniform column of the side that the first draw picks."""
        rows = indices.astype(np.uint64) + np.uint64(1)
        columns = draws[:, 1]
        wanted = draws[:, 0] < np.uint64(self._miss)
        flip = wanted != _is_odd(rows & columns)
        lowest_bit = rows & (~rows + np.uint64(1))
        return np.where(flip, columns ^ lowest_bit, columns)

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int]:
        """A uniform column of the side that the first draw picks."""
        row, column = index + 1, draws[1]
        wanted, is_odd = draws[0] < self._miss, (row & column).bit_count() % 2 == 1
        return (column if wanted == is_odd else column ^ (row & -row),)

    @cached_property
    def levels(self) -> tuple[Fraction, Fraction]:
        """The chances of one column on the right and on the wrong side."""
        half = self.denominator * self.columns // 2
        return Fraction(self.denominator - self._miss, half), Fraction(self._miss, half)

    def measure(self, values: Sequence[int], supported: Sequence[bool]) -> Fraction:
        """Columns are split evenly by independent rows; a sum of two rows follows from them."""
        rows = [value + 1 for value in values]
        if len(rows) == 3 and rows[0] ^ rows[1] ^ rows[2] == 0:
            return Fraction(self.columns, 4) if sum(supported) % 2 else Fraction(0)
        return Fraction(self.columns, 2 ** len(rows))

    @property
    def unanimous(self) -> Fraction:
        """Column 0 is positive in every row; the rows in use tell every other column apart."""
        return Fraction(1)

    @property
    def report_count(self) -> int:
        """The number of columns."""
        return self.columns

    def reports(self) -> list[Report]:
        """The columns."""
        rows = np.arange(1, self.size + 1, dtype=np.uint64)
        columns = np.arange(self.columns, dtype=np.uint64)
        supported = ~_is_odd(rows & columns[:, None])
        return [Report(y, Fraction(1), supported[y]) for y in range(self.columns)]

    def supported(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The rows in which the column is positive."""
        rows = np.arange(1, self.size + 1, dtype=np.uint64)
        return ~_is_odd(rows & reports.astype(np.uint64)[:, None])

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each column was reported."""
        return count_values(reports, self.columns)

    def honest_chances(
        self, tally: NDArray[np.int64], traits: NDArray[np.int64], n: int
    ) -> list[HonestChances]:
        """The support of each category, and each column; every value is supported by column 0."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        high, low = self.levels
        least = [high, *[low] * (self.columns - 1)]
        columns = HonestChances.of(n, tally, least, high, name="are column {}".format)
        return [*super().honest_chances(tally, traits, n), columns]

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n + row of the Hadamard transform)/2, by the fast transform in K log K additions."""
        transform = tally.copy()
        width = 1
        while width < self.columns:
            pairs = transform.reshape(-1, 2, width)
            transform = np.stack(
                [pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1
            ).ravel()
            width *= 2
        return np.asarray((tally.sum() + transform[1 : self.size + 1]) // 2)


def _is_odd(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell whether the number of ones is odd."""
    return np.asarray(np.bitwise_count(words) & 1, dtype=bool)
