"""Randomizers whose integers are chosen to stay below a requested epsilon."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from croupier.errors import ParameterError, RenamedError
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import WORD
from croupier.numerics.validate import whole_number
from croupier.randomizers.parameter import EPSILON, WHOLE, declares

__all__ = ["CalibratedRandomizer", "refuse_former_name"]

_LARGEST_EPSILON = 20.0


def refuse_former_name(mechanism: type, given: Mapping[str, Any]) -> None:
    """Refuse the name that the ceiling had in version 0.1."""
    if "epsilon_local" in given:
        raise RenamedError(f"epsilon_local of {mechanism.__name__}", "max_epsilon_local")


@dataclass(frozen=True, kw_only=True)
class CalibratedRandomizer(Randomizer):
    """A mechanism that chooses its integers to stay below a requested epsilon.

    Attributes:
        max_epsilon_local: The epsilon that may not be exceeded.
        denominator: The denominator of the integer weights. Small ones are for tests, which then
            feed every possible draw.
    """

    max_epsilon_local: float = field(
        metadata=declares(EPSILON, "nats, a ceiling; what is left if all else fails")
    )
    denominator: int = field(
        default=WORD, metadata=declares(WHOLE, "denominator of integer weights; small for tests")
    )

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse the former name of the ceiling; copying passes no arguments."""
        refuse_former_name(cls, given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        if not 0 < self.max_epsilon_local <= _LARGEST_EPSILON:
            raise ParameterError(
                "max_epsilon_local", must="be in (0, 20]", got=self.max_epsilon_local, hint="Try 4."
            )
        denominator = whole_number("denominator", self.denominator, least=2, most=WORD)
        object.__setattr__(self, "denominator", denominator)
        object.__setattr__(self, "max_epsilon_local", float(self.max_epsilon_local))
        if not 0 < self.epsilon_local <= self.max_epsilon_local:
            raise ParameterError(
                "max_epsilon_local",
                must=f"be expressible by weights over {self.denominator}",
                got=self.max_epsilon_local,
                hint="Raise it, or the denominator.",
            )

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the chosen integers, rounded up; infinite if they express no law."""
        raise NotImplementedError

    @property
    def budget_cost(self) -> float:
        """The epsilon that may not be exceeded, which every client reads in the plan."""
        return self.max_epsilon_local
