"""The findings of a search: the numbers compared, and those on the wrong side."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

__all__ = ["Found", "Violation"]


@dataclass(frozen=True)
class Violation:
    """A number that is false.

    Attributes:
        kind: The kind of claim.
        said: The claimed number.
        truth: The enumerated number.
        case: Everything needed to reproduce it.
    """

    kind: str
    said: str
    truth: str
    case: str

    def __str__(self) -> str:
        return f"{self.kind}: said {self.said}, enumerated {self.truth}; {self.case}"


@dataclass
class Found:
    """Counts of comparisons, by kind, and the violations.

    Attributes:
        cells: The number of comparisons of each kind.
        violations: The false numbers.
    """

    cells: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All comparisons."""
        return self.cells.total()

    def at_least(self, kind: str, said: Any, truth: Any, case: object) -> None:
        """Check a claimed upper bound."""
        self.expect(kind, Fraction(said) >= Fraction(truth), said, truth, case)

    def at_most(self, kind: str, said: Any, truth: Any, case: object) -> None:
        """Check a claimed lower bound."""
        self.expect(kind, Fraction(said) <= Fraction(truth), said, truth, case)

    def expect(self, kind: str, holds: object, said: Any, truth: Any, case: object) -> None:
        """Count one comparison."""
        self.cells[kind] += 1
        if not holds:
            self.violations.append(Violation(kind, _text(said), _text(truth), str(case)))

    def add(self, other: "Found") -> None:
        """Add the findings of another search."""
        self.cells += other.cells
        self.violations += other.violations


def _text(number: Any) -> str:
    return f"{float(number)!r}" if isinstance(number, Fraction) else f"{number!r}"
