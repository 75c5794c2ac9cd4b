"""The estimate that the analyzer publishes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from croupier.errors import ParameterError
from croupier.model.html import numbers
from croupier.model.interval_rule import Ends, IntervalRule, NormalRule
from croupier.model.result import Library, Result, data_frame, plain
from croupier.numerics.arrays import np
from croupier.numerics.simplex import simplex_projection
from croupier.numerics.validate import one_line, whole_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

__all__ = ["Estimate"]

_SHOWN = 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(Result):
    """Estimated shares or means, with standard errors and intervals.

    The estimate is about the `n` people who reported, not about a population from which they might
    have been drawn.

    Attributes:
        quantity: "share" for frequencies of values, "mean" for averages of numbers.
        values: The subject of each entry: a category, or the name of an average.
        points: The unbiased estimates (before any projection they may leave [0, 1]).
        standard_errors: One standard deviation of each estimate's error.
        n: The number of reports that were counted.
        confidence: The coverage of each interval.
        statements: The number of intervals that hold together, these and those of other estimates,
            if `simultaneous` made them; None if each holds singly.
        rule: How intervals follow from the counts. If not given, they follow from the standard
            errors, in the normal approximation.
        library: The data-frame library that the reports came from, if any.

    Example:
        >>> estimate = Estimate(
        ...     quantity="share", values=("no", "yes"), points=np.array([0.25, 0.75]),
        ...     standard_errors=np.array([0.01, 0.01]), n=10_000,
        ... )
        >>> estimate.upper.round(4)
        array([0.2696, 0.7696])
    """

    quantity: Literal["share", "mean"]
    values: Sequence[Hashable]
    points: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    n: int
    confidence: float = 0.95
    statements: int | None = field(default=None, repr=False)
    rule: IntervalRule | None = field(default=None, repr=False)
    library: Library | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError(
                "confidence", must="be in (0, 1)", got=self.confidence, hint="Try 0.95."
            )
        for name in ("points", "standard_errors"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def lower(self) -> NDArray[np.float64]:
        """The lower end of each interval."""
        return self._ends[0]

    @property
    def upper(self) -> NDArray[np.float64]:
        """The upper end of each interval."""
        return self._ends[1]

    @property
    def holds_together(self) -> bool:
        """Tell whether all intervals hold together; else each holds singly."""
        return self.statements is not None

    @property
    def coverage(self) -> float:
        """The coverage of each interval, or of all together if they hold together."""
        return 1 - (1 - self.confidence) * (self.statements or 1)

    @property
    def intervals(self) -> IntervalRule:
        """The rule that gives intervals of any confidence from the counts."""
        return self.rule or NormalRule(self.points, self.standard_errors)

    @cached_property
    def _ends(self) -> Ends:
        """The ends of all intervals, computed on first use."""
        return self.intervals.ends(self.confidence)

    def simultaneous(self, statements: int | None = None) -> Estimate:
        """The same estimate with intervals that hold simultaneously (Bonferroni).

        Args:
            statements: The number of intervals that are to hold together, if others than these are
                among them: of 50 questions with two answers each, 100.
        """
        least = len(self.values)
        if statements is not None:
            whole_number("statements", statements, least=least)
        most = max(statements or least, self.statements or 0)
        if self.statements == most:
            return self
        each = 1 - (1 - self.coverage) / most
        return replace(self, confidence=min(each, math.nextafter(1.0, 0.0)), statements=most)

    def largest(self, most: int) -> tuple[Estimate, list[int]]:
        """Return the places of the largest values, at most so many, and intervals that hold there.

        If some are left out, those that are shown were chosen by their estimates, so that intervals
        that hold singly would often fail: all are made to hold together.
        """
        if len(self.values) <= most:
            return self, list(range(len(self.values)))
        order: list[int] = np.argsort(-self.points, kind="stable")[:most].tolist()
        return self.simultaneous(), order

    def projected(self) -> Estimate:
        """The nearest distribution: shares that are not negative and sum to one.

        Projection lowers the error but adds a bias; standard errors and intervals stay those of the
        unbiased estimate. The intervals hold as before, and a projected share may lie outside its
        own. Liars move it by at most twice the `worst_shift`: what is subtracted from all shares
        moves by at most as much as some share.
        """
        if self.quantity != "share":
            raise ParameterError("quantity", must="be share to be projected", got=self.quantity)
        return replace(self, points=simplex_projection(self.points), rule=self.intervals)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as a dictionary for JSON, with its intervals."""
        return super().to_dict() | {"lower": plain(self.lower), "upper": plain(self.upper)}

    def to_frame(self, backend: Library | None = None) -> Any:
        """Return a data frame: value, share (or mean), standard_error, lower, upper.

        Args:
            backend: The library of the frame. If left out, that of the reports; if they came from
                none, the first that is installed.
        """
        columns = {
            "value": _plain(self.values),
            self.quantity: self.points,
            "standard_error": self.standard_errors,
            "lower": self.lower,
            "upper": self.upper,
        }
        return data_frame(columns, backend or self.library)

    @property
    def _summary(self) -> str:
        many = len(self.values)
        entries = f"{many:,} {self.quantity}s" if many != 1 else self.quantity
        return f"{entries} from {self.n:,} reports"

    @property
    def _possible(self) -> tuple[float, float]:
        """The numbers between which what is estimated lies, as far as its kind tells."""
        return (0.0, 1.0) if self.quantity == "share" else (-math.inf, math.inf)

    def _repr_html_(self) -> str:
        names = (self.quantity, "standard error", "lower", "upper")
        shown, places = self.largest(_SHOWN)
        columns = (shown.points, shown.standard_errors, shown.lower, shown.upper)
        columns = (np.clip(shown.points, *self._possible), *columns[1:])
        rows = [
            (one_line(str(self.values[i])), [f"{entries[i]:.4g}" for entries in columns])
            for i in places
        ]
        more = len(self.values) - _SHOWN
        cut = f"; {more:,} more, all smaller" if more > 0 else ""
        if (columns[0] != shown.points).any():
            cut += "; estimates beyond what is possible are cut there, `points` has them raw"
        held = "all together" if shown.holds_together else "each singly"
        caption = f"Estimate: {self._summary}, {100 * self.coverage:g} % intervals, {held}{cut}"
        return numbers(caption, ("value", *names), rows)


def _plain(values: Sequence[Hashable]) -> list[Hashable]:
    """Labels as one column: as text where they are of several kinds."""
    kinds = {type(value) for value in values}
    return list(values) if len(kinds) == 1 else [str(value) for value in values]
