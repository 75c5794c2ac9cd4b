"""Leaks of an order that is not uniform: who stayed in place, and what a household holds."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.game import Outcomes, ScoredGame
from croupier.auditing.locality.inference import vote
from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.reidentification import easiest_to_find
from croupier.model.adversary import Goal, Knowledge
from croupier.model.metric import Metric
from croupier.numerics.keystream import Keystream
from croupier.shufflers.mallows import MallowsShuffler

__all__ = ["HouseholdGame", "PlaceGame", "household_size"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaceGame(ScoredGame):
    """Point at the report of the first person of the reference order, by place and content.

    The person is j places further back with probability proportional to e^(-theta j). The attacker
    points at the place where that times the likelihood ratio of the report is largest.

    Attributes:
        theta: The strength with which the order stays close to the reference.

    Reference: meehan2022, the law; su2025, the likelihood ratio.
    """

    name = "place"
    metric = Metric.REIDENTIFICATION
    goal = Goal.LINK
    hits = True

    theta: float

    @cached_property
    def law(self) -> LikelihoodRatio:
        """The likelihood of reports under the person's value, relative to the others'."""
        return easiest_to_find(self.scene.randomizer, n=self.scene.people)

    @property
    def cost(self) -> int:
        """A few numbers per person."""
        return 6 * self.scene.people

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the games in which the report is found."""
        people, law = self.scene.people, self.law
        chances = np.exp(-self.theta * np.arange(people))
        place = rng.choice(people, size=games, p=chances / chances.sum())
        kinds = np.searchsorted(
            np.cumsum(law.decoy)[:-1] / law.decoy.sum(), rng.random((games, people))
        )
        own_law = np.append(law.target, law.certain)
        kinds[np.arange(games), place] = rng.choice(
            len(own_law), size=games, p=own_law / own_law.sum()
        )
        with np.errstate(divide="ignore"):
            worth = np.log(np.append(law.ratio, np.inf))
        worth[-1] = 1e9
        guess = (worth[kinds] - self.theta * np.arange(people)).argmax(axis=1)
        return np.asarray(guess == place)


def household_size(sensitivity: int) -> int:
    """Return the largest household of adjacent people that a sensitivity allows: g(g - 1)/2.

    >>> household_size(486)
    31
    """
    return max(2, (1 + math.isqrt(1 + 8 * sensitivity)) // 2)


@dataclass(frozen=True, eq=False, kw_only=True)
class HouseholdGame(ScoredGame):
    """Guess the value of a household, by the vote of the reports at its places.

    Households are adjacent in the reference order and hold one value each, all equally likely. The
    batch comes from the Mallows shuffler itself. The score is the share of households whose value
    wins the vote; a report is one of the values. No bound here covers people who are alike, so
    the measurement stands alone.

    Attributes:
        theta: The strength with which the order stays close to the reference.
        size: The number of people per household.

    Reference: meehan2022, Section 5, the vote of neighbours.
    """

    name = "guessed_share"
    metric = Metric.GUESSED_SHARE
    knows = Knowledge.NOTHING

    theta: float
    size: int

    @property
    def cost(self) -> int:
        """The order of everybody, drawn by exact coins."""
        return 300 * self.scene.people

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the shares of households that are guessed."""
        people = self.scene.people
        homes = people // self.size
        seats = np.arange(homes * self.size).reshape(homes, self.size)
        shuffler = MallowsShuffler(theta=self.theta)
        stream = Keystream(insecure_seed=int(rng.integers(2**63)))
        return np.array([self._guessed(shuffler, seats, people, stream, rng) for _ in range(games)])

    def _guessed(
        self,
        shuffler: MallowsShuffler,
        seats: NDArray[np.int64],
        people: int,
        stream: Keystream,
        rng: np.random.Generator,
    ) -> float:
        randomizer = self.scene.randomizer
        k = randomizer.domain.size
        held = rng.integers(k, size=len(seats))
        own = rng.integers(k, size=people)
        own[: seats.size] = np.repeat(held, self.size)
        draws = stream.table(randomizer.draw_bounds, people)
        reports = randomizer.respond(own, draws).reshape(-1)
        batch = reports[shuffler.order(people, rng=stream)]
        return float((vote(batch, seats, k=k, rng=rng) == held).mean())
