"""`croupier credentials revoke`: revoke individual credentials."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.output.terminal import Json, out, print_json
from croupier.hosting.revocation import identity_of, revoke

__all__ = ["HELP", "command"]

HELP = """Revoke credentials: add their ids to a list that `croupier serve --revoked` reads.

A running service reads the list again within a second. The list holds ids and nothing else: random
digits that say nothing about their holders and admit nobody. An id is digits 3 to 34 of a
credential; whole credentials are read from standard input, which no shell history keeps. Reports
that were sent before stay.

Example: croupier credentials revoke revoked.txt --new - < stolen.txt
"""

ListFile = Annotated[Path, typer.Argument(help="The list.", metavar="FILE")]
New = Annotated[bool, typer.Option("--new", help="Make the list; the file must not exist.")]
Ids = Annotated[
    list[str],
    typer.Argument(help="Ids; - reads ids or whole credentials, one per line.", metavar="ID"),
]


def command(file: ListFile, ids: Ids, new: New = False, json: Json = False) -> None:
    """Revoke credentials."""
    given = [text for text in ids if text != "-"]
    if "-" in ids:
        given += sys.stdin.read().split()
    added, revoked = revoke(file, [identity_of(text) for text in given], new=new)
    if json:
        print_json(output=str(file), added=added, revoked=revoked)
    else:
        out.print(f"REVOKED  {added:,} more, {revoked:,} in {file}")
