"""`croupier credentials issue`: credentials for people and relays."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret

__all__ = ["HELP", "command"]

HELP = """Issue credentials under a secret that only the shuffler has.

A person's credential admits one report to each batch; a relay's sends many, for people it vouches
for. A credential is random and says nothing about its holder. Where a plan mixes by groups of a
public file, --owners issues one for each row of the file, in their order: nobody can then report
from another's place.

Example: croupier credentials issue credentials.key --new --count 3
"""

SecretFile = Annotated[Path, typer.Argument(help="The file of the secret.", metavar="FILE")]
New = Annotated[bool, typer.Option("--new", help="Make the secret; the file must not exist.")]
Count = Annotated[int, typer.Option(help="Number of credentials.", min=0, max=10_000_000)]
Relay = Annotated[bool, typer.Option("--relay", help="Issue for relays, not for persons.")]


Owners = Annotated[
    int | None,
    typer.Option(
        help="Issue one for each of this many rows of a public file.", min=1, max=10_000_000
    ),
]


def command(
    file: SecretFile,
    new: New = False,
    count: Count = 1,
    relay: Relay = False,
    owners: Owners = None,
    json: Json = False,
) -> None:
    """Issue credentials."""
    if owners is not None and (relay or count != 1):
        raise ParameterError("--owners", must="come without --relay and --count")
    if new:
        write_secret(file)
    credentials = BearerCredentials(read_secret(file, option="FILE"))
    if owners is None:
        issued = [credentials.issue(relay=relay) for _ in range(count)]
    else:
        issued = [credentials.issue_for(owner) for owner in range(owners)]
    if json:
        print_json(relay=relay, credentials=issued)
    else:
        for token in issued:
            out.print(token)
