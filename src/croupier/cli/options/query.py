"""The option that names a round's signed query, the same in every command."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.query import Query

__all__ = ["QueryFile", "read_query", "verified_query"]

QueryFile = Annotated[
    Path | None,
    typer.Option(
        "--query",
        help="The round's query, signed by the analyzer; for plans whose rounds ask by query.",
        metavar="FILE",
    ),
]


def read_query(file: Path | None, plan: Plan) -> Query | None:
    """The query in a file, if one is named and the plan's analyzer signed it."""
    return None if file is None else verified_query(file, plan)


def verified_query(file: Path, plan: Plan) -> Query:
    """The query in a file, if the plan's analyzer signed it."""
    if not file.is_file():
        raise ParameterError("--query", must="be a file", got=str(file))
    return Query.verified(file.read_bytes(), plan)
