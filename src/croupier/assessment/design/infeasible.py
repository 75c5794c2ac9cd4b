"""The reason why no plan reaches an error within limits, and what would be enough."""

import math
from dataclasses import replace

from croupier.assessment.design.dummies import DummySearch
from croupier.assessment.design.family import LARGEST_INDEX, Family
from croupier.assessment.design.search import Candidate, Search
from croupier.assessment.ladder.rungs import Rungs
from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.rounding import ceiling_digits, floor_digits
from croupier.plan.facts import Limit

__all__ = ["explained"]


def explained(search: Search, hidden: DummySearch | None = None) -> ParameterError:
    """The error to raise: which limit binds, and the least error within all of them.

    Args:
        search: Plans with local noise.
        hidden: Plans with dummies; None where these are not considered.
    """
    best = None
    for family in search.usable if search.families else ():
        best = _least_error(search, family, None if best is None else best.error) or best
    with_dummies = math.inf if hidden is None else hidden.least_error()
    if hidden and with_dummies < (math.inf if best is None else best.error):
        return _at_least(search, with_dummies, _with_dummies(hidden, with_dummies, best))
    if best is not None:
        least = ceiling_digits(best.error, 2)
        return _at_least(search, best.error, f"{_binding(search, best)} Try {least}.")
    if math.isfinite(search.max_manipulation) and search.families:
        return _manipulated(search)
    if search.families or hidden is None:
        return _out_of_reach(search)
    return hidden.out_of_reach()


def _at_least(search: Search, error: float, hint: str) -> ParameterError:
    must = f"be at least {ceiling_digits(error)} within these limits"
    return ParameterError("target_error", must=must, got=search.target_error, hint=hint)


def _with_dummies(hidden: DummySearch, error: float, best: Candidate | None) -> str:
    """Say what binds where dummies reach the least error, and what is reached without them."""
    search, limit = hidden.search, hidden.binding
    text = "" if limit is None else f"With dummies {limit.key} = {limit.value:g} binds. "
    more = ", or raise max_batch" if search.most_people < search.enrolled else ""
    text += f"Try {ceiling_digits(error, 2)}{more}."
    if best is None:
        return f"{text} Without dummies the limits are not kept." if search.families else text
    return f"{text} Without dummies it is at least {ceiling_digits(best.error)}."


def _least_error(search: Search, family: Family, beaten: float | None) -> Candidate | None:
    """The point of least error of a family within the limits, if that is below `beaten`."""
    people = search.most_people

    def is_kept(index: int) -> bool:
        found = search.at(family, index, people)
        return math.isfinite(found.error) and search.failing(found) is None

    below = math.inf if beaten is None else beaten * (1 - 1e-9)
    least = family.least_index(below, people, most=search.highest)
    if least is None:
        return None
    if not is_kept(least):
        return None
    index = bisect_safe_integer(is_kept, safe=least, unsafe=search.highest + 1)
    return search.at(family, index, people)


def _manipulated(search: Search) -> ParameterError:
    """The error to raise if liars move estimates too far wherever the other limits are kept."""
    free = (replace(family, max_manipulation=math.inf) for family in search.usable)
    kept = (_least_error(search, family, None) for family in free)
    shifts = [found.family.manipulation(found.index, found.people) for found in kept if found]
    least = min(shifts, default=math.inf)
    if math.isinf(least):
        return _out_of_reach(search)
    return ParameterError(
        Metric.MANIPULATION.limit,
        must=f"be reachable with {search.most_people:,} people, {search.corrupt:,} of them corrupt",
        got=search.max_manipulation,
        hint=f"Within the other limits it is at least {ceiling_digits(least)}.",
    )


def _binding(search: Search, best: Candidate) -> str:
    """Name the limit that binds, and what the wanted error would need."""
    people = f"{search.most_people:,} people"
    if best.index == search.highest:
        return f"At {people} no larger epsilon_local is allowed."
    limit = search.failing(search.at(best.family, best.index + 1, best.people))
    if limit is None:
        return ""
    text = f"At {people} {limit.key} = {limit.value:g} binds ({limit.rung})"
    index = best.family.least_index(search.target_error, search.most_people, most=LARGEST_INDEX)
    if index is None:
        return f"{text}."
    rungs = Rungs(search.plan(search.at(best.family, index, search.most_people)))
    return f"{text}; an error of {search.target_error:g} needs {_needed(search, rungs, limit)}."


def _needed(search: Search, rungs: Rungs, limit: Limit) -> str:
    """The value that would be promised; a large epsilon is not computed, since that takes long."""
    if limit.metric is Metric.EPSILON and not search.is_below(rungs, limit.rung, 10 * limit.value):
        return f"more than {10 * limit.value:g}"
    proved = rungs.cell(limit.rung, limit.metric).proved
    if proved is None:
        return "a limit that cannot be proved"
    return (floor_digits if limit.metric.protects else ceiling_digits)(proved.value)


def _out_of_reach(search: Search) -> ParameterError:
    """The error to raise if a limit fails with any amount of noise."""
    point = search.at(search.usable[0], 0, search.most_people)
    limit = search.failing(point)
    if limit is None:
        return ParameterError("mechanisms", must="include one that can be built for these values")
    proved = Rungs(search.plan(point)).cell(limit.rung, limit.metric).proved
    hint = "Raise max_batch." if proved is None else _nearest(limit, proved.value)
    return ParameterError(
        limit.key,
        must=f"be reachable with {search.most_people:,} people, {search.corrupt:,} of them corrupt"
        if limit.rung is Rung.CLIENTS
        else f"be reachable with {search.most_people:,} people",
        got=limit.value,
        hint=hint,
    )


def _nearest(limit: Limit, proved: float) -> str:
    if limit.metric.protects:
        return f"Try {floor_digits(proved, 2)}."
    blind = " a guess by luck alone is hardly worse." if not limit.metric.is_epsilon else ""
    return f"Try {ceiling_digits(proved, 2)}:{blind}" if blind else f"Try {ceiling_digits(proved)}."
