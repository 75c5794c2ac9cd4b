"""The policy gate: the limits of a plan that are proved to be kept.

A policy is met if at least one limit limits something and every limit is proved to be kept. A limit
limits nothing if the noise of the device alone keeps it, whatever shuffler and analyzer do, if it
is about somebody who sees nothing, or if even publishing somebody's answer would keep it. Such a
limit may stand in a plan, but does not count.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.ladder.rungs import NO_ROWS, ORDER_FREE, Rungs
from croupier.assessment.ladder.text import proved_text
from croupier.errors import PolicyError
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.result import Result
from croupier.model.rung import Rung
from croupier.numerics.bisection import bisect_safe_integer
from croupier.plan.facts import Limit
from croupier.plan.plan import Plan

__all__ = ["Check", "NoLimitError", "PolicyNotMetError", "Verdict", "check", "enough_people"]
__all__ += ["judged", "verdicts"]

_ANYTHING = "any plan keeps it"
_UNIFORM = "a uniform order reveals nothing"
_BLIND = "nothing is seen there, whatever the noise"
_NO_REPORT = "no report is shown there, whatever the noise"
_NO_ORDER = "no order is shown there"
_ANY_ORDER = "two orders may be told apart 99.95 % of the time"

_MOST_ALPHA = math.log(1999)
"""The alpha from which two orders may be told apart in 1,999 of 2,000 cases: practically always."""


@dataclass(frozen=True)
class Verdict:
    """One limit beside what is proved.

    Attributes:
        limit: The line of the policy.
        cell: The proved bound, and what is known from the other side.
        alone: The same if only the noise of the device protects: under collusion.
        blind: The same for somebody who sees nothing.
        people: The minimum batch.
    """

    limit: Limit
    cell: Cell
    alone: Cell
    blind: Cell
    people: int

    @property
    def met(self) -> bool:
        """Tell if the limit is proved to be kept; scans and conjectures do not count."""
        return self.idle == _ANYTHING or self.cell.met_by(self.limit.value)

    @property
    def limits_something(self) -> bool:
        """Tell if a plan with this randomizer could break the limit."""
        return not self.idle

    @property
    def idle(self) -> str:
        """Say why the limit limits nothing; empty if it does."""
        if self.limit.metric is Metric.ALPHA:
            return self._idle_order
        return _ANYTHING if self._is_trivial else self._unseen or self._kept_anyway

    @property
    def _idle_order(self) -> str:
        proved = self.cell.proved
        if proved is not None and proved.value == 0:
            return _NO_ORDER if proved.theorem == ORDER_FREE else _UNIFORM
        return _ANY_ORDER if self.limit.value >= _MOST_ALPHA else ""

    @property
    def _is_trivial(self) -> bool:
        metric, value = self.limit.metric, self.limit.value
        if metric.protects:
            return value <= 0
        return metric is not Metric.EPSILON and value >= 1

    @property
    def _unseen(self) -> str:
        proved = self.cell.proved
        if proved is None or not self.cell.exact:
            return ""
        if proved.theorem == NO_ROWS:
            return _NO_REPORT
        return _BLIND if proved.value == self.blind.upper else ""

    @property
    def _kept_anyway(self) -> str:
        """Say if publishing somebody's answer, or the device alone, keeps the limit."""
        metric, proved = self.limit.metric, self.cell.proved
        if proved is not None and (proved.delta or 0) * self.people >= 1:
            return f"at delta {proved.delta:g} one of {self.people:,} answers may be published"
        if self.alone.proved is None or not self.alone.met_by(self.limit.value):
            return ""
        return f"epsilon_local alone gives {proved_text(metric, self.alone.proved.value)}"

    def __str__(self) -> str:
        value = self.cell.proved_value
        what = "nothing is" if value is None else f"{value.shown} is"
        text = f"{self.limit.rung} {self.limit.key} = {self.limit.value:g}: {what} proved"
        return f"{text}, but it limits nothing: {self.idle}" if self.idle else text


