"""Plans whose devices send the value itself, and whose shufflers add dummies, for the planner."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from croupier.assessment.design.family import LARGEST_INDEX, decimal_at, index_of
from croupier.assessment.design.search import Search
from croupier.assessment.ladder.cause import dummies_hide
from croupier.assessment.ladder.rungs import Rungs
from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.numerics.bisection import bisect_safe_integer
from croupier.plan.facts import Limit
from croupier.plan.plan import Plan
from croupier.shufflers.dummies import DummyTable

__all__ = ["DummyPoint", "DummySearch", "limited_to_one_honest", "traded"]

_LEAST = index_of(0.01)

_SECOND_WITHOUT_DUMMIES = (
    "Neither shuffler adds dummies: the second one improves no row of the ladder, and either of "
    "them together with the analyzer learns as much as both."
)


@dataclass(frozen=True)
class DummyPoint:
    """One point of the search.

    Attributes:
        plan: The plan.
    """

    plan: Plan

    @property
    def error(self) -> float:
        """The root mean square standard error of its shares at the minimum batch."""
        return self.plan.rms_error or 0.0

    @property
    def people(self) -> int:
        """The minimum batch."""
        return self.plan.protections.minimum_batch

    @cached_property
    def epsilon(self) -> float:
        """The epsilon of the batch; infinite if none is proved."""
        proved = Rungs(self.plan).cell(Rung.BATCH, Metric.EPSILON).proved
        return math.inf if proved is None else proved.value


@dataclass(frozen=True)
class DummySearch:
    """Tables of dummies, by the epsilon of four digits for which they are made.

    What dummies promise does not depend on people, and grows with epsilon; their standard deviation
    falls with it. So the largest epsilon within the limits releases soonest, and the least one that
    reaches the error with all people leaks least. If that fails somewhere, a better plan may be
    missed; limits are always proved.

    Attributes:
        search: The error to reach, the limits and the people.
        domain: One of ``k`` and ``labels`` with its value.
        shufflers: How many shufflers there are; each makes dummies of the same law.
    """

    search: Search
    domain: Mapping[str, Any]
    shufflers: int = 1

    def best(self, *, people: float, epsilon: float) -> DummyPoint | None:
        """Return the plan with fewer people than `people`, or else with a lower epsilon."""
        soonest = self.soonest()
        if soonest is None or soonest.people < people:
            return soonest
        readers = self.for_readers()
        return readers if readers is not None and readers.epsilon < epsilon else None

    def soonest(self) -> DummyPoint | None:
        """The point of least people."""
        return None if self._most is None else self._within(self._most)

    def for_readers(self) -> DummyPoint | None:
        """The point of least epsilon, with the most people."""
        if self._first is None:
            return None
        most = self.search.most_people

        def reaches(index: int) -> bool:
            return self._error(index, most) <= self.search.target_error

        if not reaches(LARGEST_INDEX):
            return None
        index = bisect_safe_integer(reaches, safe=LARGEST_INDEX, unsafe=self._first - 1)
        return self._within(index, most) if self._keeps(index) else None

    def least_error(self) -> float:
        """The least error within the limits; infinite if no table keeps them."""
        if self._most is None:
            return math.inf
        return self._error(self._most, self.search.most_people)

    @property
    def binding(self) -> Limit | None:
        """The limit that the next larger epsilon breaks; None if there is none."""
        if self._most is None or self._most == LARGEST_INDEX:
            return None
        rungs = Rungs(self._plan(self._most + 1, self.search.most_people))
        return next((each for each in self.search.limits if not _kept(rungs, each)), None)

    def out_of_reach(self) -> ParameterError:
        """The error to raise where no table of dummies keeps the limits."""
        if self._first is None:
            return ParameterError(
                "delta", must="be one for which dummies are made", got=self._delta
            )
        rungs = Rungs(self._plan(self._first, self.search.most_people))
        limit = next(each for each in self.search.limits if not _kept(rungs, each))
        return ParameterError(limit.key, must="be reachable with dummies", got=limit.value)

    @cached_property
    def _delta(self) -> float:
        return self.search.delta or 0.01 / self.search.enrolled

    @cached_property
    def _first(self) -> int | None:
        """The least index for which there is a table."""

        def exists(index: int) -> bool:
            try:
                self._table(index)
            except ParameterError:
                return False
            return True

        if not exists(LARGEST_INDEX):
            return None
        return bisect_safe_integer(exists, safe=LARGEST_INDEX, unsafe=_LEAST - 1)

    @cached_property
    def _most(self) -> int | None:
        """The index of the largest epsilon within the limits; None if no table keeps them."""
        if self._first is None or not self._keeps(self._first):
            return None
        return bisect_safe_integer(self._keeps, safe=self._first, unsafe=LARGEST_INDEX + 1)

    def _table(self, index: int) -> DummyTable:
        return DummyTable.two_sided_geometric(epsilon=decimal_at(index), delta=self._delta)

    def _error(self, index: int, people: int) -> float:
        return self._point(index, people).error

    def _people(self, index: int) -> int:
        """The people that the error needs, with two honest ones beside all corrupt ones.

        A liar moves a count by one, so that the share of liars is how far they move a share.
        """
        most = self.search.most_people  # the error falls as 1/people
        needed = math.ceil(most * self._error(index, most) / self.search.target_error)
        spread = math.ceil(self.search.corrupt / self.search.max_manipulation)
        return max(needed, spread, self.search.corrupt + 2)

    def _within(self, index: int, people: int | None = None) -> DummyPoint | None:
        found = self._people(index) if people is None else people
        if found > self.search.most_people:
            return None
        return self._point(index, found)

    def _keeps(self, index: int) -> bool:
        """Tell whether the ladder proves every limit, at the fewest people that there may be."""
        self.search.advance(1)
        least = max(2, min(self._people(index), self.search.most_people))
        rungs = Rungs(self._plan(index, least))
        return all(_kept(rungs, limit) for limit in self.search.limits)

    def _point(self, index: int, people: int) -> DummyPoint:
        return DummyPoint(self._plan(index, people))

    def _plan(self, index: int, people: int) -> Plan:
        made = {"epsilon": decimal_at(index), "delta": self._delta}
        return Plan.model_validate(
            {
                "schema": 2,
                "randomizer": {"mechanism": "plain", **self.domain},
                "population": {
                    "enrolled": self.search.enrolled,
                    "corrupt_fraction": self.search.corrupt_fraction,
                },
                "participation": {"model": "single"},
                "protections": {"minimum_batch": people},
                "shufflers": [{"dummies": made}] * self.shufflers,
                "guarantee": {"delta": self._delta},
                "policy": self.search.policy,
            }
        )


def _kept(rungs: Rungs, limit: Limit) -> bool:
    return rungs.cell(limit.rung, limit.metric).met_by(limit.value)


def limited_to_one_honest(plan: Plan, limits: Sequence[Limit]) -> Plan:
    """Return the plan with the limits of the batch also on `all_but_one`, where they are proved.

    Dummies of both shufflers keep them there. Without dummies only the device protects on that row.
    """
    if len(plan.shufflers) == 1 or not dummies_hide(plan, Rung.ALL_BUT_ONE):
        return plan
    rungs = Rungs(plan)
    wanted = [Limit(Rung.ALL_BUT_ONE, each.metric, each.value) for each in limits if _reads(each)]
    kept = {limit.key: limit.value for limit in wanted if _kept(rungs, limit)}
    return plan.replace(policy__all_but_one=kept) if kept else plan


def _reads(limit: Limit) -> bool:
    return limit.rung is Rung.BATCH


def traded(plan: Plan) -> str:
    """Say in one sentence what a plan with dummies, or with a second shuffler, trades.

    Nothing is said about plans with one shuffler and without dummies.
    """
    tables = [table for table in plan.dummies if table is not None]
    if not tables:
        return "" if len(plan.shufflers) == 1 else _SECOND_WITHOUT_DUMMIES
    bins = plan.randomizer.alphabet_size or 0
    number = f"{math.ceil(bins * sum(table.mean for table in tables)):,} made-up reports per batch"
    if len(plan.shufflers) == 1:
        return (
            f"The device sends the answer itself, hidden by about {number}: whoever runs the "
            "shuffler knows these, so that nothing protects on the rows shuffler and collusion."
        )
    return (
        f"The device sends the answer itself, hidden by about {number}, half of them from each "
        "shuffler: any one honest shuffler suffices, and nothing protects on the row everybody."
    )
