"""Mallows shufflers: orders that stay close to a reference order."""

import math
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.model.guarantee import Guarantee
from croupier.model.shuffler import Shuffler
from croupier.numerics.keystream import WORD, Keystream
from croupier.shufflers.sensitivity import (
    Grouping,
    component_sensitivities,
    connected_components,
    hamming_guarantee,
    kendall_guarantee,
    theta_for,
)

__all__ = ["LEAST_THETA", "HammingMallowsShuffler", "MallowsShuffler", "around_reference"]
__all__ += ["decode", "log_normalizer", "truncated_geometric"]

LEAST_THETA = 2.0**-56
"""Below it the digits of a geometric number no longer fit a word."""

_MOST_FINITE_THETA = 1e6
_COMPILED_FROM = 300_000
"""Where compiling pays: some tenths of a second of plain numpy."""
_FIRST_BITS = 16
_LAST_WORD = np.uint64(WORD - 1)
_CODES_AT_A_TIME = 1 << 15


@dataclass(frozen=True, eq=False)
class MallowsShuffler(Shuffler):
    """Draws orders with probability proportional to e^(-theta inversions), around a reference.

        z[s(k)] = y[s(t(k))],    P(t) proportional to e^(-theta inv(t)),

    where y are the reports, z is the batch, s is the `reference` order and inv(t) is the number of
    pairs that t puts the other way round than s does. With `components`, the people of each one
    are shuffled among themselves by a law of this kind of their own, in the order in which the
    reference lists them.

    Holds when reference, components and theta were chosen without looking at the reports, from
    public data. The law is exact for the double that `theta` is: a coin is decided by as many
    uniform bits as its probability needs. No error is left that would add to alpha.

    Args:
        theta: How close to the reference: 0 is uniform, infinity changes nothing. One number, or
            one for each component.
        reference: The people, each once, in an order in which groups lie close together; by
            default as the reports come.
        components: For each person the number of the component, counted from 0.

    Reference: meehan2022, Algorithm 1. Step 8 is read from left to right, and distance is between
    lists; other readings break the guarantee.

    Example:
        >>> shuffler = MallowsShuffler(theta=1.0, reference=[4, 1, 2, 7, 3, 0, 5, 6])
        >>> shuffler.order(8, rng=Keystream(insecure_seed=7))
        array([0, 1, 2, 3, 4, 6, 5, 7])
    """

    name = "mallows"

    theta: ArrayLike
    reference: ArrayLike | None = None
    components: ArrayLike | None = None
    _ends: NDArray[np.int64] | None = field(init=False, default=None, repr=False)
    _thetas: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        reference = None if self.reference is None else _permutation("reference", self.reference)
        if self.components is not None:
            labels = np.array(self.components)
            reference = np.arange(labels.size) if reference is None else reference
            if (
                labels.dtype.kind not in "iu"
                or labels.shape != reference.shape
                or not 0 <= labels.min(initial=0) <= labels.max(initial=0) < max(1, labels.size)
            ):
                raise ParameterError("components", must="give each person a number from 0 to n - 1")
            # Each component becomes a block of consecutive places.
            reference = reference[np.argsort(labels[reference], kind="stable")]
            object.__setattr__(self, "components", labels)
            object.__setattr__(self, "_ends", np.cumsum(np.bincount(labels)))
        thetas = np.atleast_1d(np.asarray(self.theta, dtype=np.float64))
        for theta in np.unique(thetas):
            _checked_theta(float(theta))
        blocks = 1 if self._ends is None else len(self._ends)
        if thetas.shape not in {(1,), (blocks,)}:
            raise ParameterError("theta", must="be one number, or one for each component")
        object.__setattr__(self, "reference", reference)
        object.__setattr__(self, "_thetas", np.broadcast_to(thetas, (blocks,)))

    @classmethod
    def for_alpha(
        cls,
        groups: Grouping,
        *,
        alpha: float,
        reference: ArrayLike | None = None,
        by_component: bool = True,
    ) -> "MallowsShuffler":
        """The shuffler closest to the reference whose guarantee for `groups` is `alpha`.

        Groups in different components of overlapping groups need not be mixed with each other, so
        each component has the theta that its own sensitivity allows.

        Example:
            >>> from types import SimpleNamespace
            >>> couples = SimpleNamespace(n=4, starts=np.array([0, 2, 4]), members=np.arange(4))
            >>> shuffler = MallowsShuffler.for_alpha(couples, alpha=1.0)
            >>> shuffler.theta, str(shuffler.guarantee(couples))
            (array([1., 1.]), 'alpha <= 1.00')
        """
        labels = connected_components(groups) if by_component else np.zeros(groups.n, dtype=int)
        uniform = cls(theta=0.0, reference=reference, components=labels)
        sensitivities = component_sensitivities(groups, uniform.position(groups.n), labels)
        values, index = np.unique(sensitivities, return_inverse=True)
        thetas = np.array([theta_for(alpha, sensitivity) for sensitivity in values.tolist()])
        return cls(theta=thetas[index], reference=reference, components=labels)

    def order(self, n: int, *, rng: Keystream | None = None) -> NDArray[np.int64]:
        """Draw an order."""
        stream = Keystream() if rng is None else rng
        return self._drawn(n, lambda bounds, theta: truncated_geometric(bounds, theta, rng=stream))

    def simulated_order(self, n: int, *, insecure_seed: int) -> NDArray[np.int64]:
        """Draw an order for a simulation: predictable, and by rounded arithmetic.

        Of no use in production: a guarantee about exact probabilities says nothing about these.
        """
        uniform = np.random.default_rng(insecure_seed).random
        return self._drawn(n, lambda bounds, theta: _rounded_geometric(bounds, theta, uniform))

    def guarantee(self, groups: Grouping) -> Guarantee:
        """What is proved for these groups, whatever groups the shuffler was made for."""
        labels = None if self.components is None else np.asarray(self.components)
        return kendall_guarantee(
            groups, self.position(groups.n), theta=self._thetas, components=labels
        )

    def position(self, n: int) -> NDArray[np.int64]:
        """The place of each of n people in the reference order."""
        reference = self._reference(n)
        places = np.empty(n, dtype=np.int64)
        places[reference] = np.arange(n)
        return places

    def _reference(self, n: int) -> NDArray[np.int64]:
        if self.reference is None:
            return np.arange(n)
        people = np.asarray(self.reference)
        if len(people) != n:
            must = f"be the {len(people):,} people of the reference order"
            raise ParameterError("n", must=must, got=n)
        return people

    def _drawn(
        self, n: int, draw: Callable[[NDArray[np.int64], float], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        reference = self._reference(n)
        ends = np.array([n]) if self._ends is None else self._ends
        sizes = np.diff(ends, prepend=0)
        # How many places of the same block are left, this one included: so blocks do not mix.
        bounds = np.repeat(ends, sizes) - np.arange(n)
        thetas, index = np.unique(self._thetas, return_inverse=True)
        if len(thetas) == 1:
            code = draw(bounds, float(thetas[0]))
        else:
            code = np.empty(n, dtype=np.int64)
            which = np.repeat(index, sizes)
            parts = np.cumsum(np.bincount(which, minlength=len(thetas)))[:-1]
            sorted_places = np.split(np.argsort(which, kind="stable"), parts)
            for theta, places in zip(thetas.tolist(), sorted_places, strict=True):
                code[places] = draw(bounds[places], theta)
        moves = decode(code)
        return moves if self.reference is None else around_reference(reference, moves)


@dataclass(frozen=True, eq=False)
class HammingMallowsShuffler(Shuffler):
    """Draws orders with probability proportional to e^(-theta moved), moved of n reports moved.

    Choose how many reports are held in place from a Poisson law with mean e^theta - 1, given that
    it is at most n; hold a uniform set of that size; shuffle the others uniformly. Since
    1 = (1 - p) + p with p = e^-theta, summing over the sets held within the fixed points of an
    order gives it the weight p^moved.

    The law is exact, as for `MallowsShuffler`. No order of the people is preferred: groups need not
    lie close together, and a report that moves may go anywhere. Time and memory grow with the
    smaller of n and e^theta besides.

    Args:
        theta: How many stay: 0 is uniform, infinity changes nothing.

    Example:
        >>> HammingMallowsShuffler(theta=2.0).order(8, rng=Keystream(insecure_seed=7))
        array([0, 1, 6, 3, 2, 5, 4, 7])
    """

    name = "hamming-mallows"

    theta: float

    def __post_init__(self) -> None:
        _checked_theta(self.theta)
        if _MOST_FINITE_THETA < self.theta < math.inf:
            raise ParameterError("theta", must="be at most 1e6, or infinite", got=self.theta)

    def order(self, n: int, *, rng: Keystream | None = None) -> NDArray[np.int64]:
        """Draw an order."""
        stream = Keystream() if rng is None else rng
        order = np.arange(n)
        if n == 0 or math.isinf(self.theta):
            return order
        held = _truncated_poisson(self.theta, n, stream)
        mixed = _uniform_order(n, stream)
        moved = np.sort(mixed[held:])
        order[moved] = moved[_uniform_order(n - held, stream)]
        return order

    def guarantee(self, groups: Grouping) -> Guarantee:
        """What is proved for these groups."""
        return hamming_guarantee(groups, theta=self.theta)


def around_reference(reference: ArrayLike, moves: ArrayLike) -> NDArray[np.int64]:
    """The order that gives place k of the reference the report from its place moves[k].

    >>> around_reference([2, 0, 1], [1, 0, 2])
    array([2, 1, 0])
    """
    people = np.asarray(reference)
    order = np.empty(len(people), dtype=np.int64)
    order[people] = people[np.asarray(moves)]
    return order


def decode(code: ArrayLike) -> NDArray[np.int64]:
    """The permutation whose entry k is the free number with code[k] free numbers below it.

    Its inversions number sum(code). Time n log n, code[k] below n - k.

    >>> decode([2, 0, 1, 0])
    array([2, 0, 3, 1])
    """
    ranks = np.ascontiguousarray(code, dtype=np.int64)
    n = len(ranks)
    if n and (ranks.min() < 0 or (ranks >= n - np.arange(n)).any()):
        raise ParameterError("code", must="have every entry k in [0, n - k)")
    way = _decode_by_halves
    if n >= _COMPILED_FROM:
        with suppress(ImportError):  # an extra, and slow to import
            from croupier.shufflers.mallows_kernel import compiled_decode as way  # noqa: PLC0415
    return way(ranks)


def log_normalizer(n: int, theta: float) -> float:
    """The logarithm of the sum of e^(-theta inv(t)) over all orders t of n.

    The sum is the product over j = 1, …, n of (1 - q^j) / (1 - q), q = e^-theta.

    >>> round(math.exp(log_normalizer(4, 0.0)))
    24
    """
    _checked_theta(theta)
    if theta == 0:
        return math.lgamma(n + 1)
    lengths = np.arange(1, n + 1)
    return math.fsum(np.log(np.expm1(-theta * lengths) / math.expm1(-theta)).tolist())


def truncated_geometric(
    bounds: ArrayLike, theta: float, *, rng: Keystream | None = None
) -> NDArray[np.int64]:
    """Draw independent V with P(V = v) proportional to e^(-theta v) on 0, …, bound - 1, exactly.

    A geometric number G modulo the bound has this law, and the binary digits of G are independent
    coins: digit i is one with probability 1 / (1 + e^(theta 2^i)). All digits above the I-th make a
    geometric number again, which is zero but with probability e^(-theta 2^I) < e^-32. A coin
    compares sixteen uniform bits with those of its probability, and more while they agree.

    >>> truncated_geometric([9, 9, 9, 9, 1], 0.2, rng=Keystream(insecure_seed=7))
    array([0, 2, 2, 3, 0])
    """
    stream = Keystream() if rng is None else rng
    _checked_theta(theta)
    limits = np.asarray(bounds, dtype=np.int64)
    if limits.size and limits.min() < 1:
        raise ParameterError("bounds", must="be at least 1")
    if math.isinf(theta):
        return np.zeros(len(limits), dtype=np.int64)
    if theta == 0:
        return _uniform_below(limits, stream)
    digits = max(0, math.ceil(math.log2(32 / theta)))
    values = np.empty(len(limits), dtype=np.int64)
    for start in range(0, len(limits), _CODES_AT_A_TIME):
        some = slice(start, start + _CODES_AT_A_TIME)
        values[some] = _geometric_modulo(limits[some], theta, digits, stream)
    return values


def _geometric_modulo(
    limits: NDArray[np.int64], theta: float, digits: int, stream: Keystream
) -> NDArray[np.int64]:
    count = len(limits)
    coins = digits + 1  # the last one tells whether anything is left above the digits
    words = stream.words(-(-coins * count * _FIRST_BITS // 64))
    draws = words.view(np.uint16)[: coins * count].reshape(coins, count)
    thresholds = np.array(
        [_threshold(theta, digit, _FIRST_BITS, above=digit == digits) for digit in range(coins)],
        dtype=np.uint16,
    )[:, None]
    ones = draws < thresholds
    for tie in np.flatnonzero(draws == thresholds).tolist():
        digit, place = divmod(tie, count)
        ones[digit, place] = _tossed(theta, digit, stream, _FIRST_BITS, above=digit == digits)
    values = np.zeros(count, dtype=np.int64)
    for first in range(0, digits, 8):
        byte = np.zeros(count, dtype=np.uint8)
        for digit in range(first, min(first + 8, digits)):
            byte |= ones[digit].view(np.uint8) << np.uint8(digit - first)
        values |= byte.astype(np.int64) << first
    values %= limits
    for place in np.flatnonzero(ones[digits]).tolist():
        excess = 1
        while _tossed(theta, digits, stream, 0, above=True):
            excess += 1
        values[place] = (int(values[place]) + (excess << digits)) % int(limits[place])
    return values


def _tossed(theta: float, digit: int, stream: Keystream, bits: int, *, above: bool) -> bool:
    """A coin whose first `bits` uniform bits agree with those of its probability."""
    while True:
        bits += 64
        word = int(stream.words(1)[0])
        threshold = _threshold(theta, digit, bits, above=above) % WORD
        if word != threshold:
            return word < threshold


@lru_cache(maxsize=1 << 16)
def _threshold(theta: float, digit: int, bits: int, *, above: bool) -> int:
    """The first `bits` bits of 1 / (1 + e^x), or of e^-x where `above`; x = theta 2^digit."""
    exponent = math.ldexp(theta, digit)
    if exponent >= bits:
        return 0
    precision = 40 + bits
    while True:
        low, high = _exponential(exponent, precision)
        rest = 0 if above else 1
        least, most = (math.floor(Fraction(1 << bits) / (rest + e)) for e in (high, low))
        if least == most:  # some precision tells: e^x is irrational
            return least
        precision *= 2


def _exponential(exponent: float, precision: int) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above e**exponent: decimal's is correctly rounded."""
    context = Context(prec=precision, Emax=MAX_EMAX, Emin=MIN_EMIN)
    value = Fraction(context.exp(Decimal(exponent)))
    slack = Fraction(1, 10 ** (precision - 1))
    return value * (1 - slack), value * (1 + slack)


def _uniform_below(limits: NDArray[np.int64], stream: Keystream) -> NDArray[np.int64]:
    bounds = limits.astype(np.uint64)
    one = np.uint64(1)
    last = _LAST_WORD - (_LAST_WORD % bounds + one) % bounds
    draws = stream.words(len(bounds))
    rejected = np.flatnonzero(draws > last)
    while len(rejected):
        draws[rejected] = stream.words(len(rejected))
        rejected = rejected[draws[rejected] > last[rejected]]
    return (draws % bounds).astype(np.int64)


def _uniform_order(n: int, stream: Keystream) -> NDArray[np.int64]:
    return decode(_uniform_below(n - np.arange(n), stream))


def _truncated_poisson(theta: float, n: int, stream: Keystream) -> int:
    """Draw k with P(k) proportional to (e^theta - 1)^k / k! on 0, …, n, exactly."""
    if theta == 0:
        return 0
    bits, uniform = 128, 0
    for word in stream.words(2).tolist():
        uniform = uniform * WORD + word
    while True:
        found = _quantile(theta, n, uniform, bits)
        if found is not None:
            return found
        bits += 64
        uniform = uniform * WORD + int(stream.words(1)[0])


def _quantile(theta: float, n: int, uniform: int, bits: int) -> int | None:
    """The k whose interval holds all numbers that begin with these bits; None if none is proved to.

    Sums of weights mean^k / k! are kept to more digits than the bits are worth. Terms beyond twice
    the mean halve at least: where they no longer count, the last one is more than all that follow.
    """
    context = Context(prec=bits // 3 + 30, Emax=MAX_EMAX, Emin=MIN_EMIN)
    mean = context.subtract(context.exp(Decimal(theta)), Decimal(1))
    enough = context.multiply(mean, Decimal(2))
    weight = total = Decimal(1)
    sums = [total]
    while len(sums) <= n:
        weight = context.divide(context.multiply(weight, mean), Decimal(len(sums)))
        total = context.add(total, weight)
        sums.append(total)
        if len(sums) > enough and context.scaleb(weight, context.prec) < total:
            break
    # e^theta - 1 loses as many digits as theta is small; then each step rounds three times.
    steps = (3 * len(sums) + 9) * max(1, math.ceil(1 / theta))
    slack = context.scaleb(Decimal(steps), 3 - context.prec)
    low, high = (context.subtract(Decimal(1), slack), context.add(Decimal(1), slack))
    unit = context.divide(total, Decimal(1 << bits))
    least = context.multiply(context.multiply(Decimal(uniform), unit), low)
    most = context.multiply(context.multiply(Decimal(uniform + 1), unit), high)
    k = bisect_right(sums, least)
    if k == len(sums):
        return None
    above = k == n or most <= context.multiply(sums[k], low)
    below = k == 0 or context.multiply(sums[k - 1], high) <= least
    return k if above and below else None


def _rounded_geometric(
    bounds: NDArray[np.int64], theta: float, uniform: Callable[[int], NDArray[np.float64]]
) -> NDArray[np.int64]:
    """Inverse distribution functions, off by rounding."""
    if math.isinf(theta):
        return np.zeros(len(bounds), dtype=np.int64)
    draws = uniform(len(bounds))
    if theta == 0:
        values = draws * bounds
    else:  # in place, since time goes into memory
        values = np.expm1(-theta * bounds)
        values *= draws
        np.log1p(values, out=values)
        values /= -theta
    return np.minimum(values.astype(np.int64), bounds - 1)


def _decode_by_halves(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Decode runs of two, four, eight, … entries, each as if nothing had been taken before it.

    A run is kept as its numbers in ascending order. Where a(0) < a(1) < … are those of its first
    half, a number b of the second, counted among what the first leaves, is b + c with the least c
    for which a(c) - c > b. So merging b with the a(c) - c puts it c places further, too.
    """
    n = len(code)
    size = 1 << max(0, n - 1).bit_length()
    numbers = np.zeros(size, dtype=np.int64)
    numbers[:n] = code
    source = np.arange(size)
    run = 1
    while run < size:
        keys = numbers.reshape(-1, 2 * run).copy()
        within = np.arange(2 * run)
        keys[:, :run] -= within[:run]
        # Stable: it merges two ascending runs in linear time, and equals go to the first.
        merged = np.argsort(keys, axis=1, kind="stable")
        passed = np.where(merged >= run, within + run - merged, 0).ravel()
        merged += np.arange(0, size, 2 * run)[:, None]
        numbers, source = numbers[merged.ravel()] + passed, source[merged.ravel()]
        run *= 2
    order = np.empty(size, dtype=np.int64)
    order[source] = numbers
    return order[:n]


def _checked_theta(theta: float) -> None:
    if math.isnan(theta) or theta < 0:
        raise ParameterError("theta", must="be at least 0", got=theta)
    if 0 < theta < LEAST_THETA:
        raise ParameterError(
            "theta", must="be 0 or at least 2**-56", got=theta, hint="0 is the uniform order."
        )


def _permutation(parameter: str, entries: ArrayLike) -> NDArray[np.int64]:
    order = np.asarray(entries)
    if order.ndim == 1 and order.size == 0:
        return np.zeros(0, dtype=np.int64)
    whole = order.ndim == 1 and order.dtype.kind in "iu"
    if not (
        whole
        and 0 <= order.min() <= order.max() < len(order)
        and np.bincount(order, minlength=len(order)).max() == 1
    ):
        raise ParameterError(parameter, must="hold each of 0, 1, …, n - 1 once")
    return order.astype(np.int64)
