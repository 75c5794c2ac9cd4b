"""Comparison of two plans: keys, guarantees, limits, error."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from croupier.assessment.comparison_text import comparison_card
from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.dummies import worst
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.limit_change import LimitChange, limit_changes
from croupier.assessment.policy import Check, checked
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.result import Result
from croupier.model.rung import Rung
from croupier.plan.plan import Plan, flat_keys, require_plan
from croupier.plan.policy import Policy

__all__ = ["Comparison", "Difference", "KeyChange", "compare"]


@dataclass(frozen=True)
class KeyChange:
    """A key of the plan with another value; None if it is not given.

    Attributes:
        key: Its name, with dots.
        before: Its value in the first plan.
        after: Its value in the second.
    """

    key: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Difference:
    """A guarantee that changes.

    Attributes:
        rung: The adversary that the guarantee is against. Where one plan has one shuffler and the
            other has two, `shuffler` stands for the worse of two, and `collusion` for everybody.
        metric: The measure that is bounded.
        before: The guarantee of the first plan.
        after: The guarantee of the second.
    """

    rung: Rung
    metric: Metric
    before: Cell
    after: Cell

    @property
    def better(self) -> bool:
        """True if the second plan promises more; any promise is more than none."""
        first, second = self.before.proved, self.after.proved
        if first is None or second is None:
            return first is None
        return (second.value > first.value) is self.metric.protects


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The changes from one plan to another.

    Attributes:
        before: The first plan.
        after: The second.
        keys: The keys with another value.
        differences: The guarantees with another value.
        cells: The number of guarantees that were compared.
        limits: The limits with another value or effect.
        check: The limits that the second plan is judged by, beside what is proved.
        errors: The root mean square standard error of each at its minimum batch; None if there are
            several mechanisms.
    """

    before: Plan
    after: Plan
    keys: tuple[KeyChange, ...]
    differences: tuple[Difference, ...]
    cells: int
    limits: tuple[LimitChange, ...]
    check: Check
    errors: tuple[float | None, float | None]

    @property
    def _summary(self) -> str:
        names = f"{self.before.name} {self.before.digest[:8]} to {self.after.digest[:8]}"
        changed = f"{len(self.differences)} of {self.cells} guarantees"
        keys = f"{len(self.keys)} key{'s' * (len(self.keys) != 1)}"
        return f"{names}: {keys} and {changed} change"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "rung": change.rung,
                "metric": change.metric,
                "before": change.before.proved_value,
                "after": change.after.proved_value,
                "better": change.better,
            }
            for change in self.differences
        ]

    def _repr_html_(self) -> str:
        return comparison_card(self, f"Comparison: {self._summary}")

    @property
    def merged(self) -> bool:
        """True if the plans have one and two shufflers, so that some rows stand for several."""
        return len(self.before.shufflers) != len(self.after.shufflers)

    @property
    def redeployed(self) -> bool:
        """True if the deployed plan changes, so that clients need the new plan."""
        return self.before.digest != self.after.digest

    @property
    def rejudged(self) -> bool:
        """True if clients need nothing, and the analyzer must sign its statement again."""
        judged = self.before.policy_digest != self.after.policy_digest
        return judged and not self.redeployed

    @property
    def judgement(self) -> Judgement:
        """Say if the second plan keeps its policy."""
        return self.check.judgement

    @property
    def weakened(self) -> tuple[LimitChange, ...]:
        """The limits that were removed or loosened, or that limit nothing any more."""
        return tuple(change for change in self.limits if change.weaker)

    @property
    def easier(self) -> tuple[KeyChange, ...]:
        """The changed keys that make limits of the same value weaker.

        A larger delta weakens the limits of epsilon, fewer corrupt people in the same batch those
        of the rung of clients, one operator for both roles those of all rungs but collusion.
        """
        if not any(self.before.limits) and self.check.own:
            return ()
        first, second = self.before, self.after
        batch = second.protections.minimum_batch
        fewer = second.population.corrupt(batch) < first.population.corrupt(batch)
        joined = (first.operators, second.operators) == ("separate", "same")
        less = {
            "guarantee.delta": (second.guarantee.delta or 0) > (first.guarantee.delta or 0),
            "population.corrupt_fraction": fewer
            or second.population.corrupt_fraction < first.population.corrupt_fraction,
            "population.corrupt_fraction_of": fewer,
            "population.enrolled": fewer,
            "shufflers.operator": joined,
            "analyzer.operator": joined,
        }
        return tuple(change for change in self.keys if less.get(_unnumbered(change.key)))

    @property
    def passed(self) -> bool:
        """Tell if the second plan keeps its policy and gave up no limit of the first."""
        return self.judgement is Judgement.MET and not self.weakened and not self.easier


