"""`croupier keys create`: private keys on disk, public ones for the plan."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.keys.directory import KeysDirectory, PassphraseFile
from croupier.cli.keys.pinning import NAMED, pin, require_pinnable
from croupier.cli.output.terminal import Json, out, print_json
from croupier.protocol.keys import KeyDirectory, passphrase

__all__ = ["HELP", "command"]

HELP = """Make the keys of a party, and print the lines that its plan needs, or write them into one.

The shuffler gets a key that signs; the analyzer one that signs and one that opens reports. The
files are encrypted with a passphrase and never replaced. Let each party run this on a host of its
own: whoever holds both sets of keys reads every report with its sender.

The passphrase needs 12 characters. The shuffler's key belongs under [[shufflers]], the analyzer's
under [analyzer]; --plan puts it there, and also that of a key which is there already.

Example: croupier keys create shuffler --keys keys --passphrase-file passphrase.txt
"""


_TABLES = {"shuffler_key": "[[shufflers]]", "analyzer_key": "[analyzer]"}
"""The table of the plan where the key of a party stands."""

PlanToPin = Annotated[
    Path | None, typer.Option("--plan", help="Write the public keys into it.", metavar="FILE")
]


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
    plan: PlanToPin = None,
    json: Json = False,
) -> None:
    """Make keys."""
    directory = KeyDirectory(keys, passphrase(passphrase_file))
    wanted = list(dict.fromkeys(parties))
    if plan is not None:
        require_pinnable(plan, {f"{party}_key": _present(directory, party) for party in wanted})
    public = {}
    for party in wanted:
        present = None if plan is None else _present(directory, party)
        public[f"{party}_key"] = present or _make(directory, party)
    if plan is not None:
        pin(plan, public)
    if json:
        print_json(keys=str(keys), trust=public)
    else:
        _print(public, keys, plan)


def _present(directory: KeyDirectory, party: Party) -> str | None:
    """The public key of a party that has its keys, in hexadecimal."""
    if not directory.has_signing_key(party):
        return None
    return directory.signing_key(party).public_key().public_bytes_raw().hex()


def _make(directory: KeyDirectory, party: Party) -> str:
    """Make the keys of a party; the public one that the plan names, in hexadecimal."""
    if party is Party.ANALYZER:
        directory.create_sealing_key(party)
    return directory.create_signing_key(party).public_key().public_bytes_raw().hex()


def _print(public: dict[str, str], keys: Path, plan: Path | None) -> None:
    if plan is None:
        for name, key in public.items():
            out.print(f'{_TABLES[name]}\nkey = "{key}"', markup=False)
        out.print()
        out.print(
            f"Wrote private keys to {keys}. Put the lines above into the plan of every client, or "
            "run this again with --plan plan.toml."
        )
    else:
        names = " and ".join(NAMED[name] for name in public)
        out.print(f"Private keys are in {keys}. Wrote {names} to {plan}.")
    if "analyzer_key" in public:
        file = "plan.toml" if plan is None else plan
        out.print(f"Then: croupier keys sign {file} --keys {keys}")
    if len(public) == 2:
        out.print("Both parties on one host: the plan promises no more than its collusion rung.")
