"""Subset selection: report d of the k categories."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.validate import whole_number
from croupier.randomizers.frequency_oracle import FrequencyOracle, Report, count_values
from croupier.randomizers.parameter import WHOLE, declares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["SubsetSelection"]

_MOST_MEMBERS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(FrequencyOracle):
    """Report a random set of d categories, more likely one that contains the value.

        P(x in set) = a/D,   the rest of the set uniform,
        epsilon_local = ln( a (k-d) / ((D-a) d) ),   D - a = ceil(D (k-d) / (d e^epsilon + k - d)).

    The first draw decides whether the value is in the set; the others shuffle the remaining
    categories (Fisher and Yates) as far as the set reaches.

    Attributes:
        subset_size: The size d of the set; the one nearest to k/(e^epsilon + 1) if not given.

    Reference: ye2018; wang2016.

    Example:
        >>> SubsetSelection(k=100, max_epsilon_local=1.0).d
        27
    """

    mechanism = "subset-selection"

    subset_size: int | None = field(
        default=None, metadata=declares(WHOLE, "categories per report; chosen if left out")
    )

    @cached_property
    def d(self) -> int:
        """The size of the set."""
        low, _ = exp_enclosure(self.max_epsilon_local)
        best = max(1, round(self.size / (low + 1)))
        given = best if self.subset_size is None else self.subset_size
        return whole_number("subset_size", given, least=1, most=min(self.size - 1, _MOST_MEMBERS))

    @cached_property
    def _miss(self) -> int:
        """The weight D - a of a set without the value."""
        low, _ = exp_enclosure(self.max_epsilon_local)
        outside = self.size - self.d
        return math.ceil(self.denominator * outside / (self.d * low + outside))

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw for whether the value is in the set, then one draw per member."""
        return (self.denominator, *range(self.size - 1, self.size - 1 - self.d, -1))

    @property
    def cells_a_report(self) -> int:
        """One cell per category, for the pool that is shuffled."""
        return 2 * self.size

    @cached_property
    def report_format(self) -> ReportFormat:
        """The members of the set, ascending."""
        return ReportFormat((self.size,) * self.d, ascending=True)

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The set, ascending."""
        people = np.arange(len(indices))
        # Position 0, …, k-2 of a row holds the categories other than the person's own.
        pool = np.tile(np.arange(self.size - 1, dtype=np.int32), (len(indices), 1))
        pool += pool >= indices[:, None]
        for place in range(self.d):
            chosen = draws[:, place + 1].astype(np.int64) + place
            pool[people, place], pool[people, chosen] = pool[people, chosen], pool[:, place].copy()
        members = pool[:, : self.d]
        included = draws[:, 0] >= np.uint64(self._miss)
        members[included, self.d - 1] = indices[included]
        return np.sort(members, axis=1).reshape(self.report_format.empty(len(indices)).shape)

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int, ...]:
        """The set, ascending."""
        pool = [category for category in range(self.size) if category != index]
        for place, drawn in enumerate(draws[1:]):
            chosen = place + drawn
            pool[place], pool[chosen] = pool[chosen], pool[place]
        members = pool[: self.d]
        if draws[0] >= self._miss:
            members[-1] = index
        return tuple(sorted(members))

    @cached_property
    def levels(self) -> tuple[Fraction, Fraction]:
        """The likelihoods of a set with the value and of one without, against a uniform set."""
        miss = Fraction(self._miss, self.denominator)
        return (1 - miss) * self.size / self.d, miss * self.size / (self.size - self.d)

    def measure(self, values: Sequence[int], supported: Sequence[bool]) -> Fraction:
        """The share of sets with the given members among the given values."""
        inside, total = sum(supported), len(values)
        ways = math.perm(self.d, inside) * math.perm(self.size - self.d, total - inside)
        return Fraction(ways, math.perm(self.size, total))

    @property
    def report_count(self) -> int:
        """The number of sets."""
        return math.comb(self.size, self.d)

    def reports(self) -> list[Report]:
        """Every set."""
        everybody = range(self.size)
        share = Fraction(1, self.report_count)
        return [
            Report(
                members if self.d > 1 else members[0],
                share,
                [value in members for value in everybody],
            )
            for members in combinations(everybody, self.d)
        ]

    def supported(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The members of the set."""
        members = reports.reshape(len(reports), self.d)
        found = np.zeros((len(reports), self.size), dtype=bool)
        np.put_along_axis(found, members.astype(np.int64), values=True, axis=1)
        return found

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the sets that contain each category."""
        return count_values(reports, self.size)
