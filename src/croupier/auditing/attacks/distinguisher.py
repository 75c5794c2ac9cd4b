"""The optimal test that tells two values of one person apart in the batch, played and weighted."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.pair import ShuffledPair
from croupier.auditing.attacks.game import Game, Outcomes, ScoredGame, with_rest
from croupier.model.adversary import Goal
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.betting import Observations
from croupier.numerics.bisection import bisect_safe

__all__ = ["CoinGame", "EpsilonGame", "Law", "Tilt", "Untilted"]

Real = NDArray[np.float64]

_PILOT = 4000
"""Games that choose where to look; they are not counted."""

_PILOT_CONFIDENCE = 0.95
_WORTH, _MORE = 1.25, 0.1
"""The factor by which unweighted batches must show more: weighted ones also give an upper end."""

_PASSES = 4
_LARGEST = 50.0
"""The largest epsilon that is searched."""

_STEP, _FOLDS = 5e-4, 20.0
"""Weighted differences are rounded down by this share; those e^20 below the largest to 0."""

_ROUNDING = 1e-9
_TINY = 1e-300
"""A stand-in for a probability of zero: a report that nobody else sends identifies its sender."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CoinGame(ScoredGame):
    """Toss a coin for one of two values, and guess it from the batches of all rounds.

    The likelihood ratio of a batch with c_j reports of kind j is

        sum of c_j p_j/w_j  :  sum of c_j q_j/w_j,

    p and q being the laws of the two values and w that of the others; rounds multiply. The attacker
    follows it, and tosses a coin at a tie. Every game is a hit or a miss.
    """

    name = "guess_of_two"
    metric = Metric.GUESS_OF_TWO
    hits = True

    @cached_property
    def pair(self) -> ShuffledPair:
        """The two values that are told apart best."""
        return self.scene.easiest_pair(0.0)

    @property
    def cost(self) -> int:
        """One number per class of reports and round, drawn and weighted."""
        return 3 * self.scene.rounds * len(self.pair.reference)

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the games in which the coin is guessed."""
        bits = rng.integers(2, size=games)
        for_first = _log_ratios(self.pair, bits, self.scene.rounds, rng)
        guess = np.where(for_first == 0, rng.integers(2, size=games), for_first > 0)
        return np.asarray(guess == bits)


def _log_ratios(
    pair: ShuffledPair, bits: NDArray[np.int64], rounds: int, rng: np.random.Generator
) -> Real:
    """Draw batches of all rounds: log of how much likelier the first value makes each.

    The person holds the first value if a bit is 1.
    """
    games = len(bits)
    for_first = np.zeros(games)
    laws = np.stack([pair.second, pair.first])
    ends = np.cumsum(laws, axis=1) / laws.sum(axis=1, keepdims=True)
    ratios = np.stack([pair.first, pair.second]) / np.maximum(pair.reference, _TINY)
    for _ in range(rounds):
        seen = rng.multinomial(pair.n - 1, with_rest(pair.reference), size=games)[:, :-1]
        own = (rng.random(games)[:, None] >= ends[bits]).sum(axis=1)
        seen[np.arange(games), np.minimum(own, laws.shape[1] - 1)] += 1
        first, second = (seen @ ratio for ratio in ratios)
        with np.errstate(divide="ignore", invalid="ignore"):
            for_first += np.log(first) - np.log(second)
    return for_first


class Law(ABC):
    """A law to draw batches from."""

    @abstractmethod
    def draw(self, games: int, rounds: int, rng: np.random.Generator) -> Real:
        """Return two columns: the weighted likelihoods of batches under either value."""

    def bare(self, epsilon: float) -> float:  # noqa: ARG002 - a tilt leaves some out
        """Return the share of delta from batches that are never drawn: none."""
        return 0.0

    @property
    def limit(self) -> tuple[float, float] | None:
        """An epsilon, and the largest weighted difference from there on; None if unknown."""
        return None


@dataclass(frozen=True, eq=False)
class Untilted(Law):
    """Batches drawn as they come from the first value: a batch counts once.

    If a single report already tells much, above all over many rounds, the batches that a tilt
    makes frequent have weights that differ too much to be averaged; these have none.

    Attributes:
        pair: The two values and the others' law.
    """

    pair: ShuffledPair

    def draw(self, games: int, rounds: int, rng: np.random.Generator) -> Real:
        """Return two columns: likelihoods of batches under either value, relative to the first."""
        held = np.ones(games, dtype=np.int64)
        log_ratios = _log_ratios(self.pair, held, rounds, rng)
        # A law of rounded probabilities sums to 1 except for some rounding.
        return np.stack([np.full(games, 1 - _ROUNDING), np.exp(-log_ratios)], axis=1)


@dataclass(frozen=True, eq=False)
class Tilt(Law):
    """Batches drawn from a law under which the decisive ones are frequent, and their weights.

    With G_j = (p_j - e^epsilon q_j)/w_j, reports are drawn with chances w_j e^(t G_j)/M(t), t >= 0
    such that the sum of G over the batch is zero on average: at a delta of 1e-8 as often positive
    as not. A batch with sum s then counts M(t)^n e^(-t s).

    Attributes:
        pair: The two values and the others' law.
        strength: t.
        epsilon: The epsilon of G.
    """

    pair: ShuffledPair
    strength: float
    epsilon: float

    @classmethod
    def at(cls, pair: ShuffledPair, epsilon: float) -> "Tilt":
        """Return the tilt at which the sum of G is zero on average."""
        gain, weights = _gain(pair, epsilon)

        def falls(strength: float) -> bool:
            return float((weights * gain) @ np.exp(strength * (gain - gain.max()))) <= 0

        if not (gain > 0).any() or not falls(0.0):
            return cls(pair, 0.0, epsilon)
        most = 1 / float(gain.max())
        while falls(most) and most * float(gain.max()) < 300:
            most *= 2
        strength = bisect_safe(falls, safe=0.0, unsafe=most, tolerance=1e-6 * most)
        return cls(pair, strength, epsilon)

    @cached_property
    def _log_moment(self) -> float:
        """The logarithm of M(t)."""
        gain, weights = _gain(self.pair, self.epsilon)
        return math.log1p(float(weights @ np.expm1(self.strength * gain)))

    @property
    def most(self) -> float:
        """The largest possible weighted difference at `epsilon` or beyond.

        s e^(-t s) <= 1/(e t), and s/n <= max G.
        """
        gain, _ = _gain(self.pair, self.epsilon)
        highest = float(gain.max())
        if not self.strength:
            return highest
        log_scale = self.pair.n * self._log_moment - 1 - math.log(self.strength * self.pair.n)
        return math.exp(log_scale) * (1 + 1e-9)

    @property
    def limit(self) -> tuple[float, float]:
        """The epsilon of G, and the largest weighted difference from there on."""
        return self.epsilon, self.most

    def draw(self, games: int, rounds: int, rng: np.random.Generator) -> Real:
        """Return two columns: the likelihoods of the batches of all rounds under either value.

        They are relative to the law of the others, times the weight. Their expectation over an
        event is its probability: a batch of n reports of the others' law, in which the person's
        replaces each in turn, is c_j p_j/(n w_j), summed over j, times as likely.
        """
        pair = self.pair
        hidden = pair.reference > 0
        gain, weights = _gain(pair, self.epsilon)
        law = with_rest(weights * np.exp(self.strength * gain - self._log_moment))
        if weights.sum() >= 1 - 1e-12:
            law = law[:-1] / law[:-1].sum()
        ratios = [side[hidden] / (pair.n * weights) for side in (pair.first, pair.second)]
        logs = np.zeros((games, 2))
        for _ in range(rounds):
            counts = rng.multinomial(pair.n, law, size=games)[:, : len(weights)]
            logs += (pair.n * self._log_moment - self.strength * (counts @ gain))[:, None]
            with np.errstate(divide="ignore"):
                logs += np.log(np.stack([counts @ ratio for ratio in ratios], axis=1))
        return np.exp(logs)

    def bare(self, epsilon: float) -> float:
        """Return the share of delta from reports that nobody else sends."""
        never = self.pair.reference <= 0
        gain = self.pair.first[never] - math.exp(epsilon) * self.pair.second[never]
        return float(np.maximum(gain, 0).sum())


def _gain(pair: ShuffledPair, epsilon: float) -> tuple[Real, Real]:
    """Return G and the others' law, for reports that others send."""
    hidden = pair.reference > 0
    weights = pair.reference[hidden]
    return (pair.first[hidden] - math.exp(epsilon) * pair.second[hidden]) / weights, weights


