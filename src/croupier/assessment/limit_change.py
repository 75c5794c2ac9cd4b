"""The changes of a policy from one plan to another, limit by limit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from croupier.assessment.verdict import Verdict
from croupier.model.rung import Rung
from croupier.plan.facts import Limit

__all__ = ["LimitChange", "limit_changes"]

REMOVED, LOOSENED, NOTHING_NOW = "removed", "loosened", "limits nothing now"
_Key = tuple[Rung, str, bool]
"""The adversary of a limit, its name, and whether an organisation sets it."""

_WEAKER = (REMOVED, LOOSENED, NOTHING_NOW)


@dataclass(frozen=True)
class LimitChange:
    """A limit with another value or effect.

    Attributes:
        before: The verdict of the first plan; None if it has no such limit.
        after: The verdict of the second.
    """

    before: Verdict | None
    after: Verdict | None

    @property
    def limit(self) -> Limit:
        """The limit as the second plan has it, or the first if it was removed."""
        found = self.after or self.before
        if found is None:
            raise AttributeError("limit")
        return found.limit

    @property
    def word(self) -> str:
        """Name the change; empty if there is none."""
        if self.before is None or self.after is None:
            return REMOVED if self.after is None else "added"
        first, second = self.before.limit.value, self.after.limit.value
        if first != second and (second < first) is self.limit.metric.protects:
            return LOOSENED
        if self.before.limits_something and not self.after.limits_something:
            return NOTHING_NOW
        if first != second:
            return "tightened"
        begins = self.after.limits_something and not self.before.limits_something
        return "takes effect" if begins else ""

    @property
    def weaker(self) -> bool:
        """Tell if the second plan allows something that the first does not."""
        return self.word in _WEAKER


def limit_changes(
    before: Sequence[Verdict], after: Sequence[Verdict], *, shufflers: int
) -> Iterator[LimitChange]:
    """Pair the limits of two plans and yield those that differ.

    Args:
        before: The limits of the first plan.
        after: The limits of the second.
        shufflers: The number of shufflers of the second plan: a limit on a row that it does not
            have is paired with those on the rows that stand for it.
    """
    first, second = _by_key(before), _by_key(after)
    pairs = {
        (key, then): LimitChange(verdict, second.get(then))
        for key, verdict in first.items()
        for then in _then(key, second, shufflers)
    }
    paired = {then for _, then in pairs}
    changes = [*pairs.values(), *(LimitChange(None, second[k]) for k in second if k not in paired)]
    yield from (change for change in changes if change.word)


def _then(key: _Key, second: Mapping[_Key, Verdict], shufflers: int) -> Iterator[_Key]:
    """Yield the names of a limit in the second plan."""
    rung, *rest = key
    rows = (rung,) if key in second else rung.among(shufflers)
    yield from ((row, *rest) for row in rows)  # type: ignore[misc]


def _by_key(found: Sequence[Verdict]) -> dict[_Key, Verdict]:
    return {
        (verdict.limit.rung, verdict.limit.key, verdict.organisation): verdict for verdict in found
    }
