"""All inputs of the page, and the plan that follows from what was moved."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from croupier.errors import ParameterError
from croupier.explorer.controls import limits, noise, parties, people, question
from croupier.explorer.controls.control import Control, InputGroup, Write
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

__all__ = ["Change", "Rejected", "control", "moved", "panel"]

Change = tuple[str, Any]
"""The name of an input, and its new value."""

_WRITERS: dict[str, Write] = {
    **question.WRITERS,
    **noise.WRITERS,
    **people.WRITERS,
    **parties.WRITERS,
    "limit_add": limits.write_limit,
}
_STRUCTURE = frozenset(question.WRITERS | noise.WRITERS) - {"title", "max_epsilon_local"}
"""The inputs after which reports may need more room."""


class Rejected(Exception):  # noqa: N818 - an answer to the page, not a failure
    """An answer to the page that no plan has these values.

    Attributes:
        control: The input that the problem is about, if it is about one.
        problem: What is wrong, and what to write.
    """

    def __init__(self, control: str | None, problem: str) -> None:
        self.control = control
        self.problem = problem
        super().__init__(problem)


def panel(plan: Plan) -> tuple[InputGroup, ...]:
    """Return the inputs for a plan, in groups."""
    return (
        InputGroup.of("question", "The question", question.controls(plan)),
        InputGroup.of("people", "The people", people.controls(plan)),
        InputGroup.of("pace", "How often", people.pace(plan)),
        InputGroup.of("acceptable", "What is acceptable", limits.controls(plan)),
        InputGroup.of("noise", "The noise of a device", noise.controls(plan)),
        InputGroup.of("parties", "Who mixes and publishes", parties.controls(plan)),
    )


def control(plan: Plan, name: str) -> Control:
    """Find an input by its name.

    Raises:
        ParameterError: A page for this plan has no such input.
    """
    for group in panel(plan):
        for each in group.controls:
            if each.id == name:
                return each
    raise ParameterError("control", must="be an input of the page", got=name)


def moved(document: Mapping[str, Any], changes: Sequence[Change]) -> Plan:
    """Return the plan of a document after some inputs were moved, one after the other.

    Raises:
        Rejected: There is no such plan.
    """
    own = deepcopy(dict(document))
    name = None
    try:
        for name, value in changes:
            write = _WRITERS.get(name) or limits.limit_writer(name)
            write(own, value)
            if name in _STRUCTURE:
                noise.fit_report(own)
        return Plan.from_document(own)
    except PlanError as error:
        raise Rejected(_about(error.problem, changes), error.problem) from None
    except ParameterError as error:
        raise Rejected(name, str(error)) from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise Rejected(name, "This does not fit the plan. Choose another value.") from None


def _about(problem: str, changes: Sequence[Change]) -> str | None:
    """Name the input that a problem of the plan is about: the one it names, or the last moved."""
    first = problem.split(" ", 1)[0].rpartition(".")[2].strip("`")
    names = [name for name, _ in changes]
    if first in _WRITERS:
        return first
    return names[-1] if names else None
