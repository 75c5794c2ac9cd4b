"""Inputs for the question, and for the answers that people may give."""

from collections.abc import Iterator
from typing import Any

from croupier.assessment.design.first_plan import least_error
from croupier.errors import ParameterError
from croupier.explorer.controls.control import Control, Document, Option, Write, number, sections
from croupier.model.domain import Categories, Grid
from croupier.model.texts import Texts
from croupier.plan.plan import Plan
from croupier.randomizers import parameters

__all__ = ["ANSWERS", "LOCAL", "WRITERS", "asked", "controls", "most_accurate", "the_question"]

LOCAL = 4.0
_MOST_NAMED = 100
"""Lists that are at most this long can be named on the page."""

_START: dict[str, dict[str, Any]] = {
    "list": {"k": 10},
    "number": {"grid": {"low": 0.0, "high": 100.0, "step": 5.0}},
    "text": {"longest": 12, "alphabet": "abcdefghijklmnopqrstuvwxyz", "normalisation": "lower"},
}
_SEVERAL = ("first", "second", "third")
_KINDS = (
    Option("list", "one answer from a list"),
    Option("number", "a number"),
    Option("text", "a text that nobody listed"),
    Option("several", "several yes/no questions"),
)
ANSWERS = ("k", "labels", "grid", "longest", "alphabet", "normalisation")
_ASKED = (
    Option("rectified-parallel", "each person about one of them, drawn by lot"),
    Option("together", "each person about all of them, in one report"),
)


def asked(plan: Plan) -> str:
    """Name the kind of question of a plan: list, number, text, several, or another."""
    if len(plan.questions) > 1:
        return "several"
    domain = plan.randomizers[0].domain
    kinds = ((Categories, "list"), (Grid, "number"), (Texts, "text"))
    return next((name for kind, name in kinds if isinstance(domain, kind)), "another")


def controls(plan: Plan) -> Iterator[Control]:
    """Yield the inputs about the question."""
    kind = asked(plan)
    another = () if kind != "another" else (Option("another", plan.randomizers[0].mechanism),)
    yield Control(
        id="kind",
        label="People answer",
        kind="choice",
        value=kind,
        help="Another kind is another question: title, purpose and answers are dropped.",
        options=_KINDS + another,
    )
    yield Control(
        id="title", label="Title that people read", kind="text", value=plan.title, key="title"
    )
    if kind == "several":
        yield from _several(plan)
    elif kind == "list":
        yield from _list(plan)
    elif kind == "number":
        yield from _number(plan)
    elif kind == "text":
        yield Control(
            id="longest",
            label="Letters that count",
            kind="slider",
            value=plan.randomizers[0].specification.get("longest"),
            key="randomizer.longest",
            low=2,
            high=24,
            integer=True,
            movable=True,
        )


def _list(plan: Plan) -> Iterator[Control]:
    specification = plan.randomizers[0].specification
    size, labels = plan.randomizers[0].domain.size, specification.get("labels")
    yield Control(
        id="k",
        label="Answers in the list",
        kind="slider",
        value=size,
        key="randomizer.k",
        low=2,
        high=1000,
        log=True,
        integer=True,
        movable=True,
    )
    if size <= _MOST_NAMED:
        yield Control(
            id="labels",
            label="Their names, one per line",
            kind="list",
            value=[str(label) for label in labels or ()],
            key="randomizer.labels",
            help="Optional. Without names they are numbered.",
        )


def _number(plan: Plan) -> Iterator[Control]:
    grid = plan.randomizers[0].domain
    if not isinstance(grid, Grid):
        return
    for name, label in (("low", "Least number"), ("high", "Largest number"), ("step", "Step")):
        yield Control(
            id=f"grid_{name}",
            label=label,
            kind="number",
            value=getattr(grid, name),
            key="randomizer.grid",
        )


