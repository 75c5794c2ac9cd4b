"""`croupier keys sign`: the analyzer's word on what reports are sealed to."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import NoLimitError, PolicyNotMetError, judged, verdicts
from croupier.cli.keys.directory import KeysDirectory, PassphraseFile
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.terminal import Json, out, print_json, progress
from croupier.errors import PolicyError
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.keys import KeyDirectory, passphrase

__all__ = ["HELP", "command"]

HELP = """Sign the analyzer's key for a plan, and whether the plan's policy is met.

The plan must name the analyzer's signing key. The policy is checked as by croupier check, and what
was found is signed into the file: no service starts without it, or for another policy or
population. Exits with 4, and signs nothing, if a limit is not met or none is set; --despite-policy
signs all the same, and everybody who reads the file sees that. Give the file to whoever runs the
shuffler.

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
    despite_policy: Annotated[
        bool,
        typer.Option(
            "--despite-policy", help="Sign although the policy is not met, and sign that too."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Sign the analyzer's key."""
    made = read_plan(plan)
    directory = KeyDirectory(keys, passphrase(passphrase_file))
    key, signing_key = directory.sealing_key(_ANALYZER), directory.signing_key(_ANALYZER)
    AnalyzerKey.require_signer(made, signing_key)
    with progress("Proving", total=None, quiet=json):
        word = _judge(made, plan, despite_policy=despite_policy)
    signed = AnalyzerKey.make(made, key=key, signing_key=signing_key, policy=word)
    output.write_bytes(signed.to_bytes() + b"\n")
    if json:
        print_json(
            output=str(output),
            plan_digest=made.digest,
            key=signed.key,
            policy=word.judgement,
            despite_policy=word.despite_policy,
        )
    else:
        out.print(f"Wrote {output}: plan {made.digest[:8]}, key {signed.key[:16]}…")
        out.print(f"Signed with it: {word}.")
        out.print("Give it to whoever runs the shuffler: croupier serve --analyzer")


def _judge(plan: Plan, file: Path, *, despite_policy: bool) -> PolicyWord:
    """Prove whether the policy is met; stop if it is not and nobody said to go on."""
    found = verdicts(assess(plan))
    judgement = judged(found)
    if judgement is not Judgement.MET and not despite_policy:
        failed = [verdict for verdict in found if not verdict.met]
        error = PolicyNotMetError(failed) if failed else NoLimitError(found)
        raise PolicyError(
            f"{error.problem}. Nothing was signed",
            hint=f"Change the plan, croupier check {file} says how; or sign that it runs all the "
            "same: --despite-policy.",
        )
    return PolicyWord.on(plan, judgement, despite_policy=despite_policy)
