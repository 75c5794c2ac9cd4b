"""The Hamming form of Mallows: some reports stay, the others move anywhere."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.model.guarantee import Guarantee
from croupier.model.shuffler import Shuffler
from croupier.numerics.keystream import WORD, Keystream, stream
from croupier.numerics.validate import number_of_people
from croupier.shufflers.permutation_code import uniform_order
from croupier.shufflers.sensitivity import Grouping, hamming_guarantee
from croupier.shufflers.theta import checked_theta

__all__ = ["HammingMallowsShuffler"]

_MOST_FINITE_THETA = 1e6


@dataclass(frozen=True, eq=False)
class HammingMallowsShuffler(Shuffler):
    """A shuffler whose orders have probability proportional to e^(-theta moved reports).

    Choose how many reports are held in place from a Poisson law with mean e^theta - 1, given that
    it is at most n; hold a uniform set of that size; shuffle the others uniformly. Since
    1 = (1 - p) + p with p = e^-theta, summing over the sets held within the fixed points of an
    order gives it the weight p^moved.

    The law is exact, as for `MallowsShuffler`. No order of the people is preferred: groups need not
    lie close together, and a report that moves may go anywhere. Time and memory also grow with the
    smaller of n and e^theta.

    Args:
        theta: The tendency to stay: 0 is uniform, infinity changes nothing.

    Example:
        >>> HammingMallowsShuffler(theta=2.0).order(8, insecure_seed=7)
        array([0, 1, 6, 3, 2, 5, 4, 7])
    """

    name = "hamming-mallows"

    theta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", float(self.theta))
        checked_theta(self.theta)
        if _MOST_FINITE_THETA < self.theta < math.inf:
            raise ParameterError("theta", must="be at most 1e6, or infinite", got=self.theta)

    def order(
        self, n: int, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int64]:
        """Draw an order."""
        rng = stream(rng, insecure_seed)
        n = number_of_people("n", n, least=0)
        order = np.arange(n)
        if n == 0 or math.isinf(self.theta):
            return order
        held = _truncated_poisson(self.theta, n, rng)
        mixed = uniform_order(n, rng)
        moved = np.sort(mixed[held:])
        order[moved] = moved[uniform_order(n - held, rng)]
        return order

    def guarantee(self, groups: Grouping) -> Guarantee:
        """The guarantee for these groups."""
        return hamming_guarantee(groups, theta=self.theta)


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
    the mean at least halve: once they are negligible, the last one exceeds the sum of all that
    follow.
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