@dataclass(frozen=True, repr=False)
class Check(Result):
    """The verdicts on a policy; iterating yields them.

    Attributes:
        plan: The plan with the policy.
        verdicts: One per limit.
    """

    plan: Plan
    verdicts: tuple[Verdict, ...]

    @property
    def judgement(self) -> Judgement:
        """Say if the policy is kept."""
        return judged(self.verdicts)

    @property
    def met(self) -> bool:
        """Tell if limits are set and all are proved to be kept."""
        return self.judgement is Judgement.MET

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def _summary(self) -> str:
        return f"{self.plan.name} {self.plan.digest[:8]}: {self.judgement}, {len(self)} limits"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "rung": verdict.limit.rung,
                "limit": verdict.limit.key,
                "value": verdict.limit.value,
                "proved": verdict.cell.proved_value,
                "met": verdict.met,
                "limits_nothing": verdict.idle,
            }
            for verdict in self.verdicts
        ]


class PolicyNotMetError(PolicyError):
    """Some limits of a plan are not proved to be kept.

    Attributes:
        failed: Those limits.
    """

    def __init__(self, failed: Sequence[Verdict]) -> None:
        self.failed = tuple(failed)
        super().__init__(f"The policy is not met. {'; '.join(map(str, self.failed))}")


class NoLimitError(PolicyNotMetError):
    """A plan sets no limit, or only limits that limit nothing, so that any plan would pass.

    Attributes:
        idle: The limits that limit nothing.
    """

    def __init__(self, idle: Sequence[Verdict]) -> None:
        super().__init__(())
        self.idle = tuple(idle)
        self.problem = ". ".join(["No limit is set", *map(str, self.idle)])
        self.hint = "Set one: policy.batch.max_epsilon, for example."
        self.args = (f"{self.problem}. {self.hint}",)


def verdicts(ladder: Ladder) -> tuple[Verdict, ...]:
    """Put every limit of the plan's policy beside what is proved."""
    alone = ladder[Rung.COLLUSION]
    return tuple(
        Verdict(
            limit,
            ladder[limit.rung][limit.metric],
            alone[limit.metric],
            ladder.blind[limit.metric],
            ladder.plan.protections.minimum_batch,
        )
        for limit in ladder.plan.limits
    )


def judged(found: Sequence[Verdict]) -> Judgement:
    """Judge a policy by the verdicts on its limits."""
    if not all(verdict.met for verdict in found):
        return Judgement.NOT_MET
    counts = any(verdict.limits_something for verdict in found)
    return Judgement.MET if counts else Judgement.NO_LIMIT


def check(plan: Plan) -> Check:
    """Return the verdict on every limit, if all are kept and at least one limits something.

    Raises:
        PolicyNotMetError: Some limit is not proved to be kept.
        NoLimitError: No limit is set, or none of them limits anything.

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
        croupier.assessment.policy.NoLimitError: No limit is set. collusion max_epsilon = 1: 1.00 is
        proved, but it limits nothing: epsilon_local alone gives 1.00. Set one:
        policy.batch.max_epsilon, for example.
    """
    found = verdicts(assess(plan))
    outcome = judged(found)
    if outcome is Judgement.NOT_MET:
        raise PolicyNotMetError([verdict for verdict in found if not verdict.met])
    if outcome is Judgement.NO_LIMIT:
        raise NoLimitError(found)
    return Check(plan, found)


def enough_people(
    plan: Plan, failed: Sequence[Verdict], *, advance: Callable[[int], None] = lambda _: None
) -> int | None:
    """The least minimum batch at which these limits are kept too; None if there is none.

    Each limit is checked by the view of its own rung, so that a smaller batch may be enough.
    """

    def is_enough(batch: int) -> bool:
        advance(1)
        rungs = Rungs(plan.replace(protections__minimum_batch=batch))
        return all(
            rungs.cell(verdict.limit.rung, verdict.limit.metric).met_by(verdict.limit.value)
            for verdict in failed
        )

    if any(_only_the_device(verdict.limit) for verdict in failed):
        return None
    if not is_enough(plan.population.enrolled):
        return None
    return bisect_safe_integer(
        is_enough, safe=plan.population.enrolled, unsafe=plan.protections.minimum_batch
    )


def _only_the_device(limit: Limit) -> bool:
    """Tell whether no number of people helps."""
    return limit.rung is Rung.COLLUSION or limit.metric is Metric.ALPHA
