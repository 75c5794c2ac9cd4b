"""How commands talk: words on stdout, one JSON document with --json, progress on stderr."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console

__all__ = ["SCHEMA_VERSION", "Json", "Quiet", "err", "out", "print_json", "print_table"]
__all__ += ["progress", "say_drawn"]

SCHEMA_VERSION = 1

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]


class Advance(Protocol):
    """Tells the progress bar how many more rows are done."""

    def __call__(self, rows: int, /) -> None:
        """Add `rows`."""


def print_json(**document: Any) -> None:
    """Print one document with the schema version first.

    What is not finite becomes null, and `not_finite` says where that is and what it stands for.
    """
    nulls: dict[str, str] = {}
    finite = _finite({"schema_version": SCHEMA_VERSION} | document, "", nulls)
    typer.echo(json.dumps(finite | ({"not_finite": nulls} if nulls else {}), allow_nan=False))


def _finite(value: Any, path: str, nulls: dict[str, str]) -> Any:
    """The value without infinities, whose paths and kinds go to `nulls`."""
    if isinstance(value, dict):
        return {name: _finite(entry, f"{path}.{name}", nulls) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry, f"{path}.{place}", nulls) for place, entry in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        kind = "not a number" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
        nulls[path.removeprefix(".")] = kind
        return None
    return value


def print_table(
    head: Sequence[str] | None, rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> None:
    """Print aligned columns under a bold head, if any; those numbered in `right` end flush."""
    lines = [*rows] if head is None else [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.print("  ".join(cells).rstrip(), style="bold" if row is head else None)


def say_drawn(plot: Path | None) -> None:
    """Say which file was drawn, if one was asked for."""
    if plot is not None:
        out.print(f"Drew {plot}")


@contextmanager
def progress(task: str, *, total: int | None, quiet: bool) -> Iterator[Advance]:
    """A bar on stderr while rows go by; nothing where stderr is not a terminal."""
    if quiet or not err.is_terminal:
        yield lambda _rows, /: None
        return
    from rich.progress import (  # noqa: PLC0415 - slow to import, and for terminals only
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as bar:
        identity = bar.add_task(task, total=total)
        yield lambda rows, /: bar.advance(identity, rows)
