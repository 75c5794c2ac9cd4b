"""The appendix for engineers: every number with its proof and the command that proves it again."""

import shlex
from importlib.metadata import version

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import REPEATED, Ladder
from croupier.assessment.ladder.table import HEADS
from croupier.model.guarantee import Guarantee
from croupier.model.html import Html, column, element, table
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits, floor_digits

__all__ = ["engineers", "recompute"]

_DIGITS = 6


def recompute(file: str, rung: str, metric: str) -> str:
    """The command that proves one cell again.

    >>> recompute("my plan.toml", "batch", "epsilon")
    "croupier assess 'my plan.toml' --rung batch --metric epsilon"
    """
    return f"croupier assess {shlex.quote(file)} --rung {rung} --metric {metric}"


def engineers(ladder: Ladder, file: str) -> Html:
    """One table a rung, and what else is on the page."""
    plan = ladder.plan
    tables = [part for rung in Rung for part in _rung(ladder, rung, file)]
    return element(
        "section",
        element("h2", "For engineers"),
        element(
            "p",
            f"croupier {version('croupier')}; {plan.guarantee.adjacency} neighbours: the same "
            "people, one person's value replaced in all rounds. Bounds are rounded outward. "
            "Plan ",
            element("code", plan.digest, class_="digest"),
            ". Each command prints its number again; with --json in full.",
        ),
        *tables,
        *_others(ladder, file),
        class_="engineers",
    )


def _rung(ladder: Ladder, rung: Rung, file: str) -> list[Html]:
    rows = [
        (
            HEADS[metric].removesuffix(", %"),
            [
                column(_bounds(cell, rung), "proved"),
                column(_proof(cell), "proof"),
                column(_command(recompute(file, rung, metric)), "again"),
            ],
        )
        for metric, cell in ladder[rung].cells.items()
    ]
    head = ("metric", "proved", "proof", "again")
    return [element("h3", f"Rung {rung}"), table(f"Every cell of {rung}.", head, rows)]


def _bounds(cell: Cell, rung: str) -> Html:
    """Both sides where they are known, in six digits."""
    low, high = (cell.attained, cell.promise)[:: -1 if cell.metric.protects else 1]
    lines = []
    if cell.promise is None:
        lines.append(element("div", f"not bounded: {cell.reason}"))
    if high is not None:
        text = ceiling_digits(high.value, _DIGITS)
        lines.append(element("div", "<= ", _bound(high, text, rung, form="upper")))
    if low is not None:
        text = floor_digits(low.value, _DIGITS)
        lines.append(element("div", ">= ", _bound(low, text, rung, form="lower")))
    return Html("".join(lines))


def _bound(found: Guarantee, text: str, rung: str, *, form: str) -> Html:
    return element(
        "data",
        text,
        value=repr(found.value),
        data_rung=rung,
        data_metric=found.metric,
        data_form=form,
    )


def _command(text: str) -> Html:
    """Broken between flags only."""
    program, *flags = text.split(" --")
    return element("code", program, *(Html(f" {element('span', f'--{flag}')}") for flag in flags))


def _proof(cell: Cell) -> str:
    if cell.promise is None:
        return "none"
    assumes = "; ".join(cell.promise.assumptions)
    return cell.promise.theorem + (f". Assumes: {assumes}." if assumes else ".")


def _others(ladder: Ladder, file: str) -> list[Html]:
    """The numbers of the page that are in no cell."""
    again = column(_command(f"croupier assess {shlex.quote(file)}"), "again")
    known = {
        f"{REPEATED} collections of one person": ("repeated", ladder.repeated),
        "all who are enrolled": ("everybody", ladder.everybody),
    }
    rows = []
    for name, (rung, found) in known.items():
        if found is not None:
            bound = _bound(found, ceiling_digits(found.value, _DIGITS), rung, form="upper")
            proved = column(element("div", "<= ", bound), "proved")
            rows.append((name, [proved, column(found.theorem, "proof"), again]))
    blind = column("as in the ladder", "proved"), column("one of so many", "proof"), again
    rows.append(("blind guesses", list(blind)))
    head = ("number", "proved", "proof", "again")
    return [element("h3", "Other numbers"), table("Numbers that are in no cell.", head, rows)]
