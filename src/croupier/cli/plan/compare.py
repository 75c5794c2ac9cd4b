"""`croupier compare`: what changes from one plan to another."""

from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.assessment.compare import Comparison, Difference, compare
from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.text import NOT_BOUNDED, proved_text, with_unit
from croupier.assessment.policy import Verdict
from croupier.cli.options.plan import read_plan
from croupier.cli.output.policy import POLICY_NOT_MET, verdict_line
from croupier.cli.output.terminal import Json, out, print_json, print_table, progress
from croupier.model.guarantee import Metric
from croupier.numerics.rounding import ceiling_digits

__all__ = ["HELP", "command"]

HELP = """Show what changes from one plan to another: keys, guarantees, limits, error.

Exits with 0 if AFTER keeps its policy and gives up no limit of BEFORE, with 4 if a limit was
removed or loosened or limits nothing any more, is not met, or none is set; as croupier check.
Also with 4 if limits mean less: at a larger delta, with fewer corrupt people, or for one operator.

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
        _print(found, after)
    if not found.passed:
        raise typer.Exit(POLICY_NOT_MET)


def _print(found: Comparison, after: Path) -> None:
    first, second = found.before.digest[:8], found.after.digest[:8]
    if found.redeployed:
        out.print(f"Digest {first} -> {second}: clients need new keys.")
    else:
        out.print(f"Digest {first}, the same: clients keep their keys.")
    if found.keys:
        _print_changes(found)
    else:
        out.print("No key of the plan changes.")
    _print_policy(found, after)


def _print_changes(found: Comparison) -> None:
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


def _print_policy(found: Comparison, after: Path) -> None:
    if found.limits:
        out.print()
        rows = [
            (
                f"{one.limit.rung} {one.limit.key}",
                _limit(one.before),
                "->",
                _limit(one.after),
                one.word,
            )
            for one in found.limits
        ]
        print_table(("limit", "before", "", "after", ""), rows)
    out.print(f"Policy: {verdict_line(found.verdicts, after)}")
    if found.weakened:
        count = len(found.weakened)
        out.print(f"{count} limit{'s are' if count > 1 else ' is'} weaker than before.")
    for change in found.easier:
        values = f"{_shown(change.before)} -> {_shown(change.after)}"
        out.print(f"{change.key} {values}: limits of the same value mean less than before.")


def _limit(verdict: Verdict | None) -> str:
    return "-" if verdict is None else f"{verdict.limit.value:g}"


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
    if cell.proved is None:
        return NOT_BOUNDED
    return with_unit(one.metric, proved_text(one.metric, cell.proved.value))


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
                "before": one.before.proved.value if one.before.proved else None,
                "after": one.after.proved.value if one.after.proved else None,
                "better": one.better,
            }
            for one in found.differences
        ],
        compared=found.cells,
        limits=[
            {
                "rung": one.limit.rung,
                "limit": one.limit.key,
                "before": one.before.limit.value if one.before else None,
                "after": one.after.limit.value if one.after else None,
                "change": one.word,
                "weaker": one.weaker,
            }
            for one in found.limits
        ],
        policy=found.judgement,
        easier=[change.key for change in found.easier],
        passed=found.passed,
        rms_error_before=found.errors[0],
        rms_error_after=found.errors[1],
    )
