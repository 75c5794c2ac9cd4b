"""The changes of a policy from one plan to another, limit by limit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from croupier.assessment.verdict import Verdict
from croupier.plan.facts import Limit

__all__ = ["LimitChange", "limit_changes"]

REMOVED, LOOSENED, NOTHING_NOW = "removed", "loosened", "limits nothing now"
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
        return "" if self.before.limits_something else _begins(self.after)

    @property
    def weaker(self) -> bool:
        """Tell if the second plan allows something that the first does not."""
        return self.word in _WEAKER


def _begins(after: Verdict) -> str:
    return "limits something now" if after.limits_something else ""


def limit_changes(before: Sequence[Verdict], after: Sequence[Verdict]) -> Iterator[LimitChange]:
    """Pair the limits of two plans and yield those that differ."""
    first, second = _by_key(before), _by_key(after)
    for key in dict.fromkeys([*first, *second]):
        change = LimitChange(first.get(key), second.get(key))
        if change.word:
            yield change


def _by_key(found: Sequence[Verdict]) -> dict[tuple[str, str, bool], Verdict]:
    return {
        (verdict.limit.rung, verdict.limit.key, verdict.organisation): verdict for verdict in found
    }
