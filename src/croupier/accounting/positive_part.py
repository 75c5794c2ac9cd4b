"""The expected positive part of a sum of independent terms, enclosed at any number of terms."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CANCELLATION", "LogBounds", "Real", "Terms", "contour_bounds"]

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]

CANCELLATION = 8e-16
"""Relative error of a difference of two probabilities over a weight, against their sum over it."""

_ULP = 2.0**-53
_MOST_NODES = 400_000
_MOST_CELLS = 24_000_000
"""Nodes times classes that one evaluation may cost."""

_ALIAS_CELLS = 1_000_000
"""Points times classes whose moments are computed at once."""

_LONGER = 1.15
"""The ratio of the periods that are tried."""

_PERIODS_AT_ONCE = 12

_FAR = 6.5
"""From this t on, in units of 1/tau, both smoothing kernels are below .1 tau^2 t^4 e^(-t^2/2)."""

_DEEP = 18.0
"""A node whose moment generating function is e^-18 of the peak's counts as that small, n times."""

# With r(t) = 1 - t Mills(t), which is completely monotone in t^2, the smoothed positive part
# E(s + tau Z)_+ exceeds s_+ by tau phi(t) r(t), t = |s|/tau. The tangent of r at t = 1 lies below
# it, the parabola from t = 0 that touches it at t = sqrt(3) above it (Gauss and Radau
# interpolation), so that subtracting them leaves kernels above and below s_+. Last digits rounded
# to the safe side.
_BELOW = (0.5 - 1e-12, 0.155679543)
_ABOVE = (1 + 1e-12, 0.5 - 1e-12, 0.07665895)


