"""The policy gate: which limits of a plan are kept, by proof alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from croupier.assessment.cell import Cell
from croupier.assessment.ladder import Ladder, assess
from croupier.assessment.rungs import Rungs
from croupier.errors import CroupierError
from croupier.model.guarantee import Metric
from croupier.model.plan import Limit, Plan
from croupier.model.rung import Rung
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.rounding import ceiling_digits, floor_digits

__all__ = ["PolicyNotMetError", "Verdict", "check", "enough_people", "verdicts"]


@dataclass(frozen=True)
class Verdict:
    """Whether one limit is kept.

    Attributes:
        limit: The line of the policy.
        cell: What is proved, and what is known from the other side.
    """

    limit: Limit
    cell: Cell

    @property
    def met(self) -> bool:
        """Whether the limit is proved to be kept; what was scanned or conjectured counts not."""
        return self.cell.met_by(self.limit.value)

    def __str__(self) -> str:
        promise = self.cell.promise
        shown = floor_digits if self.limit.metric.protects else ceiling_digits
        proved = "nothing is" if promise is None else f"{shown(promise.value)} is"
        return f"{self.limit.rung} {self.limit.key} = {self.limit.value:g}: {proved} proved"


class PolicyNotMetError(CroupierError):
    """Some limits of a plan are not proved to be kept.

    Attributes:
        failed: Those limits.
    """

    def __init__(self, failed: Sequence[Verdict]) -> None:
        self.failed = tuple(failed)
        super().__init__(f"The policy is not met. {'; '.join(map(str, self.failed))}.")


def verdicts(ladder: Ladder) -> tuple[Verdict, ...]:
    """Every limit of the plan's policy, beside what is proved."""
    return tuple(Verdict(limit, ladder[limit.rung][limit.metric]) for limit in ladder.plan.limits)


def check(plan: Plan) -> tuple[Verdict, ...]:
    """The verdict on every limit, if all are kept.

    Raises:
        PolicyNotMetError: Some limit is not proved to be kept.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 1
        ... randomizer = {mechanism = "k-rr", k = 2, epsilon_local = 1.0}
        ... population.enrolled = 1_000
        ... protections.minimum_batch = 1_000
        ... policy.collusion.max_epsilon = 0.5
        ... ''')
        >>> check(plan)
        Traceback (most recent call last):
        croupier.assessment.policy.PolicyNotMetError: The policy is not met. collusion max_epsilon =
        0.5: 1.00 is proved.
    """
    found = verdicts(assess(plan))
    failed = [verdict for verdict in found if not verdict.met]
    if failed:
        raise PolicyNotMetError(failed)
    return found


def enough_people(
    plan: Plan, failed: Sequence[Verdict], *, advance: Callable[[int], None] = lambda _: None
) -> int | None:
    """The least minimum batch at which these limits are kept too; None if there is none.

    Each limit is looked at by the view of its own rung, so that a smaller batch may do.
    """

    def is_enough(batch: int) -> bool:
        advance(1)
        rungs = Rungs(plan.having(protections__minimum_batch=batch))
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
    """Whether no number of people helps."""
    return limit.rung is Rung.COLLUSION or limit.metric is Metric.ALPHA
