"""Reports that are all made from one permanent answer, with fresh noise on each."""

import math
from dataclasses import dataclass

import numpy as np

from croupier.accounting.blanket import local_curve, upper_curve
from croupier.accounting.composition import Rounds
from croupier.accounting.curve import Curve
from croupier.accounting.sums.terms import Real, exp_above
from croupier.numerics.rounding import float_above
from croupier.randomizers.memoised import MemoisedResponse

__all__ = ["FROM_PERMANENT", "PermanentReports"]

FROM_PERMANENT = "for every permanent answer"
"""How the bound of several reports is proved, beside the proof for the noise of each."""


@dataclass(frozen=True, eq=False)
class PermanentReports:
    """The loss of several reports of one person, all made from one permanent answer.

    Given the permanent answer, the reports are rounds with fresh noise; the others may hold any
    permanent answers, since the curve of a round holds whatever their values are. The law of the
    reports is a mixture over the permanent answer, of which two values share all but the total
    variation t of its law, so that with D the curve of the rounds (advanced joint convexity)

        delta(epsilon') <= t D(epsilon),   e^epsilon' = 1 + t (e^epsilon - 1).

    It is zero from `MemoisedResponse.epsilon_of` on and, since reports are made from the permanent
    answer alone, at most what that answer reaches if it is seen with its sender.

    Direction: upper. Reference: balle2018, Theorem 2.

    Attributes:
        mechanism: The mechanism.
        noise: The rounds, with fresh noise on a permanent answer in each.
        permanent: The curve of the permanent answer, seen with its sender.
    """

    mechanism: MemoisedResponse
    noise: Rounds
    permanent: Curve

    @classmethod
    def of(
        cls,
        mechanism: MemoisedResponse,
        *,
        reports: int,
        honest: int | None = None,
        share: float = 1.0,
    ) -> "PermanentReports":
        """Compose so many reports, each among so many honest people.

        Args:
            mechanism: The mechanism.
            reports: The number of reports.
            honest: The number of honest people of a batch, the person included; None if the sender
                of every report is known.
            share: The chance that each of the others is in the same batch.
        """
        added = mechanism.instantaneous
        curve = local_curve(added)
        if honest is not None:
            curve = upper_curve(added, n=honest, report_probability=share)
        return cls(mechanism, Rounds(curve, reports), local_curve(mechanism.permanent))

    @property
    def most(self) -> float:
        """An epsilon at which delta is zero, whatever the shuffler does."""
        return self.mechanism.epsilon_of(self.noise.number)

    @property
    def distance(self) -> float:
        """The total variation t of the permanent answers of two values, rounded up."""
        own, other = self.mechanism.permanent.levels
        return min(1.0, float_above(own - other))

    def epsilon(self, delta: float) -> float:
        """The epsilon that is proved for all reports together."""
        t = self.distance
        alone = self.noise.epsilon(min(delta / t * (1 - 1e-15), 1 - 1e-9))
        mixed = math.log1p(t * math.expm1(alone)) * (1 + 1e-14) if alone < _LARGE else alone
        return min(self.most, self.permanent.epsilon(delta), mixed)

    def deltas(self, epsilons: Real, *, at: float, rtol: float = 1e-6) -> Real:
        """The deltas at several epsilons, from a loss that was discretised for a delta of `at`."""
        t, small = self.distance, np.minimum(epsilons, _LARGE)
        alone = np.log1p(np.expm1(small) / t) * (1 - 1e-14)
        mixed = t * self.noise.deltas(
            np.where(epsilons < _LARGE, alone, epsilons), at=at, rtol=rtol
        )
        permanent = exp_above(self.permanent.log_deltas(epsilons))
        found = np.minimum(mixed * (1 + 1e-15), permanent)
        return np.where(epsilons >= self.most, 0.0, found)


_LARGE = 500.0
"""An epsilon beyond which mixing is not counted."""
