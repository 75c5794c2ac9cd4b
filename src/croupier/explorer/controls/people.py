"""Inputs for who takes part, and how often."""

import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from croupier.assessment.design.pace import PACES, Pace
from croupier.errors import ParameterError
from croupier.explorer.controls.control import Control, Document, Option, Write, put
from croupier.numerics.rounding import floor_digits
from croupier.plan.plan import Plan
from croupier.plan.values import spoken

__all__ = ["WRITERS", "controls", "pace"]

_MOST_PEOPLE = 1e9
_YEAR = 366
_DAY = timedelta(days=1)


def controls(plan: Plan) -> Iterator[Control]:
    """Yield the inputs about people; sliders end where fewer than two would be honest."""
    population, batch = plan.population, plan.protections.minimum_batch
    enrolled, share = population.enrolled, population.corrupt_fraction
    anywhere = population.corrupt_fraction_of == "enrolled"
    most = max(_MOST_PEOPLE, enrolled)
    if anywhere and share:
        most = max(enrolled, math.floor(min(most, (batch - 2) / share)))
    yield Control(
        id="enrolled",
        label="People enrolled",
        kind="slider",
        value=enrolled,
        key="population.enrolled",
        low=batch,
        high=most,
        log=True,
        integer=True,
        movable=True,
    )
    yield Control(
        id="minimum_batch",
        label="Minimum batch",
        kind="slider",
        value=batch,
        key="protections.minimum_batch",
        help="A batch with fewer people is held back. Every guarantee is proved at this size.",
        unit="people",
        low=population.corrupt(batch) + 2 if anywhere else 2,
        high=enrolled,
        log=True,
        integer=True,
        movable=True,
        edge="smallest",
    )
    yield Control(
        id="corrupt_fraction",
        label="Share of the enrolled who may be corrupt",
        kind="slider",
        value=share,
        key="population.corrupt_fraction",
        help="They tell the adversary what they sent, or lie. All may be in one batch.",
        low=0,
        high=max(share, _below((batch - 2) / (enrolled if anywhere else batch))),
        movable=True,
        edge="largest",
    )


def _below(share: float) -> float:
    """Round a share down to three digits, and to a half at most."""
    return min(0.5, float(floor_digits(share)))


def pace(plan: Plan) -> Iterator[Control]:
    """Yield the inputs about how often people are asked."""
    collection = plan.collection
    names = {spoken(every): name for name, every in PACES.items() if every is not None}
    given = spoken(collection.every)
    once = collection.rounds == 1 and collection.window is None
    value = "once" if once else names.get(given, given)
    known = dict.fromkeys([*PACES, value])
    yield Control(
        id="every",
        label="People are asked",
        kind="choice",
        value=value,
        key="collection.every",
        options=tuple(Option(name, name if name in PACES else f"every {name}") for name in known),
    )
    most = collection.rounds_of(collection.window)
    if not once:
        days = 0 if collection.window is None else collection.window // _DAY
        within = "" if collection.window is None else f" within {days} days"
        if collection.window is not None and collection.window % _DAY:
            within = f" within {spoken(collection.window)}"
        yield Control(
            id="rounds",
            label=f"Answers of one person{within}",
            kind="slider",
            value=collection.rounds,
            key="collection.rounds",
            help="What they reveal adds up.",
            low=1,
            high=max(collection.rounds, min(most or _YEAR, _YEAR)),
            integer=True,
            movable=True,
            edge="largest",
        )


def _write_every(document: Document, value: Any) -> None:
    if not isinstance(value, str):
        raise ParameterError("every", must="be a pace", hint="Try daily.")
    document["collection"] = Pace.named(value).section
    document.get("protections", {}).pop("disposal_age", None)  # three rounds, if left out


WRITERS: dict[str, Write] = {
    "enrolled": put("population", "enrolled"),
    "minimum_batch": put("protections", "minimum_batch"),
    "corrupt_fraction": put("population", "corrupt_fraction"),
    "every": _write_every,
    "rounds": put("collection", "rounds"),
}
