"""Composition: the loss of several rounds of one person, with fresh noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from croupier.accounting.crossing import crossing
from croupier.accounting.curve import NO_PROTECTION, Curve
from croupier.accounting.sums.terms import Real, exp_above
from croupier.errors import MissingExtraError, ParameterError
from croupier.numerics.rounding import float_above
from croupier.numerics.validate import number_of_people, require_delta

__all__ = ["BoundedCurve", "ComposedLoss", "LogDeltas", "LossDistribution", "Rounds", "UpperCurve"]
__all__ += ["basic_epsilon", "composed_epsilon", "least_epsilon", "renyi", "subsampled"]

_CONVOLUTION_ERROR = 3e-16
"""The error of delta that the convolution of one round may cause."""

_RENYI_POINTS = 400
_NEGLIGIBLE = -40.0

LogDeltas = Callable[[Real], Real]

_POINTS = 600
"""Points of the grid of privacy losses on either side of zero: they raise epsilon by about 1e-5 of
itself, and take a fraction of a second."""

_COARSE = 1e-5
"""Relative precision of the curve on that grid."""

_SHARPNESS = 1e-7
"""Relative width at which the search for an epsilon stops."""

_SPARSE = 4
"""In the upper half of the grid, which has little mass, only every fourth point is evaluated."""


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """A symmetric law of the privacy loss that dominates a curve, on a grid.

    Its hockey-stick divergence at a = e^epsilon equals, at the points of the grid, the greatest
    convex function of a below the upper bounds there. The true curve is convex and below them, so
    it is below that function too; between the points the chord is above it. Below a = 1 it
    continues as 1 - a + a D(1/a), the curve of the pair the other way round, so that rounds in
    either direction are dominated.

    Reference: doroshenko2022, Algorithm 1, for the masses; zhu2022 for dominating pairs.

    Attributes:
        step: The distance of the losses.
        masses: The probabilities of the losses step, 2 step, …; that of -j step is e^(-j step)
            times that of j step.
        infinite: The probability of an infinite loss.
        evaluated: The epsilons at which the curve was evaluated, and its upper bounds there.
    """

    step: float
    masses: Real
    infinite: float
    evaluated: tuple[Real, Real] = (np.zeros(0), np.zeros(0))

    @classmethod
    def dominating(
        cls, log_deltas: LogDeltas, *, most: float, tail: float, points: int = _POINTS
    ) -> "LossDistribution":
        """Dominate a curve of upper bounds; losses where it is below `tail` count as infinite.

        Args:
            log_deltas: ln of upper bounds of delta, for every epsilon >= 0.
            most: An epsilon at which delta is zero, or hardly falls any more: what is left of it
                there is the probability of an infinite loss.
            tail: What may be added to delta.
            points: Points of the grid on either side of zero: fewer are quicker, and safe.
        """
        whole, left = (float(end) for end in log_deltas(np.array([0.0, most])))
        tail = max(tail, math.exp(left) * (1 + 1e-9))
        if whole <= math.log(tail):
            return cls(most / points, np.zeros(points), math.exp(whole))
        last = crossing(
            lambda epsilons: log_deltas(epsilons) - math.log(tail),
            near=most / 8,
            spread=2.0,
            cap=most,
            sharpness=1e-4,
        ).below
        step = min(last, most) / points  # the curve may be above `tail` there, by its rounding
        epsilons = step * np.arange(points + 1)
        half = points // 2
        evaluated = np.concatenate([epsilons[:half], epsilons[half:-1:_SPARSE], epsilons[-1:]])
        bounds = np.exp(log_deltas(evaluated))
        above = np.expm1(evaluated)
        # Convex at a = 1 too: the chord from 1/a to a, at 1.
        bounds[0] = ((2 * bounds + above) / (2 + above)).min() * (1 + 1e-15)
        deltas = _convex_minorant(above, bounds, at=np.expm1(epsilons))
        slopes = -np.diff(deltas) / np.diff(np.expm1(epsilons))
        # The mass of loss x is e^x times the drop of the slope there.
        drops = slopes - np.append(slopes[1:], 0.0)
        masses = np.exp(epsilons[1:]) * np.maximum(drops, 0.0)
        return cls(step, masses, float(deltas[-1]), (evaluated, bounds))

    def log_deltas(self, epsilons: Real) -> Real:
        """Logarithms of the deltas of one round under this law, rounded up."""
        losses = self.step * np.arange(1, len(self.masses) + 1)
        shares = np.maximum(-np.expm1(np.subtract.outer(epsilons, losses)), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log((self.infinite + shares @ self.masses) * (1 + 1e-12)))

    def after(self, rounds: int) -> "ComposedLoss":
        """The loss of several independent rounds, by `dp-accounting`."""
        pld_pmf = _pld()
        losses = self.step * np.arange(1, len(self.masses) + 1)
        mirrored = (np.exp(-losses) * self.masses)[::-1]
        center = 1 - self.infinite - math.fsum(self.masses) - math.fsum(mirrored)
        if center < -1e-9:
            raise ParameterError("delta", must="be smaller for this curve")
        center = max(center, 0.0)
        masses = np.concatenate([mirrored, [center], self.masses])
        single: Any = pld_pmf.DensePLDPmf(
            self.step, -len(self.masses), masses, self.infinite, pessimistic_estimate=True
        )
        return ComposedLoss(single.self_compose(rounds), rounds, self)


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """A dominating law of the privacy loss of several rounds.

    The convolution is in double precision: for it, delta is raised by `_CONVOLUTION_ERROR` per
    round, several times the error that was seen against exact sums.

    Attributes:
        law: The privacy-loss distribution of `dp-accounting`.
        rounds: The number of rounds.
        single: The loss of one round.
    """

    law: Any
    rounds: int
    single: LossDistribution

    def deltas(self, epsilons: Real) -> Real:
        """Upper bounds of delta at every epsilon."""
        found = np.asarray(self.law.get_delta_for_epsilon(epsilons.tolist()))
        return np.minimum(1.0, found + _CONVOLUTION_ERROR * self.rounds)

    def epsilon(self, delta: float) -> float:
        """An upper bound of the least epsilon at `delta`; infinite where rounding is too coarse."""
        remaining = delta - _CONVOLUTION_ERROR * self.rounds
        if remaining < delta / 2:
            return math.inf
        return float(self.law.get_epsilon_for_delta(remaining)) * (1 + 4e-15)


class UpperCurve(Protocol):
    """Upper bounds of delta for every epsilon."""

    @property
    def epsilon_local(self) -> float:
        """The epsilon from which on delta is zero."""

    def log_deltas(self, epsilons: Real, *, rtol: float = 1e-6) -> Real:
        """The logarithms of the bounds."""

    def epsilon(self, delta: float) -> float:
        """The least epsilon proved at `delta`."""


@dataclass(frozen=True)
class BoundedCurve:
    """An upper curve that is known by its values.

    Attributes:
        bound: Logarithms of delta at several epsilons, to a relative precision, proved from above.
        epsilon_local: The epsilon from which on delta is zero.
    """

    bound: Callable[[Real, float], Real]
    epsilon_local: float

    def log_deltas(self, epsilons: Real, *, rtol: float = 1e-6) -> Real:
        """The logarithms of the bounds of delta."""
        return self.bound(epsilons, rtol)

    def epsilon(self, delta: float) -> float:
        """The least epsilon found to be enough."""
        return least_epsilon(self.log_deltas, delta, most=self.epsilon_local)


def least_epsilon(log_deltas: LogDeltas, delta: float, *, most: float) -> float:
    """The least epsilon found at which upper bounds are at most `delta`; `most` if none is less.

    Holds when `most` itself is proved to be enough: it is not evaluated. It may be infinite: then
    none is tried above `NO_PROTECTION`.

    >>> round(least_epsilon(lambda epsilons: -epsilons, 0.5, most=2.0), 6)
    0.693147
    """
    cap = min(most, NO_PROTECTION)
    found = crossing(
        lambda epsilons: np.where(epsilons >= most, -1.0, log_deltas(epsilons) - math.log(delta)),
        near=cap / 8,
        spread=2.0,
        cap=cap,
        sharpness=_SHARPNESS,
    )
    return min(most, found.below)


@dataclass(frozen=True, eq=False)
class Rounds:
    """Rounds of one person with fresh noise, each bounded by a curve given the earlier rounds.

    A report that is sent again is one report, not two rounds. Without `dp-accounting` epsilons and
    deltas are added up.

    Direction: upper; discretised pessimistically.

    Attributes:
        curve: The upper curve of one round.
        number: The number of rounds.
    """

    curve: UpperCurve
    number: int

    @property
    def most(self) -> float:
        """An epsilon at which delta is zero, whatever the shuffler does."""
        local = self.curve.epsilon_local
        return float_above(self.number * Fraction(local)) if math.isfinite(local) else math.inf

    def epsilon(self, delta: float) -> float:
        """The epsilon that is proved for all rounds together."""
        _check(self.number, delta)
        if self.number == 1:
            return min(self.most, self.curve.epsilon(delta))
        added = basic_epsilon(self.curve, rounds=self.number, delta=delta)
        if added == 0:
            return 0.0
        loss = self.loss(delta)
        return min(self.most, added, math.inf if loss is None else loss.epsilon(delta))

    def deltas(self, epsilons: Real, *, at: float, rtol: float = 1e-6) -> Real:
        """The deltas at several epsilons, from a loss that was discretised for a delta of `at`.

        They hold whatever `rtol` is; a larger one is quicker.
        """
        alone = self.curve.log_deltas(epsilons / self.number, rtol=rtol)
        found = np.minimum(1.0, self.number * exp_above(alone) * (1 + 1e-14))
        loss = self.loss(at) if self.number > 1 else None
        return found if loss is None else np.minimum(found, loss.deltas(epsilons))

    def loss(self, delta: float) -> ComposedLoss | None:
        """The law of the privacy loss; None if the curve or the installation allows none."""
        if delta not in self._losses:
            self._losses[delta] = self._composed(delta)
        return self._losses[delta]

    @cached_property
    def _losses(self) -> dict[float, ComposedLoss | None]:
        return {}

    def _composed(self, delta: float) -> ComposedLoss | None:
        tail = 1e-5 * delta / self.number
        most = min(self.curve.epsilon_local, NO_PROTECTION)
        left = float(self.curve.log_deltas(np.array([most]))[0])
        if most == 0 or left > math.log(delta / self.number):
            return None
        law = LossDistribution.dominating(
            partial(self.curve.log_deltas, rtol=_COARSE), most=most, tail=tail
        )
        try:
            return law.after(self.number)
        except MissingExtraError:
            return None


def composed_epsilon(curve: UpperCurve, *, rounds: int, delta: float) -> float:
    """An upper bound of epsilon after `rounds` rounds of one person, with fresh noise each.

    Raises:
        MissingExtraError: `dp-accounting` is not installed; `basic_epsilon` works without it.
    """
    rounds = number_of_people("rounds", rounds, least=1)
    if rounds > 1:
        _pld()
    return Rounds(curve, rounds).epsilon(delta)


def basic_epsilon(curve: UpperCurve, *, rounds: int, delta: float) -> float:
    """The same without `dp-accounting`: epsilons and deltas of the rounds added up.

    Direction: upper, and loose: it grows with the number of rounds, not with its root.
    """
    rounds = number_of_people("rounds", rounds, least=1)
    _check(rounds, delta)
    epsilon = curve.epsilon(delta / rounds)
    return float_above(rounds * Fraction(epsilon)) if math.isfinite(epsilon) else epsilon


def _pld() -> Any:
    """Import the part of `dp-accounting` that convolves, or raise the error with install advice."""
    try:
        from dp_accounting.pld import pld_pmf  # noqa: PLC0415 - an extra, slow to import
    except ImportError:
        raise MissingExtraError(
            "Composition by privacy-loss distributions",
            package="dp-accounting",
            extra="composition",
        ) from None
    return pld_pmf


def subsampled(log_deltas: LogDeltas, share: float) -> LogDeltas:
    """The curve when only a random share of fixed size takes part, unseen by the adversary.

        H(a) = g D(1 + (a - 1)/g) at a = e^epsilon >= 1, for the share g.

    Under replace-one the same pair may occur in either direction from round to round, so that the
    pair ((1-g)Q + gP, Q) alone does not dominate; `LossDistribution` continues H below a = 1 with
    the other direction, which does.

    Reference: balle2018, sampling without replacement, for one round.
    """
    if not 0 < share <= 1:
        raise ParameterError("share", must="be in (0, 1]", got=share)

    def curve(epsilons: Real) -> Real:
        return math.log(share) + log_deltas(np.log1p(np.expm1(epsilons) / share))

    return curve


def renyi(curve: Curve, order: float) -> float:
    """An upper bound of the Renyi divergence of one round, for an order above one.

        exp((order - 1) R) = 1 + integral over a > 1 of W(a) D(a) da,
        W(a) = order (order - 1) (a^(order-2) + a^(-order-1)),

    the integral representation of E f(P/Q), f(t) = t^order, by hockey-sticks, with the part below
    one turned over. D is convex, so between the points of a grid its chord is above it.

    Direction: upper. Reference: sason2016, for the representation.
    """
    if not order > 1:
        raise ParameterError("order", must="be above 1", got=order)
    if order * curve.epsilon_local > 600:
        return curve.epsilon_local  # the divergence of order infinity, above all others
    negligible = math.exp(_NEGLIGIBLE - order * curve.epsilon_local)
    last = least_epsilon(curve.log_deltas, negligible, most=curve.epsilon_local)
    epsilons = np.append(np.linspace(0.0, last, _RENYI_POINTS), curve.epsilon_local)
    ratios = np.exp(epsilons)
    deltas = np.exp(curve.log_deltas(epsilons[:-1]))
    slopes = np.append(np.diff(deltas) / np.diff(ratios[:-1]), 0.0)
    # The integrals of W(a) and of a W(a) over each interval, as sums of positive terms.
    starts, widths = epsilons[:-1], np.diff(epsilons)
    up, down = order - 1, order
    weight = order * np.exp(up * starts) * np.expm1(up * widths)
    weight -= up * np.exp(-down * starts) * np.expm1(-down * widths)
    moment = up * np.exp(down * starts) * np.expm1(down * widths)
    moment -= order * np.exp(-up * starts) * np.expm1(-up * widths)
    total = math.fsum(deltas * weight + slopes * (moment - ratios[:-1] * weight))
    return min(math.log1p(total) / up * (1 + 1e-6), curve.epsilon_local)


def _check(rounds: int, delta: float) -> None:
    if rounds < 1:
        raise ParameterError("rounds", must="be at least 1", got=rounds)
    require_delta(delta)


def _convex_minorant(x: Real, y: Real, *, at: Real) -> Real:
    """The greatest convex function below the points (x, y), evaluated elsewhere."""
    hull: list[int] = []
    for point in range(len(x)):
        while len(hull) > 1:
            first, second = hull[-2:]
            turn = (x[second] - x[first]) * (y[point] - y[first])
            if turn > (x[point] - x[first]) * (y[second] - y[first]):
                break
            hull.pop()
        hull.append(point)
    return np.interp(at, x[hull], y[hull])
