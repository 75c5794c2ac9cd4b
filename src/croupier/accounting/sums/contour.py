"""The expected positive part of a sum of any number of terms, enclosed by a contour integral."""

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.sums.coarse import merged, spread_out
from croupier.accounting.sums.terms import Bounds, Real, Rows, Terms

__all__ = ["contour_bounds"]

Complex = NDArray[np.complex128]
Mask = NDArray[np.bool_]

_ULP = 2.0**-53
_MOST_NODES = 100_000
_MOST_CELLS = 100_000
"""Nodes times classes that one evaluation may cost: some hundredths of a second."""

_AT_ONCE = 500_000
"""Points times classes that are computed at once."""

_IN_CACHE = 30_000
"""Nodes times classes that are computed at once: the arrays stay in the cache of a processor."""

_MOST_CLASSES = 600
"""Laws of more values are replaced by two of half as many at most, one on either side."""

_LONGER = 1.15
"""The ratio of the periods that are tried."""

_PERIODS_AT_ONCE = 12
_FACTORS = np.concatenate([np.arange(0.05, 1, 0.05), 1 + np.geomspace(0.05, 80, 24)])
"""Points around theta at which the moments bound the aliases, as multiples of it."""

_RIGHT = _FACTORS > 1

_FAR = 6.5
"""From this t on, in units of 1/tau, both smoothing kernels are below .1 tau^2 t^4 e^(-t^2/2)."""

_FAR_BELOW, _LEAST = -0.4, 1e-300
"""Where M - 1 is below this, M is added up by itself; and the least that it counts as."""

_DEEP = 18.0
"""A node whose moment generating function is e^-18 of the peak's counts as that small, n times."""

_MOST_STEPS = 60
"""Steps towards the saddlepoint."""

_PARTS, _SMALLEST = 4, 4
"""Parts into which a block of nodes is split, and the nodes of one that is not split."""

_MOST_TURNS, _COARSER = 8, 5.0
"""Deviations of the smoothing that are tried, and their ratio where one took too many nodes."""

_WIDE = 1.6
"""An enclosure that is more than this many times as wide as asked for is tried again."""

_MANY_CELLS, _ROUGHEST = 40_000, 0.3
"""Blocks times classes that a first sum is searched in, unless tau is that share of 1/theta."""

_UNSKIPPED = 300
"""Up to this many nodes, all are computed."""

# With r(t) = 1 - t Mills(t), which is completely monotone in t^2, the smoothed positive part
# E(s + tau Z)_+ exceeds s_+ by tau phi(t) r(t), t = |s|/tau. The tangent of r at t = 1 lies below
# it, the parabola from t = 0 that touches it at t = sqrt(3) above it (Gauss and Radau
# interpolation), so that subtracting them leaves kernels above and below s_+. Last digits rounded
# to the safe side.
_BELOW = (0.5 - 1e-12, 0.155679543)
_ABOVE = (1 + 1e-12, 0.5 - 1e-12, 0.07665895)


