"""The options that name a key directory, the same in every command."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["KeysDirectory", "PassphraseFile"]

KeysDirectory = Annotated[
    Path, typer.Option("--keys", help="The directory of private keys.", metavar="DIRECTORY")
]
PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        help="File whose first line opens the keys. Default: CROUPIER_PASSPHRASE.", metavar="FILE"
    ),
]
