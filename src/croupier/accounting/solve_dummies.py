"""Solve for the dummies that a promise needs, or for the promise of some accuracy."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from croupier.accounting.dummies import DummyCurve
from croupier.errors import ParameterError
from croupier.model.html import facts
from croupier.model.result import Result, card_text
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.rounding import ceiling_digits, float_above
from croupier.randomizers.plain import Plain
from croupier.shufflers.dummies import MOST_BINS, DummyTable

__all__ = ["DummySolution", "solve_dummies"]

_LEAST, _MOST = 0.01, 20.0
_SHARPNESS = 1e-7


@dataclass(frozen=True, repr=False)
class DummySolution(Result):
    """A table of dummies that keeps a promise, and what it costs.

    Attributes:
        parameter: The one of epsilon and standard_deviation that was solved for.
        value: Its value, rounded up.
        table: The law of the number of dummies of each possible report.
        curve: delta as a function of epsilon, whatever the number of people.
        given: The input.
    """

    parameter: str
    value: float
    table: DummyTable = field(repr=False)
    curve: DummyCurve = field(repr=False)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The expected number of dummies of one possible report."""
        return float(self.table.mean)

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of a count, rounded up; of a share, divide by the people."""
        return _deviation(self.table)

    @property
    def dummies(self) -> float:
        """The expected number of dummies per batch, of all possible reports together."""
        return float(self.given["k"] * self.table.mean)

    @property
    def _summary(self) -> str:
        return f"{self.parameter} <= {ceiling_digits(self.value)}, {self.dummies:,.0f} dummies"

    def _records(self) -> list[dict[str, Any]]:
        solved = {"parameter": self.parameter, "value": self.value}
        cost = {
            "mean": self.mean,
            "standard_deviation": self.standard_deviation,
            "dummies": self.dummies,
        }
        return [solved | dict(self.given) | cost | {"theorem": self.curve.theorem}]

    def _repr_html_(self) -> str:
        said = {name: card_text(value) for name, value in self.given.items()}
        cost = {
            "dummies per value": f"{self.mean:g}, standard deviation {self.standard_deviation:.3g}",
            "dummies per batch": f"{self.dummies:,.0f}",
        }
        return facts(f"Solution: {self._summary}", said | cost | {"proof": self.curve.theorem})


def solve_dummies(
    *,
    delta: float | None,
    epsilon: float | None = None,
    standard_deviation: float | None = None,
    **parameters: Any,
) -> DummySolution:
    """Solve for the standard deviation of a count, or for epsilon, whichever is left out.

    Direction: the standard deviation is that of the shortest two-sided geometric table that
    suffices; an epsilon is the least one found whose table has no larger standard deviation.

    Args:
        delta: The failure probability.
        epsilon: The epsilon against everybody who does not know the dummies.
        standard_deviation: The largest standard deviation of a count.
        parameters: ``k=`` or ``labels=``, the categories.
    """
    k = Plain(**parameters).domain.size
    if k > MOST_BINS:
        raise ParameterError("k", must=f"be at most {MOST_BINS:,} for dummies", got=k)
    if delta is None or (epsilon is None) is (standard_deviation is None):
        raise ParameterError(
            "solve",
            must="be given delta and one of epsilon and standard_deviation for plain",
            hint="Try epsilon=1.0, delta=1e-8.",
        )
    given = {"mechanism": "plain", "k": k, "delta": delta}
    if epsilon is not None:
        table = DummyTable.two_sided_geometric(epsilon=epsilon, delta=delta)
        given["epsilon"] = epsilon
        return DummySolution(
            "standard_deviation", _deviation(table), table, DummyCurve(table), given
        )
    found = _epsilon(standard_deviation or 0.0, delta)
    table = DummyTable.two_sided_geometric(epsilon=found, delta=delta)
    given["standard_deviation"] = standard_deviation
    return DummySolution("epsilon", found, table, DummyCurve(table), given)


def _epsilon(deviation: float, delta: float) -> float:
    """The least epsilon found whose table has at most this standard deviation."""

    def suffices(epsilon: float) -> bool:
        try:
            table = DummyTable.two_sided_geometric(epsilon=epsilon, delta=delta)
        except ParameterError:  # too long: a smaller epsilon needs more
            return False
        return table.variance <= Fraction(deviation) ** 2

    _ = DummyTable.two_sided_geometric(epsilon=_MOST, delta=delta)  # refuses a delta that is none
    if not suffices(_MOST):
        raise ParameterError(
            "standard_deviation",
            must=f"be reachable with an epsilon of at most {_MOST:g}",
            got=deviation,
            hint="Try 3.",
        )
    if suffices(_LEAST):
        return _LEAST
    return bisect_safe(suffices, safe=_MOST, unsafe=_LEAST, tolerance=_SHARPNESS)


def _deviation(table: DummyTable) -> float:
    found = math.sqrt(float_above(table.variance))
    return math.nextafter(found, math.inf)
