"""The gains of simple attacks on plans of any size: count one event, all others hold one value.

Nothing here comes from the package's own bounds: binomial laws alone.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.refute.ladders import NO_ROWS
from benchmarks.refute.plan_truth import PlanTruth
from croupier.model.metric import Metric
from croupier.model.participation import Subsample
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["Reached", "blind", "reached"]

Real = NDArray[np.float64]
SAFE = 1 - 1e-6
"""The allowance by which a gain is lowered, for the rounding of binomial laws."""

_MOST_EPSILON = 40.0


@dataclass(frozen=True)
class Reached:
    """The gain that some attack certainly reaches, by metric.

    Attributes:
        gains: The least gain; for protection, the most that is left.
        rounds: The number of rounds in which a person reports.
    """

    gains: dict[Metric, float]
    rounds: int = 1


def blind(plan: Plan) -> Reached:
    """The gain of somebody who sees nothing."""
    guess = 1 / min(question.domain.size for question in plan.randomizers)
    return Reached(
        {
            Metric.EPSILON: 0.0,
            Metric.REIDENTIFICATION: 1 / plan.protections.minimum_batch,
            Metric.GUESS_OF_TWO: 0.5,
            Metric.GUESS_UNINFORMED: guess,
            Metric.GUESS_INFORMED: guess,
            Metric.BAYES_SECURITY: 1.0,
            Metric.ALPHA: 0.0,
        }
    )


def reached(plan: Plan, rung: str) -> Reached:
    """The gain on a rung, or for one of the figures "repeated" and "enrolled"."""
    least = plan.protections.minimum_batch
    if rung in (Rung.ESTIMATE, Rung.SHUFFLER):
        return _shown(plan, rung)
    rounds = 1 if plan.participation.noise == "reused" else plan.reports
    if rung == "repeated":
        times = 1 if plan.participation.noise == "reused" else 30
        return _gains(plan, least, rounds=rounds * times)
    if rung == "enrolled":
        separate = plan.shuffling.groups is not None and not plan.shuffling.alpha
        crowds = plan.people // least
        return _gains(
            plan, least if separate else plan.population.enrolled // crowds, rounds=rounds
        )
    if rung == Rung.COLLUSION:
        return _gains(plan, 1, rounds=rounds, alone=True)
    if rung not in set(Rung):
        raise ValueError(rung)
    honest = plan.honest if rung == Rung.CLIENTS else least
    return _gains(plan, honest, rounds=rounds, seen=rung == Rung.NETWORK)


def _shown(plan: Plan, rung: str) -> Reached:
    """The gain of a reader of the publication, or of the shuffler."""
    shown = plan.analyzer.publication
    if shown in ("none", "estimate"):
        return blind(plan)
    if shown == "released-order" and rung == Rung.SHUFFLER:
        return reached(plan, Rung.COLLUSION)
    found = reached(plan, Rung.BATCH if rung == Rung.ESTIMATE else Rung.NETWORK)
    if shown in NO_ROWS:
        found.gains[Metric.REIDENTIFICATION] = 1 / plan.protections.minimum_batch
    if shown != "released-order":
        found.gains[Metric.ALPHA] = 0.0
    return found


def _gains(plan: Plan, n: int, *, rounds: int, seen: bool = False, alone: bool = False) -> Reached:
    delta = plan.guarantee.delta or 0.0
    found = blind(plan).gains
    link = 1.0 if alone else found[Metric.REIDENTIFICATION]
    epsilon = distance = 0.0
    for event in _events(plan, seen=seen and not alone):
        laws = event.laws(plan, n, seen=seen or alone)
        distance = max(distance, _delta(*laws, 0.0))
        epsilon = max(epsilon, _epsilon(*laws, delta), _rounds(*laws, delta, rounds))
        if not alone:
            link = max(link, event.linked(n))
    k = min(question.domain.size for question in plan.randomizers)
    alpha = 0.0 if alone else plan.reports * (plan.shuffling.alpha or 0.0)
    found |= {
        Metric.EPSILON: epsilon * SAFE,
        Metric.GUESS_OF_TWO: (1 + distance * SAFE) / 2,
        Metric.BAYES_SECURITY: 1 - distance * SAFE,
        Metric.REIDENTIFICATION: link if alone else link * SAFE,
        Metric.ALPHA: alpha * SAFE,
    }
    if len(plan.randomizers) == 1 and plan.participation_model.rounds == 1:
        found[Metric.GUESS_INFORMED] = max(1 / k, (1 + distance * SAFE) / k)
    return Reached(found, rounds=plan.reports)


@dataclass(frozen=True)
class _Event:
    """A set of reports: its chance for the two values of the person, and for all the others."""

    first: float
    second: float
    others: float

    def laws(self, plan: Plan, n: int, *, seen: bool) -> tuple[Real, Real]:
        """The laws of its number of occurrences in the batch, for both values."""
        base = stats.binom.pmf(np.arange(n), n - 1, self.others) if n > 1 else np.ones(1)
        laws = []
        for chance in (self.first, self.second):
            law = np.append(base * (1 - chance), 0.0) + np.append(0.0, base * chance)
            laws.append(law)
        if isinstance(plan.participation_model, Subsample) and not seen:
            share = n / (plan.people - (plan.protections.minimum_batch - n))
            out = stats.binom.pmf(np.arange(n + 1), n, self.others)
            laws = [share * law + (1 - share) * out for law in laws]
        return laws[0], laws[1]

    def linked(self, n: int) -> float:
        """The chance of finding the person's report by pointing at one of the event, or at any."""
        if self.others == 0:
            return self.first + (1 - self.first) / n
        none = math.exp(n * math.log1p(-self.others)) if self.others < 1 else 0.0
        among = (1 - none) / (n * self.others)
        never = none / (1 - self.others) if self.others < 1 else float(n == 1)
        return self.first * among + (1 - self.first) * never / n


