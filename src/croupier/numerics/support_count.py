"""The number of reports that support a value: tails of its law, inverted for intervals."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import special

from croupier.numerics.binomial import binomial_pmf

__all__ = ["SupportCount"]

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_REACH = 9.0
"""Standard deviations on either side of a window, with `_MARGIN` more."""

_MARGIN = 24.0
"""By Bernstein's inequality a count 9 sigma + 24 off the mean has a chance below 1e-14."""

_FADED = 17.0
"""Nodes with sigma^2 sin^2(t/2) above this are left out: there |phi(t)| is below 2e-15."""

_CELLS = 1 << 20
"""The number of nodes held in memory at once."""


_SHARPNESS = 1e-3
"""The part of a standard deviation by which an end may be too far out."""


@dataclass(frozen=True, kw_only=True)
class SupportCount:
    """The number of reports that support a value, given how many people hold it.

    A random `answers` of `people` send a report, which supports the value with chance `own` if its
    sender holds it and with chance `other` if not. If all send one and m hold the value, the count
    is the sum of two independent binomials,

        S = Bin(m, own) + Bin(people - m, other).

    If only some send one, it is that sum under the condition that `answers` of all are drawn, each
    with chance answers/people.

    Attributes:
        people: The number of people among whom the holders are counted.
        answers: The number of them who sent a report.
        own: The chance of support by a holder's report.
        other: The chance of support by anybody else's, less than `own`.

    Example:
        >>> count = SupportCount(people=300, answers=300, own=0.999, other=0.0003)
        >>> count.holders(np.array([150]), confidence=0.95)
        (array([149]), array([151]))
    """

    people: int
    answers: int
    own: float
    other: float

    def at_least(self, counts: Whole, holders: Whole) -> Real:
        """P(S >= count) for the given numbers of holders, elementwise, rounded up.

        The law on a window of N integers, and so the tail, is a sum of the characteristic function
        phi over N equidistant points of the circle:

            P(S >= c) = 1/2 + (1/N) sum over t of Im[phi(t) exp(-i (c - 1/2) t)] / (2 sin(t/2)),

        t = (2j+1) pi/N, exactly except for what lies N or more off c. Since |phi(t)| is at most
        exp(-2 sigma^2 sin^2(t/2)), some thirty of the points matter, however many people there are.
        For a sample, the same sum also runs over the characteristic function of the number of
        answers.

        Direction: upper; an allowance for rounding (1e-13 + 1e-14 sqrt(people)) is added.
        """
        mean, deviation = self._moments(holders)
        off = counts - 0.5 - mean
        far = np.abs(off) > _REACH * deviation + _MARGIN
        tail = np.where(off > 0, 0.0, 1.0)
        near = np.flatnonzero(~far)
        summed = self._summed if self.answers == self.people else self._sampled
        width = 256 if self.answers == self.people else 256 * 256
        step = max(1, _CELLS // width)
        for start in range(0, len(near), step):
            part = near[start : start + step]
            tail[part] = summed(counts[part], holders[part])
        allowance = 1e-13 + 1e-14 * math.sqrt(self.people)
        return np.clip(tail + allowance, 0.0, 1.0)

    def holders(self, counts: Whole, *, confidence: float) -> tuple[Whole, Whole]:
        """The fewest and the most holders that the count does not refute, elementwise.

        Inverts the test that refutes m holders if P(S >= count) or P(S <= count) is at most (1 -
        confidence)/2. S grows with m in the stochastic order, so that a refuted m refutes all
        below, or all above. For the upper end, a count below the average if nobody held the value
        is read as that average; for the lower end, a count above the average if all held it
        likewise. An interval is thus never narrow because the count is improbable.

        Direction: outward; the intervals hold at every number of people.
        Reference: clopper1934, the inversion.
        """
        distinct, places = np.unique(counts, return_inverse=True)
        level = (1 - confidence) / 2
        most_likely = math.ceil(self.answers * self.own)
        least_likely = math.floor(self.answers * self.other)
        low = self._fewest(np.minimum(distinct, most_likely), level)
        mirrored = SupportCount(
            people=self.people, answers=self.answers, own=1 - self.other, other=1 - self.own
        )
        missing = self.answers - np.maximum(distinct, least_likely)
        high = self.people - mirrored._fewest(missing, level)
        return low[places], high[places]

    def _fewest(self, counts: Whole, level: float) -> Whole:
        """Find the least number of holders whose P(S >= count) was not seen to be at most `level`.

        Interpolates normal quantiles, in which the tail is almost a line, to either side of the
        root in turn; if that fails, it halves the bracket. Every number of holders below the
        returned one is refuted, and it is at most a thousandth of a deviation from the next that is
        not.
        """
        slope = self.answers * (self.own - self.other) / self.people
        kept = np.floor((counts - self.answers * self.other) / slope)
        kept = np.clip(kept, 0, self.people).astype(np.int64)
        _, deviation = self._moments(kept)
        bracket = _Bracket(
            refuted=np.full(len(counts), -1, dtype=np.int64),
            kept=kept,
            below=-np.abs(counts - self.answers * self.other) / np.maximum(deviation, 0.1),
            above=np.zeros(len(counts)),
            target=NormalDist().inv_cdf(level),
            width=np.maximum(1, np.floor(_SHARPNESS * deviation / slope)),
        )
        for turn in range(4 * self.people.bit_length()):
            tried, which = bracket.next(turn)
            if not which.size:
                break
            bracket.narrow(which, tried, self.at_least(counts[which], tried), level)
        return bracket.refuted + 1

    def _moments(self, holders: Whole) -> tuple[Real, Real]:
        """Mean and standard deviation of the count, elementwise."""
        share = holders / self.people
        mean = self.answers * (share * self.own + (1 - share) * self.other)
        noise = share * self.own * (1 - self.own) + (1 - share) * self.other * (1 - self.other)
        left_out = (self.people - self.answers) / max(1, self.people - 1)
        drawn = left_out * share * (1 - share) * (self.own - self.other) ** 2
        return mean, np.sqrt(self.answers * (noise + drawn))

    def _summed(self, counts: Whole, holders: Whole) -> Real:
        """The sum over one circle, for everybody's reports."""
        _, deviation = self._moments(holders)
        nodes, window = _half_circle(deviation)
        turn = _turn(nodes)
        m = holders[:, None]
        exponent = m * special.log1p(self.own * turn)
        exponent += (self.people - m) * special.log1p(self.other * turn)
        return _tail(exponent, np.asarray(counts - 0.5), nodes, window)

    def _sampled(self, counts: Whole, holders: Whole) -> Real:
        """The sum over two circles, for the reports of a sample.

        The second circle selects the observed number of answers. Its nodes are shifted by the
        support that an answer brings, so that both sums decay at the same rate.
        """
        mean, deviation = self._moments(holders)
        nodes, window = _half_circle(deviation)
        chance = self.answers / self.people
        spread = math.sqrt(self.people * chance * (1 - chance))
        around, points = _whole_circle(spread)
        slope = (mean / self.answers)[:, None, None]
        first = np.where(np.isfinite(nodes), nodes, 0.0)[:, :, None]
        second = around - slope * first
        answer = chance * np.exp(1j * second)
        held, unheld = (
            special.log1p(chance * _turn(second) + answer * support * _turn(first))
            for support in (self.own, self.other)
        )
        m = holders[:, None, None]
        exponent = m * held + (self.people - m) * unheld - 1j * self.answers * second
        # The largest exponential is factored out, so that none underflows.
        least = exponent.real.max(axis=2)
        inner = np.exp(exponent - least[:, :, None]).sum(axis=2) / points
        pmf = float(binomial_pmf(self.answers, self.people, success=chance))
        with np.errstate(divide="ignore"):
            logarithm = np.log(inner / pmf) + least
        return _tail(logarithm, np.asarray(counts - 0.5), nodes, window)


@dataclass(kw_only=True)
class _Bracket:
    """Numbers of holders, refuted and not, and the normal quantiles of their tails.

    Attributes:
        refuted: The most holders that were seen to be refuted; -1 if none.
        kept: More than that, and not refuted as far as is known.
        below: The quantile at `refuted`, or a guess.
        above: The quantile at `kept`, or a guess.
        target: The quantile of the level.
        width: The distance of the two at which the search ends.
    """

    refuted: Whole
    kept: Whole
    below: Real
    above: Real
    target: float
    width: Real

    def next(self, turn: int) -> tuple[Whole, Whole]:
        """The numbers to try next, and the entries to try them for."""
        which = np.flatnonzero(self.kept - self.refuted > self.width)
        low, high = self.refuted[which], self.kept[which]
        below, above = self.below[which], self.above[which]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (self.target - below) / (above - below)
        share = np.where((share > 0) & (share < 1) & (turn % 3 != 2), share, 0.5)
        guess = low + share * (high - low)
        side = self.width[which] / 2 * (1 if turn % 3 else -1)
        tried = np.clip(np.rint(guess + side), low + 1, high - 1)
        return tried.astype(np.int64), which

    def narrow(self, which: Whole, tried: Whole, tail: Real, level: float) -> None:
        """Move an end of every bracket to the number that was tried."""
        quantile = special.ndtri(np.clip(tail, 1e-300, 1.0 - 1e-16))
        out = tail <= level
        self.refuted[which[out]], self.below[which[out]] = tried[out], quantile[out]
        self.kept[which[~out]], self.above[which[~out]] = tried[~out], quantile[~out]


def _half_circle(deviation: Real) -> tuple[Real, Real]:
    """Nodes of the upper half circle, one row per law, and its window; infinite if unused."""
    window = 2 * np.ceil(_REACH * deviation + _MARGIN)
    with np.errstate(divide="ignore"):
        last = 2 * np.arcsin(np.minimum(1.0, math.sqrt(_FADED) / deviation))
    count = int(np.ceil((last * window / math.pi + 1) / 2).max())
    nodes = (2 * np.arange(count) + 1) * math.pi / window[:, None]
    return np.where(nodes < math.pi, nodes, np.inf), window


def _whole_circle(deviation: float) -> tuple[Real, int]:
    """The nodes of a whole circle that matter, and the number of all its nodes."""
    points = 2 * math.ceil(_REACH * deviation + _MARGIN)
    last = 2 * math.asin(min(1.0, math.sqrt(_FADED) / deviation))
    most = math.ceil(last * points / (2 * math.pi))
    if 2 * most + 1 >= points:
        return np.asarray(np.arange(points) * (2 * math.pi / points)), points
    return np.asarray(np.arange(-most, most + 1) * (2 * math.pi / points)), points


def _turn(nodes: Real) -> NDArray[np.complex128]:
    """exp(i t) - 1 without cancellation; zero at nodes that are not used."""
    angle = np.where(np.isfinite(nodes), nodes, 0.0)
    return np.asarray(-2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle))


def _tail(logarithm: NDArray[np.complex128], edge: Real, nodes: Real, window: Real) -> Real:
    """1/2 + the sum over the circle, from the logarithm of the characteristic function."""
    used = np.isfinite(nodes)
    angle = np.where(used, nodes, math.pi)
    wave = np.exp(logarithm.real) * np.sin(logarithm.imag - edge[:, None] * angle)
    terms = np.where(used, wave / np.sin(angle / 2), 0.0)
    return np.asarray(0.5 + terms.sum(axis=1) / window)
