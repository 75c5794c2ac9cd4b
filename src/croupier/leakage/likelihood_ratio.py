"""The law of a likelihood ratio, which decides how well one report is found among decoys."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError, TooLargeError
from croupier.numerics.validate import number_of_people

__all__ = ["LikelihoodRatio", "chance_unrivalled", "chance_unrivalled_between"]

_MASS_TOLERANCE = 1e-9
_DIRECT_GUESSES = 100
"""The most terms of a binomial tail that are summed; beyond, the beta function is as exact."""
_AT_ONCE = 1 << 20
_MOST_OUTPUTS = 10**7


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodRatio:
    """The likelihood of outputs under the target's law P, relative to the decoys' law Q.

    The best attack on one report from P among n - 1 from Q points at the largest ratio
    P(y)/Q(y). Its success depends on the outputs in that order only.

    Attributes:
        certain: The probability of P on outputs that no decoy shows.
        target: P(y), in descending order of P(y)/Q(y).
        decoy: Q(y), in the same order.
        above: The probability of Q on outputs that come earlier in the order.

    Example:
        >>> law = LikelihoodRatio.of([1/2, 1/3, 1/6], [1/4, 1/4, 1/2])
        >>> round(law.probability(n=2), 12), round(law.probability(n=5, guesses=2), 12)
        (0.6875, 0.640234375)
        >>> round(law.limit, 12), round(law.total_variation, 12)
        (2.0, 0.333333333333)
    """

    certain: float
    target: NDArray[np.float64]
    decoy: NDArray[np.float64]
    above: NDArray[np.float64]

    @classmethod
    def of(cls, target: ArrayLike, decoy: ArrayLike) -> "LikelihoodRatio":
        """Make the ratio from the probabilities of the same outputs under both laws.

        If `decoy` sums to less than one, the rest is a report that the target never sends: a decoy
        that is absent, or known to be a decoy.
        """
        p, q = _probabilities("target", target), _probabilities("decoy", decoy)
        if p.shape != q.shape:
            raise ParameterError("decoy", must="list the same outputs as target")
        whole, total = float(p.sum()), float(q.sum())
        if abs(whole - 1) > _MASS_TOLERANCE:
            raise ParameterError("target", must="sum to 1", got=whole)
        if total > 1 + _MASS_TOLERANCE:
            raise ParameterError("decoy", must="sum to at most 1", got=total)
        p = p / whole
        if total < 1:
            p, q = np.append(p, 0.0), np.append(q, 1 - total)
        return cls.of_measures(p, q)

    @classmethod
    def of_measures(
        cls, target: NDArray[np.float64], decoy: NDArray[np.float64], *, certain: float = 0.0
    ) -> "LikelihoodRatio":
        """Make the ratio from measures that need not sum to one.

        A target measure above a law P bounds the success against P.
        """
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = target / decoy
        shown = np.isfinite(ratio)
        certain += float(target[~shown].sum())
        order = np.argsort(-ratio[shown], kind="stable")
        p, q = target[shown][order], decoy[shown][order]
        # Summed in extended precision: with a billion people every digit of a small tail matters.
        above = np.zeros(len(q), dtype=np.longdouble)
        np.cumsum(q[:-1], out=above[1:], dtype=np.longdouble)
        return cls(certain, p, q, np.minimum(above, 1).astype(np.float64))

    @classmethod
    def of_discrete(cls, target: Any, decoy: Any, *, tail: float = 1e-15) -> "LikelihoodRatio":
        """Make the ratio from two frozen discrete distributions of scipy.stats.

        Outputs are listed from the lowest until at most `tail` of both laws is left, which is
        merged into one output.

        Raises:
            TooLargeError: The laws reach too far; choose a larger `tail`.
        """
        if not 0 < tail < 0.5:
            raise ParameterError("tail", must="be in (0, 1/2)", got=tail)
        low = min(
            law.support()[0] if np.isfinite(law.support()[0]) else law.ppf(tail / 2)
            for law in (target, decoy)
        )
        size = 1 << 10
        while True:
            outputs = low + np.arange(size)
            laws = [law.pmf(outputs) for law in (target, decoy)]
            left = [max(0.0, 1 - float(law.sum())) for law in laws]
            if max(left) <= max(tail, size * 1e-16):
                return cls.of(*(np.append(law, rest) for law, rest in zip(laws, left, strict=True)))
            size *= 4
            if size > _MOST_OUTPUTS:
                raise TooLargeError(
                    "The list of outputs",
                    entries=size,
                    limit=_MOST_OUTPUTS,
                    hint="Choose a larger tail.",
                )

    @classmethod
    def of_samples(cls, target: Iterable[Any], decoy: Iterable[Any]) -> "LikelihoodRatio":
        """Make the ratio from the frequencies of samples of both laws: an estimate, not a bound.

        The success probability is convex in P, so that the estimate errs upward on average; an
        output that no decoy happened to show counts as certain. For a valid interval see
        `croupier.auditing.blackbox`.
        """
        first, second = list(target), list(decoy)
        index = {output: place for place, output in enumerate(dict.fromkeys(first + second))}
        laws = [
            np.bincount([index[output] for output in sample], minlength=len(index)) / len(sample)
            for sample in (first, second)
            if sample
        ]
        if len(laws) < 2:
            raise ParameterError("target", must="hold samples, and decoy too")
        return cls.of(*laws)

    @cached_property
    def ratio(self) -> NDArray[np.float64]:
        """P(y)/Q(y), descending."""
        return self.target / self.decoy

    @property
    def limit(self) -> float:
        """M, the largest ratio: n times the success of the best attack never exceeds it.

        Infinite if a decoy never shows some output of the target.
        """
        return float("inf") if self.certain > 0 else float(self.ratio[0])

    @cached_property
    def total_variation(self) -> float:
        """The total variation distance of P and Q: the sum of (P - Q)_+."""
        return self.certain + float(np.maximum(self.target - self.decoy, 0).sum())

    def probability(self, *, n: int, guesses: int = 1) -> float:
        """The chance that the best attack with `guesses` guesses points at the target's report.

            certain + sum over y of (P(y)/Q(y)) W(y),

        where W(y) integrates the chance that fewer than `guesses` of n - 1 decoys score higher,
        over the place of y in the order. Ties are broken by a coin.

        Direction: exact, to 1e-13 relative.
        Reference: su2025, Theorem 4, for any number of guesses. Equations 7 and 8 there count a tie
            as a win.
        """
        places = self._places(n, guesses)
        return min(1.0, self.certain + float((self.ratio * places).sum()))

    def additive_advantage(self, *, n: int, guesses: int = 1) -> float:
        """The excess of that chance over luck alone, guesses/n; computed without cancellation."""
        places = self._places(n, guesses)
        gain = (self.target - self.decoy) * (places / self.decoy)
        return max(0.0, self.certain + float(gain.sum()))

    def multiplicative_advantage(self, *, n: int, guesses: int = 1) -> float:
        """The ratio of that chance to luck alone."""
        return self.probability(n=n, guesses=guesses) * n / min(guesses, n)

    def remainder(self, *, n: int) -> float:
        """l(n) in probability = certain + M/n - l(n), M the largest finite ratio.

        Non-negative and o(1/n).
        Reference: su2025, Theorem 3.
        """
        return float(((self.ratio[0] - self.ratio) * self._places(n, 1)).sum())

    def _places(self, n: int, guesses: int) -> NDArray[np.float64]:
        n = number_of_people("n", n, least=1)
        guesses = number_of_people("guesses", guesses, least=1)
        places = np.empty_like(self.decoy)
        for start in range(0, len(places), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            places[part] = chance_unrivalled_between(
                self.above[part], self.decoy[part], n=n, guesses=min(guesses, n)
            )
        return places

    def __repr__(self) -> str:
        return f"LikelihoodRatio({len(self.ratio)} ratios up to {self.limit:.6g})"


def chance_unrivalled(rival: ArrayLike, *, n: int, guesses: int) -> NDArray[np.float64]:
    """The chance that fewer than `guesses` of n - 1 decoys score higher: P(Bin(n-1, rival) < k).

    >>> chance_unrivalled(0.5, n=3, guesses=2)
    array(0.75)
    """
    v = np.asarray(rival, dtype=np.float64)
    if guesses >= n:
        return np.ones_like(v)
    if guesses > _DIRECT_GUESSES:
        from scipy.special import betaincc  # noqa: PLC0415 - slow to import, rarely needed

        return np.asarray(betaincc(guesses, n - guesses, v))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = v / (1 - v)
        series = np.ones_like(v)
        for j in range(guesses - 1, 0, -1):
            series = 1 + series * odds * ((n - j) / j)
        chance = np.exp((n - 1) * np.log1p(-v)) * series
    return np.where(np.isfinite(chance), chance, 0.0)


def chance_unrivalled_between(
    start: ArrayLike, width: ArrayLike, *, n: int, guesses: int
) -> NDArray[np.float64]:
    """The integral of `chance_unrivalled` over [start, start + width].

    One guess: ((1 - start)^n - (1 - start - width)^n)/n, without cancellation. More: Gauss and
    Legendre, on the part where the chance is neither 1 nor 0 to 1e-21 (Chernoff).

    >>> float(chance_unrivalled_between(0.0, 1.0, n=4, guesses=3))
    0.75
    """
    low, width = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (start, width)))
    if guesses >= n:
        return np.array(width)
    if guesses == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(low < 1, np.minimum(width / (1 - low), 1), 0.0)
            fewer = np.exp(n * np.log1p(-low)) * -np.expm1(n * np.log1p(-share))
        return np.asarray(fewer / n)
    spread = np.sqrt(guesses)
    certain = max(0.0, (guesses - 10 * spread) / n)
    hopeless = min(1.0, (guesses + 10 * spread + 100) / (n - 1))
    high = np.minimum(low + width, 1.0)
    flat = np.maximum(np.minimum(high, certain) - low, 0.0)
    falling = np.minimum(np.maximum(low, certain), hopeless)
    steep = np.maximum(np.minimum(high, hopeless) - falling, 0.0)
    inner = (low >= certain) & (high <= hopeless)
    steep = np.where(inner, width, steep)  # exact if nothing is cut
    scaled = steep * n / spread
    result = np.array(flat)
    for least, most, panels, order in ((0, 0.01, 1, 4), (0.01, 2, 1, 16), (2, np.inf, 40, 16)):
        chosen = (scaled > least) & (scaled <= most)
        if chosen.any():
            result[chosen] += _gauss_legendre(
                falling[chosen], steep[chosen], panels, order, n=n, guesses=guesses
            )
    return result


def _gauss_legendre(  # noqa: PLR0913 - two ends, two sizes, two parameters
    low: NDArray[np.float64],
    width: NDArray[np.float64],
    panels: int,
    order: int,
    *,
    n: int,
    guesses: int,
) -> NDArray[np.float64]:
    offsets, weights = _rule(panels, order)
    step = max(1, _AT_ONCE // len(low))
    total = np.zeros_like(low)
    for start in range(0, len(offsets), step):
        part = slice(start, start + step)
        places = np.minimum(low + np.multiply.outer(offsets[part], width), 1.0)
        total += weights[part] @ chance_unrivalled(places, n=n, guesses=guesses)
    return total * width


@cache
def _rule(panels: int, order: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on [0, 1]; cached, since integrals ask for the same three many times."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    offsets = ((np.arange(panels)[:, None] + (nodes + 1) / 2) / panels).ravel()
    return offsets, np.tile(weights / (2 * panels), panels)


def _probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype == object:
        array = np.array([float(Fraction(entry)) for entry in array.ravel().tolist()])
    array = array.astype(np.float64)
    if array.ndim != 1 or not len(array):
        raise ParameterError(name, must="be a list of probabilities")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ParameterError(name, must="be finite and not negative")
    return array
