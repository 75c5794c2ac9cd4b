"""Randomizers whose integers are chosen to stay below a requested epsilon."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from croupier.errors import ParameterError
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import WORD
from croupier.numerics.validate import whole_number

__all__ = ["CalibratedRandomizer"]

_LARGEST_EPSILON = 20.0


@dataclass(frozen=True, kw_only=True)
class CalibratedRandomizer(Randomizer):
    """A mechanism that is asked for an epsilon and answers with integers.

    Attributes:
        epsilon_local: As an argument, the epsilon that may not be exceeded. As an attribute, the
            epsilon of the integers that were chosen, rounded up.
        denominator: What the integers are weights over. Small ones are for tests, which then feed
            every possible draw.
        ceiling: The epsilon that was asked for.
    """

    epsilon_local: float
    denominator: int = WORD
    ceiling: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.epsilon_local <= _LARGEST_EPSILON:
            raise ParameterError(
                "epsilon_local", must="be in (0, 20]", got=self.epsilon_local, hint="Try 4."
            )
        denominator = whole_number("denominator", self.denominator, least=2, most=WORD)
        object.__setattr__(self, "denominator", denominator)
        object.__setattr__(self, "ceiling", float(self.epsilon_local))
        epsilon = self._epsilon()
        if not 0 < epsilon <= self.ceiling:
            raise ParameterError(
                "epsilon_local",
                must=f"be expressible by weights over {self.denominator}",
                got=self.ceiling,
                hint="Raise it, or the denominator.",
            )
        object.__setattr__(self, "epsilon_local", epsilon)

    def _epsilon(self) -> float:
        """The epsilon of the chosen integers, rounded up; infinite where they express no law."""
        raise NotImplementedError

    @cached_property
    def specification(self) -> dict[str, Any]:
        """As for every randomizer; the epsilon is the one that was asked for."""
        return super().specification | {"epsilon_local": self.ceiling}
