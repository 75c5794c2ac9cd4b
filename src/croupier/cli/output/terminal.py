"""The output of commands: words on stdout, one JSON document with --json, progress on stderr."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill, wrap
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console

__all__ = ["SCHEMA_VERSION", "WIDTH", "Json", "Quiet", "err", "out", "print_json", "print_table"]
__all__ += ["progress", "say", "say_drawn", "say_fact"]

SCHEMA_VERSION = 2

WIDTH = 80
"""The width that every screen fits, in columns."""

_NARROWEST = 16
_WHOLE_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]


class Advance(Protocol):
    """A function that tells the progress bar how many more rows are done."""

    def __call__(self, rows: int, /) -> None:
        """Add `rows`."""


def print_json(**document: Any) -> None:
    """Print one document with the schema version first.

    Numbers that are not finite become null, and `not_finite` says where and what they were.
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
    """Print aligned columns under a bold head, if any; those numbered in `right` are aligned right.

    The last column is broken where the table would be wider than 80 columns, if there is room.
    """
    lines = [*rows] if head is None else [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = WIDTH - sum(width + 2 for width in widths[:-1])
    for row in lines:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        start = "".join(f"{cell}  " for cell in cells[:-1])
        last = [cells[-1]]
        if len(row[-1]) > left >= _NARROWEST:
            last = wrap(row[-1], left, **_WHOLE_WORDS)
        text = f"\n{' ' * len(start)}".join(last)
        out.print(f"{start}{text}".rstrip(), style="bold" if row is head else None)


def say(text: str, *, indent: int = 0) -> None:
    """Print a sentence, broken so that it fits 80 columns."""
    start = " " * indent
    indents: Any = {"initial_indent": start, "subsequent_indent": start}
    out.print(fill(text, WIDTH, **indents, **_WHOLE_WORDS))


def say_fact(name: str, text: str) -> None:
    """Print what a number rests on under its name, broken so that it fits 80 columns."""
    start = f"  {name:<8}  "
    indents: Any = {"initial_indent": start, "subsequent_indent": " " * len(start)}
    out.print(fill(text, WIDTH, **indents, **_WHOLE_WORDS))


def say_drawn(plot: Path | None) -> None:
    """Say which file was drawn, if one was asked for."""
    if plot is not None:
        out.print(f"Drew {plot}")


@contextmanager
def progress(task: str, *, total: int | None, quiet: bool) -> Iterator[Advance]:
    """Show a bar on stderr while rows go by; nothing where stderr is not a terminal."""
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
