"""`croupier keys gateway`: make or replace the key of intake's gateway."""

from croupier.cli.keys.roles import Role, RoleDirectory, directory_of
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.output.terminal import Json, out, print_json
from croupier.protocol.key_directory import passphrase
from croupier.shuffler.intake.keys import INTAKE, IntakeKeys

__all__ = ["HELP", "command"]

HELP = """Make or replace the key of the gateway, which opens what clients send through a relay.

It lies beside the keys of intake, in gateway.hpke.pem, gateway-2.hpke.pem and so on. Running
workers follow within seconds and offer the newest key; the one before stays valid until the next
time, for clients and caches that still have it. Earlier ones are destroyed. Nothing is signed by
the root, and the plan stays the same. With several hosts, make the key on one of them and copy the
file to the others at once.

Example: croupier keys gateway --keys keys/intake --passphrase-file intake.txt
"""


def command(
    keys: RoleDirectory = None, passphrase_file: PassphraseFile = None, json: Json = False
) -> None:
    """Make a key of the gateway."""
    place = directory_of(Role.INTAKE, keys)
    directory = IntakeKeys(place, passphrase(passphrase_file))
    directory.require_no_other()
    directory.signing_key(INTAKE)  # the gateway belongs to an intake that has its keys
    made = directory.rotate_gateway()
    accepted = [key.number for key in directory.gateway_keys()]
    public = made.configuration.public.hex()
    if json:
        print_json(keys=str(place), key=public, number=made.number, accepted=accepted)
        return
    out.print(f"Made key {made.number} of the gateway in {place}: {public[:16]}….")
    if len(accepted) > 1:
        out.print(f"Key {accepted[1]} stays valid until the next one is made.")
    out.print("Then: whoever runs the relay forwards /v1/ohttp and /v1/ohttp-keys to this service.")
