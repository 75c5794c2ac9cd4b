"""The policy gate: the limits of a plan or of an organisation that are proved to be kept.

A policy is met if every limit is proved to be kept and the rows that count are limited: the batch,
and the most exposed adversary whom the declared operators make possible. A limit limits nothing if
it is about somebody who sees nothing, or if it would allow nearly every guess to be right. A limit
that the plan itself sets also limits nothing if the noise of the device alone keeps it, whatever
shuffler and analyzer do. Such limits may stand in a policy, but do not count.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from croupier.assessment.ladder.dummies import worst
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.ladder.manipulation import manipulation
from croupier.assessment.ladder.rungs import Rungs
from croupier.assessment.verdict import Demand, Verdict
from croupier.errors import PolicyError
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.result import Result
from croupier.model.rung import Rung
from croupier.numerics.bisection import bisect_safe_integer
from croupier.plan.facts import Limit
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy

__all__ = ["Check", "NoLimitError", "PolicyNotMetError", "check", "checked", "enough_people"]


@dataclass(frozen=True, repr=False)
class Check(Result):
    """The verdicts on limits; iterating yields them.

    Attributes:
        plan: The plan.
        policy: The organisation's policy; None if only the plan's own limits were checked.
        verdicts: One per limit, those of the organisation first.
        demands: What the policy demands of the plan's assumptions.
        headline: The most exposed adversary whom the declared operators make possible.
    """

    plan: Plan
    policy: Policy | None
    verdicts: tuple[Verdict, ...]
    demands: tuple[Demand, ...]
    headline: Rung

    @property
    def own(self) -> bool:
        """Tell if only the plan's own limits were checked, which satisfy nobody but its author."""
        return self.policy is None

    @property
    def owner(self) -> str:
        """Name whoever sets the limits."""
        if self.policy is None:
            return "the plan"
        return self.policy.owner or "the organisation"

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The limits that are not proved to be kept."""
        return tuple(verdict for verdict in self.verdicts if not verdict.met)

    @property
    def unmet(self) -> tuple[Demand, ...]:
        """The demands that the plan's assumptions do not meet."""
        return tuple(demand for demand in self.demands if not demand.met)

    @property
    def counting(self) -> tuple[Rung, ...]:
        """The rows that must be limited: the batch and the headline."""
        return tuple(dict.fromkeys((Rung.BATCH, self.headline)))

    @property
    def unlimited(self) -> tuple[Rung, ...]:
        """The rows that count and on which no limit is about answers."""
        limited = {
            rung
            for verdict in self.verdicts
            if verdict.limits_answers and (self.own or verdict.organisation)
            for rung in verdict.rows
        }
        return tuple(rung for rung in self.counting if rung not in limited)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """List the assumptions of the proofs of the limits, each once."""
        proved = (verdict.cell.proved for verdict in self.verdicts)
        assumed = {each for one in proved if one is not None for each in one.assumptions}
        return tuple(sorted(assumed))

    @property
    def judgement(self) -> Judgement:
        """Say if the policy is kept."""
        if self.failed or self.unmet:
            return Judgement.NOT_MET
        return Judgement.NO_LIMIT if self.unlimited else Judgement.MET

    @property
    def met(self) -> bool:
        """Tell if the rows that count are limited and all limits are proved to be kept."""
        return self.judgement is Judgement.MET

    def require_met(self) -> None:
        """Refuse a plan whose policy is not met.

        Raises:
            PolicyNotMetError: Some limit is not proved to be kept.
            NoLimitError: A row that counts is not limited.
        """
        if self.judgement is Judgement.NOT_MET:
            raise PolicyNotMetError([*self.failed, *self.unmet])
        if self.judgement is Judgement.NO_LIMIT:
            raise NoLimitError(self.unlimited, self.verdicts)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def _summary(self) -> str:
        own = ", the plan's own" if self.own and self.verdicts else ""
        return f"{self.plan.name} {self.plan.digest[:8]}: {self.judgement}, {len(self)} limits{own}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "rung": verdict.limit.rung,
                "limit": verdict.limit.key,
                "value": verdict.limit.value,
                "proved": verdict.cell.proved_value,
                "met": verdict.met,
                "limits_nothing": verdict.idle,
                "organisation": verdict.organisation,
            }
            for verdict in self.verdicts
        ]


class PolicyNotMetError(PolicyError):
    """Some limits of a policy are not proved to be kept.

    Attributes:
        failed: Those limits, and demands on the plan's assumptions.
    """

    def __init__(self, failed: Sequence[Verdict | Demand]) -> None:
        self.failed = tuple(failed)
        super().__init__(f"The policy is not met. {'; '.join(map(str, self.failed))}")


class NoLimitError(PolicyNotMetError):
    """A row that counts has no limit that limits something, so that any plan would pass.

    Attributes:
        unlimited: Those rows.
        idle: The limits that limit nothing.
    """

    def __init__(self, unlimited: Sequence[Rung], found: Sequence[Verdict]) -> None:
        super().__init__(())
        self.unlimited = tuple(unlimited)
        self.idle = tuple(verdict for verdict in found if verdict.idle)
        no_limit = f"No limit is set on {' and '.join(unlimited)}"
        self.problem = ". ".join([no_limit, *map(str, self.idle)])
        self.hint = f"Set one: policy.{unlimited[0]}.max_epsilon, for example."
        self.args = (f"{self.problem}. {self.hint}",)


