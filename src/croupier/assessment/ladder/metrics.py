"""The columns of the trust ladder, from the privacy curve of a rung."""

import math
from dataclasses import dataclass, replace
from typing import Any

from croupier.accounting.exposure import Exposure, LowerCurve
from croupier.assessment.ladder.cell import Cell
from croupier.leakage.bayes_security_bounds import curve_floor
from croupier.leakage.informed import informed_upper_bound
from croupier.leakage.prior import Prior
from croupier.model.adversary import Adversary, Goal
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.plan.window import Window

__all__ = ["Columns"]

_COARSE, _FINE = 9, 8
"""Points at which the best epsilon for a bound of guesses is sought, first and then around it."""

_LARGEST_TRIED = 20.0
"""The epsilon beyond which no bound of guesses is better."""

_SHARPNESS = 1e-7
"""The largest relative distance of both ends of a value that is called exact."""

_DISTANCE = "delta(0) is total variation (Chatzikokolakis et al. 2023, Theorem 2)"
_INFORMED = "all pairs of values at one epsilon, added up"


@dataclass(frozen=True)
class Columns:
    """The metrics that follow from the curve of one adversary.

    Attributes:
        exposure: The curve, for everything that one person sends.
        adversary: The adversary.
        delta: The failure probability that belongs to an epsilon.
        values: The number of values that a person may hold.
        attacked: True if the lower curve is about what this adversary sees.
        windows: For each question about a number, how many values are near a guess.
        one_answer: True if the values are all that a person holds, not the answer to one question
            of several.
    """

    exposure: Exposure
    adversary: Adversary
    delta: float
    values: int
    windows: tuple[Window, ...] = ()
    attacked: bool = True
    one_answer: bool = True

    def proved_epsilon(self) -> Guarantee | None:
        """The least epsilon with D(epsilon) <= delta."""
        value = self.exposure.epsilon(self.delta)
        return self._claim(Metric.EPSILON, value, Direction.UPPER, self.exposure.theorem)

    def epsilon(self) -> Cell:
        """The epsilon from both sides."""
        lower = self._lower_curve
        attained = self.exposure.attained_epsilon(self.delta) if lower else None
        return self._cell(
            Metric.EPSILON,
            self.proved_epsilon(),
            self._claim(Metric.EPSILON, attained, Direction.LOWER, lower.theorem)
            if lower and attained is not None
            else None,
        )

    def bayes_security(self) -> Cell:
        """The Bayes security: at least 1 - D(0)."""
        metric = Metric.BAYES_SECURITY
        floor, ceiling = curve_floor(self._distance), 1 - self._attained_distance
        # The differences are rounded to the nearest double: one further is outward.
        floor = math.nextafter(floor, 0.0) if self._distance else floor
        ceiling = min(1.0, math.nextafter(ceiling, 2.0))
        return self._cell(
            metric,
            self._claim(metric, floor, Direction.LOWER, f"{self.exposure.theorem}; {_DISTANCE}"),
            self._claim(metric, ceiling, Direction.UPPER, _DISTANCE),
        )

    def guess_of_two(self) -> Cell:
        """1/2 + D(0)/2: the two values that are easiest to tell apart, a fair coin between them."""
        upper = min(1.0, (0.5 + self._distance / 2) * (1 + 3e-16))
        lower = max(0.5, (0.5 + self._attained_distance / 2) * (1 - 3e-16))
        return self._guess(Metric.GUESS_OF_TWO, upper, lower, _DISTANCE)

    def guess_informed(self) -> Cell:
        """The guess of k equally likely values: min over e of (e^e + (k-1) D(e))/(e^e + k - 1).

        The lower end guesses only the two values of the coin: (1 + D(0))/k.
        """
        metric, k = Metric.GUESS_INFORMED, self.values
        if k == 2:
            coin = self.guess_of_two()
            return self._guess(metric, coin.upper or 1.0, coin.lower or 0.5, _DISTANCE)
        lower = (1 + self._attained_distance) / k * (1 - 4e-16)
        return self._guess(metric, self._least_informed(k=k), lower, _INFORMED)

    def within_informed(self) -> Cell:
        """The guess of a number to within w: that of the question where it is easiest."""
        value = max(self._least_informed(k=each.size, near=each.near) for each in self.windows)
        metric = Metric.WITHIN_INFORMED
        proof = f"{self.exposure.theorem}; {_INFORMED}"
        proved = self._claim(metric, value, Direction.UPPER, proof)
        return self._cell(metric, proved, None)

    def guess_prior(self, prior: Prior) -> Guarantee | None:
        """The guess of one of several values that are not equally likely."""
        value = self._least_informed(prior=prior)
        proof = f"{self.exposure.theorem}; {_INFORMED}"
        return self._claim(Metric.GUESS_INFORMED, value, Direction.UPPER, proof)

    def _least_informed(self, **values: Any) -> float:
        """Minimise a bound that holds at every epsilon, first evenly, then around the least."""
        most = min(self.exposure.epsilon(self.delta), _LARGEST_TRIED)
        width = most / (_COARSE - 1)
        grid = [width * place for place in range(_COARSE)] if width else [0.0]
        best, center = self._least_of(grid, values)
        shares = [2 * place / _FINE - 1 for place in range(1, _FINE)]
        around = [max(0.0, center + width * share) for share in shares]
        return min(best, self._least_of(around, values)[0])

    def _least_of(self, epsilons: list[float], values: dict[str, Any]) -> tuple[float, float]:
        """The least bound, and where it is."""
        known = self._quick_deltas(epsilons)
        return min(
            (informed_upper_bound(known.__getitem__, epsilons=[point], **values), point)
            for point in epsilons
        )

    def _guess(self, metric: Metric, upper: float, lower: float, theorem: str) -> Cell:
        return self._cell(
            metric,
            self._claim(metric, upper, Direction.UPPER, f"{self.exposure.theorem}; {theorem}"),
            self._claim(metric, lower, Direction.LOWER, theorem),
        )

    def _cell(self, metric: Metric, proved: Guarantee | None, attained: Guarantee | None) -> Cell:
        if self._lower_curve is None or (metric is Metric.GUESS_INFORMED and not self.one_answer):
            attained = None
        elif (
            proved
            and attained
            and self._exact
            and math.isclose(proved.value, attained.value, rel_tol=_SHARPNESS)
        ):
            proved = attained = replace(proved, direction=Direction.EXACT)
        reason = "" if proved else "no epsilon is reached at this delta"
        return Cell(metric=metric, proved=proved, attained=attained, reason=reason)

    @property
    def _exact(self) -> bool:
        """Tell whether both curves are one: there is one report and its sender is known.

        Near an epsilon of 0 they may still differ by more than their own size.
        """
        return self.exposure.hidden is None and self.exposure.rounds == 1

    @property
    def _lower_curve(self) -> LowerCurve | None:
        return self.exposure.lower if self.attacked else None

    def _quick_deltas(self, epsilons: list[float]) -> dict[float, float]:
        """The deltas, less precise away from zero, where only the best of many bounds counts."""
        some = [epsilon for epsilon in epsilons if epsilon]
        found = self.exposure.deltas(some, at=self.delta, rtol=1e-4) if some else []
        return {0.0: self._distance} | dict(zip(some, found, strict=True))

    @property
    def _distance(self) -> float:
        return self.exposure.deltas((0.0,), at=self.delta)[0]

    @property
    def _attained_distance(self) -> float:
        if self._lower_curve is None:
            return 0.0
        return min(self.exposure.attained_distance, self._distance)

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
