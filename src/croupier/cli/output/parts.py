"""Estimates by part of a public file in words, as JSON and as rows of a table."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from croupier.analyzer.displacement import Displacement
from croupier.analyzer.parts import PartEstimate, PartEstimates
from croupier.cli.output.estimates import estimate_document
from croupier.cli.output.possible import MOVED, shown
from croupier.cli.output.terminal import out, print_table, say
from croupier.model.estimate import Estimate

__all__ = ["part_rows", "parts_document", "print_parts", "shown_value"]

_SHOWN = 20


def shown_value(estimate: Estimate, value: str | None) -> int:
    """Return the place of the value that is shown by part: the one asked for, or the last."""
    names = [str(own) for own in estimate.values]
    return names.index(value) if value in names else len(names) - 1


def parts_document(parts: PartEstimates) -> dict[str, Any]:
    """Return all parts as JSON."""
    moved = parts.displacement
    return {
        "by": parts.by,
        "about": "the people whose reports were released in a part, not its residents",
        "least_reports": dict(parts.least),
        "withheld": {
            question: {"parts": many, "reports": reports}
            for question, (many, reports) in parts.withheld.items()
        },
        "confidence": parts.confidence,
        "hold_together": parts.together,
        "displacement": {
            "draws": moved.draws,
            "columns": list(moved.columns),
            "median": moved.median,
            "farthest_tenth": moved.farthest_tenth,
            "along": list(moved.along),
            "extent": list(moved.extent),
        },
        "estimates": [_entry(own) | row for own, row in part_rows(parts)],
    }


def _entry(own: PartEstimate) -> dict[str, Any]:
    square = None if own.square is None else {"low": own.square.low, "side": own.square.side}
    return {
        "question": own.question,
        "part": str(own.part),
        "parts": own.parts,
        "square": square,
        "reports": own.estimate.n,
        "sent_from_there": own.stayed,
    }


def part_rows(parts: PartEstimates) -> Iterator[tuple[PartEstimate, dict[str, Any]]]:
    """Yield every value of every part."""
    for own in parts.estimates:
        for entry in estimate_document(own.estimate):
            yield own, entry


def print_parts(
    parts: PartEstimates, *, confidence: float, value: str | None, everything: bool
) -> None:
    """Print what is estimated, how far reports were moved, and one table per question."""
    out.print()
    say(
        "By part: shares among the people whose reports were released there, not among those who "
        "live there."
    )
    for line in _moved(parts.displacement):
        say(line)
    for question, least in parts.least.items():
        own = [one for one in parts.estimates if one.question == question]
        out.print()
        many, reports = parts.withheld.get(question, (0, 0))
        if own:
            _print_table(own, confidence, value, everything=everything)
        say(f"{question}: a part needs {least:,} reports; smaller ones are put together.")
        if many:
            say(f"{many:,} parts with {reports:,} reports together are left out.")
    held = "together" if parts.together else "singly; --simultaneous for all together"
    say(f"Intervals of parts hold {held}.")


def _print_table(
    own: Sequence[PartEstimate], confidence: float, value: str | None, *, everything: bool
) -> None:
    first = own[0].estimate
    index = shown_value(first, value)
    shares = first.quantity == "share"
    factor, unit, form = (100, " %", ".1f") if shares else (1, "", ".6g")
    listed = own if everything else own[:_SHOWN]
    points, lower, upper = (
        [float(getattr(one.estimate, part)[index]) for one in listed]
        for part in ("points", "lower", "upper")
    )
    texts, moved = shown(points, lower, upper, factor=factor, form=form, unit=unit)
    rows = []
    for one, text, low, high in zip(listed, texts, lower, upper, strict=True):
        name = str(one.part) if one.parts == 1 else f"{one.part} ({one.parts:,} parts)"
        rows.append(
            (
                name,
                f"{one.estimate.n:,}",
                f"{100 * one.stayed:.0f} %",
                text,
                f"{factor * low:{form}} to {factor * high:{form}}",
            )
        )
    named: Hashable = first.values[index]
    head = ("part", "reports", "sent there", str(named), f"{100 * confidence:g} % interval")
    print_table(head, rows, right=(1, 2, 3, 4))
    if moved:
        out.print(MOVED)
    if len(listed) < len(own):
        say(f"The first {len(listed)} of {len(own):,} parts; all of them: --all")


def _moved(moved: Displacement) -> Iterator[str]:
    """Yield how far the plan's order carries reports."""
    draws = f"measured on {moved.draws:,} draws of the plan's order"
    if moved.median is None or moved.farthest_tenth is None:
        yield f'"Sent there": of the reports released in a part, those sent from it; {draws}.'
        return
    extents = " by ".join(f"{extent:.3g}" for extent in moved.extent)
    yield (
        f"The order moves half of all reports by {moved.median:.2g} or more, one in ten by "
        f"{moved.farthest_tenth:.2g} or more, on a map of {extents}; {draws}."
    )
    if len(moved.along) > 1:
        axes = (
            f"{own:.2g} along {name}" for name, own in zip(moved.columns, moved.along, strict=True)
        )
        yield f"Half of all reports move by at least {' and '.join(axes)}."
    yield '"Sent there": of the reports released in a part, those sent from it.'
