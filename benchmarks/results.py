"""The results of a run: saved as JSON, and compared with those of another."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.measurement import Measured

__all__ = ["ALLOWED", "Comparison", "Results", "compare"]

ALLOWED = 1.2
"""The factor by which a ratio may grow before it counts as a regression."""


@dataclass
class Results:
    """A run.

    Attributes:
        where: The machine, its load, the date and our versions.
        small: True if sizes were those of tests, which say nothing about speed.
        measured: The measurements, by case.
        skipped: The reasons why cases were left out.
        failed: The reasons why cases failed.
    """

    where: dict[str, str | int | float]
    small: bool = False
    measured: dict[str, Measured] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write the results to a file."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, path: Path) -> "Results":
        """Read results that `write` wrote."""
        found = json.loads(path.read_text())
        measured = {
            name: Measured(**row | {"spread": tuple(row["spread"])})
            for name, row in found.pop("measured").items()
        }
        return cls(**found, measured=measured)


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        regressed: Cases whose ratio grew by more than is allowed, with a sentence each.
        new: Cases that the earlier run has not measured.
        missing: Cases that only the earlier run has measured.
        compared: The number of cases that both have measured.
    """

    regressed: dict[str, str]
    new: tuple[str, ...]
    missing: tuple[str, ...]
    compared: int

    @property
    def passed(self) -> bool:
        """True if something was compared and nothing regressed."""
        return self.compared > 0 and not self.regressed


def compare(now: Results, baseline: Results, *, asked: list[str]) -> Comparison:
    """Compare a run with an earlier one, for the requested cases."""
    before = {name: row for name, row in baseline.measured.items() if name in asked}
    both = [name for name in now.measured if name in before]
    regressed = {}
    for name in both:
        growth = now.measured[name].ratio / before[name].ratio
        if growth > ALLOWED:
            ratios = f"{before[name].ratio:.3g} to {now.measured[name].ratio:.3g}"
            regressed[name] = f"the ratio went from {ratios}, by {growth - 1:.0%}"
    return Comparison(
        regressed=regressed,
        new=tuple(name for name in now.measured if name not in before),
        missing=tuple(name for name in before if name not in now.measured),
        compared=len(both),
    )
