"""A mock result: made-up answers, and what an estimate of them would look like."""

from collections.abc import Iterator
from typing import Any

from croupier.documents.explain.accuracy import accuracy
from croupier.documents.explain.people.liars import shifted
from croupier.errors import CroupierError
from croupier.model.domain import Categories, Grid
from croupier.model.randomizer import Randomizer
from croupier.model.texts import Texts
from croupier.numerics.rounding import float_above
from croupier.plan.plan import Plan
from croupier.randomizers.distribution import Distribution

__all__ = ["result", "worst_shift"]

_NORMAL = (-0.9, 1.1, 0.3, -0.4, 1.6, -1.3, 0.1, 0.7)
"""Draws of a standard normal variable, the same each time: only the plan moves an estimate."""
_WIDTH = 1.959964
"""Half the width of a 95 % interval, in standard errors."""
_ROWS = len(_NORMAL)
_NOTE = "Answers and errors are made up; intervals of 95 % are as wide as this plan makes them."
_YES = (0.32, 0.61, 0.12, 0.48, 0.27, 0.74, 0.05, 0.4)


def result(plan: Plan) -> dict[str, Any]:
    """Return made-up answers with estimates and intervals, and how far liars move them."""
    words, rows, kind = accuracy(plan), list(_rows(plan)), _kind(plan)
    return {
        "words": [f"{words[0].upper()}{words[1:]}, from the minimum batch."] if words else [],
        "liars": list(shifted(plan)),
        "kind": kind,
        "unit": "" if kind == "mean" else "%",
        "rows": rows,
        "note": _NOTE if rows else "Nothing can be estimated from these reports.",
        "error": plan.rms_error,
        "shift": worst_shift(plan),
    }


def _kind(plan: Plan) -> str:
    """Name what is estimated: shares, a mean, or a curve of shares up to a number."""
    first = plan.randomizers[0]
    if len(plan.questions) > 1 or not isinstance(first.domain, Grid):
        return "shares"
    return "curve" if isinstance(first, Distribution) else "mean"


def worst_shift(plan: Plan) -> float | None:
    """Return how far 1 % of liars in the smallest batch move an estimate, as a share."""
    worst = plan.worst_shift
    return None if worst is None else min(1.0, float_above(worst / 100))


def _rows(plan: Plan) -> Iterator[dict[str, Any]]:
    if len(plan.questions) > 1:
        yield from _several(plan)
        return
    made, error = plan.randomizers[0], plan.rms_error
    if error is None:
        return
    if isinstance(made.domain, Grid):
        yield from _about_a_number(made, made.domain, error)
    elif isinstance(made.domain, Texts):
        for index in range(5):
            yield _row(f"word {index + 1}", 0.08 / 1.8**index, error, index)
    else:
        names = _names(made.domain)
        weights = [0.72**place for place in range(min(len(names), _ROWS))]
        whole = sum(weights) * (1.12 if len(names) > _ROWS else 1)
        for index, weight in enumerate(weights):
            yield _row(names[index], weight / whole, error, index)


def _several(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the share of the last answer of the first questions that have lists."""
    for index, made in enumerate(plan.randomizers[:_ROWS]):
        error = _error(plan, index)
        if error is not None and isinstance(made.domain, Categories):
            label = f"{plan.question_name(index)}: {_names(made.domain)[-1]}"
            yield _row(label, _YES[index], error, index)


def _about_a_number(made: Randomizer, grid: Grid, error: float) -> Iterator[dict[str, Any]]:
    """Yield a mean, or shares of people up to some numbers."""
    if not isinstance(made, Distribution):
        mean = grid.low + 0.4 * (grid.high - grid.low)
        yield _row("mean", mean, error, 2, scale=1.0)
        return
    for index, share in enumerate((0.1, 0.25, 0.5, 0.75, 0.9)):
        place = min(grid.size - 1, int(share**1.7 * grid.size))
        yield _row(f"up to {grid.points[place]:g}", share, error, index)


def _names(domain: Any) -> list[str]:
    labels = getattr(domain, "labels", range(domain.size))[:1000]
    if all(isinstance(label, int) for label in labels):
        return [f"answer {number}" for number in range(1, len(labels) + 1)]
    return [str(label) for label in labels]


def _error(plan: Plan, index: int) -> float | None:
    """Return the standard error of one of several questions."""
    if plan.rms_error is not None:
        return plan.rms_error
    try:
        return plan.randomizers[index].rms_error(plan.answers)
    except CroupierError:
        return None


def _row(
    label: str, truth: float, error: float, index: int, *, scale: float = 100.0
) -> dict[str, Any]:
    """Return one line: shares in percent, means as they are."""
    estimate = truth + _NORMAL[index % len(_NORMAL)] * error
    return {
        "label": label,
        "truth": scale * truth,
        "estimate": scale * estimate,
        "lower": scale * (estimate - _WIDTH * error),
        "upper": scale * (estimate + _WIDTH * error),
    }