def contour_bounds(terms: Terms, n: int, *, rtol: float) -> Bounds:
    """Enclose log E[(G_1 + … + G_n)_+] of every row by a contour integral, where affordable.

        E[S_+] = (1/2 pi) integral M(theta + iu)^n / (theta + iu)^2 du,   M(z) = E e^(zG),

    for any theta > 0; the saddlepoint makes the integrand smallest. Steps:

    1. *Trapezoid.* With step h the sum equals sum over m of e^(theta x_m) E[(S - x_m)_+] with
       x_m = 2 pi m/h: m = 0 is the wanted term, and all others are positive.
    2. *Smoothing.* Convolving s_+ with a normal law of deviation tau cuts the integrand off at a
       few 1/tau; kernels corrected by `_BELOW` and `_ABOVE` stay above and below s_+.
    3. *Truncation* and *skipping* of nodes where |M(theta + iu)/M(theta)|^n is tiny: bounded.
    4. *Coarsening* of laws with very many values: `spread_out` from above, `merged` from below.
    5. *Rounding*: a modelled allowance, proportional to n |z| E|G| at every node. It is not
       interval arithmetic; the tests compare the bounds with sums in 200 digits.

    Direction: the upper bound adds the terms of 3 and 5, the lower one subtracts them and a bound
    of the aliases of 1.
    """
    if terms.values.shape[1] <= _MOST_CLASSES:
        return _enclosed(terms, n, rtol)
    above = _enclosed(spread_out(terms, _MOST_CLASSES // 2), n, rtol)
    below = _enclosed(merged(terms, _MOST_CLASSES // 2), n, rtol)
    above.steps["points"] = _MOST_CLASSES // 2
    return Bounds(below.lower, above.upper, above.steps)


def _enclosed(terms: Terms, n: int, rtol: float) -> Bounds:
    """Enclose the rows by steps 1 to 3: those with an atom at zero apart from the others."""
    found = Bounds.unknown(len(terms.rest))
    atoms = n * terms.log_rest > -60
    most = max(1, _AT_ONCE // (len(_FACTORS) * terms.values.shape[1]))
    for atomic in (False, True):
        rows = np.flatnonzero(atoms == atomic)
        for start in range(0, len(rows), most):
            part = rows[start : start + most]
            contours = _Contours.of(terms.take(part), n, atomic=atomic)
            found.improve(part, contours.bounds(rtol))
    return found


@dataclass(frozen=True, eq=False)
class _Contours:
    """The lines theta + iu for laws of one term, one per row, with values scaled to at most one.

    Where all n terms are zero with a probability above e^-60, that atom is taken out of the moment
    generating function: it adds nothing to the positive part, but would keep the integrand from
    decaying.

    Attributes:
        weights: As in `Terms`.
        values: As in `Terms`, divided by `scale`.
        sizes: As in `Terms`, divided by `scale`.
        rest: The probability that a term is zero.
        scale: The largest absolute value.
        log_atom: log of the probability that all terms are zero.
        theta: The real part of the line.
        n: The number of terms.
        atomic: True if the atom is taken out.
    """

    weights: Real
    values: Real
    sizes: Real
    rest: Real
    scale: Real
    log_atom: Real
    theta: Real
    n: int
    atomic: bool

    @classmethod
    def of(cls, terms: Terms, n: int, *, atomic: bool) -> "_Contours":
        """Scale the values and find the saddlepoints of K(theta) - 2 log(theta)."""
        scale = np.abs(terms.values).max(axis=1)
        start = cls(
            weights=terms.weights,
            values=terms.values / scale[:, None],
            sizes=terms.sizes / scale[:, None],
            rest=terms.rest,
            scale=scale,
            log_atom=n * terms.log_rest,
            theta=np.ones(len(scale)),
            n=n,
            atomic=atomic,
        )
        return replace(start, theta=start.saddlepoint())

    def take(self, rows: Rows) -> "_Contours":
        """Some of the rows."""
        arrays = (each.name for each in fields(self) if each.name not in ("n", "atomic"))
        return replace(self, **{name: getattr(self, name)[rows] for name in arrays})

    @cached_property
    def classes(self) -> int:
        """The number of values of one term, zero aside."""
        return int(self.values.shape[1])

    @cached_property
    def cap(self) -> Real:
        """The thetas beyond which the exponentials overflow."""
        return np.asarray(300.0 / self.values.max(axis=1))

    def slope(self, theta: Real) -> Real:
        """The derivative of K."""
        powers = theta[:, None] * self.values
        tilted = self.weights * np.exp(powers)
        slope = self.n * (tilted * self.values).sum(axis=1)
        if not self.atomic:
            moment = 1 + (self.weights * np.expm1(powers)).sum(axis=1)
            return np.asarray(slope / np.maximum(moment, _ULP))
        ratio = tilted.sum(axis=1) / self.rest
        return np.asarray(slope / self.rest / (1 + ratio) / -np.expm1(-self.n * np.log1p(ratio)))

    def log_moments(self, thetas: Real) -> Real:
        """K(theta) = log of (M^n less the atom), at several points per row."""
        powers = thetas[:, :, None] * self.values[:, None, :]
        if not self.atomic:
            total = np.einsum("ijk,ik->ij", np.expm1(powers), self.weights)
            far = total < _FAR_BELOW
            if far.any():
                # 1 + (M - 1) would cancel: add the masses themselves.
                moment = np.einsum("ijk,ik->ij", np.exp(powers), self.weights) + self.rest[:, None]
                near = np.log1p(np.where(far, 0.0, total))
                return self.n * np.where(far, np.log(np.maximum(moment, _LEAST)), near)
            return np.asarray(self.n * np.log1p(total))
        total = np.einsum("ijk,ik->ij", np.exp(powers), self.weights)
        growth = self.n * np.log1p(total / self.rest[:, None])
        return np.asarray(self.log_atom[:, None] + growth + np.log(-np.expm1(-growth)))

    def saddlepoint(self) -> Real:
        """Thetas close to where K'(theta) = 2/theta; any positive ones would be valid.

        Newton's method for the logarithm of theta, from the theta of a normal law.
        """
        mean = self.n * (self.weights * self.values).sum(axis=1)
        square = self.n * (self.weights * self.values**2).sum(axis=1)
        theta = (np.sqrt(mean**2 + 8 * square) - mean) / (2 * square)
        for _ in range(_MOST_STEPS):
            theta = np.minimum(theta, self.cap)
            near = theta * (1 + 1e-4)
            here, there = self.slope(theta) * theta - 2, self.slope(near) * near - 2
            with np.errstate(divide="ignore", invalid="ignore"):
                step = -1e-4 * here / (there - here)
            step = np.where(there > here, np.clip(step, -1, 1), np.where(here < 0, 1, -1))
            theta = theta * np.exp(step)
            if ((np.abs(step) < 1e-3) | (theta > self.cap)).all():
                break
        return np.asarray(np.minimum(theta, self.cap))

    @cached_property
    def log_peak(self) -> Real:
        """K(theta): every node is computed relative to it."""
        return self.log_moments(self.theta[:, None])[:, 0]

    @cached_property
    def width(self) -> Real:
        """The standard deviation, under the tilted law, that sets the scale of x."""
        step = 1e-3 * self.theta
        rise = self.slope(self.theta + step) - self.slope(self.theta - step)
        return np.asarray(np.sqrt(np.maximum(rise / (2 * step), 0.0) + 2 / self.theta**2))

    @cached_property
    def log_guess(self) -> Real:
        """The saddlepoint approximation of log E[S_+]; it only steers the choice of parameters."""
        density = np.log(self.theta**2 * np.sqrt(2 * math.pi * self.width**2))
        return np.asarray(self.log_peak - density)

    @cached_property
    def _alias_moments(self) -> tuple[Real, Real]:
        """Points t' around theta, and K(t') - 1 - log t'; infinite beyond the cap."""
        points = np.multiply.outer(self.theta, _FACTORS)
        inside = points <= self.cap[:, None]
        kept = np.where(inside, points, self.theta[:, None])
        step = max(1, _IN_CACHE // (len(points) * self.classes))
        parts = [self.log_moments(kept[:, at : at + step]) for at in range(0, kept.shape[1], step)]
        cumulants = np.concatenate(parts, axis=1) - 1 - np.log(points)
        return points, np.where(inside, cumulants, math.inf)

    def log_alias(self, periods: Real, log_upper: Real) -> Real:
        """Log of an upper bound of all aliases at each distance of `periods` and its multiples.

        (s)_+ <= e^(ts)/(e t) for every t > 0: to the right take t > theta, to the left t < theta,
        and sum the geometric series. To the left also (s + x)_+ <= s_+ + x.
        """
        points, cumulants = self._alias_moments
        distance = np.abs(points - self.theta[:, None])
        decay = periods[:, :, None] * distance[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = cumulants[:, None, :] - decay - np.log(-np.expm1(-decay))
            log_right = bounds[:, :, _RIGHT].min(axis=2)
            top = self.n * self.values.max(axis=1)
            log_right[periods >= top[:, None]] = -math.inf
            log_left = bounds[:, :, ~_RIGHT].min(axis=2)
            fall = self.theta[:, None] * periods
            gap = np.log(-np.expm1(-fall))
            simple = np.logaddexp(np.log(periods) - fall - 2 * gap, log_upper[:, None] - fall - gap)
            found: Real = np.logaddexp(np.minimum(log_left, simple), log_right)
        return found

    def periods(self, rtol: float) -> Real:
        """Distances at which the aliases are below rtol/50 of the guess."""
        found = 4 * self.width
        target = self.log_guess + math.log(rtol / 50)
        rows, powers = np.arange(len(found)), _LONGER ** np.arange(_PERIODS_AT_ONCE)
        part = self
        while len(rows):
            tried = np.multiply.outer(found[rows], powers)
            above = part.log_alias(tried, part.log_guess + 0.7) > target[rows, None]
            ended = ~above.all(axis=1)
            chosen = tried[np.arange(len(rows)), above.argmin(axis=1)]
            found[rows] = np.where(ended, chosen, tried[:, -1] * _LONGER)
            if ended.any():
                part, rows = part.take(np.flatnonzero(~ended)), rows[~ended]
        return found

    def bounds(self, rtol: float) -> Bounds:
        """Enclose every row: smooth less and less until both ends are close, or no node more pays.

        Many nodes are not needed at once where sums are so granular that hardly any is near zero.
        """
        best = Bounds.unknown(len(self.theta))
        period = self.periods(rtol)
        tau = 2 * math.sqrt(rtol) / self.theta
        spread = self.width / math.sqrt(self.n)
        many = 2 * _FAR * spread * self.classes / _MANY_CELLS
        tau = np.maximum(tau, np.minimum(many, _ROUGHEST / self.theta))
        rows, part, coarser = np.arange(len(tau)), self, np.zeros(len(tau), dtype=bool)
        for _ in range(_MOST_TURNS):
            found, smooth, affordable = part.evaluate(tau[rows], period[rows], rtol)
            best.improve(rows, found)
            coarser[rows] |= ~affordable
            with np.errstate(invalid="ignore"):
                width = -np.expm1(best.lower[rows] - best.upper[rows])
            sharper = affordable & ~coarser[rows] & smooth & (width > _WIDE * rtol)
            rougher = ~(affordable | np.isfinite(best.upper[rows]))
            again = sharper | (rougher & (tau[rows] * part.theta < _ROUGHEST))
            if not again.any():
                break
            finer = np.clip(np.sqrt(np.maximum(width, rtol) / rtol), 1.5, 8.0)
            tau[rows] = np.where(affordable, tau[rows] / finer, tau[rows] * _COARSER)
            rows, part = rows[again], part.take(np.flatnonzero(again))
        scale = np.log(self.scale)
        return Bounds(best.lower + scale, best.upper + scale, best.steps)

    def evaluate(self, tau: Real, period: Real, rtol: float) -> tuple[Bounds, Mask, Mask]:
        """Compute both bounds with smoothing `tau`.

        Mark the rows of which smoothing decides the width, and those with few enough nodes.
        """
        found = Bounds.unknown(len(tau))
        step = 2 * math.pi / period
        theta, peak = self.theta, self.log_peak
        smooth = 0.5 * (tau * theta) ** 2
        reach = peak - self.log_guess + np.log(tau) + math.log(50 / rtol) + 6
        far = np.maximum(_FAR, np.sqrt(2 * np.maximum(0.0, reach)))
        last = np.floor(far / tau / step) + 2
        truncation = np.log(0.1 * tau / math.pi * (far**3 + 3 * far + 3 / far)) - far**2 / 2
        rows, nodes, log_skipped, affordable = self._nodes(step, last, rtol)
        upper, lower, rounding = self._sums(rows, nodes, step, tau)
        level = 1 / np.tanh(math.pi * theta / step) / (2 * theta) + tau
        skipping = np.exp(log_skipped + smooth) * level
        unit = step / (2 * math.pi)
        loss = np.exp(truncation + smooth + 1e-6) + skipping + unit * rounding
        high = unit * upper + loss
        with np.errstate(divide="ignore", invalid="ignore"):
            alias = self.log_alias(period[:, None], peak + np.log(high))[:, 0]
            low = unit * lower - loss - np.exp(alias - peak + 1e-6)
            known = affordable & (high > 0)
            found.upper[known] = (peak + np.log(high))[known]
            proved = known & (low > 0)
            found.lower[proved] = (peak + np.log(low))[proved]
        found.steps["method"], found.steps["theta"] = "contour", theta
        found.steps["period"], found.steps["tau"] = period, tau
        found.steps["last"], found.steps["nodes"] = last, np.bincount(rows, minlength=len(tau))
        return found, unit * (upper - lower) > 0.5 * (high - low), known

    def _nodes(self, step: Real, last: Real, rtol: float) -> tuple[Rows, Real, Real, Mask]:
        """The nodes worth computing, as rows and numbers, and log of the level of those left out.

        With psi(u) = E e^(iu(G - mean)) under the tilted law, |M(theta + iu)/M(theta)| = |psi(u)|,
        and around the centre c of a block |psi(c + d)| <= |psi(c)| + |d psi'(c)| + d^2 Var(G)/2. A
        block in which that stays below the level when raised to the n is left out.
        """
        log_skipped = np.full(len(last), -math.inf)
        whole = (last < _UNSKIPPED) | self.atomic
        affordable = last <= np.where(whole, _MOST_NODES, 100.0 * _MOST_NODES)
        affordable &= ~whole | (last * self.classes <= _MOST_CELLS)
        all_rows, all_nodes = _ranges(np.flatnonzero(whole & affordable), last)
        search = np.flatnonzero(~whole & affordable)
        if not len(search):
            return all_rows, all_nodes, log_skipped, affordable
        part = self.take(search)
        level = part.log_guess - part.log_peak + math.log(rtol / 50) + np.log(2 * part.theta) - 1
        rows, nodes, few = part._searched(step[search], last[search], level)  # noqa: SLF001 - own
        log_skipped[search] = level
        affordable[search] = few
        order = np.argsort(np.concatenate([all_rows, search[rows]]), kind="stable")
        rows = np.concatenate([all_rows, search[rows]])[order]
        return rows, np.concatenate([all_nodes, nodes])[order], log_skipped, affordable

    def _searched(self, step: Real, last: Real, level: Real) -> tuple[Rows, Real, Mask]:
        """The nodes that are not in blocks that can be left out, and the rows with few of them."""
        tilted = self.weights * np.exp(self.theta[:, None] * self.values)
        total = tilted.sum(axis=1) + self.rest
        tilted, still = tilted / total[:, None], self.rest / total
        mean = (tilted * self.values).sum(axis=1)
        centered = tilted * (self.values - mean[:, None])
        variance = (centered * (self.values - mean[:, None])).sum(axis=1) + still * mean**2
        turn = np.sqrt(variance) * step
        longest = np.maximum(1.0, 0.5 / np.maximum(turn, 0.5 / last))
        size = _SMALLEST ** np.floor(np.log2(longest) / 2)
        few = np.ones(len(step), dtype=bool)
        rows, blocks = _ranges(np.arange(len(step)), np.floor(last / size))
        blocks *= size[rows]
        done: list[tuple[Rows, Real]] = []
        while len(rows):
            few &= np.bincount(rows, minlength=len(step)) * self.classes <= _MOST_CELLS
            rows, blocks = rows[few[rows]], blocks[few[rows]]
            half = 0.5 * (size - 1)
            bound = np.empty(len(rows))
            for cut in _pieces(len(rows), self.classes):
                row = rows[cut]
                angles = (step[row] * (blocks[cut] + half[row]))[:, None] * self.values[row]
                turns = _turns(angles)
                height = np.abs(1 + _average(tilted[row], *turns))
                slope = np.abs(_average(centered[row], *turns))
                distance = (step * half)[row]
                bound[cut] = height + distance * slope + 0.5 * distance**2 * variance[row] + 1e-14
            kept = self.n * np.log(np.minimum(bound, 1.0)) > level[rows]
            rows, blocks = rows[kept], blocks[kept]
            ended = size[rows] <= _SMALLEST
            done += [(rows[ended], blocks[ended])]
            rows, blocks = rows[~ended], blocks[~ended]
            size = np.where(size > _SMALLEST, size / _PARTS, size)
            blocks = (blocks[:, None] + np.multiply.outer(size[rows], np.arange(_PARTS))).ravel()
            rows = np.repeat(rows, _PARTS)
        rows = np.concatenate([each for each, _ in done])
        blocks = np.concatenate([each for _, each in done])
        order = np.lexsort((blocks, rows))
        rows, blocks = rows[order], blocks[order]
        found = np.repeat(rows, size[rows].astype(np.int64))
        within = np.arange(len(found)) - np.repeat(
            np.cumsum(size[rows]) - size[rows], size[rows].astype(np.int64)
        )
        nodes = np.repeat(blocks, size[rows].astype(np.int64)) + within
        count = np.bincount(found, minlength=len(step))
        few &= (count <= _MOST_NODES) & (count * self.classes <= _MOST_CELLS)
        kept = (nodes <= last[found]) & few[found]
        return found[kept], nodes[kept], few

    def _sums(self, rows: Rows, nodes: Real, step: Real, tau: Real) -> tuple[Real, Real, Real]:
        """Sums of the upper kernel, the lower kernel and the rounding allowance over the nodes."""
        sums = np.zeros((3, len(step)))
        for cut in _pieces(len(rows), self.classes):
            row, node = rows[cut], nodes[cut]
            z = self.theta[row] + 1j * (step[row] * node)
            power, error = self._power(row, z)
            both = np.where(node == 0, 1.0, 2.0)
            square = tau[row] ** 2
            y = square * z**2
            gauss = np.exp(0.5 * y.real) * (1 + _turn(0.5 * y.imag))
            inverse = (1 / z) ** 2
            below = _BELOW[0] - _BELOW[1] * (1 + y)
            above = _ABOVE[0] - _ABOVE[1] * (1 + y) + _ABOVE[2] * (3 + 6 * y + y**2)
            weighted = both * power * gauss
            size = np.abs(inverse) + square * (1 + np.abs(y) + 0.1 * np.abs(y) ** 2)
            starts = np.flatnonzero(np.diff(row, prepend=-1))
            each = np.array(
                [
                    (weighted * (inverse - square * below)).real,
                    (weighted * (inverse - square * above)).real,
                    both * error * np.abs(gauss) * size,
                ]
            )
            sums[:, row[starts]] += np.add.reduceat(each, starts, axis=1)
        upper, lower, rounding = sums
        return upper, lower, rounding

    @cached_property
    def _tilted(self) -> Real:
        return np.asarray(self.weights * np.exp(self.theta[:, None] * self.values))

    @cached_property
    def _noise(self) -> Real:
        """The rounding error of K per |z|, in units of the last place."""
        spread = self.sizes * np.exp(np.maximum(self.theta[:, None] * self.values, 0))
        return np.asarray(2 * (self.classes + 16) * self.n * spread.sum(axis=1))

    def _power(self, row: Rows, z: Complex) -> tuple[Complex, Real]:
        """e^(K(z) - K(theta)) at nodes of some rows, and a bound of its rounding error.

        On the line every e^(zG) is the real e^(theta G) rotated by uG, so that M(z) - M(theta) is
        the average of e^(iuG) - 1, which does not cancel.
        """
        n, peak, tilted = self.n, self.log_peak[row], self._tilted
        turned = _average(tilted[row], *_turns(z.imag[:, None] * self.values[row]))
        noise = self._noise[row] * np.abs(z)
        if self.atomic:
            rest, atom = self.rest[row], self.log_atom[row]
            real, angle = _log1p((tilted.sum(axis=1)[row] + turned) / rest)
            real = np.maximum(real, (peak - atom) / n - _DEEP)
            base = np.exp(atom - peak)
            turn = _turn(n * angle)
            power = (np.expm1(n * real) * (1 + turn) + turn) * base
            noise = (noise + 2 * (self.classes + 16) * n * (1 - rest)) / rest
            size = np.abs(power) + base
        else:
            excess = (self.weights * np.expm1(self.theta[:, None] * self.values)).sum(axis=1)
            real, angle = _log1p(excess[row] + turned)
            far = peak / n < math.log1p(_FAR_BELOW)
            if far.any():
                # Far in the tail 1 + (M - 1) would cancel: add the masses themselves.
                moment = (tilted.sum(axis=1) + self.rest)[row] + turned
                log_moment = np.log(np.maximum(np.abs(moment), _LEAST))
                real, angle = (
                    np.where(far, log_moment, real),
                    np.where(far, np.angle(moment), angle),
                )
                noise = noise + far * (2 * (self.classes + 16) * n * np.exp(peak / n))
            real = np.maximum(real, peak / n - _DEEP)
            # No node is above the peak: what seems so is made of rounding, and proves nothing.
            growth = n * real - peak
            power = np.exp(np.minimum(growth, 1.0)) * (1 + _turn(n * angle))
            size = np.where(growth > 1, math.inf, np.abs(power))
        weak = np.exp(np.minimum(np.maximum(-real, -2 * real), 700))
        return power, _ULP * size * (96 + noise * weak) + math.exp(-_DEEP * n)


def _turns(angles: Real) -> tuple[Real, Real]:
    """cos(a) - 1 and sin(a), without cancellation.

    With t = tan(a/2) they are -2 t^2/(1 + t^2) and 2t/(1 + t^2). A tangent is much quicker than a
    sine and a cosine where numpy has vector instructions for it; its error of up to four units in
    the last place is part of the rounding allowance.
    """
    tangent = np.tan(0.5 * angles)
    square = tangent**2
    share = 2 / (1 + square)
    return -square * share, tangent * share


def _turn(angles: Real) -> Complex:
    """e^(ia) - 1."""
    real, imaginary = _turns(angles)
    return real + 1j * imaginary


def _average(weights: Real, real: Real, imaginary: Real) -> Complex:
    """The weighted sums of every row."""
    return np.asarray(
        np.einsum("ij,ij->i", weights, real) + 1j * np.einsum("ij,ij->i", weights, imaginary)
    )


def _log1p(x: Complex) -> tuple[Real, Real]:
    """Log |1 + x| and its angle, accurate for small x, which numpy's complex log1p is not."""
    square = 2 * x.real + (x.real**2 + x.imag**2)
    return 0.5 * np.log1p(np.maximum(square, -1 + 1e-16)), np.arctan2(x.imag, 1 + x.real)


def _ranges(rows: Rows, last: Real) -> tuple[Rows, Real]:
    """The numbers 0, …, last of some rows, one after the other."""
    counts = last[rows].astype(np.int64) + 1
    found = np.repeat(rows, counts)
    return found, np.arange(len(found)) - np.repeat(np.cumsum(counts) - counts, counts).astype(
        float
    )


def _pieces(rows: int, classes: int) -> list[slice]:
    """Parts of rows that are computed at once."""
    step = max(1, _IN_CACHE // classes)
    return [slice(start, start + step) for start in range(0, rows, step)]
