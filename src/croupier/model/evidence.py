"""A measured claim."""

from dataclasses import dataclass

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary
from croupier.model.guarantee import Direction, Guarantee, Metric

__all__ = ["REFUTATION_CONFIDENCE", "Evidence"]

REFUTATION_CONFIDENCE = 1 - 1e-6
"""How sure a measurement must be before it may call a proof wrong."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What an attack or an audit measured, with an interval. It satisfies no policy.

    Attributes:
        metric: What was measured.
        measured: The point estimate.
        lower: The lower end of the interval.
        upper: The upper end of the interval.
        confidence: The probability that the interval covers the truth.
        adversary: In whose place the attack was played.
        games: How often it was played.

    Example:
        >>> from croupier.model.adversary import View
        >>> reader = Adversary(sees={View.BATCH})
        >>> seen = Evidence(
        ...     metric=Metric.GUESS_COIN, measured=0.6, lower=0.55, upper=0.65,
        ...     confidence=1 - 1e-9, adversary=reader, games=10_000,
        ... )
        >>> seen.refutes(Guarantee(
        ...     metric=Metric.GUESS_COIN, value=0.51, direction=Direction.UPPER,
        ...     adversary=reader, theorem="an optimistic one",
        ... ))
        True
    """

    metric: Metric
    measured: float
    lower: float
    upper: float
    confidence: float
    adversary: Adversary
    games: int

    def __post_init__(self) -> None:
        if not self.lower <= self.measured <= self.upper:
            raise ParameterError("measured", must="lie in its interval", got=self.measured)
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence", must="be in (0, 1)", got=self.confidence)
        if self.games < 1:
            raise ParameterError("games", must="be at least 1", got=self.games)

    def refutes(self, guarantee: Guarantee) -> bool:
        """Whether the interval lies wholly on the wrong side of what was proved.

        An interval that is less sure than `REFUTATION_CONFIDENCE` refutes nothing, and neither
        does an adversary who has more than the guarantee allows for.
        """
        if self.metric != guarantee.metric:
            raise ParameterError(
                "guarantee", must=f"be about {self.metric}", got=str(guarantee.metric)
            )
        if self.confidence < REFUTATION_CONFIDENCE:
            return False
        above = self.lower > guarantee.value
        below = self.upper < guarantee.value
        if guarantee.direction is Direction.LOWER:
            return below and guarantee.adversary.at_most(self.adversary)
        weaker = self.adversary.at_most(guarantee.adversary)
        if guarantee.direction is Direction.UPPER:
            return above and weaker
        return (above and weaker) or (below and self.adversary == guarantee.adversary)
