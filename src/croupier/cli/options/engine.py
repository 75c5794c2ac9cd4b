"""The options that choose an engine, the same in every command."""

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from croupier.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from croupier.engines.base import Engine

__all__ = ["EngineName", "EngineOption", "Master", "Memory", "Scratch", "make_engine"]


class EngineName(StrEnum):
    """The engines that process rows."""

    DUCKDB = "duckdb"
    SPARK = "spark"


EngineOption = Annotated[
    EngineName, typer.Option(help="Engine that processes the rows, on one machine or on a cluster.")
]
Master = Annotated[
    str | None, typer.Option(help="Spark's master, such as spark://host:7077.", metavar="URL")
]
Memory = Annotated[str | None, typer.Option(help="Memory that the engine may use, such as 4GB.")]
Scratch = Annotated[
    Path | None,
    typer.Option(
        help="Directory for what does not fit in memory; on a cluster, shared by all hosts.",
        metavar="DIRECTORY",
    ),
]

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def make_engine(
    name: EngineName, *, master: str | None, memory: str | None, scratch: Path | None = None
) -> "Engine":
    """The chosen engine."""
    if master is not None and name is not EngineName.SPARK:
        raise ParameterError("--master", must="be left out without --engine spark")
    settings: dict[str, Any] = {} if master is None else {"master": master}
    if scratch is not None:
        settings["scratch"] = scratch
    if memory is not None:
        settings["memory"] = _bytes(memory)
    try:
        from croupier.engines import base  # noqa: PLC0415 - an extra, slow to import
    except ImportError:
        raise MissingExtraError(f"The engine {name}", package="pyarrow", extra=str(name)) from None
    return base.engine(str(name), **settings)


def _bytes(text: str) -> int:
    """Return a size such as 4GB in bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]B)", text.strip(), re.IGNORECASE)
    if found is None:
        raise ParameterError("--memory", must="be a size like 4GB", got=text)
    return int(float(found[1]) * _UNITS[found[2].upper()])
