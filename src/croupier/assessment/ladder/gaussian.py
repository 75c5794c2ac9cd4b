"""The least mu and the trade-off curve of a row of the ladder."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from croupier.accounting.exposure import Exposure
from croupier.accounting.gaussian import gaussian_dp
from croupier.accounting.trade_off import FALSE_ALARMS, trade_off
from croupier.assessment.ladder.exposures import exposures
from croupier.assessment.ladder.rungs import Rungs
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["NO_MU", "GaussianRow", "gaussian_row"]

NO_MU = "no mu: the proved curve does not go to 0, or begins at 1"


@dataclass(frozen=True, kw_only=True)
class GaussianRow:
    """The whole privacy curve of one adversary in one number, and as errors of a test.

    Attributes:
        rung: Against whom.
        mu: The least mu that is proved, rounded up; infinite if there is none.
        trade_off: False positive rates, each with the least false negative rate, rounded down.
    """

    rung: Rung
    mu: float
    trade_off: tuple[tuple[float, float], ...]

    @property
    def bounded(self) -> bool:
        """Tell whether some mu is proved."""
        return math.isfinite(self.mu)


def gaussian_row(plan: Plan, rung: Rung) -> GaussianRow:
    """Prove mu and the trade-off curve for everything that one person sends, at the minimum batch.

    Holds under the conditions of `assess`. Where nothing is published, those who see only what is
    published learn nothing: mu is 0.
    Direction: mu is rounded up, false negative rates down.

    >>> plan = Plan.from_toml('''
    ... schema = 2
    ... randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
    ... population.enrolled = 1_000_000
    ... protections.minimum_batch = 200_000
    ... ''')
    >>> found = gaussian_row(plan, Rung.BATCH)
    >>> f"{found.mu:.4f}", found.trade_off[4]
    ('0.0167', (0.1, 0.897))
    """
    silent = plan.analyzer.publication == "none"
    if silent and (rung is Rung.ESTIMATE or rung.mixes is not None):
        luck = tuple((rate, round(1 - rate, 4)) for rate in FALSE_ALARMS)
        return GaussianRow(rung=rung, mu=0.0, trade_off=luck)
    at = plan.guarantee.delta or 0.0
    cases = [_proved(each, at) for each in exposures(Rungs(plan), rung)]
    return GaussianRow(
        rung=rung,
        mu=max(mu for mu, _ in cases),
        trade_off=tuple(map(min, zip(*(points for _, points in cases), strict=True))),
    )


def _proved(holding: Iterable[Exposure], at: float) -> tuple[float, list[tuple[float, float]]]:
    """Prove mu and the points of the trade-off curve from curves that all hold."""
    holding = tuple(holding)
    mu = min(gaussian_dp(each.upper, rounds=each.rounds) for each in holding)
    curves = [trade_off(partial(each.deltas, at=at), most=each.most, mu=mu) for each in holding]
    return mu, list(map(max, zip(*curves, strict=True)))
