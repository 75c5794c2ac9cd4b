"""The end of what is acceptable: the smallest or largest value at which no limit fails."""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.errors import CroupierError, ParameterError
from croupier.explorer.controls.control import Control, Document
from croupier.explorer.controls.panel import Rejected, control, moved
from croupier.plan.plan import Plan

__all__ = ["edge"]


def edge(plan: Plan, name: str) -> Iterator[dict[str, Any] | None]:
    """Find the smallest or the largest value of an input at which no limit fails.

    The value that is found was checked, and so was the next one, unless it is the last. Values are
    whole, or have three digits, as somebody would type them. The search begins at both ends and at
    the present value. None is yielded after every value that was tried.
    """
    one, document = control(plan, name), plan.document()
    if one.edge is None:
        raise ParameterError("control", must="be an input with an end to look for", got=name)
    if not list(plan.limits):
        yield _found(None, "No limit is set: add what is acceptable first.")
        return
    steps = _Steps(one)
    best, other = (steps.last, steps.first) if one.edge == "smallest" else (steps.first, steps.last)
    tried = dict.fromkeys((other, steps.nearest(one.value), best))
    for place in tried:
        tried[place] = _kept(document, name, steps.value(place))
        yield None
    kept = [place for place, holds in tried.items() if holds]
    if not kept:
        listed = ", ".join(steps.shown(place) for place in sorted(tried))
        yield _found(None, f"{one.label}: some limit fails at each value that was tried: {listed}.")
        return
    best = kept[0]
    while abs(best - other) > 1:
        middle = (best + other) // 2
        if _kept(document, name, steps.value(middle)):
            best = middle
        else:
            other = middle
        yield None
    words = f"{steps.shown(best)} is the {one.edge} found at which no limit fails."
    yield _found(steps.value(best), f"{one.label}: {words}")


def _found(value: float | None, words: str) -> dict[str, Any]:
    return {"part": "edge", "value": value, "words": words}


def _kept(document: Document, name: str, value: float) -> bool:
    try:
        return not checked(assess(moved(document, [(name, value)]))).failed
    except (Rejected, CroupierError):
        return False


class _Steps:
    """The values of an input, numbered: whole numbers, or all with three digits."""

    def __init__(self, one: Control) -> None:
        low, high = float(one.low or 0.0), float(one.high or 1.0)
        self.integer, self.zero = one.integer, low == 0.0
        self.first = math.ceil(low) if self.integer else self._number(low)
        self.last = math.floor(high) if self.integer else self._number(high)

    def _number(self, value: float) -> int:
        """Return the number of the value with three digits: 100 to 999 in every power of ten."""
        if value <= 0:
            return self._number(1e-4) - 1
        digits = Decimal(f"{value:.2e}").as_tuple()
        mantissa = int("".join(map(str, digits.digits)))
        return 900 * int(digits.exponent) + mantissa - 100

    def value(self, place: int) -> int | float:
        """Return the value with a number."""
        if self.integer:
            return place
        if self.zero and place == self.first:
            return 0.0
        exponent, mantissa = divmod(place, 900)
        return float(f"{mantissa + 100}e{exponent}")

    def nearest(self, value: Any) -> int:
        """Return the number of the value that is nearest to a value, within the range."""
        place = round(float(value)) if self.integer else self._number(float(value))
        return min(self.last, max(self.first, place))

    def shown(self, place: int) -> str:
        """Write the value with a number as people do."""
        value = self.value(place)
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
