"""Curves: what is proved of a plan at other values of one input."""

from collections.abc import Iterator, Sequence
from typing import Any

from croupier.assessment.ladder.ladder import Ladder, columns
from croupier.assessment.ladder.rungs import Rungs
from croupier.errors import CroupierError
from croupier.explorer.controls.control import Document
from croupier.explorer.controls.panel import Rejected, moved
from croupier.explorer.mock import worst_shift
from croupier.explorer.picture import points
from croupier.plan.plan import Plan

__all__ = ["curve"]


def curve(document: Document, name: str, values: Sequence[Any]) -> Iterator[dict[str, Any] | None]:
    """Yield a point for each value of an input, and None while one is being computed.

    Whoever iterates may stop at every None.
    """
    for value in values:
        try:
            plan = moved(document, [(name, value)])
            yield None
            yield from _point(plan, value)
        except Rejected as error:
            yield _empty(value, error.problem)
        except CroupierError as error:
            yield _empty(value, str(error))


def _point(plan: Plan, value: Any) -> Iterator[dict[str, Any] | None]:
    rungs, found = Rungs(plan), {}
    for metric, cells in columns(rungs):
        found[metric] = cells
        yield None
    yield _empty(value, None) | {
        "cells": points(Ladder.of(rungs, found)),
        "error": plan.rms_error,
        "shift": worst_shift(plan),
    }


def _empty(value: Any, problem: str | None) -> dict[str, Any]:
    return {
        "part": "point",
        "x": value,
        "problem": problem,
        "cells": {},
        "error": None,
        "shift": None,
    }
