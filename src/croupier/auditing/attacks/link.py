"""Tracing one person's report in the batch: the best attack, played."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.attacks.game import Outcomes, ScoredGame
from croupier.leakage.likelihood_ratio import LikelihoodRatio
from croupier.leakage.reidentification import easiest_to_find
from croupier.model.adversary import Goal
from croupier.model.metric import Metric

__all__ = ["LinkGame", "play_link"]


def play_link(
    law: LikelihoodRatio, *, n: int, games: int, rng: np.random.Generator, guesses: int = 1
) -> NDArray[np.float64]:
    """Play the basic game: one report of the target's law among n - 1 of the decoys' law.

    The attacker points at the `guesses` reports of largest likelihood ratio, at random among
    equals. With a of the others above the target's report and e equal to it, it is found with
    chance

        min(1, max(0, guesses - a)/(e + 1)),

    which is the score: only that random choice is averaged over, the reports are those drawn.

    Its expectation is `law.probability(n=n, guesses=guesses)`.

    >>> coin = LikelihoodRatio.of([1.0, 0.0], [0.5, 0.5])
    >>> scores = play_link(coin, n=3, games=10_000, rng=np.random.default_rng(1))
    >>> round(float(scores.mean()), 1)  # 7/12
    0.6
    """
    own_law = np.append(law.certain, law.target)
    own = rng.choice(len(own_law), size=games, p=own_law / own_law.sum()) - 1
    decoys = rng.multinomial(n - 1, law.decoy / law.decoy.sum(), size=games)
    above = np.cumsum(decoys, axis=1) - decoys
    seen = np.maximum(own, 0)
    rows = np.arange(games)
    found = (guesses - above[rows, seen]) / (decoys[rows, seen] + 1)
    # A report that nobody else sends identifies its sender.
    return np.where(own < 0, 1.0, np.clip(found, 0.0, 1.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkGame(ScoredGame):
    """Point at the report of the one person, in one round; everybody's value is known.

    The others hold the value that hides the person worst. In the shuffled batch this is the basic
    game: the reports of the others are decoys of one law.

    Attributes:
        guesses: The number of reports that may be pointed at.

    Reference: su2025, Theorem 4.
    """

    name = "reidentification"
    metric = Metric.REIDENTIFICATION
    goal = Goal.LINK

    guesses: int = 1

    @cached_property
    def law(self) -> LikelihoodRatio:
        """The likelihood of reports under the person's value, relative to the others'."""
        scene = self.scene
        return easiest_to_find(
            scene.randomizer,
            n=scene.people,
            guesses=self.guesses,
            report_probability=scene.share,
        )

    @property
    def cost(self) -> int:
        """One number per class of reports, drawn and compared."""
        return 3 * len(self.law.decoy)

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the chances of pointing right."""
        return play_link(self.law, n=self.scene.people, games=games, rng=rng, guesses=self.guesses)
