"""Limits that a plan keeps, rounded up to numbers that people remember."""

from decimal import ROUND_CEILING, Decimal

from croupier.assessment.rungs import Rungs
from croupier.model.guarantee import Metric
from croupier.model.plan import Plan
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits

__all__ = ["kept_limits", "round_limit"]

_READERS = (Rung.BATCH, Rung.CLIENTS)
_LIMITED = (Metric.EPSILON, Metric.REIDENTIFICATION, Metric.ALPHA)


def kept_limits(plan: Plan) -> dict[str, dict[str, float]]:
    """A policy that the plan is proved to keep, whatever policy it has.

    Against readers of the batch, with and without corrupt clients: epsilon, links, and alpha where
    there are groups. Against collusion: the epsilon of the device, to three digits. What is not
    bounded, or certain, has no limit.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 1
        ... randomizer = {mechanism = "k-rr", k = 50, epsilon_local = 4.0}
        ... population.enrolled = 1_000_000
        ... protections.minimum_batch = 200_000
        ... ''')
        >>> kept_limits(plan)["batch"]
        {'max_epsilon': 0.1, 'max_reidentification': 0.0005}
    """
    rungs = Rungs(plan)
    device = rungs.cell(Rung.COLLUSION, Metric.EPSILON).promise
    policy = {str(rung): _limits(rungs, rung) for rung in _READERS}
    if device is not None:
        ceiling = float(ceiling_digits(device.value))
        for limits in policy.values():
            limits["max_epsilon"] = min(limits.get("max_epsilon", ceiling), ceiling)
        policy[str(Rung.COLLUSION)] = {"max_epsilon": ceiling}
    return {rung: limits for rung, limits in policy.items() if limits}


def _limits(rungs: Rungs, rung: Rung) -> dict[str, float]:
    limits = {}
    for metric in _LIMITED:
        promise = rungs.cell(rung, metric).promise
        if promise is None or promise.value == 0:
            continue
        most = round_limit(promise.value)
        if metric is not Metric.REIDENTIFICATION or most < 1:
            limits[f"max_{metric}"] = most
    return limits


def round_limit(value: float) -> float:
    """The least of …, 0.1, 0.2, 0.5, 1, 2, 5, … that is not below `value`.

    >>> round_limit(0.0756), round_limit(0.000273), round_limit(0.1)
    (0.1, 0.0005, 0.1)
    """
    exact = Decimal(repr(value))  # as printed, so that 0.1 is its own limit
    unit = Decimal(1).scaleb(exact.adjusted())
    lead = int((exact / unit).to_integral_value(ROUND_CEILING))
    return float(next(nice for nice in (1, 2, 5, 10) if nice >= lead) * unit)
