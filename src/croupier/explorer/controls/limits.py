"""Inputs for what is acceptable: the limits of a plan."""

from collections.abc import Iterator
from typing import Any

from croupier.assessment.ladder.rungs import Rungs
from croupier.assessment.ladder.text import limit_text
from croupier.errors import ParameterError
from croupier.explorer.controls.control import Control, Document, Option, Write, number, sections
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["APART", "controls", "limit_writer", "rename_rows", "write_limit"]

APART = "apart"
"""Everybody whom one party alone makes: all rows but those of parties that work together."""

_APART = (Rung.BATCH, Rung.NETWORK, Rung.SHUFFLER, Rung.CLIENTS)
_CHANCE = "A chance from 0 to 1: 0.51 is 51 %, 0.001 is 1 in 1,000."


def controls(plan: Plan) -> Iterator[Control]:
    """Yield an input for each limit, and those that add one."""
    for limit in plan.limits:
        words = f"{limit.metric.heading}, {limit.rung}"
        side = "at least" if limit.metric.protects else "at most"
        yield Control(
            id=f"limit.{limit.rung}.{limit.key}",
            label=f"{words}: {side}",
            kind="number",
            value=limit.value,
            key=f"policy.{limit.rung}.{limit.key}",
            help=f"{limit_text(limit.metric, limit.value)}. Empty it to remove the limit.",
        )
    metrics = [*Rungs(plan).metrics, Metric.MANIPULATION]
    rows = tuple(Option(str(rung), f"{rung}: {rung.meaning}") for rung in plan.rungs)
    together = "all but those who work together"
    yield Control(
        id="limit_who",
        label="Whose gain is limited",
        kind="choice",
        value=APART,
        options=(Option(APART, together), *rows),
    )
    yield Control(
        id="limit_what",
        label="What is limited",
        kind="choice",
        value=Metric.GUESS_OF_TWO.limit,
        options=tuple(Option(each.limit, f"{each.heading}: {each.meaning}") for each in metrics),
    )
    yield Control(
        id="limit_value", label="The limit", kind="number", help=f"{_CHANCE} An epsilon in nats."
    )
    yield Control(id="limit_add", label="Add this limit", kind="button")


def write_limit(document: Document, value: Any) -> None:
    """Add a limit, of one row or of all but those who work together."""
    given = value if isinstance(value, dict) else {}
    who, what = given.get("who"), str(given.get("what"))
    limit = number("limit_value", given.get("value"))
    rungs = _apart(document, what) if who == APART else (Rung(str(who)),)
    policy, mixers = document.setdefault("policy", {}), len(sections(document, "shufflers"))
    for row in (row for rung in rungs for row in rung.among(mixers)):
        policy.setdefault(str(row), {})[what] = limit


def _apart(document: Document, what: str) -> tuple[Rung, ...]:
    if what == Metric.MANIPULATION.limit:
        return (Rung.CLIENTS,)
    silent = document.get("analyzer", {}).get("publication", "estimate") in ("none", "estimate")
    hidden = silent and what == Metric.REIDENTIFICATION.limit
    return tuple(rung for rung in _APART if not (hidden and rung is Rung.SHUFFLER))


def rename_rows(document: Document, shufflers: int) -> None:
    """Give the limits the names of the rows that a plan with so many shufflers has.

    Where two limits come to be about one row, the stricter one stays.
    """
    policy: dict[str, dict[str, Any]] = {}
    for name, limits in document.get("policy", {}).items():
        for row in Rung(name).among(shufflers):
            kept = policy.setdefault(str(row), {})
            for key, value in limits.items():
                stricter = max if key.startswith("min_") else min
                kept[key] = stricter(value, kept.get(key, value))
    document["policy"] = policy


def limit_writer(name: str) -> Write:
    """Return what writes one limit, or removes it, from the name of its input.

    Raises:
        ParameterError: The name is not that of a limit.
    """
    _, _, path = name.partition("limit.")
    rung, _, key = path.rpartition(".")
    if not rung or not key:
        raise ParameterError("control", must="be an input of the page", got=name)

    def write(document: Document, value: Any) -> None:
        policy = document.setdefault("policy", {})
        limits = policy.setdefault(rung, {})
        if value is None:
            limits.pop(key, None)
        else:
            limits[key] = number(key, value)
        if not limits:
            policy.pop(rung)

    return write
