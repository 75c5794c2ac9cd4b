"""Inputs for who mixes, what shufflers add, and what is published."""

from collections.abc import Iterator
from typing import Any, get_args

from croupier.errors import ParameterError
from croupier.explorer.controls.control import (
    Control,
    Document,
    Option,
    Write,
    number,
    put,
    sections,
)
from croupier.explorer.controls.limits import rename_rows
from croupier.plan.plan import Plan
from croupier.plan.sections import AnalyzerSection

__all__ = ["WRITERS", "controls", "write_dummies"]

_DUMMIES = {"epsilon": 1.0, "delta": 1e-9}
_SHUFFLERS = (Option(1, "one"), Option(2, "two"))
_ADDED = (Option("no", "no"), Option("yes", "yes"))
_PUBLISHED = {
    "none": "nothing",
    "estimate": "the estimate",
    "histogram": "how often each report occurs",
    "sorted": "the reports, sorted",
    "released-order": "the reports, in the shuffler's order",
}


def controls(plan: Plan) -> Iterator[Control]:
    """Yield the inputs about shufflers and analyzer."""
    made = [each.dummies for each in plan.shufflers if each.dummies is not None]
    yield Control(
        id="shufflers",
        label="Shufflers",
        kind="choice",
        value=len(plan.shufflers),
        key="shufflers",
        help="Two mix one after the other.",
        movable=True,
        lossy=True,
        options=_SHUFFLERS,
    )
    yield Control(
        id="dummies",
        label="Shufflers add dummy reports",
        kind="choice",
        value="yes" if made else "no",
        key="shufflers.dummies",
        options=_ADDED,
    )
    if made:
        yield Control(
            id="dummies_epsilon",
            label="epsilon of the dummies",
            kind="slider",
            value=max(each.epsilon for each in made),
            key="shufflers.dummies.epsilon",
            help="What follows from one answer, whoever else takes part. Smaller: more dummies.",
            unit="nats",
            low=0.05,
            high=10,
            log=True,
            movable=True,
            edge="largest",
        )
        yield Control(
            id="dummies_delta",
            label="delta of the dummies",
            kind="slider",
            value=max(each.delta for each in made),
            key="shufflers.dummies.delta",
            low=1e-15,
            high=1e-3,
            log=True,
            movable=True,
        )
    yield Control(
        id="publication",
        label="The analyzer publishes",
        kind="choice",
        value=plan.analyzer.publication,
        key="analyzer.publication",
        options=tuple(
            Option(name, _PUBLISHED[name])
            for name in get_args(AnalyzerSection.model_fields["publication"].annotation)
        ),
    )
    yield Control(
        id="delta",
        label="delta: the chance that an epsilon fails",
        kind="slider",
        value=plan.guarantee.delta,
        key="guarantee.delta",
        low=1e-15,
        high=1e-3,
        log=True,
        movable=True,
    )


def _write_shufflers(document: Document, value: Any) -> None:
    count, tables = number("shufflers", value), list(sections(document, "shufflers"))
    if count not in (1, 2):
        raise ParameterError("shufflers", must="be 1 or 2", got=count)
    if count > len(tables):
        second = {name: entry for name, entry in tables[0].items() if name == "dummies"}
        tables.append(second)
    document["shufflers"] = tables[: int(count)]
    rename_rows(document, int(count))


def write_dummies(document: Document, value: Any) -> None:
    """Let every shuffler add dummies, or none."""
    for table in sections(document, "shufflers"):
        if value == "yes":
            table.setdefault("dummies", dict(_DUMMIES))
        else:
            table.pop("dummies", None)


def _write_dummy(name: str) -> Write:
    def write(document: Document, value: Any) -> None:
        for table in sections(document, "shufflers"):
            if "dummies" in table:
                table["dummies"].pop("weights", None)
                table["dummies"][name] = float(number(name, value))

    return write


def _write_publication(document: Document, value: Any) -> None:
    document.setdefault("analyzer", {})["publication"] = value


WRITERS: dict[str, Write] = {
    "shufflers": _write_shufflers,
    "dummies": write_dummies,
    "dummies_epsilon": _write_dummy("epsilon"),
    "dummies_delta": _write_dummy("delta"),
    "publication": _write_publication,
    "delta": put("guarantee", "delta"),
}
