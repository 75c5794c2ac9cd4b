"""Models in which people draw a round by lot, and nulls may fill the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from croupier.errors import ParameterError
from croupier.model.participation.base import Participation
from croupier.numerics.validate import whole_number

__all__ = ["Rectifiable", "Weighted", "checked_weights", "shares"]

_MOST_WEIGHT = 2**62


@dataclass(frozen=True, kw_only=True)
class Rectifiable(Participation):
    """A model in which nulls may fill the other rounds, and all messages may have one length.

    Attributes:
        rectified: True if nulls fill the other rounds and all messages have one length.
    """

    plain: ClassVar[str]

    rectified: bool = False

    @property
    def model(self) -> str:  # type: ignore[override]
        """The name of the model, rectified or not."""
        return f"rectified-{self.plain}" if self.rectified else self.plain

    @property
    def padded(self) -> bool:
        """True if the model is rectified."""
        return self.rectified

    def unpadded(self) -> Participation:
        """The same model, not rectified."""
        return replace(self, rectified=False)


@dataclass(frozen=True, kw_only=True)
class Weighted(Rectifiable):
    """A model in which everybody draws by the same lot.

    Attributes:
        weights: The weight of each round or question, as integers.
    """

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights))

    @property
    def rounds(self) -> int:
        """One per weight."""
        return len(self.weights)


def checked_weights(weights: Sequence[int]) -> tuple[int, ...]:
    """Return positive integer weights whose sum fits the bound of a draw."""
    if not len(weights):
        raise ParameterError("weights", must="be at least one")
    whole = tuple(whole_number("weights", weight, least=1) for weight in weights)
    if sum(whole) > _MOST_WEIGHT:
        raise ParameterError("weights", must=f"sum to at most {_MOST_WEIGHT:,}")
    return whole


def shares(weights: Sequence[int]) -> list[Fraction]:
    """The weights as fractions of their sum."""
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]
