"""One person's two values in a shuffled batch: how far apart the batches are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.evaluation import PairEvaluation
from croupier.accounting.sums.contour import contour_bounds
from croupier.accounting.sums.enumeration import listed_bounds
from croupier.accounting.sums.terms import (
    CANCELLATION,
    Bounds,
    LogBounds,
    Real,
    Rows,
    Terms,
)
from croupier.model.likelihood import LikelihoodClasses

__all__ = ["Laws", "ShuffledPair", "ShuffledPairs"]

_RARELY = 1e-100
"""Outputs that are rarer than this among the others are taken to hide nobody."""

_QUICK_LIST, _LONGER_LISTS = 500, ((1e-5, 20_000), (0.05, 400_000))
"""The most counts listed at first; and if what a contour finds is that wide."""

_SHARP = 2.0
"""An enclosure that is this many times as wide as asked for is sharp enough."""

_FEW, _QUICK = 4, 1e-3
"""So many pairs are all enclosed, first to this precision."""

_SIMILAR = 8
"""Numbers of classes up to the same multiple of it are computed together."""

_CELLS_AT_ONCE = 1_000_000
_ULP = 2.0**-53


class Laws(NamedTuple):
    """The laws of one person's two values and of what hides them.

    Attributes:
        reference: w, the contribution of each of the others to each output.
        first: p.
        second: q.
        total: The sum of w, exactly.
    """

    reference: Real
    first: Real
    second: Real
    total: Fraction

    @classmethod
    def of(cls, classes: LikelihoodClasses) -> "Laws":
        """The laws of outputs that are merged into classes."""
        return cls(*classes.arrays(), classes.mass)

    @classmethod
    def of_doubles(cls, reference: Real, first: Real, second: Real) -> "Laws":
        """The laws of probabilities given as doubles, not of integers rounded to doubles."""
        return cls(reference, first, second, sum(map(Fraction, reference.tolist()), Fraction(0)))


@dataclass(frozen=True, eq=False)
class ShuffledPair:
    """Two values of one person, hidden among n - 1 others who report from a common law.

    With w the law of the others (or the part of it that all their values share), p and q the laws
    of the two values,

        delta(epsilon) = (1/n) E[(G_1 + … + G_n)_+],
        G = (p_j - e^epsilon q_j)/(t w_j) with probability t w_j, else 0,

    where each of the others reports with probability t. Outputs with w_j = 0 count in full,
    (p_j - e^epsilon q_j)_+.

    Where w is the blanket, min over values of R(x)(j), this is an upper bound for every dataset
    (balle2019, Lemma 5.3). Where w is the law R(c) of one value, it is the exact divergence when
    everybody else holds c. Both are `log_delta` here; the code that makes a pair knows which of the
    two it is.

    Attributes:
        reference: t w, one entry per output or class of outputs.
        first: p.
        second: q.
        n: The number of honest people, the one person included.
        rest: 1 less the sum of t w, to full relative precision: from the integers of the
            mechanism, not from the rounded `reference`.
    """

    reference: Real
    first: Real
    second: Real
    n: int
    rest: float

    @classmethod
    def among(cls, laws: Laws, n: int, *, report_probability: float = 1.0) -> "ShuffledPair":
        """Hide the two values among n - 1 others, each of whom reports with that chance."""
        rest = max(0.0, float(1 - Fraction(report_probability) * laws.total))
        return cls(report_probability * laws.reference, laws.first, laws.second, n, rest)

    @cached_property
    def chi_square(self) -> float:
        """The sum of (p - q)^2/(t w); epsilon is near sqrt(2 ln(1/delta) chi_square / n)."""
        hidden = self.reference > _RARELY
        return float(((self.first - self.second)[hidden] ** 2 / self.reference[hidden]).sum())

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> LogBounds:
        """Enclose ln delta(epsilon), to about `rtol` where that is affordable."""
        return ShuffledPairs((self,)).largest(np.array([epsilon]), rtol=rtol)[0]


@dataclass(frozen=True, eq=False)
class ShuffledPairs:
    """Pairs among equally many people, and with similarly many classes of outputs.

    Attributes:
        pairs: The pairs, of which the first is likely the worst.
    """

    pairs: Sequence[ShuffledPair]

    @classmethod
    def grouped(cls, pairs: Sequence[ShuffledPair]) -> "list[ShuffledPairs]":
        """Put together what can be computed together, the likely worst first."""
        groups: dict[tuple[int, int], list[ShuffledPair]] = {}
        for pair in sorted(pairs, key=lambda pair: -pair.chi_square):
            groups.setdefault((pair.n, len(pair.reference) // _SIMILAR), []).append(pair)
        return [cls(tuple(group)) for group in groups.values()]

    @property
    def n(self) -> int:
        """The number of honest people."""
        return self.pairs[0].n

    @property
    def chi_square(self) -> float:
        """The chi-square of the likely worst pair."""
        return self.pairs[0].chi_square

    def largest(self, epsilons: Real, *, rtol: float, floor: Real | None = None) -> Bounds:
        """Enclose ln of the largest delta of the pairs at every epsilon.

        Pairs are first enclosed roughly, few all at once, many only where a quick upper bound is
        above what the first reaches; and then sharply, those that may be the worst.

        Args:
            epsilons: The epsilons.
            rtol: The relative precision that is asked for.
            floor: What is reached already: where no pair is above it, -inf may be returned.
        """
        reached = np.full(len(epsilons), -math.inf) if floor is None else floor.copy()
        pairs, places = len(self.pairs), np.arange(len(epsilons))
        few = pairs if pairs <= _FEW else 1
        rough = rtol if pairs == 1 else max(rtol, _QUICK)
        which, at = np.repeat(np.arange(few), len(places)), np.tile(places, few)
        if floor is not None:
            possible = ~(self._ceilings(which, epsilons[at]) < reached[at])
            which, at = which[possible], at[possible]
        found = self._bounds(which, epsilons[at], rough)
        np.maximum.at(reached, at, found.lower)
        step = max(1, _CELLS_AT_ONCE // self._laws[0].size)
        for start in range(0, len(places) if few < pairs else 0, step):
            part = places[start : start + step]
            others, there = np.repeat(np.arange(few, pairs), len(part)), np.tile(part, pairs - few)
            possible = ~(self._ceilings(others, epsilons[there]) < reached[there])
            others, there = others[possible], there[possible]
            more = self._bounds(others, epsilons[there], rough)
            np.maximum.at(reached, there, more.lower)
            which, at = np.append(which, others), np.append(at, there)
            found = _joined(found, more)
        if rough > rtol:
            again = np.flatnonzero(found.upper >= reached[at])
            found, at = self._bounds(which[again], epsilons[at[again]], rtol), at[again]
        return _largest(found, at, len(epsilons))

    def each(self, epsilon: float, *, rtol: float) -> list[PairEvaluation]:
        """Say how delta is enclosed for every pair at one epsilon."""
        which = np.arange(len(self.pairs))
        at = np.full(len(which), epsilon)
        found = Bounds.unknown(len(which))
        found.upper[:], found.steps["method"] = self._ceilings(which, at), "ceiling"
        exceeding = np.append(0, 1 + np.flatnonzero(found.upper[1:] >= self._first(epsilon, rtol)))
        found.improve(exceeding, self._bounds(exceeding, at[exceeding], rtol))
        return [
            PairEvaluation(
                reference=tuple(pair.reference.tolist()),
                first=tuple(pair.first.tolist()),
                second=tuple(pair.second.tolist()),
                n=pair.n,
                rest=pair.rest,
                log_lower=_finite(found.lower[row]),
                log_upper=_finite(found.upper[row]),
                method=str(found.steps["method"][row]),
                steps=_steps(found.steps[row]),
            )
            for row, pair in enumerate(self.pairs)
        ]

    def _first(self, epsilon: float, rtol: float) -> float:
        """The lower bound that the first pair reaches."""
        return float(self._bounds(np.zeros(1, dtype=np.int64), np.array([epsilon]), rtol).lower[0])

    @cached_property
    def _laws(self) -> tuple[Real, Real, Real, Real]:
        """w, p, q and the rest of all pairs, one row each, filled up with zeros."""
        classes = max(len(pair.reference) for pair in self.pairs)
        reference, first, second = np.zeros((3, len(self.pairs), classes))
        for row, pair in enumerate(self.pairs):
            shown = len(pair.reference)
            reference[row, :shown], first[row, :shown] = pair.reference, pair.first
            second[row, :shown] = pair.second
        return reference, first, second, np.array([pair.rest for pair in self.pairs])

    def _bounds(self, which: Rows, epsilons: Real, rtol: float) -> Bounds:
        """Enclose ln delta of one pair at one epsilon per row."""
        bare, terms, rows = self._split(which, epsilons)
        bare.steps["method"] = "bare"
        if not len(rows):
            return bare
        hidden = self._hidden_bounds(terms, epsilons[rows], rtol)
        log_n = math.log(self.n)
        hardly = self._hardly[which[rows]]
        lower = np.where(hardly, -math.inf, hidden.lower - log_n)
        bare.lower[rows] = np.logaddexp(bare.lower[rows], lower)
        bare.upper[rows] = np.logaddexp(bare.upper[rows], hidden.upper - log_n)
        bare.steps[rows] = hidden.steps
        return bare

    def _hidden_bounds(self, terms: Terms, epsilons: Real, rtol: float) -> Bounds:
        """Enclose ln E[S_+]: by a short list, a contour or a longer list; never above Chernoff."""
        ceiling = _log_chernoff(terms, epsilons, self.n)
        found = self._listed(terms, ceiling, rtol, _QUICK_LIST)
        rows = np.flatnonzero(~found.is_sharp(_SHARP * rtol))
        if len(rows):
            found.improve(rows, contour_bounds(terms.take(rows), self.n, rtol=rtol))
        for width, most_cells in _LONGER_LISTS:
            rows = np.flatnonzero(~found.is_sharp(max(width, _SHARP * rtol)))
            if len(rows):
                known = np.minimum(ceiling, found.upper)[rows]
                found.improve(rows, self._listed(terms.take(rows), known, rtol, most_cells))
        above = found.upper > ceiling
        found.upper[above], found.steps["method"][above] = ceiling[above], "ceiling"
        return found

    def _listed(self, terms: Terms, ceilings: Real, rtol: float, most_cells: int) -> Bounds:
        return listed_bounds(terms, self.n, rtol=rtol, most_cells=most_cells, ceilings=ceilings)

    def _ceilings(self, which: Rows, epsilons: Real) -> Real:
        """Quick upper bounds of ln delta, to skip pairs that do not matter."""
        bare, terms, rows = self._split(which, epsilons)
        ceiling = _log_chernoff(terms, epsilons[rows], self.n) - math.log(self.n)
        bare.upper[rows] = np.logaddexp(ceiling, bare.upper[rows])
        return bare.upper

    @cached_property
    def _hardly(self) -> NDArray[np.bool_]:
        """Mark the pairs with outputs that others may produce, but too rarely to compute with."""
        reference = self._laws[0]
        return np.asarray(((reference > 0) & (reference <= _RARELY)).any(axis=1))

    def _split(self, which: Rows, epsilons: Real) -> tuple[Bounds, Terms, Rows]:
        """Enclose the part that nothing hides; give the law of G for the rows where it may be > 0.

        Nothing hides a person who is alone, nor outputs that others never (or hardly ever) produce.
        Each difference of probabilities may be off by `CANCELLATION` of the two.
        """
        reference, first, second, rest = (each[which] for each in self._laws)
        gain = (first - second) - np.expm1(epsilons)[:, None] * second
        sizes = first + np.exp(epsilons)[:, None] * second
        slack = CANCELLATION * sizes
        hidden = (reference > _RARELY) & np.array(self.n > 1)
        positive = ((gain > 0) & hidden).any(axis=1)
        hidden = hidden & (positive[:, None] | (gain + slack < 0))
        never = (reference <= 0) | np.array(self.n == 1)
        bare = Bounds.unknown(len(which))
        bare.upper[:] = _log_sum(np.where(hidden, 0, gain + slack), up=True)
        bare.lower[:] = _log_sum(np.where(never, gain - slack, 0), up=False)
        bare.lower[self._hardly[which]] = -math.inf
        rows = np.flatnonzero(positive)
        hidden, reference = hidden[rows], reference[rows]
        weights = np.where(hidden, reference, 0.0)
        shown = np.where(hidden, 0.0, reference).sum(axis=1)
        values = np.divide(gain[rows], weights, out=np.zeros_like(weights), where=hidden)
        terms = Terms(weights, values, np.where(hidden, sizes[rows], 0.0), rest[rows] + shown)
        return bare, terms, rows


def _finite(logarithm: float) -> float | None:
    return float(logarithm) if math.isfinite(logarithm) else None


def _steps(row: np.void) -> dict[str, float]:
    """The parameters that the method has."""
    names = {"listed": ("listed", "rare"), "contour": ("theta", "period", "tau", "last", "nodes")}
    own = names.get(str(row["method"]), ())
    if str(row["method"]) == "contour" and row["points"]:
        own = ("points", *own)
    return {name: row[name].item() for name in own}


def _largest(found: Bounds, places: Rows, count: int) -> Bounds:
    """The largest ends at each place, and how the upper one was found; -inf where there is none."""
    best = Bounds.unknown(count)
    best.upper[:] = -math.inf
    np.maximum.at(best.lower, places, found.lower)
    order = np.lexsort((found.upper, places))
    last = order[np.append(np.diff(places[order]) > 0, True)] if len(order) else order
    best.upper[places[last]], best.steps[places[last]] = found.upper[last], found.steps[last]
    return best


def _joined(first: Bounds, second: Bounds) -> Bounds:
    """The rows of both."""
    return Bounds(
        np.append(first.lower, second.lower),
        np.append(first.upper, second.upper),
        np.append(first.steps, second.steps),
    )


def _log_chernoff(terms: Terms, epsilons: Real, n: int) -> Real:
    """Log of upper bounds of E[S_+]: e^(K(theta) - 1)/theta at one theta, or n E[G_+].

    The latter is the n = 1 value: delta does not grow with n. A gain may be smaller than its
    error, so both take it as large as it can be.
    """
    weights, values, sizes = terms.weights, terms.values, terms.sizes
    single = _log_sum(weights * values + CANCELLATION * sizes, up=True) + math.log(n)
    square = (weights * values**2).sum(axis=1)
    theta = np.expm1(epsilons) / square + np.sqrt(2 / (n * square))
    theta = np.minimum(theta, 300 / values.max(axis=1))
    powers = theta[:, None] * values
    steps = weights * np.expm1(powers)
    excess = steps.sum(axis=1)
    noise = (np.abs(steps) * (4 + np.abs(powers))).sum(axis=1)
    noise += theta * (sizes * np.exp(powers)).sum(axis=1)
    known = excess > -1 + 1e-9  # otherwise 1 + excess is made of rounding
    excess = np.where(known, excess, 0.0)
    rounding = 1e-14 * n * noise / (1 + excess)
    exponential = n * np.log1p(excess) - 1 - np.log(theta) + rounding
    return np.asarray(np.where(known, np.minimum(exponential, single), single) + 1e-9)


def _log_sum(parts: Real, *, up: bool) -> Real:
    """Logarithms of the sums of the positive parts of every row, rounded up or down."""
    side = 1 if up else -1
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(parts, 0).sum(axis=1) * (1 + side * _ULP * (parts.shape[1] + 8)))
    slack = 2 * _ULP * (1 + np.abs(np.where(np.isfinite(logs), logs, 0.0)))
    return np.asarray(logs + side * slack)
