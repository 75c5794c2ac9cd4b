"""`croupier keys sign`: the analyzer's word on what reports are sealed to."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.keys.directory import KeysDirectory, PassphraseFile
from croupier.cli.output import Json, out, print_json
from croupier.cli.plan_options import PlanFile, read_plan
from croupier.pipeline.key_list import AnalyzerKey
from croupier.pipeline.keys import KeyDirectory, passphrase

__all__ = ["HELP", "command"]

HELP = """Sign the analyzer's key for a plan: what its reports are sealed to.

The plan must name the analyzer's signing key. Give the file to whoever runs the shuffler.

Example: croupier keys sign plan.toml --keys keys -o analyzer.json
"""

_ANALYZER = "analyzer"


def command(
    plan: PlanFile,
    keys: KeysDirectory = Path("keys"),
    output: Annotated[Path, typer.Option("--output", "-o", help="Where it goes.")] = Path(
        "analyzer.json"
    ),
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> None:
    """Sign the analyzer's key."""
    made = read_plan(plan)
    directory = KeyDirectory(keys, passphrase(passphrase_file))
    signed = AnalyzerKey.make(
        made,
        key=directory.sealing_key(_ANALYZER),
        signing_key=directory.signing_key(_ANALYZER),
    )
    output.write_bytes(signed.to_bytes() + b"\n")
    if json:
        print_json(output=str(output), plan_digest=made.digest, key=signed.key)
    else:
        out.print(f"Wrote {output}: plan {made.digest[:8]}, key {signed.key[:16]}…")
        out.print("Give it to whoever runs the shuffler: croupier serve --analyzer")
