"""Counts of reports, and the chances that an honest report is counted, whatever its value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from croupier.numerics.arrays import np
from croupier.numerics.rounding import float_above, float_below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["HonestChances"]


@dataclass(frozen=True, eq=False, kw_only=True)
class HonestChances:
    """Counts among n reports, and the least and the largest chance that an honest one is counted.

    An honest report is counted in entry j with a chance that depends on the person's value, and
    lies in [least_j, most_j] for every value. Reports of different people are independent. So a
    count among n honest reports lies between Bin(n, least_j) and Bin(n, most_j) in the stochastic
    order, whatever the people's values are.

    Attributes:
        n: The number of reports.
        counts: How many of them are counted, per entry. One report may be in several entries.
        least: Lower bounds of the chances, rounded down.
        most: Upper bounds of the chances, rounded up.
        name: Words for an entry: "reports that …".
        part: The part of the question that the n reports answer; None if they are all reports.

    Example:
        >>> drawn = HonestChances.of(12, np.array([8, 4]), Fraction(1, 3), name="say {}".format)
        >>> drawn.name(1), drawn.least.tolist() < drawn.most.tolist()
        ('say 1', True)
    """

    n: int
    counts: NDArray[np.int64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    name: Callable[[int], str]
    part: int | None = None

    @classmethod
    def of(
        cls,
        n: int,
        counts: NDArray[np.int64],
        least: Fraction | Sequence[Fraction],
        most: Fraction | Sequence[Fraction] | None = None,
        *,
        name: Callable[[int], str],
    ) -> HonestChances:
        """Round exact chances outward; one for all entries, or one per entry.

        Args:
            n: The number of reports.
            counts: The count of each entry.
            least: The least chances.
            most: The largest chances, if they are others.
            name: Words for an entry.
        """
        low = _rounded(float_below, least, len(counts))
        high = _rounded(float_above, least if most is None else most, len(counts))
        return cls(n=n, counts=counts, least=low, most=high, name=name)

    @classmethod
    def of_outputs(
        cls, n: int, counts: NDArray[np.int64], rows: Sequence[Sequence[int]], total: int
    ) -> HonestChances:
        """Bound the count of each output by the least and the largest weight of its column.

        Args:
            n: The number of reports.
            counts: The count of each output.
            rows: The weights of the outputs, one row per value.
            total: The sum of each row.
        """
        columns = list(zip(*rows, strict=True))
        least, most = ([Fraction(pick(column), total) for column in columns] for pick in (min, max))
        return cls.of(n, counts, least, most, name="are output {}".format)


def _rounded(
    rounding: Callable[[Fraction], float], given: Fraction | Sequence[Fraction], size: int
) -> NDArray[np.float64]:
    values: Any = rounding(given) if isinstance(given, Fraction) else list(map(rounding, given))
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (size,))