def checked(ladder: Ladder, policy: Policy | None = None) -> Check:
    """Put every limit of an organisation's policy and of the plan's own beside what is proved.

    A limit on `shuffler` holds for each of two shufflers, one on `collusion` for everybody. In a
    plan with one shuffler, a limit on `all_but_one` or `everybody` is one on `collusion`.
    """
    headline = Rung(ladder.headline.rung)

    def verdict(limit: Limit, *, organisation: bool) -> Verdict:
        rows = limit.rung.among(len(ladder.plan.shufflers))
        cell = worst(ladder[rung][limit.metric] for rung in rows)
        if limit.metric is Metric.MANIPULATION:
            cell = manipulation(ladder.plan)
        alone = ladder[Rung.COLLUSION][limit.metric]
        possible = headline in rows or not any(map(_only_if_they_join, rows))
        bare = possible and cell.proved_value == alone.proved_value
        return Verdict(
            limit,
            cell,
            alone,
            ladder.blind[limit.metric],
            ladder.plan.population.enrolled,
            rows,
            firm=organisation or bare,
            organisation=organisation,
        )

    theirs = () if policy is None else policy.limits
    return Check(
        plan=ladder.plan,
        policy=policy,
        verdicts=(
            *(verdict(limit, organisation=True) for limit in theirs),
            *(verdict(limit, organisation=False) for limit in ladder.plan.limits),
        ),
        demands=() if policy is None else tuple(_demands(ladder.plan, policy)),
        headline=headline,
    )


def _demands(plan: Plan, policy: Policy) -> Iterator[Demand]:
    demanded = policy.assumptions
    if demanded.max_delta is not None:
        delta = plan.guarantee.delta or 0.0
        yield Demand("max_delta", demanded.max_delta, delta, delta <= demanded.max_delta)
    if demanded.min_corrupt_fraction is not None:
        batch, least = plan.protections.minimum_batch, demanded.min_corrupt_fraction
        enough = plan.corrupt >= math.floor(Fraction(repr(least)) * batch)  # whole people
        yield Demand("min_corrupt_fraction", least, plan.corrupt / batch, enough)


def check(plan: Plan, policy: Policy | str | Path | None = None) -> Check:
    """Return the verdict on every limit, if all are kept and the rows that count are limited.

    Args:
        plan: The plan.
        policy: An organisation's policy, or the name of its file; the plan's own limits must be
            kept as well.

    Raises:
        PolicyNotMetError: Some limit is not proved to be kept.
        NoLimitError: The batch, or the most exposed adversary, is not limited.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
        ... population.enrolled = 1_000
        ... protections.minimum_batch = 1_000
        ... policy.collusion.max_epsilon = 0.5
        ... ''')
        >>> check(plan)
        Traceback (most recent call last):
        croupier.assessment.policy.PolicyNotMetError: The policy is not met. collusion max_epsilon =
        0.5: 1.00 is proved.
        >>> check(plan.replace(policy__collusion__max_epsilon=1.0))
        Traceback (most recent call last):
        croupier.assessment.policy.NoLimitError: No limit is set on batch and clients. collusion
        max_epsilon = 1: 1.00 is proved, but it limits nothing: epsilon_local alone gives 1.00. Set
        one: policy.batch.max_epsilon, for example.
    """
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    found = checked(assess(plan), policy)
    found.require_met()
    return found


def enough_people(
    plan: Plan,
    failed: Sequence[Verdict],
    policy: Policy | None = None,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> int | None:
    """The least minimum batch at which these limits are kept too; None if there is none.

    None also if the demands of a policy are not met at that size: a larger batch has a smaller
    share of corrupt people.

    Each limit is checked by the view of its own rung, so that a smaller batch may be enough.
    """

    def is_enough(batch: int) -> bool:
        advance(1)
        rungs = Rungs(plan.replace(protections__minimum_batch=batch))
        return all(
            rungs.cell(rung, verdict.limit.metric).met_by(verdict.limit.value)
            for verdict in failed
            for rung in verdict.rows
        )

    bounded = {*Rungs(plan).metrics, Metric.ALPHA, Metric.MANIPULATION}
    if any(_whatever_the_crowd(each) or each.limit.metric not in bounded for each in failed):
        return None
    if not is_enough(plan.population.enrolled):
        return None
    found = bisect_safe_integer(
        is_enough, safe=plan.population.enrolled, unsafe=plan.protections.minimum_batch
    )
    larger = plan.replace(protections__minimum_batch=found)
    kept = policy is None or all(demand.met for demand in _demands(larger, policy))
    return found if kept else None


def _only_if_they_join(rung: Rung) -> bool:
    """Tell whether the adversary needs the analyzer and a shuffler to work together."""
    return rung.sees_all or rung is Rung.ALL_BUT_ONE


def _whatever_the_crowd(verdict: Verdict) -> bool:
    """Tell whether no number of people helps."""
    alone = verdict.limit.metric in (Metric.ALPHA, Metric.EPSILON_PERMANENT)
    return alone or any(map(_only_if_they_join, verdict.rows))