@dataclass(frozen=True, eq=False, kw_only=True)
class EpsilonGame(Game):
    """Measure the epsilon at delta between two values of one person, in all rounds together.

        delta(epsilon) = E[(A - e^epsilon B)_+],

    A and B being the likelihoods of a batch under either value, relative to the law it is drawn
    from (`Tilt`). A batch counts if the optimal test says "the first value". For any test that
    difference is at most the true delta, so a test that errs measures less.

    (A - e^epsilon B)_+ falls with epsilon game by game. Hence, if "delta(epsilon) is at most delta"
    is refuted at one epsilon by betting, it is refuted at every smaller one by the same bets: the
    greatest refuted epsilon is a lower bound, without any allowance for the search.

    Attributes:
        pilot: Seeds the games that choose the tilt; they are not counted.
    """

    name = "epsilon"
    metric = Metric.EPSILON
    goal = Goal.DISTINGUISH

    pilot: int = 0

    @cached_property
    def law(self) -> Law:
        """The law to draw batches from: the one whose first games show most."""
        return self._choice

    @property
    def cost(self) -> int:
        """One number per class of reports and round, drawn and weighted, and the bets on each."""
        return 5 * self.scene.rounds * len(self._choice.pair.reference) + 100

    @cached_property
    def _choice(self) -> Untilted | Tilt:
        rng = np.random.default_rng(self.pilot)
        tilt = self._tilt(rng)

        def shown(law: Untilted | Tilt) -> float:
            played = law.draw(_PILOT, self.scene.rounds, rng)
            return self._lower(played, law, _PILOT_CONFIDENCE)

        plain = [Untilted(pair) for pair in (tilt.pair, self.scene.easiest_pair(0.0))]
        best = max(plain, key=shown)
        return best if shown(best) > _WORTH * shown(tilt) + _MORE else tilt

    def _tilt(self, rng: np.random.Generator) -> Tilt:
        """Find the tilt where the weighted difference is about delta."""
        scene = self.scene
        pair = max(scene.pairs, key=lambda pair: pair.chi_square)
        spread = 2 * math.log(1 / scene.delta) * scene.rounds * pair.chi_square / pair.n
        epsilon = min(math.sqrt(spread), 0.999 * self._cap)
        for _ in range(_PASSES):
            pair = scene.easiest_pair(epsilon / scene.rounds)
            tilt = Tilt.at(pair, epsilon / scene.rounds)
            epsilon = self._measured(tilt.draw(_PILOT, scene.rounds, rng), tilt)
            if epsilon == 0:
                break
        return Tilt.at(pair, epsilon / scene.rounds)

    @property
    def _known(self) -> float:
        """Return the sum of epsilon_local over all rounds: no attack exceeds it."""
        return self.scene.rounds * self.scene.randomizer.epsilon_local * (1 + _ROUNDING)

    @property
    def _cap(self) -> float:
        return min(_LARGEST, self.scene.rounds * self.scene.randomizer.epsilon_local)

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return two columns, A and B."""
        return self.law.draw(games, self.scene.rounds, rng)

    def evidence(self, outcomes: Outcomes, *, confidence: float) -> Evidence:
        """Return epsilon from both sides, in one round; else the upper end is the known one."""
        if self.scene.rounds > 1 or self.law.limit is None:
            return self._evidence(outcomes, confidence, self._known, confidence)
        each = 1 - (1 - confidence) / 2
        upper = self._upper(outcomes, self.law, *self.law.limit, each)
        return self._evidence(outcomes, each, upper, confidence)

    def sure_evidence(self, outcomes: Outcomes, *, confidence: float) -> Evidence:
        """Return epsilon from below."""
        return self._evidence(outcomes, confidence, math.inf, confidence)

    def _evidence(
        self, outcomes: Outcomes, below: float, upper: float, confidence: float
    ) -> Evidence:
        measured = self._measured(outcomes, self.law)
        lower = self._lower(outcomes, self.law, below)
        return Evidence(
            metric=self.metric,
            measured=min(upper, max(lower, measured)),
            lower=lower,
            upper=upper,
            confidence=confidence,
            adversary=self.adversary,
            games=len(outcomes),
            delta=self.scene.delta,
        )

    def _measured(self, outcomes: Outcomes, law: Law) -> float:
        """Return the epsilon at which the average difference is delta."""

        def is_more(epsilon: float) -> bool:
            return self._is_more(outcomes, law, epsilon)

        if not is_more(0.0):
            return 0.0
        return bisect_safe(is_more, safe=0.0, unsafe=self._cap, tolerance=1e-7 * self._cap)

    def _is_more(self, outcomes: Outcomes, law: Law, epsilon: float) -> bool:
        """Tell whether the average difference is more than delta at an epsilon."""
        mean = float(_difference(outcomes, epsilon).mean()) + self._bare(law, epsilon)
        return mean > self.scene.delta

    def _bare(self, law: Law, epsilon: float) -> float:
        return law.bare(epsilon) if self.scene.rounds == 1 else 0.0

    def _lower(self, outcomes: Outcomes, law: Law, confidence: float) -> float:
        def is_exceeded(epsilon: float) -> bool:
            return self._exceeds(outcomes, law, epsilon, confidence)

        measured = min(_LARGEST, self._measured(outcomes, law))
        if measured == 0:
            return 0.0
        return bisect_safe(is_exceeded, safe=0.0, unsafe=measured, tolerance=1e-4 * measured)

    def _exceeds(self, outcomes: Outcomes, law: Law, epsilon: float, confidence: float) -> bool:
        """Tell whether delta is seen to be exceeded at an epsilon."""
        left = self.scene.delta - self._bare(law, epsilon)
        if epsilon == 0 or left <= 0:
            return True
        seen = _observations(_difference(outcomes, epsilon))
        return seen.exceed(left, confidence=confidence)

    def _upper(
        self, outcomes: Outcomes, law: Law, start: float, most: float, confidence: float
    ) -> float:
        """Return the least epsilon, from `start`, at which delta is seen to be missed."""

        def is_missed(epsilon: float) -> bool:
            left = self.scene.delta - self._bare(law, epsilon)
            if epsilon >= self.scene.rounds * self.scene.randomizer.epsilon_local:
                return True
            if left <= 0 or left >= most:
                return left > 0
            missed = _observations(most - _difference(outcomes, epsilon))
            return missed.exceed(most - left, confidence=confidence)

        if is_missed(start):
            return start
        if not is_missed(self._cap):
            return math.inf
        return bisect_safe(
            is_missed, safe=self._cap, unsafe=start, tolerance=1e-4 * (start + 1e-3 * self._cap)
        )


def _difference(outcomes: Outcomes, epsilon: float) -> Real:
    return np.maximum(outcomes[:, 0] - math.exp(epsilon) * outcomes[:, 1], 0.0)


def _observations(values: Real) -> Observations:
    """Return the values, rounded down by a part in two thousand, so that many count together.

    Rounded-down values are exceeded less often: bounds stay valid.
    """
    most = float(values.max())
    some = values[values > most * math.exp(-_FOLDS)]
    steps = np.floor(np.log(most / some) / _STEP).astype(np.int64) + 1
    counts = np.bincount(steps)
    kinds = np.flatnonzero(counts)[::-1]
    listed = most * np.exp(-_STEP * kinds)
    zeros = len(values) - len(some)
    if not zeros:
        return Observations(listed, counts[kinds])
    return Observations(np.append(0.0, listed), np.append(zeros, counts[kinds]))
