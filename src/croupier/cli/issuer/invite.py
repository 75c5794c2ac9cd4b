"""`croupier issuer invite`: invitations to enrol, one device each."""

from typing import Annotated

import typer

from croupier.cli.keys.roles import Role, RoleDirectory, directory_of
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.output.terminal import Json, out, print_json
from croupier.issuer.admission import InviterKeys, invitation
from croupier.protocol.key_directory import passphrase

__all__ = ["HELP", "command"]

HELP = """Print invitations, each of which enrols one device.

An invitation is random digits and a signature; it says nothing about the person. Its key belongs to
whoever decides who may take part (croupier keys create inviter), and the issuer needs its public
half only: croupier issuer serve --admit invitation --inviter KEY.

Example: croupier issuer invite --keys keys/inviter --count 100 > invitations.txt
"""

Count = Annotated[int, typer.Option(help="Number of invitations.", min=1, max=10_000_000)]


def command(
    keys: RoleDirectory = None,
    count: Count = 1,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> None:
    """Print invitations."""
    directory = InviterKeys(directory_of(Role.INVITER, keys), passphrase(passphrase_file))
    key = directory.signing_key(directory.role)
    made = [invitation(key) for _ in range(count)]
    if json:
        print_json(invitations=made)
    else:
        for text in made:
            out.print(text, soft_wrap=True)
