"""A game that an attacker plays many times, and the evidence from its outcomes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.scene import Scene
from croupier.auditing.blackbox.samples import binomial_lower
from croupier.model.adversary import Adversary, Goal, Knowledge
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.betting import Observations, bounded_mean
from croupier.numerics.intervals import clopper_pearson

__all__ = ["Game", "Outcomes", "ScoredGame", "with_rest"]

Outcomes = NDArray[Any]
"""One entry, or one row, per game."""

_WORK = 100_000_000
"""Numbers that one attack may draw or compare: some seconds."""

_FEWEST = 200
"""Games that are played whatever they cost."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(ABC):
    """One attack on one rung.

    Attributes:
        name: The common name of the attack.
        metric: The metric that its success measures.
        scene: The people attacked, and the attacker's view.
    """

    name: ClassVar[str]
    metric: ClassVar[Metric]
    goal: ClassVar[Goal] = Goal.GUESS
    knows: ClassVar[Knowledge] = Knowledge.EVERYONE_ELSE

    scene: Scene

    @property
    def adversary(self) -> Adversary:
        """The player."""
        return self.scene.adversary(self.goal, knows=self.knows)

    @property
    @abstractmethod
    def cost(self) -> int:
        """About how many numbers one game draws or compares."""

    def affordable(self, games: int) -> int:
        """Return `games`, or as many as take some seconds."""
        return min(games, max(_FEWEST, _WORK // max(1, self.cost)))

    @abstractmethod
    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the outcomes of so many independent games."""

    @abstractmethod
    def evidence(self, outcomes: Outcomes, *, confidence: float) -> Evidence:
        """Return the measurement, from both sides."""

    @abstractmethod
    def sure_evidence(self, outcomes: Outcomes, *, confidence: float) -> Evidence:
        """Return the measurement, from below only: all the error is spent there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredGame(Game):
    """A game whose outcome is a score in [0, 1], with the success probability as expectation.

    A score is a hit, 0 or 1, or the chance of a hit over coins that need not be tossed: a draw
    among equal reports, or which of many people is meant. No score uses the attacker's own belief,
    so an attacker who errs measures less, never more.

    Attributes:
        hits: True if every score is 0 or 1: then intervals are those of Clopper and Pearson.
    """

    hits: ClassVar[bool] = False

    def evidence(self, outcomes: Outcomes, *, confidence: float) -> Evidence:
        """Return the share of success with its interval."""
        if self.hits:
            right = int(outcomes.sum())
            interval = clopper_pearson(right, len(outcomes), confidence=confidence)
        else:
            interval = bounded_mean(outcomes, confidence=confidence)
        return self._evidence(outcomes, interval.lower, interval.upper, confidence)

    def sure_evidence(self, outcomes: Outcomes, *, confidence: float) -> Evidence:
        """Return the share of success with its lower end."""
        if self.hits:
            lower = binomial_lower(int(outcomes.sum()), len(outcomes), confidence)
        else:
            lower = Observations.of(outcomes).lower(confidence)
        return self._evidence(outcomes, lower, 1.0, confidence)

    def _evidence(
        self, outcomes: Outcomes, lower: float, upper: float, confidence: float
    ) -> Evidence:
        return Evidence(
            metric=self.metric,
            measured=min(upper, max(lower, float(np.mean(outcomes)))),
            lower=lower,
            upper=upper,
            confidence=confidence,
            adversary=self.adversary,
            games=len(outcomes),
        )


def with_rest(law: NDArray[np.float64]) -> NDArray[np.float64]:
    """Complete a law to 1 with a last entry: the probability of sending nothing.

    >>> with_rest(np.array([0.5, 0.25])).tolist()
    [0.5, 0.25, 0.25]
    """
    return np.append(law, max(0.0, 1 - float(law.sum())))
