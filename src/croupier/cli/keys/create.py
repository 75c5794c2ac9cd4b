"""`croupier keys create`: private keys on disk, public ones for the plan."""

from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.cli.keys.pinning import SECOND, pin, require_pinnable
from croupier.cli.keys.roles import DIRECTORIES, KEYS, Role, directory_of
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.output.terminal import Json, out, print_json, say
from croupier.errors import ParameterError
from croupier.protocol.key_directory import RoleKeys, passphrase
from croupier.protocol.public_keys import FILE

__all__ = ["HELP", "command"]

HELP = """Make the keys of a role, and print the line that the plan needs or write it into the plan.

The roles: shuffler, the root that the plan names and that no server needs; release, which opens
rounds and signs receipts; intake, which takes reports and signs refusals; analyzer, which signs for
itself and opens reports; approver, which signs approvals of plans; issuer, the root that signs the
list of token keys; inviter, which signs invitations to enrol. The files are encrypted with a
passphrase and never replaced; an interrupted run can be repeated. Run this for each role on a host
and with a passphrase of its own: whoever holds the keys of release and of the analyzer reads every
report with its sender.

The passphrase needs 12 characters. The shuffler's key belongs under [[shufflers]], the analyzer's
under [analyzer], the issuer's under [admission]; --into writes it there, also if the key exists
already. With --second it belongs under the second [[shufflers]] table, of a plan that has two. The
public keys of release and intake, in public.json, are for whoever keeps the root: croupier keys
sign shuffler.

Example: croupier keys create release --keys keys/release --passphrase-file release.txt
"""

_TABLES = {
    "shuffler_key": "[[shufflers]]",
    SECOND: "[[shufflers]]  # the second of these tables",
    "analyzer_key": "[analyzer]",
    "issuer_key": "[admission]",
}
"""The table of the plan that names the root of a party."""
_GIVEN_AWAY = {
    Role.APPROVER: "Give this key to whoever runs the service, who demands approvals with "
    "--require-approval KEY.",
    Role.INVITER: "Give this key to whoever runs the issuer, who admits whom you invite with "
    "--inviter KEY.",
}
"""The roles whose public keys others name in a command."""
_SPOKEN = _TABLES | {SECOND: "the second [[shufflers]]"}

Directory = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        help="Directory of the keys. Default: keys/ROLE; for several roles, its parent.",
        metavar="DIRECTORY",
    ),
]
Into = Annotated[
    Path | None, typer.Option("--into", help="Write the public keys into a plan.", metavar="FILE")
]
Second = Annotated[
    bool,
    typer.Option("--second", help="shuffler: the key is for the plan's second shuffler."),
]
OldInto = Annotated[Path | None, typer.Option("--plan", hidden=True)]


def command(
    roles: Annotated[
        list[Role],
        typer.Argument(
            help="shuffler, release, intake, analyzer, approver, issuer or inviter; several only "
            "for a trial.",
            metavar="ROLE",
        ),
    ],
    keys: Directory = None,
    passphrase_file: PassphraseFile = None,
    into: Into = None,
    second: Second = False,
    plan: OldInto = None,
    json: Json = False,
) -> None:
    """Make keys."""
    if plan is not None:
        raise ParameterError("--plan", must="be spelled --into", hint=f"Run it with --into {plan}.")
    wanted = list(dict.fromkeys(roles))
    roots = [role for role in wanted if role.is_root]
    if into is not None and not roots:
        raise ParameterError(
            "--into",
            must="come with shuffler, analyzer or issuer, whose keys a plan names",
            hint=f"The keys of release and intake are signed: croupier keys sign shuffler {into}.",
        )
    if second and Role.SHUFFLER not in roots:
        raise ParameterError(
            "--second",
            must="come with shuffler, whose key a plan names",
            hint="Release and intake of both shufflers are made alike: leave it out.",
        )
    entries = {role: _entry(role, second=second) for role in roots}
    phrase = passphrase(passphrase_file)
    opened = {role: DIRECTORIES[role](_place(role, wanted, keys), phrase) for role in wanted}
    if into is not None:
        present = {entries[role]: _present(opened[role], role) for role in roots}
        require_pinnable(into, present)
    for directory in opened.values():
        directory.require_no_other()
    public = {}
    for role, directory in opened.items():
        again = into is not None or len(wanted) > 1  # or what an interrupted run made stops it
        found = _present(directory, role) if again else None
        public[role] = found or directory.create().key
    named = {entries[role]: public[role] for role in roots}
    if into is not None:
        pin(into, named)
    places = {str(role): str(directory.path) for role, directory in opened.items()}
    if json:
        others = {f"{role}_key": public[role] for role in _GIVEN_AWAY if role in public}
        print_json(keys=places, plan=_sections(named), **others)
    else:
        _print(named, places, into)
        for role in filter(public.__contains__, _GIVEN_AWAY):
            out.print(f"key {public[role]}")
            say(_GIVEN_AWAY[role])


def _place(role: Role, wanted: list[Role], given: Path | None) -> Path:
    return directory_of(role, given) if len(wanted) == 1 else (given or KEYS) / role


def _entry(role: Role, *, second: bool) -> str:
    """Return the name of a party's root."""
    return SECOND if second and role is Role.SHUFFLER else f"{role}_key"


def _sections(named: dict[str, str]) -> dict[str, Any]:
    """The tables of a plan that name the roots."""
    sections: dict[str, Any] = {}
    if "shuffler_key" in named:
        sections["shufflers"] = [{"key": named["shuffler_key"]}]
    if SECOND in named:
        sections["shufflers"] = [{}, {"key": named[SECOND]}]
    if "analyzer_key" in named:
        sections["analyzer"] = {"key": named["analyzer_key"]}
    if "issuer_key" in named:
        sections["admission"] = {"key": named["issuer_key"]}
    return sections


def _present(directory: RoleKeys, role: Role) -> str | None:
    """The public key of a role that has its keys, in hexadecimal."""
    if not directory.has_signing_key(role):
        return None
    return directory.publish().key


def _print(named: dict[str, str], places: dict[str, str], plan: Path | None) -> None:
    folders = " and ".join(places.values())
    file = "plan.toml" if plan is None else plan
    if named and plan is None:
        for name, key in named.items():
            out.print(f'{_TABLES[name]}\nkey = "{key}"')
        out.print()
    out.print(f"Private keys are in {folders}.")
    if named and plan is None:
        out.print(
            "Put the lines above into the plan of every client, or run this again with --into "
            "plan.toml."
        )
    elif named:
        tables = " and ".join(_SPOKEN[name] for name in named)
        out.print(f"Wrote the key of {tables} into {plan}.")
    files = [f"{places[role]}/{FILE}" for role in ("release", "intake") if role in places]
    if "analyzer" in places:
        out.print(f"Then: croupier keys sign analyzer {file} --keys {places['analyzer']}")
    if "shuffler" in places:
        out.print(
            f"Keep {places['shuffler']} offline: its key signs the list of the shuffler's keys, "
            "and nothing else."
        )
    if "issuer" in places:
        out.print(
            f"Then, for every few rounds: croupier issuer keys {file}, and croupier keys sign "
            f"issuer {file} --keys {places['issuer']}"
        )
    if files:
        out.print(
            f"Give {' and '.join(files)} to whoever keeps the shuffler's root: "
            f"croupier keys sign shuffler {file}"
        )
    if len(places) > 1:
        out.print("Several roles on one host: of the trust ladder, only `collusion` holds.")
