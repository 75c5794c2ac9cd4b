"""Search for the plans with the best strengths, within limits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from croupier.assessment.design.family import LARGEST_INDEX, Family, index_of
from croupier.assessment.ladder.rungs import Rungs
from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.numerics.bisection import bisect_safe_integer
from croupier.plan.facts import Limit
from croupier.plan.plan import Plan
from croupier.plan.sections import PopulationSection

__all__ = ["Candidate", "Search"]

_LEAST_REPORT, _BLOCK, _HEADER = 32, 16, 2
_COSTS = (Metric.REIDENTIFICATION, Metric.EPSILON, Metric.BAYES_SECURITY, Metric.GUESS_OF_TWO)
"""The order of checks, quick ones first: the first limit that fails ends a check."""

_NUDGES = 20


@dataclass(frozen=True)
class Candidate:
    """One point of the search.

    Attributes:
        family: The mechanism and its own parameters.
        index: The index of its epsilon_local among the numbers of four digits.
        people: The number of people at the minimum batch.
        error: Their root mean square standard error.
    """

    family: Family
    index: int
    people: int
    error: float

    @property
    def error_alone(self) -> float:
        """The error with one question, the same noise and as many people."""
        return self.family.randomizer(self.index).rms_error(self.people)


@dataclass(frozen=True, kw_only=True)
class Search:
    """Families of plans, an error to reach and limits to keep.

    A point is a family, an index of epsilon_local and a number of people. Its limits are checked by
    the proofs of the ladder, an epsilon by the one value of the curve that decides it.

    Attributes:
        families: The families to choose from.
        target_error: The largest error.
        enrolled: The number of people.
        corrupt_fraction: The share of them who may be corrupt.
        most_people: The number of people who surely take part in a round.
        delta: The failure probability; None for the plan's own default.
        limits: The limits that must be proved.
        advance: Called with 1 at every check.
        shufflers: The number of shufflers.
    """

    families: Sequence[Family]
    target_error: float
    enrolled: int
    corrupt_fraction: float
    most_people: int
    delta: float | None
    limits: Sequence[Limit]
    advance: Callable[[int], None]
    shufflers: int = 1

    def __post_init__(self) -> None:
        limited = [replace(one, **self._liars) for one in self.families]
        object.__setattr__(self, "families", limited)

    @property
    def max_manipulation(self) -> float:
        """The largest shift of an estimate by corrupt people."""
        given = (limit.value for limit in self.limits if limit.metric is Metric.MANIPULATION)
        return min(given, default=math.inf)

    @property
    def _liars(self) -> dict[str, Any]:
        return {"corrupt": self.corrupt, "max_manipulation": self.max_manipulation}

    @cached_property
    def highest(self) -> int:
        """The index of the largest epsilon_local."""
        ceilings = [limit.value for limit in self.limits if limit.rung.sees_all]
        return min([LARGEST_INDEX, *map(index_of, ceilings)])

    @cached_property
    def corrupt(self) -> int:
        """The number of people of a batch who may be corrupt."""
        return PopulationSection(
            enrolled=self.enrolled, corrupt_fraction=self.corrupt_fraction
        ).corrupt(self.enrolled)

    def _least_people(self, family: Family) -> int:
        """The least number of people that leaves two honest ones beside all corrupt ones."""
        return family.batches * (self.corrupt + 2)

    @cached_property
    def usable(self) -> list[Family]:
        """The families in which there are enough people to hide among.

        Raises:
            ParameterError: There are none.
        """
        found = [one for one in self.families if self._least_people(one) <= self.most_people]
        if not found:
            raise self._too_few_honest
        return found

    def require_honest(self) -> None:
        """Refuse a batch in which corrupt people may leave fewer than two honest ones."""
        if self.corrupt + 2 > self.most_people:
            raise self._too_few_honest

    @property
    def _too_few_honest(self) -> ParameterError:
        return ParameterError(
            "max_batch",
            must=f"leave 2 honest people beside {self.corrupt:,} corrupt ones",
            got=self.most_people,
            hint="Raise it, or lower corrupt_fraction.",
        )

    def soonest(self) -> Candidate | None:
        """The point of least people."""
        best = None
        for family in self.usable:
            most = self.most_people if best is None else best.people - 1
            best = self._soonest(family, most) or best
        return best

    def for_collusion(self) -> Candidate | None:
        """The point of least epsilon_local; it is at the most people."""
        ranked = sorted(self._at_most_people(), key=lambda candidate: candidate.index)
        return next((found for found in ranked if self._is_proved(found)), None)

    def for_readers(self) -> Candidate | None:
        """The point of least epsilon of the batch; it is at the most people."""
        best, least = None, float("inf")
        for candidate in self._at_most_people():
            rungs = self._rungs(candidate)
            if self.failing(candidate) or not self.is_below(rungs, Rung.BATCH, least):
                continue
            proved = rungs.cell(Rung.BATCH, Metric.EPSILON).proved
            if proved and proved.value < least and self._is_proved(candidate):
                best, least = candidate, proved.value
        return best

    def failing(self, candidate: Candidate) -> Limit | None:
        """The first limit that is not kept, if any."""
        rungs = self._rungs(candidate)
        return next((limit for limit in self._ranked if not self._keeps(rungs, limit)), None)

    @staticmethod
    def is_below(rungs: Rungs, rung: Rung, epsilon: float) -> bool:
        """Tell whether delta is reached at this epsilon; quicker than finding the least one."""
        delta = rungs.plan.guarantee.delta or 0.0
        return (
            epsilon == float("inf") or rungs.exposure(rung).deltas((epsilon,), at=delta)[0] <= delta
        )

    def plan(self, candidate: Candidate) -> Plan:
        """The whole plan of a point."""
        family = candidate.family
        made = family.randomizer(candidate.index)
        longest = made.report_format.size + _HEADER + (_HEADER if family.questions > 1 else 0)
        size = max(_LEAST_REPORT, -(-longest // _BLOCK) * _BLOCK)
        document: dict[str, Any] = {
            "schema": 2,
            "randomizer": made,
            "population": {"enrolled": self.enrolled, "corrupt_fraction": self.corrupt_fraction},
            "participation": dict(family.participation),
            "protections": {
                "minimum_batch": family.batch(candidate.people),
                "report_size": size,
            },
            "shufflers": [{}] * self.shufflers,
            "guarantee": {} if self.delta is None else {"delta": self.delta},
            "policy": self.policy,
        }
        return Plan.model_validate(document)

    @cached_property
    def policy(self) -> dict[str, dict[str, float]]:
        """The limits as the policy table of a plan."""
        policy: dict[str, dict[str, float]] = {}
        for limit in self.limits:
            policy.setdefault(str(limit.rung), {})[limit.key] = limit.value
        return policy

    def at(self, family: Family, index: int, people: int) -> Candidate:
        """A point, with its error."""
        return Candidate(family, index, people, family.error(index, people))

    def _soonest(self, family: Family, most: int) -> Candidate | None:
        """The point of least people of one family, at most `most`.

        The more epsilon_local, the fewer people the error needs and the more the limits need: the
        two meet between two indices next to each other.
        """
        if most < self._least_people(family):
            return None
        least = family.least_index(self.target_error, most, most=self.highest)
        if least is None or self.failing(self.at(family, least, most)):
            return None

        def needed(index: int) -> Candidate:
            people = family.people(self.target_error, index, most=most)
            return self.at(family, index, max(people, self._least_people(family)))

        def is_kept(index: int) -> bool:
            return index < least or self.failing(needed(index)) is None

        index = bisect_safe_integer(is_kept, safe=least - 1, unsafe=self.highest + 1)
        few = most if index < least else needed(index).people
        if index < self.highest:
            few = self._fewest(family, index + 1, few, needed(index + 1).people)
        return self._proved(family, few, most)

    def _fewest(self, family: Family, index: int, enough: int, too_few: int) -> int:
        """The fewest people who keep the limits at an index; `enough` if no fewer do."""

        def is_kept(people: int) -> bool:
            return self.failing(self.at(family, index, people)) is None

        if enough <= too_few or not is_kept(enough):
            return enough
        return bisect_safe_integer(is_kept, safe=enough, unsafe=too_few)

    def _proved(self, family: Family, people: int, most: int) -> Candidate | None:
        """The first point, from this number of people on, that is seen to keep every limit.

        An epsilon is found to seven digits, so that at the edge a few more people are needed.
        """
        for nudge in range(_NUDGES):
            more = people + (nudge and (1 << nudge - 1) * max(1, people >> 24))
            index = family.least_index(self.target_error, min(more, most), most=self.highest)
            if index is None:
                return None
            found = self.at(family, index, min(more, most))
            if self._is_proved(found):
                return found
        return None

    def _at_most_people(self) -> list[Candidate]:
        """The point of least epsilon_local of every family, where it leaks least."""
        found = []
        for family in self.usable:
            index = family.least_index(self.target_error, self.most_people, most=self.highest)
            if index is not None:
                found.append(self.at(family, index, self.most_people))
        return found

    def _is_proved(self, candidate: Candidate) -> bool:
        """Tell whether the ladder's own cells keep every limit."""
        if self.failing(candidate):
            return False
        rungs = Rungs(self.plan(candidate))
        return all(
            rungs.cell(limit.rung, limit.metric).met_by(limit.value) for limit in self.limits
        )

    def _rungs(self, candidate: Candidate) -> Rungs:
        self.advance(1)
        return Rungs(self.plan(candidate))

    @cached_property
    def _ranked(self) -> list[Limit]:
        """The limits to check: without corrupt people the rung of clients equals the batch.

        A family keeps the limit on manipulation itself: unlike leaks, it falls with epsilon_local.
        """
        leaks = [limit for limit in self.limits if limit.metric is not Metric.MANIPULATION]
        seen = [limit for limit in leaks if self.corrupt or limit.rung is not Rung.CLIENTS]
        return sorted(seen, key=lambda limit: _cost(limit.metric))

    def _keeps(self, rungs: Rungs, limit: Limit) -> bool:
        if limit.metric is Metric.EPSILON:
            return self.is_below(rungs, limit.rung, limit.value)
        return rungs.cell(limit.rung, limit.metric).met_by(limit.value)


def _cost(metric: Metric) -> int:
    return _COSTS.index(metric) if metric in _COSTS else len(_COSTS)
