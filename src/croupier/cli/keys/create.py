"""`croupier keys create`: private keys on disk, public ones for the plan."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.keys.directory import KeysDirectory, PassphraseFile
from croupier.cli.output import Json, out, print_json
from croupier.pipeline.keys import KeyDirectory, passphrase

__all__ = ["HELP", "command"]

HELP = """Make the keys of a party, and print the line that its plan needs.

The shuffler gets a key that signs; the analyzer one that signs and one that opens reports. The
files are encrypted with a passphrase and never replaced. Let each party run this on a host of its
own: whoever holds both sets of keys reads every report with its sender.

Example: croupier keys create shuffler --keys keys --passphrase-file passphrase.txt
"""


class Party(StrEnum):
    """Who may have keys."""

    SHUFFLER = "shuffler"
    ANALYZER = "analyzer"


def command(
    parties: Annotated[
        list[Party], typer.Argument(help="shuffler, analyzer, or both for a trial.")
    ],
    keys: KeysDirectory = Path("keys"),
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> None:
    """Make keys."""
    directory = KeyDirectory(keys, passphrase(passphrase_file))
    public = {}
    for party in dict.fromkeys(parties):
        signing = directory.create_signing_key(party)
        public[f"{party}_key"] = signing.public_key().public_bytes_raw().hex()
        if party is Party.ANALYZER:
            directory.create_sealing_key(party)
    if json:
        print_json(keys=str(keys), trust=public)
        return
    out.print("[trust]")
    for name, key in public.items():
        out.print(f'{name} = "{key}"')
    out.print()
    out.print(f"Wrote private keys to {keys}. Put the lines above into the plan of every client.")
    if Party.ANALYZER in parties:
        out.print(f"Then: croupier keys sign plan.toml --keys {keys}")
    if len(public) == 2:
        out.print("Both parties on one host: the plan promises no more than its collusion rung.")