def _several(plan: Plan) -> Iterator[Control]:
    yield Control(
        id="questions",
        label="Questions",
        kind="slider",
        value=len(plan.questions),
        key="questions",
        help="A new question is a copy of the last one.",
        low=2,
        high=50,
        integer=True,
        movable=True,
        lossy=True,
    )
    own = Option(plan.participation.model, plan.participation.model)
    known = {option.value: option for option in (own, *_ASKED)}
    yield Control(
        id="model",
        label="Whom each question is put to",
        kind="choice",
        value=plan.participation.model,
        key="participation.model",
        options=tuple(known.values()),
    )


def _write_kind(document: Document, value: Any) -> None:
    tables = sections(document, "questions")
    local = max((table.get("max_epsilon_local", 0.0) for table in tables), default=0.0) or LOCAL
    for name in ("randomizer", "questions", "title", "purpose"):
        document.pop(name, None)
    document["participation"] = {}
    document.get("guarantee", {}).pop("within", None)
    if value == "several":
        yes_no = {"mechanism": "k-rr", "labels": ["no", "yes"], "max_epsilon_local": local}
        document["questions"] = [{"name": name} | yes_no for name in _SEVERAL]
        document["participation"] = {"model": _ASKED[0].value}
    elif value in _START:
        document["randomizer"] = most_accurate(_START[value], document, local)
    else:
        raise ParameterError("kind", must="be list, number, text or several")


def most_accurate(answers: dict[str, Any], document: Document, local: float) -> dict[str, Any]:
    """Return the question for these answers whose estimates err least at the minimum batch."""
    people = document.get("protections", {}).get("minimum_batch", 1000)
    found = least_error(answers, max_epsilon_local=local, n=people).mechanism
    return {"mechanism": found} | answers | {"max_epsilon_local": local}


def the_question(document: Document) -> dict[str, Any]:
    """Return the table of the only question."""
    return sections(document, "questions")[0]


def _write_title(document: Document, value: Any) -> None:
    if value:
        document["title"] = str(value)
    else:
        document.pop("title", None)


def _write_k(document: Document, value: Any) -> None:
    table = the_question(document)
    table.pop("labels", None)
    _forget_derived(table)
    table["k"] = number("k", value)


def _write_labels(document: Document, value: Any) -> None:
    table = the_question(document)
    labels = [str(label).strip() for label in value] if isinstance(value, list) else []
    labels = [label for label in labels if label]
    if labels:
        table.pop("k", None)
        table["labels"] = labels
    elif "labels" in table:
        table["k"] = len(table.pop("labels"))
    _forget_derived(table)


def _forget_derived(table: dict[str, Any]) -> None:
    """Remove what a mechanism chose for another number of answers."""
    for name, parameter in parameters(table["mechanism"]).items():
        if not parameter.required and name not in (*ANSWERS, "denominator"):
            table.pop(name, None)


def _write_grid(name: str) -> Write:
    def write(document: Document, value: Any) -> None:
        table = the_question(document)
        table["grid"] = table["grid"] | {name: float(number(name, value))}

    return write


def _write_longest(document: Document, value: Any) -> None:
    table = the_question(document)
    table["longest"] = number("longest", value)
    _forget_derived(table)


def _write_questions(document: Document, value: Any) -> None:
    count, tables = int(number("questions", value)), list(sections(document, "questions"))
    if not 2 <= count <= 100:
        raise ParameterError("questions", must="be in [2, 100] on this page", got=count)
    names = {table.get("name") for table in tables}
    while len(tables) < count:
        name = next(n for i in range(1, 1000) if (n := f"question-{i}") not in names)
        names.add(name)
        copied = {key: entry for key, entry in tables[-1].items() if key != "text"}
        tables.append(copied | {"name": name})
    document.pop("randomizer", None)
    document["questions"] = tables[:count]


def _write_model(document: Document, value: Any) -> None:
    document["participation"] = {"model": value}


WRITERS: dict[str, Write] = {
    "kind": _write_kind,
    "title": _write_title,
    "k": _write_k,
    "labels": _write_labels,
    "grid_low": _write_grid("low"),
    "grid_high": _write_grid("high"),
    "grid_step": _write_grid("step"),
    "longest": _write_longest,
    "questions": _write_questions,
    "model": _write_model,
}
