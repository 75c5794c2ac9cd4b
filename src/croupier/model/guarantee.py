"""A proved claim."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary
from croupier.model.html import facts
from croupier.model.metric import Metric
from croupier.model.result import Result
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["Direction", "Guarantee"]


class Direction(StrEnum):
    """The side of the truth on which the value lies."""

    UPPER = "upper"
    LOWER = "lower"
    EXACT = "exact"

    @property
    def sign(self) -> str:
        """The sign with which the claim is written."""
        return {"upper": "<=", "lower": ">=", "exact": "="}[self.value]


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarantee(Result):
    """A bound that somebody proved, with everything it rests on.

    Attributes:
        metric: The measure that is bounded.
        value: The bound, rounded outward.
        direction: The value is an upper bound, a lower bound, or exact.
        adversary: The adversary that the bound is against.
        theorem: The proof: author, year, number in the paper.
        assumptions: What must hold for the proof to apply.
        delta: The failure probability that belongs to an epsilon.
        recompute: The command that prints this number again.

    Example:
        >>> from croupier.model.adversary import View
        >>> bound = Guarantee(
        ...     metric=Metric.EPSILON, value=0.0755, direction=Direction.UPPER, delta=1e-8,
        ...     adversary=Adversary(sees={View.BATCH}), theorem="Balle et al. 2019, Lemma 5.3",
        ... )
        >>> str(bound)
        'epsilon <= 0.0755 at delta 1e-08'
        >>> bound.proves(Direction.UPPER, 0.1)
        True
    """

    metric: Metric
    value: float
    direction: Direction
    adversary: Adversary
    theorem: str
    assumptions: tuple[str, ...] = ()
    delta: float | None = None
    recompute: str | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.value) or self.value < 0:
            raise ParameterError("value", must="be at least 0", got=self.value)
        if self.delta is not None and not 0 <= self.delta < 1:
            raise ParameterError("delta", must="be in [0, 1)", got=self.delta)

    @property
    def upper(self) -> float | None:
        """The largest value that the truth may have; None if nothing is proved about it."""
        return None if self.direction is Direction.LOWER else self.value

    @property
    def lower(self) -> float | None:
        """The least value that the truth may have; None if nothing is proved about it."""
        return None if self.direction is Direction.UPPER else self.value

    def proves(self, direction: Direction, limit: float) -> bool:
        """Tell whether the truth is proved to lie on the given side of `limit`."""
        if self.direction not in (direction, Direction.EXACT):
            return False
        if direction is Direction.UPPER:
            return self.value <= limit
        if direction is Direction.LOWER:
            return self.value >= limit
        return self.direction is Direction.EXACT and self.value == limit

    def __str__(self) -> str:
        printed = {
            Direction.LOWER: floor_digits,
            Direction.UPPER: ceiling_digits,
            Direction.EXACT: nearest_digits,
        }[self.direction]
        text = f"{self.metric} {self.direction.sign} {printed(self.value)}"
        return text if self.delta is None else f"{text} at delta {self.delta:g}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": self.metric,
                "direction": self.direction,
                "value": self.value,
                "delta": self.delta,
                "theorem": self.theorem,
                "assumptions": "; ".join(self.assumptions),
                "adversary": str(self.adversary),
            }
        ]

    def _repr_html_(self) -> str:
        return facts(f"Proved: {self}", self.basis)

    @property
    def basis(self) -> dict[str, str]:
        """The basis of the claim, in words."""
        rows = {"adversary": str(self.adversary), "proof": self.theorem}
        if self.assumptions:
            rows["assumes"] = "; ".join(self.assumptions)
        if self.recompute:
            rows["recompute"] = self.recompute
        return rows
