"""A proved interval: one guarantee from below, one from above."""

from dataclasses import dataclass
from typing import Any

from croupier.errors import ParameterError
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.html import card, column, table
from croupier.model.result import Result
from croupier.numerics.rounding import ceiling_digits, floor_digits

__all__ = ["Bracket"]


@dataclass(frozen=True, repr=False)
class Bracket(Result):
    """The truth lies between two guarantees about the same thing.

    Attributes:
        lower: The bound below which no proof can go.
        upper: The bound that is promised.
    """

    lower: Guarantee
    upper: Guarantee

    def __post_init__(self) -> None:
        if self.lower.metric != self.upper.metric or self.lower.delta != self.upper.delta:
            raise ParameterError("lower", must="be about the same metric and delta as upper")
        if self.lower.direction is Direction.UPPER or self.upper.direction is Direction.LOWER:
            raise ParameterError("lower", must="be a lower bound, and upper an upper one")
        if self.lower.value > self.upper.value:
            raise ParameterError("lower", must="not exceed upper", got=self.lower.value)

    def __str__(self) -> str:
        low, high = floor_digits(self.lower.value), ceiling_digits(self.upper.value)
        delta = "" if self.upper.delta is None else f" at delta {self.upper.delta:g}"
        return f"{self.upper.metric} between {low} and {high}{delta}"

    def _records(self) -> list[dict[str, Any]]:
        return [*self.lower._records(), *self.upper._records()]  # noqa: SLF001 - of one kind

    def _repr_html_(self) -> str:
        sides = {"at least": self.lower.basis, "at most": self.upper.basis}
        rows = [
            (name, [column(basis.get(name, "-"), side) for side, basis in sides.items()])
            for name in dict.fromkeys([*sides["at most"], *sides["at least"]])
        ]
        return card(table(f"Proved: {self}", ("rests on", *sides), rows))
