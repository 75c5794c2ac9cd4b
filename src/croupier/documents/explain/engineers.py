"""The appendix for engineers: each number with its proof and the command that repeats it."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import REPEATED, Ladder
from croupier.documents.explain.sentence import Form, Number, Sentence
from croupier.model.guarantee import Guarantee
from croupier.model.metric import Metric
from croupier.model.rung import LUCK, Rung
from croupier.numerics.rounding import delta_text

__all__ = [
    "BY_LUCK",
    "Proof",
    "numbered",
    "other_delta",
    "other_proofs",
    "recompute",
    "rung_proofs",
]

NO_THEOREM = "none"
BY_LUCK = "one divided by the number of possibilities"


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A number and what it rests on.

    Attributes:
        name: What it is about.
        bounds: What is proved, from above first; nothing for guesses by luck alone.
        theorem: What proves it, and what that assumes.
        again: The command that proves it again, broken between flags.
    """

    name: str
    bounds: tuple[Sentence, ...]
    theorem: str
    again: list[str]


def recompute(file: str, rung: str, metric: str) -> str:
    """Return the command that proves one cell again.

    >>> recompute("my plan.toml", "batch", "epsilon")
    "croupier assess 'my plan.toml' --rung batch --metric epsilon"
    """
    return f"croupier assess {shlex.quote(file)} --rung {rung} --metric {metric}"


def rung_proofs(ladder: Ladder, rung: Rung, file: str) -> Iterator[Proof]:
    """Yield the proof of every cell of a rung."""
    for metric, cell in ladder[rung].cells.items():
        yield Proof(
            name=metric.heading,
            bounds=tuple(_bounds(cell, rung)),
            theorem=_theorem(cell),
            again=recompute(file, rung, metric).split(" --"),
        )


def _bounds(cell: Cell, rung: str) -> Iterator[Sentence]:
    """Yield both bounds where they are known."""
    low, high = (cell.attained, cell.proved)[:: -1 if cell.metric.protects else 1]
    if cell.proved is None:
        yield Sentence(f"not bounded: {cell.reason}")
    if high is not None:
        yield Sentence("<= ", _bound(high, rung, Form.UPPER))
    if low is not None:
        yield Sentence(">= ", _bound(low, rung, Form.LOWER))


def _bound(found: Guarantee, rung: str, form: Form) -> Number:
    return Number(value=found.value, metric=found.metric, rung=rung, form=form, direction=None)


def _theorem(cell: Cell) -> str:
    if cell.proved is None:
        return NO_THEOREM
    assumes = "; ".join(cell.proved.assumptions)
    return cell.proved.theorem + (f". Assumes: {assumes}." if assumes else ".")


def other_proofs(ladder: Ladder, file: str) -> Iterator[Proof]:
    """Yield the proofs of the numbers on the page that are in no cell."""
    again, many = [f"croupier assess {shlex.quote(file)}"], ladder.repeated
    known = {
        f"{REPEATED} collections of one person{other_delta(ladder, many)}": ("repeated", many),
        "all who are enrolled": ("enrolled", ladder.everybody),
    }
    for period in ladder.periods:
        if period.batch is not None:
            bound = Number(
                value=period.batch,
                metric=Metric.EPSILON,
                rung=period.name,
                form=Form.UPPER,
                direction=None,
            )
            yield Proof(
                name=f"reader of the batches, {period.name}",
                bounds=(Sentence("<= ", bound),),
                theorem=period.theorem,
                again=again,
            )
    for name, (rung, found) in known.items():
        if found is not None:
            bounds = (Sentence("<= ", _bound(found, rung, Form.UPPER)),)
            yield Proof(name=name, bounds=bounds, theorem=found.theorem, again=again)
    yield Proof(name=LUCK, bounds=(), theorem=BY_LUCK, again=again)


def other_delta(ladder: Ladder, found: Guarantee | None) -> str:
    """Name the delta of a claim if it is not the plan's."""
    if found is None or found.delta == ladder.plan.guarantee.delta:
        return ""
    return f" at delta {delta_text(found.delta)}"


def numbered(proofs: Iterable[Proof]) -> dict[str, str]:
    """Name every theorem once, in the order of the proofs that rest on it.

    >>> one, two = (Proof(name="", bounds=(), theorem=t, again=[]) for t in ("first", "second"))
    >>> numbered([one, two, one])
    {'first': 'P1', 'second': 'P2'}
    """
    found = dict.fromkeys(proof.theorem for proof in proofs if proof.theorem != NO_THEOREM)
    return {theorem: f"P{number}" for number, theorem in enumerate(found, 1)}