def _events(plan: Plan, *, seen: bool) -> Iterator[_Event]:
    truth = PlanTruth(plan)
    tables = [np.array(rows, float) / sum(rows[0]) for rows in truth.reported]
    weights = [1.0] * len(tables)
    lots = truth.model in ("multinomial", "parallel", "bins") and len(tables) > 1
    if lots:
        shares = plan.participation_model.specification.get("weights") or [
            weight
            for weights in plan.participation_model.specification["bins"]
            for weight in weights
        ]
        totals = (
            [sum(own) for own in plan.participation_model.specification["bins"] for _ in own]
            if truth.model == "bins"
            else [sum(shares)] * len(shares)
        )
        weights = [share / total for share, total in zip(shares, totals, strict=True)]
    split = seen and lots and truth.model != "parallel" and not truth.filled
    for table, weight in zip(tables, weights, strict=True):
        for report in range(table.shape[1]):
            for a, b in ((a, b) for a in range(len(table)) for b in range(len(table)) if a != b):
                own = 1.0 if split else weight
                for held in {a, b}:
                    yield _Event(
                        float(own * table[a, report]),
                        float(own * table[b, report]),
                        float(weight * table[held, report]),
                    )


def _delta(first: Real, second: Real, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def _epsilon(first: Real, second: Real, delta: float) -> float:
    """An epsilon at which the divergence is above delta; zero if there is none."""
    low, high = 0.0, _MOST_EPSILON
    if _delta(first, second, low) <= delta * (1 + 1e-6):
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        if _delta(first, second, middle) > delta * (1 + 1e-6):
            low = middle
        else:
            high = middle
    return low


def _rounds(first: Real, second: Real, delta: float, rounds: int) -> float:
    """The same after many rounds, in each of which only a large count is noticed."""
    if rounds == 1:
        return 0.0
    place = int(np.argmax(np.cumsum(first - second)))
    low = [float(law[: place + 1].sum()) for law in (first, second)]
    high = [min(1.0, max(0.0, chance)) for chance in low]
    times = np.arange(rounds + 1)
    return _epsilon(
        stats.binom.pmf(times, rounds, high[0]), stats.binom.pmf(times, rounds, high[1]), delta
    )
