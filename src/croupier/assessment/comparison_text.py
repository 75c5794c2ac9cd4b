"""Texts of comparisons of plans, for a terminal or a notebook."""

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.text import NOT_BOUNDED, proved_text
from croupier.assessment.verdict import Verdict
from croupier.model.html import Html, card, column, element, table
from croupier.model.metric import Metric
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.problems import escaped, toml_value

if TYPE_CHECKING:
    from croupier.assessment.compare import Comparison, Difference, KeyChange

__all__ = ["comparison_card", "guarantee_rows", "key_rows", "limit_rows", "outcome", "policy_notes"]

_ROOM = 72
"""Columns of a terminal for a key and its two values, without what is between them."""
_LEAST_ROOM = 24
_MERGED = (
    "One plan has two shufflers: beside the one shuffler stands the worse of two, beside collusion "
    "both shufflers together."
)
_CONTEXT = 9
"""Signs that are shown before the first that differs."""


def key_rows(found: "Comparison", *, room: int | None = None) -> list[tuple[str, ...]]:
    """The keys of the plan: name, before, after; values cut to the room, or to a terminal's."""
    widest = max((len(one.key) for one in found.keys), default=0)
    room = room or max(_LEAST_ROOM, (_ROOM - widest) // 2)
    return [(one.key, *_shown(one, room)) for one in found.keys]


def guarantee_rows(found: "Comparison") -> list[tuple[str, ...]]:
    """Metric, before, after, better or worse, and all rungs on which it changes in this way."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for one in sorted(_visible(found), key=lambda one: list(Metric).index(one.metric)):
        word = "better" if one.better else "worse"
        row = (one.metric.heading, _text(one, one.before), _text(one, one.after), word)
        rows.setdefault(row, []).append(one.rung)
    return [(*row, ", ".join(rungs)) for row, rungs in rows.items()]


_SENDERS = (
    "Who can tell who sent an envelope changes with [admission]. No guarantee changes by that: all "
    "are proved against somebody who knows."
)


def limit_rows(found: "Comparison") -> list[tuple[str, ...]]:
    """The limits of the policy: name, before, after, and what that means."""
    return [
        (f"{one.limit.rung} {one.limit.key}", _limit(one.before), _limit(one.after), one.word)
        for one in found.limits
    ]


def outcome(found: "Comparison") -> list[str]:
    """Count the guarantees that become better and worse; add the error if it changes."""
    better = sum(one.better for one in found.differences)
    worse = len(found.differences) - better
    text = f"{len(found.differences)} of {found.cells} guarantees change: "
    text = f"{text}{better} better, {worse} worse." if better + worse else "No guarantee changes."
    hidden = len(found.differences) - len(_visible(found))
    lines = [f"{text} {hidden} by less than the digits shown." if hidden else text]
    if found.merged:
        lines.append(_MERGED)
    senders = [(each.admission.by, each.admission.relay) for each in (found.before, found.after)]
    if senders[0] != senders[1]:
        lines.append(_SENDERS)
    first, second = (None if error is None else ceiling_digits(error) for error in found.errors)
    if first and second and first != second:
        word = "better" if float(second) < float(first) else "worse"
        lines.append(f"RMS error at the minimum batch: {first} -> {second}  {word}")
    return lines


def policy_notes(found: "Comparison") -> list[str]:
    """Say what the second plan's policy gives up."""
    count = len(found.weakened)
    weaker = f"{count} limit{'s are' if count > 1 else ' is'} weaker than before."
    return [weaker] * bool(count) + [
        f"{one.key} {' -> '.join(_shown(one, _LEAST_ROOM))}: "
        "limits of the same value mean less than before."
        for one in found.easier
    ]


def comparison_card(found: "Comparison", caption: str) -> Html:
    """The comparison as a card for a notebook."""
    tables = {
        ("key", "before", "after"): key_rows(found),
        ("guarantee", "before", "after", "change", "against"): guarantee_rows(found),
        ("limit", "before", "after", "change"): limit_rows(found),
    }
    drawn = [_table(head, rows) for head, rows in tables.items() if rows]
    lines = [*outcome(found), f"Policy: {found.judgement}.", *policy_notes(found)]
    return card(
        element("p", element("strong", caption)), *drawn, *(element("p", line) for line in lines)
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Html:
    body = [(name, list(map(column, texts, head[1:]))) for name, *texts in rows]
    return table(f"{head[0].capitalize()}s", head, body)


def _visible(found: "Comparison") -> list["Difference"]:
    return [one for one in found.differences if _text(one, one.before) != _text(one, one.after)]


def _text(one: "Difference", cell: Cell) -> str:
    if cell.proved is None:
        return NOT_BOUNDED
    return proved_text(one.metric, cell.proved.value)


def _limit(verdict: Verdict | None) -> str:
    return "-" if verdict is None else f"{verdict.limit.value:g}"


def _shown(change: "KeyChange", room: int) -> tuple[str, str]:
    """Both values, where they are long from shortly before the first sign that differs."""
    before, after = _written(change.before), _written(change.after)
    if max(len(before), len(after)) <= room:
        return before, after
    pairs = zip(before, after, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(0, same - _CONTEXT)
    return _cut(before, start, room), _cut(after, start, room)


def _cut(text: str, start: int, room: int) -> str:
    text = f"…{text[start + 1 :]}" if start else text
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _written(value: Any) -> str:
    if value is None:
        return "-"
    return escaped(value if isinstance(value, str) else toml_value(value))
