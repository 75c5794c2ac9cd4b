"""Shifting by one: a published defence that hides the number of messages, shown to fail."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, View
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.intervals import Interval, clopper_pearson
from croupier.numerics.keystream import Keystream, generator
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["ShiftDefence", "ShiftViolation", "shift_by_one_violation"]

_AT_ONCE = 50_000
_OBSERVER = Adversary(sees=frozenset({View.COUNTS, View.ESTIMATE}))


@dataclass(frozen=True, kw_only=True)
class ShiftDefence:
    """Delta-summation of x + 1, so that everybody sends one message of their own.

    The number of messages then no longer depends on x, but it still shows everybody's number of
    noise messages. Unpaired noise messages +1 and -1 are split over n people,

        A_i, B_i ~ NB(1/n, q),   q = e^-((1-gamma) epsilon/range),

    and zero-sum sets of two or more messages come on top. A person with exactly one noise message
    has an unpaired one. So "nobody has exactly one noise message" (T) goes with noise 0 on the sum
    and hardly with noise -1: an observer who sees the counts and the noisy sum, and knows all
    others, tells a sum s (noise 0) from a sum s + 1 (noise -1). If pairs are the only zero-sum
    set, the parity of all counts is that of the noise, and the parity of the sum is certain.

    Attributes:
        n: The number of people.
        epsilon: The nominal epsilon.
        delta: The nominal delta.
        gamma: The share of epsilon spent on zero-sum noise.
        range_after_shift: The largest value of a person after the shift: 2 for bits.
        zero_sum_sets: The number of kinds of zero-sum sets: 4 for values up to 2.

    Holds when each zero-sum set has the noise printed for the set {-1, +1}; the law for larger
    values is not in the published text.
    Reference: wang2025, section VI-D, against its Definition 12; the attack is ours.

    Example:
        >>> ShiftDefence(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1).violation
        0.0992880...
    """

    n: int
    epsilon: float
    delta: float
    gamma: float
    range_after_shift: int = 2
    zero_sum_sets: int = 4

    def __post_init__(self) -> None:
        for name in ("n", "range_after_shift", "zero_sum_sets"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=1))
        if not 0 < self.epsilon <= 50:
            raise ParameterError("epsilon", must="be in (0, 50]", got=self.epsilon, hint="Try 1.")
        for name in ("delta", "gamma"):
            if not 0 < getattr(self, name) < 1:
                raise ParameterError(name, must="be in (0, 1)", got=getattr(self, name))

    @property
    def ratio(self) -> float:
        """The ratio q of the unpaired noise."""
        return math.exp(-(1 - self.gamma) * self.epsilon / self.range_after_shift)

    @property
    def no_sets(self) -> float:
        """The probability that a person sends no zero-sum set."""
        shape = 3 * (1 + math.log(2 / self.delta)) * self.zero_sum_sets / self.n
        miss = -math.expm1(-min(1.0, self.gamma * self.epsilon) / 40)
        return math.exp(shape * math.log(miss))

    def event_probability(self, noise: int) -> float:
        """P(the noise on the sum is `noise`, and nobody has exactly one noise message).

        The coefficient of s^noise in phi(s)^n, where phi is one person's generating function

            phi(s) = ((1 - q)^2 / ((1 - q s)(1 - q/s)))^(1/n)
                     - w (1 - q)^(2/n) (q/n) (s + 1/s)

        and w the probability that a person sends no zero-sum set.

        Direction: to about 1e-14, by a discrete Fourier transform whose aliases are below 1e-17.
        """
        q = self.ratio
        size = 2 * (abs(noise) + math.ceil(40 / -math.log(q)))
        circle = np.exp(2j * np.pi * np.arange(size) / size)
        laplace = ((1 - q) ** 2 / ((1 - q * circle) * (1 - q / circle))).real
        single = self.no_sets * (1 - q) ** (2 / self.n) * q / self.n * 2 * circle.real
        # phi^n by logarithms: phi is within 1/n of one, and its n-th power would lose n roundings.
        everybody = laplace * np.exp(self.n * np.log1p(-single / laplace ** (1 / self.n)))
        return float((everybody * circle ** (-noise)).real.mean())

    @property
    def violation(self) -> float:
        """The delta at `epsilon` that T alone forces, P(0, T) - e^epsilon P(-1, T), no less than 0.

        Direction: a lower bound of the true delta, to about 1e-12.
        """
        gap = self.event_probability(0) - math.exp(self.epsilon) * self.event_probability(-1)
        return max(0.0, gap)


@dataclass(frozen=True)
class ShiftViolation:
    """The result of a simulated attack on the shift.

    Attributes:
        without_noise: P(noise 0 and T), where T means that nobody has exactly one noise message.
        with_noise: P(noise -1 and T); both intervals hold together.
        delta_lower: A lower bound of delta at the nominal epsilon.
        evidence: The same as a lower bound of epsilon at the nominal delta.
    """

    without_noise: Interval
    with_noise: Interval
    delta_lower: float
    evidence: Evidence


def shift_by_one_violation(
    defence: ShiftDefence,
    *,
    games: int = 200_000,
    confidence: float = 1 - 1e-6,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> ShiftViolation:
    """Simulate the noise of the shifted protocol and bound its delta from below.

        delta >= P(noise 0 and T) - e^epsilon P(noise -1 and T)

    by two Clopper-Pearson intervals, each of half the error. The noise totals are geometric; given
    a total, its split over n people is Polya's urn: message i goes to the sender of a random
    earlier one with probability i/(i + 1), else to anybody.

    Args:
        defence: The shifted protocol.
        games: The number of times that the noise is drawn.
        confidence: The probability that the bounds hold.
        rng: The simulation's randomness; the operating system's if not given.
        insecure_seed: Instead of `rng`: makes it repeatable.

    Direction: `delta_lower` and `evidence.lower` are lower.
    Reference: clopper1934; wang2025, Definition 12.
    """
    games = number_of_people("games", games, least=1)
    draws = generator(rng, insecure_seed)
    found = np.zeros(2, dtype=np.int64)
    for start in range(0, games, _AT_ONCE):
        found += _play(defence, min(_AT_ONCE, games - start), draws)
    each = 1 - (1 - confidence) / 2
    zero, minus = (clopper_pearson(int(hits), games, confidence=each) for hits in found)
    excess = zero.lower - math.exp(defence.epsilon) * minus.upper
    return ShiftViolation(
        without_noise=zero,
        with_noise=minus,
        delta_lower=max(0.0, excess * (1 - 1e-12) - 1e-15),
        evidence=Evidence(
            metric=Metric.EPSILON,
            measured=_epsilon(found[0] / games, found[1] / games, defence.delta),
            lower=_epsilon(zero.lower, minus.upper, defence.delta),
            upper=math.inf,
            confidence=confidence,
            adversary=_OBSERVER,
            games=games,
            delta=defence.delta,
        ),
    )


def _epsilon(first: float, second: float, delta: float) -> float:
    """The least epsilon that allows two probabilities of one event at `delta`, rounded down."""
    if first - delta <= second:
        return 0.0
    if second == 0:
        return math.inf
    return max(0.0, math.log((first - delta) / second) - 1e-12)


def _play(defence: ShiftDefence, games: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The number of games in which T came with noise 0, and with noise -1."""
    plus, minus = (rng.geometric(1 - defence.ratio, size=games) - 1 for _ in range(2))
    senders = np.concatenate([_urn(total, defence.n, rng) for total in (plus, minus)], axis=1)
    singles = _alone(senders)
    hidden = rng.random(games) < (1 - defence.no_sets) ** singles
    noise = plus - minus
    return np.array([np.count_nonzero(hidden & (noise == value)) for value in (0, -1)])


def _urn(totals: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The sender of each of `totals` messages, one row per game; -1 beyond its last message."""
    games = len(totals)
    senders = rng.integers(0, n, size=(games, int(totals.max(initial=0))))
    for message in range(1, senders.shape[1]):
        copied = rng.random(games) * (message + 1) < message
        earlier = rng.integers(0, message, size=games)
        senders[copied, message] = senders[copied, earlier[copied]]
    senders[np.arange(senders.shape[1]) >= totals[:, None]] = -1
    return senders


def _alone(senders: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of people who occur exactly once in each row."""
    if not senders.shape[1]:
        return np.zeros(len(senders), dtype=np.int64)
    ordered = np.sort(senders, axis=1)
    edge = np.full((len(senders), 1), -2)
    left = np.concatenate([edge, ordered[:, :-1]], axis=1) != ordered
    right = np.concatenate([ordered[:, 1:], edge], axis=1) != ordered
    return np.asarray((left & right & (ordered >= 0)).sum(axis=1))
