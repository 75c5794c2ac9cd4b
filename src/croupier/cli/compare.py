"""`croupier compare`: what changes from one plan to another."""

from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.assessment.cell import Cell
from croupier.assessment.compare import Comparison, Difference, compare
from croupier.assessment.ladder_text import NOT_BOUNDED, promise_text
from croupier.cli.output import Json, out, print_json, print_table, progress
from croupier.cli.plan_options import read_plan
from croupier.model.guarantee import Metric
from croupier.numerics.rounding import ceiling_digits

__all__ = ["HELP", "command"]

HELP = """Show what changes from one plan to another: keys, guarantees, error.

Example: croupier compare plan.toml other.toml
"""

_LONGEST = 40


def command(
    before: Annotated[Path, typer.Argument(help="A plan.", metavar="BEFORE")],
    after: Annotated[Path, typer.Argument(help="Another.", metavar="AFTER")],
    json: Json = False,
) -> None:
    """Compare two plans."""
    plans = read_plan(before), read_plan(after)
    with progress("Proving", total=None, quiet=json):
        found = compare(*plans)
    if json:
        _print_document(found)
    else:
        _print(found)


def _print(found: Comparison) -> None:
    first, second = found.before.digest[:8], found.after.digest[:8]
    if found.redeployed:
        out.print(f"Digest {first} -> {second}: clients need new keys.")
    else:
        out.print(f"Digest {first}, the same: clients keep their keys.")
    if not found.keys:
        out.print("No key of the plan changes.")
        return
    out.print()
    print_table(
        ("key", "before", "", "after"),
        [(key.key, _shown(key.before), "->", _shown(key.after)) for key in found.keys],
    )
    out.print()
    visible = [one for one in found.differences if _text(one, one.before) != _text(one, one.after)]
    if visible:
        print_table(
            ("guarantee", "before", "", "after", "", "against"), _rows(visible), right=(1, 3)
        )
    _summarise(found, visible)


def _rows(visible: list[Difference]) -> list[tuple[str, ...]]:
    """One row for all rungs on which a guarantee changes in the same way."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for one in sorted(visible, key=lambda one: list(Metric).index(one.metric)):
        word = "better" if one.better else "worse"
        row = (one.metric, _text(one, one.before), "->", _text(one, one.after), word)
        rows.setdefault(row, []).append(one.rung)
    return [(*row, ", ".join(rungs)) for row, rungs in rows.items()]


def _summarise(found: Comparison, visible: list[Difference]) -> None:
    better = sum(one.better for one in found.differences)
    worse = len(found.differences) - better
    text = f"{len(found.differences)} of {found.cells} guarantees change: "
    text = f"{text}{better} better, {worse} worse." if better + worse else "No guarantee changes."
    hidden = len(found.differences) - len(visible)
    if hidden:
        text += f" {hidden} by less than the digits shown."
    out.print(text)
    first, second = (None if error is None else ceiling_digits(error) for error in found.errors)
    if first and second and first != second:
        word = "better" if float(second) < float(first) else "worse"
        out.print(f"RMS error at the minimum batch: {first} -> {second}  {word}")


def _text(one: Difference, cell: Cell) -> str:
    if cell.promise is None:
        return NOT_BOUNDED
    unit = " %" if one.metric.startswith("guess") else ""
    return f"{promise_text(one.metric, cell.promise.value)}{unit}"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:_}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _print_document(found: Comparison) -> None:
    print_json(
        digest_before=found.before.digest,
        digest_after=found.after.digest,
        redeployed=found.redeployed,
        keys=[{"key": one.key, "before": one.before, "after": one.after} for one in found.keys],
        guarantees=[
            {
                "rung": one.rung,
                "metric": one.metric,
                "before": one.before.promise.value if one.before.promise else None,
                "after": one.after.promise.value if one.after.promise else None,
                "better": one.better,
            }
            for one in found.differences
        ],
        compared=found.cells,
        rms_error_before=found.errors[0],
        rms_error_after=found.errors[1],
    )
