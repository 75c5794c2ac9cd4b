"""The options that name where token keys are: a directory, or a security module."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.options.signed_keys import beside, for_the_operator
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.admission.token_keys import TokenKeys

__all__ = ["HardwareModule", "HardwareToken", "IssuerList", "TokenDirectory", "token_keys_file"]

TokenDirectory = Annotated[
    Path,
    typer.Option("--keys", help="The directory of token keys.", metavar="DIRECTORY"),
]
HardwareModule = Annotated[
    Path | None,
    typer.Option(
        "--pkcs11-module",
        help="The library of a security module that holds the keys; the passphrase is its PIN.",
        metavar="FILE",
    ),
]
HardwareToken = Annotated[
    str, typer.Option("--pkcs11-token", help="The label of the module's token.", metavar="LABEL")
]

IssuerList = Annotated[
    Path | None,
    typer.Option(
        "--issuer",
        help="The signed list of token keys, JSON; default: issuer.json beside the plan.",
        metavar="FILE",
    ),
]


def token_keys_file(plan: Plan, file: Path, given: Path | None) -> Path | None:
    """Return the file of a plan's token keys, verified; None if it admits by credential."""
    if plan.admission.by != "token":
        return None
    found = beside(file, given, "issuer.json")
    remedy = "whoever keeps the issuer's root has to run croupier keys sign issuer"
    if not found.is_file():
        hint = f"{remedy[0].upper()}{remedy[1:]}."
        raise ParameterError("--issuer", must="be a file", got=str(found), hint=hint)
    with for_the_operator("--issuer", found, remedy):
        TokenKeys.verified(found.read_bytes(), plan)
    return found
