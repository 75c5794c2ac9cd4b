"""How commands talk: words on stdout, one JSON document with --json, progress on stderr."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console

__all__ = ["SCHEMA_VERSION", "Json", "Quiet", "err", "out", "print_json", "print_table"]
__all__ += ["progress"]

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
    """Print one document with the schema version first; what is not finite becomes null."""
    typer.echo(json.dumps(_finite({"schema_version": SCHEMA_VERSION} | document), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
