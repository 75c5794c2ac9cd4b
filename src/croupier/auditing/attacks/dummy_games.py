"""Guesses and traces in a batch with dummies: the attacker follows the exact law of the counts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from croupier.auditing.attacks.dummy_law import Counts, Real
from croupier.auditing.attacks.dummy_scene import DummyScene
from croupier.auditing.attacks.game import Outcomes, ScoredGame
from croupier.model.adversary import Goal, Knowledge
from croupier.model.metric import Metric

__all__ = ["DummyCoinGame", "DummyInformedGame", "DummyLinkGame", "DummyUninformedGame"]
__all__ += ["log_ratios"]

_EQUAL = 1 - 1e-9
"""Two ratios that are closer may be the same, rounded."""


def log_ratios(scene: DummyScene, bits: Counts, rng: np.random.Generator) -> Real:
    """Draw batches of all rounds: log of how much likelier the first value makes each.

    The person holds the first value where a bit is 1.
    """
    for_first = np.zeros(len(bits))
    for _ in range(scene.rounds):
        first, second = scene.likelihoods(*scene.draw_two(bits, rng))
        with np.errstate(divide="ignore", invalid="ignore"):
            for_first += np.where(first == second, 0.0, np.log(first) - np.log(second))
    return for_first


@dataclass(frozen=True, eq=False, kw_only=True)
class DummyCoinGame(ScoredGame):
    """Toss a coin for one of two values, and guess it from the two counts of all rounds.

    Everybody else's reports are subtracted or were dropped, and the dummies that are known are
    subtracted too. What is left of two counts is u and v. Without local noise, the attacker guesses
    the first value if

        D(u-1) D(v) > D(u) D(v-1),

    D being the law of the dummies that are not known, and tosses a coin at a tie. Every game is a
    hit or a miss.
    """

    name = "guess_of_two"
    metric = Metric.GUESS_OF_TWO
    hits = True

    scene: DummyScene

    @property
    def cost(self) -> int:
        """Two counts per round, drawn and compared."""
        return 40 * self.scene.rounds

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the games in which the coin is guessed."""
        bits = rng.integers(2, size=games)
        for_first = log_ratios(self.scene, bits, rng)
        guess = np.where(for_first == 0, rng.integers(2, size=games), for_first > 0)
        return np.asarray(guess == bits)


@dataclass(frozen=True, eq=False, kw_only=True)
class DummyLinkGame(ScoredGame):
    """Point at a row of the one person's value, in one round; the value is known.

    The others hold another value. With c rows of the person's value, the person's among them, the
    score is 1/c: the chance of drawing it.
    """

    name = "reidentification"
    metric = Metric.REIDENTIFICATION
    goal = Goal.LINK

    scene: DummyScene

    @property
    def cost(self) -> int:
        """Two counts, drawn."""
        return 30

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the chances of pointing right."""
        scene = self.scene
        beside = rng.binomial(scene.people - 1, scene.chances[1], size=games)
        for each in scene.unknown:
            beside = beside + each.draw(games, rng)
        reports, sent = scene.report(np.zeros(games, dtype=np.int64), rng)
        return np.where(sent & (reports == 0), 1 / (1 + beside), 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class DummyInformedGame(ScoredGame):
    """Guess the one person's value from all counts of one round.

    All others hold the first value, and the attacker knows it. The guess is the value whose count
    is likeliest to have one report more; at a tie, the score is the chance of drawing the right one
    among equals.
    """

    name = "guess_informed"
    metric = Metric.GUESS_INFORMED

    scene: DummyScene

    @property
    def cost(self) -> int:
        """One count per value, drawn and compared."""
        return 20 * self.scene.values

    @cached_property
    def others(self) -> Real:
        """The chances that the report of another person is each of the values."""
        own, other = self.scene.chances
        return np.append(own, np.full(self.scene.values - 1, other))

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the chances of guessing right."""
        scene, chances = self.scene, self.others
        counts = np.zeros((games, scene.values), dtype=np.int64)
        if scene.people > 1:
            law = np.append(chances, max(0.0, 1 - float(chances.sum())))
            counts += rng.multinomial(scene.people - 1, law / law.sum(), size=games)[:, :-1]
        for each in scene.unknown:
            counts += each.draw(counts.size, rng).reshape(counts.shape)
        held = rng.integers(scene.values, size=games)
        reports, sent = scene.report(held, rng)
        counts[np.arange(games), reports] += sent
        ratios = self._ratios(counts)
        best = ratios >= _EQUAL * ratios.max(axis=1, keepdims=True)
        return np.asarray(best[np.arange(games), held] / best.sum(axis=1))

    def _ratios(self, counts: Counts) -> Real:
        scene = self.scene
        ratios = scene.law_beside(own=False).ratio(counts)
        if scene.people > 1:
            ratios[:, 0] = scene.law_beside(own=True).ratio(counts[:, 0])
        return ratios


@dataclass(frozen=True, eq=False, kw_only=True)
class DummyUninformedGame(DummyInformedGame):
    """Guess the one person's value from all counts of one round, knowing nobody's.

    The others' values are drawn as the person's is, so that all counts have one law.
    """

    name = "guess_uninformed"
    metric = Metric.GUESS_UNINFORMED
    knows = Knowledge.NOTHING

    @cached_property
    def others(self) -> Real:
        """The same chance for each value."""
        return np.full(self.scene.values, self.scene.kept / self.scene.values)

    def _ratios(self, counts: Counts) -> Real:
        return self.scene.law_of(float(self.others[0])).ratio(counts)
