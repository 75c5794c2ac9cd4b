"""Guessing a bit from the rounds in which people are seen to send."""

from dataclasses import dataclass

import numpy as np

from croupier.auditing.attacks.game import Outcomes, ScoredGame
from croupier.auditing.attacks.sidechannels import participation_hits
from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.model.participation import Participation
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.sidechannels.participation import Observed

__all__ = ["RoundsGame"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RoundsGame(ScoredGame):
    """Toss a coin for a bit, watch who sends in which round, and guess the bit from its crowd.

    Unlike in the other games the crowd is not the worst: rounds are drawn as the plan draws them.

    Attributes:
        protocol: The law of who takes part in which round.
        everybody: The number of people in all rounds together.

    Reference: wang2025, the attack on in-out.
    """

    name = "rounds"
    metric = Metric.GUESS_OF_TWO
    hits = True

    protocol: Participation
    everybody: int

    @property
    def response(self) -> KaryRandomizedResponse:
        """Binary randomized response, as everybody answers."""
        response = self.scene.randomizer
        if not isinstance(response, KaryRandomizedResponse) or response.size != 2:
            raise ParameterError("randomizer", must="be binary randomized response")
        return response

    @property
    def cost(self) -> int:
        """A few draws per round in which a person may be seen."""
        return 20 * (self.protocol.rounds if self.protocol.sampled else 1)

    def play(self, games: int, rng: np.random.Generator) -> Outcomes:
        """Return the games in which the bit is guessed."""
        return participation_hits(
            self.protocol,
            n=self.everybody,
            response=self.response,
            observed=Observed.IN_OUT,
            games=games,
            rng=rng,
        )
