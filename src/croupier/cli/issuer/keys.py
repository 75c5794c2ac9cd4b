"""`croupier issuer keys`: token keys, one per coming round."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.token_keys import HardwareModule, HardwareToken, TokenDirectory
from croupier.cli.output.terminal import Json, out, print_json, progress
from croupier.errors import ParameterError
from croupier.issuer.keys import TokenKeyPlace
from croupier.protocol import durable
from croupier.protocol.admission.token_keys import MOST_KEYS, UnsignedTokenKeys
from croupier.protocol.key_directory import passphrase
from croupier.protocol.signed_document import LAST_ROUND

__all__ = ["HELP", "command"]

HELP = """Make the token keys of coming rounds, and the list of their public halves.

The issuer does not see what it signs, so each round has a key of its own: a token signed with it
admits to that round and no other. Keys that exist stay as they are; those of rounds before
--from-round are destroyed, since nobody may send with their tokens any more. Have the list signed
where the issuer's root is kept: croupier keys sign issuer.

With --pkcs11-module the keys are made in a security module, which they never leave.

Example: croupier issuer keys plan.toml --rounds 8
"""

FIRST_FILE = "token-keys.json"
Rounds = Annotated[int, typer.Option(help="Number of rounds.", min=1, max=MOST_KEYS)]
FromRound = Annotated[
    int,
    typer.Option(help="The oldest round that still takes reports.", min=0, max=LAST_ROUND),
]


def command(
    plan: PlanFile,
    rounds: Rounds = 8,
    from_round: FromRound = 0,
    keys: TokenDirectory = Path("keys/tokens"),
    passphrase_file: PassphraseFile = None,
    pkcs11_module: HardwareModule = None,
    pkcs11_token: HardwareToken = "croupier",  # noqa: S107 - the label of a token
    json: Json = False,
) -> None:
    """Make token keys."""
    made = read_plan(plan)
    if made.admission.by != "token":
        raise ParameterError(
            "PLAN",
            must='have admission.by = "token" to need token keys',
            got=made.admission.by,
        )
    store = TokenKeyPlace(
        directory=keys,
        passphrase=passphrase(passphrase_file),
        module=pkcs11_module,
        token=pkcs11_token,
    ).open()
    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    listed = range(from_round, min(from_round + rounds, LAST_ROUND + 1))
    with progress("Making keys", total=len(listed), quiet=json) as advance:
        public = []
        for number in listed:
            public.append(store.create(made.digest, number))
            advance(1)
    for number in store.rounds(made.digest):
        if number < from_round:
            store.destroy(made.digest, number)
    file = keys / FIRST_FILE
    document = UnsignedTokenKeys(
        schema_version=1,
        plan=made.digest,
        first=from_round,
        keys=tuple(f"{key.modulus:x}" for key in public),
    )
    durable.publish(file, document.to_bytes() + b"\n")
    if json:
        print_json(plan_digest=made.digest, output=str(file), first=from_round, rounds=len(listed))
        return
    out.print(f"Wrote {file}: token keys of rounds {listed[0]} to {listed[-1]}.")
    out.print(f"Then, where the issuer's root is: croupier keys sign issuer {plan} --tokens {file}")