def compare(before: Plan, after: Plan, policy: Policy | None = None) -> Comparison:
    r"""Compare two plans and return only what changes.

    Args:
        before: The first plan.
        after: The second plan.
        policy: An organisation's policy that both are judged by, beside their own limits.

    Example:
        >>> plan = Plan.from_toml('schema = 2\npopulation.enrolled = 900\n'
        ...     'randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1}\n'
        ...     'protections.minimum_batch = 500')
        >>> found = compare(plan, plan.replace(protections__minimum_batch=900))
        >>> [str(change.key) for change in found.keys], found.redeployed
        (['protections.minimum_batch'], True)
        >>> all(difference.better for difference in found.differences)
        True
    """
    require_plan(after, parameter="other")
    ladders = assess(before), assess(after)
    metrics = list(dict.fromkeys(m for ladder in ladders for m in ladder.blind.cells))
    pairs = [
        Difference(rung, metric, *(_cell(ladder, rung, metric) for ladder in ladders))
        for rung in _rows(before, after)
        for metric in metrics
    ]
    found = [checked(ladder, policy) for ladder in ladders]
    return Comparison(
        before=before,
        after=after,
        keys=tuple(_changed_keys(before.document(), after.document())),
        differences=tuple(
            pair for pair in pairs if pair.before.proved_value != pair.after.proved_value
        ),
        cells=len(pairs),
        limits=tuple(
            limit_changes(*(each.verdicts for each in found), shufflers=len(after.shufflers))
        ),
        check=found[1],
        errors=(before.rms_error, after.rms_error),
    )


def _rows(before: Plan, after: Plan) -> tuple[Rung, ...]:
    """The rows to compare: those of both plans, or those of the one with one shuffler."""
    return min(before, after, key=lambda plan: len(plan.shufflers)).rungs


def _cell(ladder: Ladder, rung: Rung, metric: Metric) -> Cell:
    """The guarantee of a row, or of the worst of the rows that it stands for."""
    own = rung.among(len(ladder.plan.shufflers))
    return worst(ladder[row][metric] for row in own)


_ONLY, _FIRST = "shufflers.", "shufflers.1."


def _numbered(key: str) -> str:
    """Name a key of the only shuffler as one of the first: the other plan has two."""
    only = key.startswith(_ONLY) and not key[len(_ONLY)].isdecimal()
    return f"{_FIRST}{key.removeprefix(_ONLY)}" if only else key


def _unnumbered(key: str) -> str:
    """Name a key of one of several shufflers without its number."""
    return re.sub(r"^shufflers\.\d+\.", _ONLY, key)


def _changed_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[KeyChange]:
    first, second = dict(flat_keys(before)), dict(flat_keys(after))
    if any(key.startswith(_FIRST) for key in (*first, *second)):
        first, second = ({_numbered(key): keys[key] for key in keys} for keys in (first, second))
    for key in dict.fromkeys([*first, *second]):
        if first.get(key) != second.get(key):
            yield KeyChange(key, first.get(key), second.get(key))
