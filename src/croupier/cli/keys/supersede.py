"""`croupier keys supersede`: sign that another plan took the place of one."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.keys.roles import Role, RoleDirectory, directory_of
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import read_plan
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_directory import passphrase
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.root import RootKeys

__all__ = ["HELP", "command"]

HELP = """Sign that plan NEW took the place of plan OLD, with the shuffler's root that OLD names.

Clients of OLD that ask for it are then told to install the version of the app that has NEW. They
never change the plan themselves. Give the file to whoever runs croupier serve, which publishes it
once OLD is no longer served: --superseded. Refuses two plans of one digest: their clients need
nothing.

Example: croupier keys supersede v1/plan.toml v2/plan.toml --keys keys/shuffler
"""


def command(
    old: Annotated[Path, typer.Argument(help="The plan that is replaced.", metavar="OLD")],
    new: Annotated[Path, typer.Argument(help="The plan that replaces it.", metavar="NEW")],
    keys: RoleDirectory = None,
    date: Annotated[
        dt.datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="The day on which NEW took its place, for people to read.",
            metavar="DATE",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write.", metavar="FILE")
    ] = Path("superseded.json"),
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> None:
    """Sign a pointer."""
    before, after = read_plan(old, option="OLD"), read_plan(new, option="NEW")
    _require_complete(after, new)
    root = RootKeys(directory_of(Role.SHUFFLER, keys), passphrase(passphrase_file))
    day = None if date is None else date.date().isoformat()
    signed = SupersededPlan.make(before, after, signing_key=root.signer(), date=day)
    durable.publish(output, signed.to_bytes() + b"\n")
    if json:
        print_json(output=str(output), plan_digest=before.digest, successor=after.digest, date=day)
    else:
        out.print(f"Wrote {output}: plan {before.digest[:8]} was superseded by {after.digest[:8]}.")
        out.print(
            "Give it to whoever runs croupier serve (--superseded), for when the last round of "
            f"{before.digest[:8]} is settled."
        )


def _require_complete(plan: Plan, file: Path) -> None:
    """Refuse a successor without keys: its digest changes when they are written into it."""
    plan.require_deployable()
    for name, key in (("shufflers.key", plan.shuffler_key), ("analyzer.key", plan.analyzer_key)):
        if key is None:
            raise ParameterError(
                name,
                must=f"be given in {file}, since the digest of a plan covers it",
                hint="Make it: croupier keys create PARTY --into FILE.",
            )