class LogBounds(NamedTuple):
    """Natural logarithms of a lower and of an upper bound."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Terms:
    """The law of one term: `values[j]` with probability `weights[j]`, zero otherwise.

    Attributes:
        weights: Positive, summing to at most one.
        values: At least one of them positive.
        sizes: weights * |values| as sums of absolute values, with which rounding errors scale.
        rest: The probability of zero, to full relative precision. It is given because 1 less the
            sum of weights that are rounded may be off by more than itself.
    """

    weights: Real
    values: Real
    sizes: Real
    rest: float

    @cached_property
    def log_rest(self) -> float:
        """Its logarithm, accurate at both ends."""
        if self.rest == 0:
            return -math.inf
        return math.log(self.rest) if self.rest < 0.5 else math.log1p(-math.fsum(self.weights))


def contour_bounds(terms: Terms, n: int, *, rtol: float = 1e-6) -> LogBounds | None:
    """Enclose log E[(G_1 + … + G_n)_+] by a contour integral; None if that costs too much.

        E[S_+] = (1/2 pi) integral M(theta + iu)^n / (theta + iu)^2 du,   M(z) = E e^(zG),

    for any theta > 0; the saddlepoint makes the integrand smallest. Steps:

    1. *Trapezoid.* With step h the sum equals sum over m of e^(theta x_m) E[(S - x_m)_+] with
       x_m = 2 pi m/h: m = 0 is the wanted term, and all others are positive.
    2. *Smoothing.* Convolving s_+ with a normal law of deviation tau cuts the integrand off at a
       few 1/tau; kernels corrected by `_BELOW` and `_ABOVE` stay above and below s_+.
    3. *Truncation* and *skipping* of nodes where |M(theta + iu)/M(theta)|^n is tiny: bounded.
    4. *Rounding*: a modelled allowance, proportional to n |z| E|G| at every node. It is not
       interval arithmetic; the tests compare the bounds with sums in 200 digits.

    Direction: the upper bound adds the terms of 3 and 4, the lower one subtracts them and a bound
    of the aliases of 1.
    """
    contour = _Contour.of(terms, n)
    period = contour.period(rtol)
    tau = 2 * math.sqrt(rtol) / contour.theta
    best: LogBounds | None = None
    for _ in range(8):
        found = contour.evaluate(tau, period=period, rtol=rtol)
        if found is None:
            break
        best = found if best is None else _intersection(best, found)
        width = -math.expm1(best.lower - best.upper)
        if width <= 1.6 * rtol:
            break
        tau /= max(1.5, min(8.0, math.sqrt(width / rtol)))
    if best is None:
        return None
    scale = math.log(contour.scale)
    return LogBounds(best.lower + scale, best.upper + scale)


def _intersection(first: LogBounds, second: LogBounds) -> LogBounds:
    return LogBounds(max(first.lower, second.lower), min(first.upper, second.upper))


@dataclass(frozen=True)
class _Contour:
    """The line theta + iu for the law of one term, with values scaled to at most one.

    Where all n terms are zero with a probability above e^-60, that atom is taken out of the moment
    generating function: it adds nothing to the positive part, but would keep the integrand from
    decaying.

    Attributes:
        weights: As in `Terms`.
        values: As in `Terms`, divided by `scale`.
        sizes: As in `Terms`, divided by `scale`.
        rest: The probability that a term is zero.
        n: The number of terms.
        scale: The largest absolute value.
        log_atom: log of the probability that all terms are zero, if it is taken out; else -inf.
        theta: The real part of the line.
    """

    weights: Real
    values: Real
    sizes: Real
    rest: float
    n: int
    scale: float
    log_atom: float
    theta: float

    @classmethod
    def of(cls, terms: Terms, n: int) -> "_Contour":
        """Scale the values and find the saddlepoint of K(theta) - 2 log(theta)."""
        scale = float(np.abs(terms.values).max())
        log_atom = n * terms.log_rest
        start = cls(
            weights=terms.weights,
            values=terms.values / scale,
            sizes=terms.sizes / scale,
            rest=terms.rest,
            n=n,
            scale=scale,
            log_atom=log_atom if log_atom > -60 else -math.inf,
            theta=1.0,
        )
        return replace(start, theta=start.saddlepoint())

    @cached_property
    def cap(self) -> float:
        """The theta beyond which the exponentials overflow."""
        return 300.0 / float(self.values.max())

    def slope(self, theta: float) -> float:
        """The derivative of K."""
        tilted = self.weights * np.exp(theta * self.values)
        slope = self.n * float(tilted @ self.values)
        if self.log_atom == -math.inf:
            return slope / (1 + float(self.weights @ np.expm1(theta * self.values)))
        ratio = float(tilted.sum()) / self.rest
        return slope / self.rest / (1 + ratio) / -math.expm1(-self.n * math.log1p(ratio))

    def log_moments(self, thetas: Real) -> Real:
        """K(theta) = log of (M^n less the atom), at several points."""
        powers = np.multiply.outer(thetas, self.values)
        if self.log_atom == -math.inf:
            return np.asarray(self.n * np.log1p(np.expm1(powers) @ self.weights))
        growth = self.n * np.log1p(np.exp(powers) @ self.weights / self.rest)
        return np.asarray(self.log_atom + growth + np.log(-np.expm1(-growth)))

    def saddlepoint(self) -> float:
        """A theta close to where K'(theta) = 2/theta; any positive one would be valid."""
        low = 1e-3 / math.sqrt(self.n * float(self.weights @ self.values**2))
        low = min(low, self.cap / 2)
        while self.slope(low) * low > 2:
            low /= 2
        high = low
        while self.slope(high) * high < 2:
            if high >= self.cap:
                return self.cap
            high = min(2 * high, self.cap)
        while high / low > 1 + 1e-4:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.slope(middle) * middle < 2 else (low, middle)
        return math.sqrt(low * high)

    @cached_property
    def log_peak(self) -> float:
        """K(theta): every node is computed relative to it."""
        return float(self.log_moments(np.array([self.theta]))[0])

    @cached_property
    def width(self) -> float:
        """The standard deviation, under the tilted law, that sets the scale of x."""
        step = 1e-3 * self.theta
        rise = self.slope(self.theta + step) - self.slope(self.theta - step)
        return math.sqrt(max(rise / (2 * step), 0.0) + 2 / self.theta**2)

    @cached_property
    def log_guess(self) -> float:
        """The saddlepoint approximation of log E[S_+]; it only steers the choice of parameters."""
        return (
            self.log_peak - 2 * math.log(self.theta) - 0.5 * math.log(2 * math.pi * self.width**2)
        )

    @cached_property
    def _alias_points(self) -> tuple[Real, Real]:
        """Points t' around theta with K(t'), for the exponential bounds of the aliases."""
        factors = np.concatenate([np.arange(0.05, 1, 0.05), 1 + np.geomspace(0.05, 80, 24)])
        points = self.theta * factors
        points = points[points <= self.cap]
        rows = max(1, _ALIAS_CELLS // len(self.values))
        parts = [self.log_moments(points[at : at + rows]) for at in range(0, len(points), rows)]
        return points, np.concatenate(parts)

    def log_alias(self, periods: Real, log_upper: float) -> Real:
        """Log of an upper bound of all aliases at each distance of `periods` and its multiples.

        (s)_+ <= e^(ts)/(e t) for every t > 0: to the right take t > theta, to the left t < theta,
        and sum the geometric series. To the left also (s + x)_+ <= s_+ + x.
        """
        points, cumulants = self._alias_points
        decay = np.multiply.outer(periods, np.abs(points - self.theta))
        with np.errstate(divide="ignore"):
            series = -decay - np.log(-np.expm1(-decay))
            bounds = cumulants - 1 - np.log(points) + series
            log_right = bounds[:, points > self.theta].min(axis=1, initial=math.inf)
            log_right[periods >= self.n * float(self.values.max())] = -math.inf
            log_left = bounds[:, points < self.theta].min(axis=1, initial=math.inf)
            fall = self.theta * periods
            gap = np.log(-np.expm1(-fall))
            simple = np.logaddexp(np.log(periods) - fall - 2 * gap, log_upper - fall - gap)
            found: Real = np.logaddexp(np.minimum(log_left, simple), log_right)
        return found

    def period(self, rtol: float) -> float:
        """A distance at which the aliases are below rtol/50 of the guess."""
        periods = 4 * self.width * _LONGER ** np.arange(_PERIODS_AT_ONCE, dtype=np.float64)
        target = self.log_guess + math.log(rtol / 50)
        while (above := self.log_alias(periods, self.log_guess + 0.7) > target).all():
            periods *= _LONGER**_PERIODS_AT_ONCE
        return float(periods[above.argmin()])

    def evaluate(self, tau: float, *, period: float, rtol: float) -> LogBounds | None:
        """Compute both bounds with smoothing `tau`; None if they would take too many nodes."""
        step = 2 * math.pi / period
        theta, peak = self.theta, self.log_peak
        smooth = 0.5 * (tau * theta) ** 2
        reach = peak - self.log_guess + math.log(tau) + math.log(50 / rtol) + 6
        far = max(_FAR, math.sqrt(2 * max(0.0, reach)))
        last = int(far / tau / step) + 2
        truncation = math.log(0.1 * tau / math.pi * (far**3 + 3 * far + 3 / far)) - far**2 / 2
        nodes, log_skipped = self._nodes(step, last, rtol)
        if nodes is None:
            return None
        upper, lower, rounding = self._sums(nodes, step, tau)
        skipping = 0.0
        if log_skipped > -math.inf:
            level = 1 / math.tanh(math.pi * theta / step) / (2 * theta) + tau
            skipping = math.exp(log_skipped + smooth) * level
        unit = step / (2 * math.pi)
        loss = math.exp(truncation + smooth + 1e-6) + skipping + unit * rounding
        high = unit * upper + loss
        if not high > 0:
            return None
        low = unit * lower - loss
        [alias] = self.log_alias(np.array([period]), peak + math.log(high))
        low -= math.exp(alias - peak + 1e-6)
        return LogBounds(peak + math.log(low) if low > 0 else -math.inf, peak + math.log(high))

    def _nodes(self, step: float, last: int, rtol: float) -> tuple[Real | None, float]:
        """The numbers of the nodes worth computing, and log of the level of those left out.

        With psi(u) = E e^(iu(G - mean)) under the tilted law, |M(theta + iu)/M(theta)| = |psi(u)|,
        and around the centre c of a block |psi(c + d)| <= |psi(c)| + |d psi'(c)| + d^2 Var(G)/2. A
        block in which that stays below the level when raised to the n is left out.
        """
        classes = len(self.values)
        if self.log_atom > -math.inf or last < 300:
            affordable = last <= _MOST_NODES and last * classes <= _MOST_CELLS
            return (np.arange(last + 1.0) if affordable else None), -math.inf
        if last > 100 * _MOST_NODES:
            return None, -math.inf
        level = self.log_guess - self.log_peak + math.log(rtol / 50) + math.log(2 * self.theta) - 1
        tilted = self.weights * np.exp(self.theta * self.values)
        total = float(tilted.sum()) + self.rest
        tilted, still = tilted / total, self.rest / total
        mean = float(tilted @ self.values)
        centered = tilted * (self.values - mean)
        variance = float(centered @ (self.values - mean)) + still * mean**2
        turn = math.sqrt(variance) * step
        size = 1 << int(math.log2(max(1.0, 0.5 / max(turn, 0.5 / last))))
        blocks = np.arange(0.0, last + 1.0, size)
        while True:
            if len(blocks) * classes > _MOST_CELLS:
                return None, -math.inf
            half = 0.5 * (size - 1)
            waves = np.exp(1j * np.multiply.outer(step * (blocks + half), self.values))
            height = np.abs(np.einsum("ij,j->i", waves, tilted) + still)
            slope = np.abs(np.einsum("ij,j->i", waves, centered) - still * mean)
            bound = height + step * half * slope + 0.5 * (step * half) ** 2 * variance + 1e-14
            blocks = blocks[self.n * np.log(np.minimum(bound, 1.0)) > level]
            if size <= 4 or not len(blocks):
                break
            size //= 2
            blocks = np.concatenate([blocks, blocks + size])
        nodes = (blocks[:, None] + np.arange(size)).ravel()
        nodes = np.unique(nodes[nodes <= last])
        if len(nodes) > _MOST_NODES or len(nodes) * classes > _MOST_CELLS:
            return None, -math.inf
        return nodes, level

    def _sums(self, nodes: Real, step: float, tau: float) -> tuple[float, float, float]:
        """Sums of the upper kernel, the lower kernel and the rounding allowance over the nodes."""
        upper = lower = rounding = 0.0
        chunk = max(1, 1_000_000 // len(self.values))
        for start in range(0, len(nodes), chunk):
            part = nodes[start : start + chunk]
            z = np.full(len(part), self.theta, dtype=np.complex128)
            z.imag = step * part
            power, error = self._power(z)
            both = np.where(part == 0, 1.0, 2.0)
            y = (tau * z) ** 2
            gauss, inverse, square = np.exp(0.5 * y), 1 / z**2, tau**2
            below = _BELOW[0] - _BELOW[1] * (1 + y)
            above = _ABOVE[0] - _ABOVE[1] * (1 + y) + _ABOVE[2] * (3 + 6 * y + y**2)
            weighted = both * power * gauss
            upper += float(np.sum((weighted * (inverse - square * below)).real))
            lower += float(np.sum((weighted * (inverse - square * above)).real))
            size = np.abs(inverse) + square * (1 + np.abs(y) + 0.1 * np.abs(y) ** 2)
            rounding += float(np.sum(both * error * np.abs(gauss) * size))
        return upper, lower, rounding

    def _power(self, z: Complex) -> tuple[Complex, Real]:
        """e^(K(z) - K(theta)) at the nodes, and a bound of its rounding error.

        On the line every e^(zG) is the real e^(theta G) rotated by uG. Half angles give
        M(z) - M(theta) without cancellation: -2 sin^2(uG/2) + 2i sin(uG/2) cos(uG/2), averaged.
        """
        n, peak, classes = self.n, self.log_peak, len(self.values)
        tilted = self.weights * np.exp(self.theta * self.values)
        angles = np.multiply.outer(0.5 * z.imag, self.values)
        sines = np.sin(angles)
        turned = np.empty(len(z), dtype=np.complex128)
        turned.real = -2 * np.einsum("ij,j->i", sines**2, tilted)
        turned.imag = 2 * np.einsum("ij,j->i", sines * np.cos(angles), tilted)
        spread = float(self.sizes @ np.exp(np.maximum(self.theta * self.values, 0)))
        noise = 2 * (classes + 16) * n * np.abs(z) * spread
        if self.log_atom > -math.inf:
            real, angle = _log1p((float(tilted.sum()) + turned) / self.rest)
            real = np.maximum(real, (peak - self.log_atom) / n - _DEEP)
            base = math.exp(self.log_atom - peak)
            power = np.expm1(n * (real + 1j * angle)) * base
            noise = (noise + 2 * (classes + 16) * n * (1 - self.rest)) / self.rest
            size = np.abs(power) + base
        else:
            if peak / n < -0.5:
                # Far in the tail 1 + (M - 1) would cancel: add the masses themselves.
                moment = float(tilted.sum()) + self.rest + turned
                real, angle = np.log(np.maximum(np.abs(moment), 1e-300)), np.angle(moment)
                noise = noise + 2 * (classes + 16) * n * math.exp(peak / n)
            else:
                excess = float(self.weights @ np.expm1(self.theta * self.values))
                real, angle = _log1p(excess + turned)
            real = np.maximum(real, peak / n - _DEEP)
            power = np.exp(n * real - peak) * np.exp(1j * n * angle)
            size = np.abs(power)
        weak = np.maximum(np.exp(-real), np.exp(-2 * real))
        return power, _ULP * size * (96 + noise * weak) + math.exp(-_DEEP * n)


def _log1p(x: Complex) -> tuple[Real, Real]:
    """Log |1 + x| and its angle, accurate for small x, which numpy's complex log1p is not."""
    square = 2 * x.real + (x.real**2 + x.imag**2)
    return 0.5 * np.log1p(np.maximum(square, -1 + 1e-16)), np.arctan2(x.imag, 1 + x.real)
