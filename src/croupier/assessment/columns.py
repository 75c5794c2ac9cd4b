"""The columns of the trust ladder, from the privacy curve of a rung."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from croupier.assessment.cell import Cell
from croupier.assessment.exposure import Exposure
from croupier.leakage.bayes_security_bounds import curve_floor
from croupier.leakage.strong_adversary import informed_upper_bound
from croupier.model.adversary import Adversary, Goal
from croupier.model.guarantee import Direction, Guarantee, Metric

__all__ = ["Columns"]

_COARSE, _FINE = 9, 8
"""Points at which the best epsilon for a bound of guesses is looked for, and then around it."""

_DISTANCE = "delta(0) is total variation (Chatzikokolakis et al. 2023, Theorem 2)"
_INFORMED = "all pairs of values at one epsilon, added up"


@dataclass(frozen=True)
class Columns:
    """What the curve of one adversary says in every metric.

    Attributes:
        exposure: The curve, for everything that one person sends.
        adversary: Who it is.
        delta: The failure probability that belongs to an epsilon.
        values: How many values a person may hold.
        attacked: Whether the lower curve is of what this adversary sees.
    """

    exposure: Exposure
    adversary: Adversary
    delta: float
    values: int
    attacked: bool = True

    def promised_epsilon(self) -> Guarantee | None:
        """The least epsilon with D(epsilon) <= delta."""
        return self._upper(Metric.EPSILON, self.exposure.epsilon(self.delta), self.exposure.theorem)

    def epsilon(self) -> Cell:
        """The same, from both sides."""
        lower = self.exposure.lower if self.attacked else None
        attained = None if lower is None else lower.epsilon(self.delta)
        return Cell(
            metric=Metric.EPSILON,
            promise=self.promised_epsilon(),
            attained=self._lower(Metric.EPSILON, attained, lower.theorem if lower else ""),
            reason="no epsilon is reached at this delta",
        )

    def bayes_security(self) -> Cell:
        """At least 1 - D(0)."""
        return Cell(
            metric=Metric.BAYES_SECURITY,
            promise=self._claim(
                Metric.BAYES_SECURITY, curve_floor(self._distance), Direction.LOWER, _DISTANCE
            ),
            attained=self._claim(
                Metric.BAYES_SECURITY, 1 - self._attained_distance, Direction.UPPER, _DISTANCE
            )
            if self.attacked
            else None,
        )

    def guess_coin(self) -> Cell:
        """1/2 + D(0)/2: the two values that are easiest to tell apart, a fair coin between them."""
        upper = min(1.0, (0.5 + self._distance / 2) * (1 + 2e-16))
        lower = 0.5 + self._attained_distance / 2
        return self._guess(Metric.GUESS_COIN, upper, lower, _DISTANCE)

    def guess_informed(self) -> Cell:
        """All k values are equally likely: min over e of (e^e + (k-1) D(e))/(e^e + k - 1).

        From below: only the two values of the coin are ever guessed, (1 + D(0))/k.
        """
        k = self.values
        if k == 2:
            coin = self.guess_coin()
            upper, lower = coin.upper or 1.0, coin.lower or 0.5
            theorem = _DISTANCE
        else:
            upper, theorem = self._least_informed(k), _INFORMED
            lower = (1 + self._attained_distance) / k * (1 - 4e-16)
        return self._guess(Metric.GUESS_INFORMED, upper, lower, theorem)

    def _least_informed(self, k: int) -> float:
        def bound(epsilon: float) -> float:
            return informed_upper_bound(self._delta, k=k, epsilons=[epsilon])

        return _least(bound, most=self.exposure.epsilon(self.delta))

    def _guess(self, metric: Metric, upper: float, lower: float, theorem: str) -> Cell:
        proof = f"{self.exposure.theorem}; {theorem}"
        attained = lower if self.attacked else None
        return Cell(
            metric=metric,
            promise=self._upper(metric, upper, proof),
            attained=self._lower(metric, attained, theorem),
        )

    def _delta(self, epsilon: float) -> float:
        return self.exposure.delta(epsilon, at=self.delta)

    @property
    def _distance(self) -> float:
        return self._delta(0.0)

    @property
    def _attained_distance(self) -> float:
        lower = self.exposure.lower if self.attacked else None
        return 0.0 if lower is None else min(lower.delta(0.0), self._distance)

    def _upper(self, metric: Metric, value: float, theorem: str) -> Guarantee | None:
        return self._claim(metric, value, Direction.UPPER, theorem)

    def _lower(self, metric: Metric, value: float | None, theorem: str) -> Guarantee | None:
        return None if value is None else self._claim(metric, value, Direction.LOWER, theorem)

    def _claim(
        self, metric: Metric, value: float, direction: Direction, theorem: str
    ) -> Guarantee | None:
        if not math.isfinite(value):
            return None
        wants = (
            Goal.DISTINGUISH if metric in (Metric.EPSILON, Metric.BAYES_SECURITY) else Goal.GUESS
        )
        return Guarantee(
            metric=metric,
            value=value,
            direction=direction,
            adversary=Adversary(
                sees=self.adversary.sees, corrupt=self.adversary.corrupt, wants=wants
            ),
            theorem=theorem,
            assumptions=self.exposure.assumptions,
            delta=self.delta if metric is Metric.EPSILON else None,
        )


def _least(bound: Callable[[float], float], *, most: float) -> float:
    """The least of a bound that holds at every point, looked for between 0 and `most`."""
    grid = [most * place / (_COARSE - 1) for place in range(_COARSE)]
    found = {point: bound(point) for point in grid}
    center = min(found, key=found.__getitem__)
    width = most / (_COARSE - 1)
    for place in range(1, _FINE):
        point = max(0.0, center + width * (2 * place / _FINE - 1))
        found[point] = bound(point)
    return min(found.values())
