"""Inputs for what devices do to an answer: the mechanism, and how much noise it makes."""

from collections.abc import Iterator
from typing import Any

from croupier.assessment.design.first_plan import report_size
from croupier.errors import CroupierError
from croupier.explorer.controls.control import Control, Document, Option, Write, number, sections
from croupier.explorer.controls.parties import write_dummies
from croupier.explorer.controls.question import ANSWERS, LOCAL, asked, most_accurate, the_question
from croupier.plan.plan import Plan
from croupier.randomizers import parameters

__all__ = ["WRITERS", "controls", "fit_report"]

_MECHANISMS = {
    "list": (
        "k-rr",
        "subset-selection",
        "optimized-unary",
        "symmetric-unary",
        "local-hashing",
        "hadamard",
        "dictionary",
        "plain",
    ),
    "number": ("one-bit-mean", "laplace", "gaussian", "distribution"),
    "text": ("text",),
}


def controls(plan: Plan) -> Iterator[Control]:
    """Yield the inputs about what devices do to an answer."""
    kind, made = asked(plan), plan.randomizers[0]
    names = _MECHANISMS.get(kind, ())
    if kind != "several":
        known = tuple(dict.fromkeys((*names, made.mechanism)))
        yield Control(
            id="mechanism",
            label="Mechanism",
            kind="choice",
            value=made.mechanism,
            key="randomizer.mechanism",
            options=tuple(Option(name, _called(name)) for name in known),
        )
    if kind == "list":
        yield Control(id="most_accurate", label="Choose the most accurate mechanism", kind="button")
    ceilings = [each.specification.get("max_epsilon_local") for each in plan.randomizers]
    given = [ceiling for ceiling in ceilings if ceiling is not None]
    if given:
        every = "" if len(given) == 1 else " of each question"
        if len(set(given)) > 1:
            every = ", the largest; the others keep their ratio to it"
        yield Control(
            id="max_epsilon_local",
            label=f"epsilon_local{every}",
            kind="slider",
            value=max(given),
            key="randomizer.max_epsilon_local",
            help="What remains if shuffler and analyzer work together. Smaller: more noise.",
            unit="nats",
            low=0.1,
            high=10,
            log=True,
            movable=True,
            lossy=len(set(given)) > 1,  # ratios are rounded
            edge="largest",
        )


def _called(name: str) -> str:
    return "plain: no noise on devices, dummies of shufflers" if name == "plain" else name


def _write_most_accurate(document: Document, _: Any) -> None:
    table = the_question(document)
    answers = {name: table[name] for name in ANSWERS if name in table}
    told = {name: table[name] for name in ("name", "text") if name in table}
    local = table.get("max_epsilon_local", LOCAL)
    document["randomizer"] = told | most_accurate(answers, document, local)


def _write_mechanism(document: Document, value: Any) -> None:
    table = the_question(document)
    known = parameters(value)
    kept = {
        name: entry
        for name, entry in table.items()
        if name in ("name", "text", "max_epsilon_local", *ANSWERS)
        and (name in known or name in ("name", "text"))
    }
    if "max_epsilon_local" in known:
        kept.setdefault("max_epsilon_local", LOCAL)
    document["randomizer"] = {"mechanism": value} | kept
    if value == "plain":  # then nothing else makes noise
        write_dummies(document, "yes")


def _write_local(document: Document, value: Any) -> None:
    """Set the largest epsilon_local of all questions; the others keep their ratio to it."""
    given = float(number("max_epsilon_local", value))
    tables = [table for table in sections(document, "questions") if "max_epsilon_local" in table]
    largest = max(table["max_epsilon_local"] for table in tables)
    for table in tables:
        same = table["max_epsilon_local"] == largest
        table["max_epsilon_local"] = (
            given if same else float(f"{table['max_epsilon_local'] * given / largest:.6g}")
        )


def fit_report(document: Document) -> None:
    """Make room for the longest report, if a report may now be longer."""
    protections = document.setdefault("protections", {})
    given = protections.get("report_size", 32)
    try:
        roomy = Plan.from_document(document | {"protections": protections | {"report_size": 65536}})
    except CroupierError:
        return  # what is wrong is said where the plan is made
    protections["report_size"] = max(given, *map(report_size, roomy.reported))


WRITERS: dict[str, Write] = {
    "mechanism": _write_mechanism,
    "most_accurate": _write_most_accurate,
    "max_epsilon_local": _write_local,
}
