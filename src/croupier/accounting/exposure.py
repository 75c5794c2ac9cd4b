"""What one kind of adversary faces: the privacy curve of all rounds of one person."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeVar

from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.accounting.clones import clone_curve
from croupier.accounting.composition import ComposedLoss, LossDistribution, subsampled
from croupier.accounting.curve import NO_PROTECTION, Curve
from croupier.errors import MissingExtraError, TooLargeError
from croupier.model.guarantee import Direction
from croupier.model.randomizer import Randomizer
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.rounding import float_above, float_below
from croupier.plan.plan import Plan

__all__ = ["MOST_OF_CLONES", "Exposure", "Hidden", "hidden_exposure", "local_exposure"]

T = TypeVar("T")

_SHARPNESS = 1e-7
"""Relative width at which the search for an epsilon stops."""

MOST_OF_CLONES = 100.0
"""An epsilon_local beyond which clones hide nobody."""

_POINTS = 300
"""Points of a grid of privacy losses: they cost epsilon 1e-4 of itself, and take a fraction of a
second."""

_COMPOSED = "rounds composed (Zhu, Dong and Wang 2022)"


class UpperCurve(Protocol):
    """Upper bounds of delta for every epsilon."""

    @property
    def epsilon_local(self) -> float:
        """From here on delta is zero."""

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> float:
        """The logarithm of the bound."""

    def epsilon(self, delta: float) -> float:
        """The least epsilon proved at `delta`."""


@dataclass(frozen=True)
class Hidden:
    """Among whom a person hides.

    Attributes:
        honest: How many honest people there are, the person included.
        share: With what chance each of the others is in the same crowd.
        clones: Whether only epsilon_local is used of what the people apply: a round's question may
            depend on what earlier rounds published, or there are too many pairs of values.
    """

    honest: int
    share: float
    clones: bool


@dataclass(frozen=True, eq=False)
class Exposure:
    """The privacy curve of everything that one person sends, proved from above.

    Attributes:
        upper: One round, from above.
        lower: One round, from below; None where nothing is known.
        rounds: How many independent rounds there are.
        one_round: The proof of the upper curve.
        assumptions: What must hold.
        hidden: Among whom; None where the sender of the report is known.
    """

    upper: UpperCurve
    lower: Curve | None
    rounds: int
    one_round: str
    assumptions: tuple[str, ...]
    hidden: Hidden | None = None

    @property
    def theorem(self) -> str:
        """The proof for all rounds together."""
        return self.one_round if self.rounds == 1 else f"{self.one_round}; {_COMPOSED}"

    @property
    def most(self) -> float:
        """An epsilon at which delta is zero, whatever the shuffler does."""
        local = self.upper.epsilon_local
        return float_above(self.rounds * Fraction(local)) if math.isfinite(local) else math.inf

    def epsilon(self, delta: float) -> float:
        """The epsilon that is proved for all rounds together."""
        return self._kept("epsilon", delta, self._least_epsilon)

    def _least_epsilon(self, delta: float) -> float:
        if self.rounds == 1:
            return min(self.most, self.upper.epsilon(delta))
        added = self.rounds * self.upper.epsilon(delta / self.rounds) * (1 + 1e-15)
        if added == 0:
            return 0.0
        loss = self._loss(delta)
        return min(self.most, added, math.inf if loss is None else loss.epsilon(delta))

    def delta(self, epsilon: float, *, at: float, rtol: float = 1e-6) -> float:
        """The delta at `epsilon`, of all rounds together, by a loss made for a delta of `at`.

        It holds whatever `rtol` is; a larger one is quicker.
        """
        what = f"delta, {at}, {rtol}"
        return self._kept(what, epsilon, lambda point: self._delta(point, at, rtol))

    def _delta(self, epsilon: float, at: float, rtol: float) -> float:
        alone = self.upper.log_delta(epsilon / self.rounds, rtol=rtol)
        added = self.rounds * math.exp(alone) * (1 + 1e-14)
        loss = self._loss(at) if self.rounds > 1 else None
        return min(1.0, added, 1.0 if loss is None else loss.delta(epsilon))

    def attained_epsilon(self, delta: float) -> float | None:
        """An epsilon that one round is proved to reach; None where nothing is known."""
        if self.lower is None:
            return None
        return self._kept("attained", delta, self.lower.epsilon)

    @cached_property
    def attained_distance(self) -> float:
        """A delta at epsilon 0 that one round is proved to reach."""
        return 0.0 if self.lower is None else self.lower.delta(0.0)

    def _loss(self, delta: float) -> ComposedLoss | None:
        """The law of the privacy loss; None where the curve or the installation allows none."""
        return self._kept("loss", delta, lambda at: _composed(self.upper, self.rounds, at))

    def _kept(self, what: str, at: float, find: Callable[[float], T]) -> T:
        """What was found before, since several rungs and columns ask for it."""
        if (what, at) not in self._found:
            self._found[what, at] = find(at)
        return self._found[what, at]  # type: ignore[no-any-return]

    @cached_property
    def _found(self) -> dict[tuple[str, float], Any]:
        return {}

    def repeated(self, times: int) -> "Exposure":
        """The same person in so many collections of this kind, with fresh noise."""
        rounds = self.rounds * times
        kept = [text for text in self.assumptions if text != _fresh(self.rounds)]
        return replace(self, rounds=rounds, assumptions=(*kept, _fresh(rounds)))


def _composed(curve: UpperCurve, rounds: int, delta: float) -> ComposedLoss | None:
    tail = 1e-5 * delta / rounds
    most = min(curve.epsilon_local, NO_PROTECTION)
    if most == 0 or curve.log_delta(most) > math.log(tail):
        return None
    law = LossDistribution.dominating(
        lambda epsilon: curve.log_delta(epsilon, rtol=1e-4), most=most, tail=tail, points=_POINTS
    )
    try:
        return law.after(rounds)
    except MissingExtraError:
        return None


@dataclass(frozen=True)
class _Sampled:
    """The curve of a round that asks a random share of the people, unseen."""

    asked: Curve
    share: float

    @property
    def epsilon_local(self) -> float:
        """Of a report that was sent by this chance only."""
        return math.log1p(self.share * math.expm1(self.asked.epsilon_local)) * (1 + 1e-15)

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> float:
        """The logarithm of the bound of delta."""
        asked = subsampled(lambda inner: self.asked.log_delta(inner, rtol=rtol), self.share)
        return asked(epsilon)

    def epsilon(self, delta: float) -> float:
        """The least epsilon found to be enough."""
        most = self.epsilon_local
        return bisect_safe(
            lambda epsilon: self.log_delta(epsilon) <= math.log(delta),
            safe=most,
            unsafe=0.0,
            tolerance=_SHARPNESS * most,
        )


def hidden_exposure(plan: Plan, *, rounds_seen: bool, corrupt: int) -> Exposure:
    """What a reader of the batch faces who sees, or not, in which rounds each person sends.

    The curve is that of the worst crowd in which the person may be. All corrupt people are taken
    to be in it: of an expected n s people of the crowd, n s - corrupt are left.
    """
    crowd = plan.worst_crowd(rounds_seen=rounds_seen)
    honest = max(1, crowd.people - math.ceil(corrupt / crowd.share))
    hidden = Hidden(honest, float_below(crowd.share), _needs_clones(plan))
    upper = _upper(plan, hidden)
    theorem, assumptions = upper.theorem, upper.assumptions
    curve: UpperCurve = upper
    if plan.participation_model.sampled:
        batch, people = plan.protections.minimum_batch, plan.people
        assumptions += (f"each round asks a fresh random {batch:,} of {people:,}, no more",)
        if not rounds_seen:
            # Corrupt people know whether they were asked: the others share what is left.
            curve = _Sampled(upper, min(1.0, float_above(Fraction(batch, people - corrupt))))
            theorem += "; sampling (Balle, Barthe and Gaboardi 2018)"
            assumptions += ("who is asked stays unseen",)
    if plan.reports > 1:
        assumptions += (_fresh(plan.reports),)
    lower = _lower(plan, hidden)
    return Exposure(curve, lower, plan.reports, theorem, assumptions, hidden)


def _lower(plan: Plan, hidden: Hidden) -> Curve | None:
    """What a batch is known to betray; None where a person is in one crowd or another by chance."""
    if hidden.share < 1 or plan.participation_model.sampled:
        return None
    if not hidden.clones:
        return lower_curve(plan.randomizer, n=hidden.honest)
    # All rounds may ask the same; then batches that are put together are one batch.
    return lower_curve(plan.randomizers[0], n=hidden.honest) if len(plan.randomizers) == 1 else None


def _fresh(rounds: int) -> str:
    return f"{rounds:,} rounds of one person, fresh noise in each"


def _mechanisms(plan: Plan) -> tuple[Randomizer, ...]:
    """What everybody applies, or what each question asks for where a person answers one of them."""
    return plan.randomizers if _needs_clones(plan) else (plan.randomizer,)


def _one_report(plan: Plan) -> bool:
    """Whether everybody sends a report of one and the same mechanism, for certain."""
    return len(_mechanisms(plan)) == 1 and not plan.participation_model.sampled


def _needs_clones(plan: Plan) -> bool:
    if plan.participation_model.adaptive:
        return True
    try:
        plan.randomizer.representative_pairs()
    except TooLargeError:
        return True
    return False


def _upper(plan: Plan, hidden: Hidden) -> Curve:
    if not hidden.clones:
        return upper_curve(plan.randomizer, n=hidden.honest, report_probability=hidden.share)
    local = max(question.checked_epsilon_local for question in plan.randomizers)
    if not 0 < local <= MOST_OF_CLONES:
        return _worst_local(plan)
    return clone_curve(epsilon_local=local, n=hidden.honest, report_probability=hidden.share)


def local_exposure(plan: Plan) -> Exposure:
    """What is left where the sender of every report is known: the noise of the device.

    A report that is sent again is one report.
    """
    upper = _worst_local(plan)
    reused = plan.participation.noise == "reused"
    rounds = 1 if reused else plan.reports
    return Exposure(
        upper=upper,
        lower=replace(upper, direction=Direction.LOWER) if _one_report(plan) else None,
        rounds=rounds,
        one_round=upper.theorem,
        assumptions=(_fresh(rounds),) if rounds > 1 else upper.assumptions,
    )


def _worst_local(plan: Plan) -> Curve:
    curves = [local_curve(mechanism) for mechanism in _mechanisms(plan)]
    return Curve(
        pairs=[pair for curve in curves for pair in curve.pairs],
        direction=Direction.UPPER,
        epsilon_local=max(curve.epsilon_local for curve in curves),
        theorem=curves[0].theorem,
        assumptions=curves[0].assumptions,
    )
