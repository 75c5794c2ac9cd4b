"""A measured claim."""

from dataclasses import dataclass
from typing import Any

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.html import facts
from croupier.model.metric import Metric
from croupier.model.result import Result
from croupier.numerics.rounding import ceiling_digits, floor_digits

__all__ = ["REFUTATION_CONFIDENCE", "Evidence"]

REFUTATION_CONFIDENCE = 1 - 1e-6
"""The confidence that a measurement needs to refute a proof."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Evidence(Result):
    """A measurement by an attack or an audit, with an interval. It cannot satisfy a policy.

    Attributes:
        metric: The measure.
        measured: The point estimate.
        lower: The lower end of the interval.
        upper: The upper end of the interval.
        confidence: The probability that the interval covers the truth.
        adversary: The adversary that the attack stood for.
        games: The number of games played.
        delta: The failure probability that belongs to an epsilon.

    Example:
        >>> from croupier.model.adversary import View
        >>> reader = Adversary(sees={View.BATCH})
        >>> seen = Evidence(
        ...     metric=Metric.GUESS_OF_TWO, measured=0.6, lower=0.55, upper=0.65,
        ...     confidence=1 - 1e-9, adversary=reader, games=10_000,
        ... )
        >>> seen.refutes(Guarantee(
        ...     metric=Metric.GUESS_OF_TWO, value=0.51, direction=Direction.UPPER,
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
    delta: float | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.measured <= self.upper:
            raise ParameterError("measured", must="lie in its interval", got=self.measured)
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence", must="be in (0, 1)", got=self.confidence)
        if self.games < 1:
            raise ParameterError("games", must="be at least 1", got=self.games)

    @property
    def _summary(self) -> str:
        at = "" if self.delta is None else f" at delta {self.delta:g}"
        return f"{self.metric} {self.measured:.4g}{at}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": self.metric,
                "measured": self.measured,
                "lower": self.lower,
                "upper": self.upper,
                "confidence": self.confidence,
                "games": self.games,
                "delta": self.delta,
                "adversary": str(self.adversary),
            }
        ]

    def _repr_html_(self) -> str:
        low, high = floor_digits(self.lower), ceiling_digits(self.upper)
        rows = {
            "interval": f"{low} to {high}, confidence {self.confidence:.7g}",
            "adversary": str(self.adversary),
            "games": f"{self.games:,}",
            "counts as": "evidence: it may refute a proof and satisfies no policy",
        }
        return facts(f"Measured: {self._summary}", rows)

    def refutes(self, guarantee: Guarantee) -> bool:
        """Tell whether the attack did better than was proved possible.

        An attack that does badly refutes nothing, since a better one may exist. Neither does an
        interval of less than `REFUTATION_CONFIDENCE`, nor an adversary who sees, knows or corrupts
        more than the guarantee allows for.
        """
        if self.metric != guarantee.metric:
            raise ParameterError(
                "guarantee", must=f"be about {self.metric}", got=str(guarantee.metric)
            )
        if self.delta != guarantee.delta:
            raise ParameterError("guarantee", must=f"be at delta {self.delta}", got=guarantee.delta)
        if self.confidence < REFUTATION_CONFIDENCE or not self.adversary.at_most(
            guarantee.adversary
        ):
            return False
        if self.metric.protects:
            return guarantee.direction is not Direction.UPPER and self.upper < guarantee.value
        return guarantee.direction is not Direction.LOWER and self.lower > guarantee.value
