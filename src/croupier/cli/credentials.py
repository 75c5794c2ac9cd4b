"""`croupier credentials`: who may send."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.output import Json, out, print_json
from croupier.service.credentials import BearerCredentials, read_secret, write_secret

__all__ = ["HELP", "command"]

HELP = """Issue credentials under a secret that only the shuffler has.

A person's credential gets one report into each batch; a relay's sends many, for people it vouches
for. A credential is random and says nothing about its holder.

Example: croupier credentials credentials.key --new --count 3
"""

SecretFile = Annotated[Path, typer.Argument(help="Where the secret is.", metavar="FILE")]
New = Annotated[bool, typer.Option("--new", help="Make the secret; the file must not be there.")]
Count = Annotated[int, typer.Option(help="How many credentials.", min=0, max=10_000_000)]
Relay = Annotated[bool, typer.Option("--relay", help="For relays, not for persons.")]


def command(
    file: SecretFile, new: New = False, count: Count = 1, relay: Relay = False, json: Json = False
) -> None:
    """Issue credentials."""
    if new:
        write_secret(file)
    credentials = BearerCredentials(read_secret(file))
    issued = [credentials.issue(relay=relay) for _ in range(count)]
    if json:
        print_json(relay=relay, credentials=issued)
    else:
        for token in issued:
            out.print(token)
