"""`croupier keys rotate`: replace a key without changing the plan."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.analyzer.keys import AnalyzerKeys
from croupier.cli.keys.roles import Role, RoleDirectory, directory_of
from croupier.cli.keys.sign import FromRound
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.signed_keys import (
    HandoverDirectory,
    ShufflerList,
    beside,
    read_shuffler,
)
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import MissingExtraError, ParameterError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_directory import KeyDirectory, passphrase
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import FILE
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.root import RootKeys

__all__ = ["HELP", "command"]

HELP = """Replace the key of release, intake or the analyzer.

The plan stays the same. The old private key stays in the directory: rounds that it opened need it.
With --root, the root of the shuffler also signs the next version of the list, in which the new key
counts from --from-round on, by default from the round after the newest that the directory's
witness has seen; for intake, --handover shows whether it has seen them all. Without --root, the
printed command does so where the root is kept.

The analyzer's new key is signed with croupier keys sign analyzer, and counts from the round that is
opened with that file.

Example: croupier keys rotate release plan.toml --root keys/shuffler --root-passphrase-file root.txt
"""

Root = Annotated[
    Path | None,
    typer.Option(help="The directory of the shuffler's root, to sign.", metavar="DIRECTORY"),
]
RootPassphrase = Annotated[
    Path | None, typer.Option(help="File whose first line opens the root.", metavar="FILE")
]


_DIRECTORIES: dict[Role, type[AnalyzerKeys | IntakeKeys | ReleaseKeys]] = {
    Role.RELEASE: ReleaseKeys,
    Role.INTAKE: IntakeKeys,
    Role.ANALYZER: AnalyzerKeys,
}


def command(
    role: Annotated[Role, typer.Argument(help="release, intake or analyzer.", metavar="ROLE")],
    plan: PlanFile,
    keys: RoleDirectory = None,
    passphrase_file: PassphraseFile = None,
    from_round: FromRound = None,
    handover: HandoverDirectory = Path("keys/handover"),
    root: Root = None,
    root_passphrase_file: RootPassphrase = None,
    shuffler: ShufflerList = None,
    json: Json = False,
) -> None:
    """Replace a key."""
    if role not in _DIRECTORIES:
        raise ParameterError(
            "ROLE",
            must="be release, intake or analyzer",
            got=str(role),
            hint="The root of the shuffler is part of the plan: another root is another plan, "
            "which clients have to agree to.",
        )
    made = read_plan(plan)
    place = directory_of(role, keys)
    directory = _DIRECTORIES[role](place, passphrase(passphrase_file))
    directory.signing_key(role)  # there must be one to replace
    if role is Role.ANALYZER:
        if root is not None or from_round is not None:
            raise ParameterError(
                "--root", must="be left out for the analyzer, and --from-round too"
            )
        public = directory.rotate()
        then = f"croupier keys sign analyzer {plan} --keys {place}"
        _tell(role, place, public.seal, then, json=json)
        return
    first = _next_round(directory, made, handover) if from_round is None else from_round
    list_file = beside(plan, shuffler, "shuffler.json")
    listed = None if root is None else read_shuffler(list_file, made)
    signer = None
    if root is not None:
        phrase = passphrase(root_passphrase_file, option="--root-passphrase-file")
        signer = RootKeys(root, phrase).signer()
    if listed is not None and signer is not None:
        ShufflerKeys.require_signer(made, signer)
        # Before there is a key that nobody signs.
        listed.require_next("release" if role is Role.RELEASE else "intake", first)
    public = directory.rotate()
    then = f"croupier keys sign shuffler {plan} --{role} {place / FILE} --from-round {first}"
    version = None
    if listed is not None and signer is not None:
        signed = listed.next(made, from_round=first, signing_key=signer, **{str(role): public})
        durable.publish(list_file, signed.to_bytes() + b"\n")
        version = signed.version
        then = f"give {list_file} to whoever runs croupier serve and croupier release"
    _tell(role, place, public.key, then, from_round=first, version=version, json=json)


def _next_round(directory: KeyDirectory, plan: Plan, handover: Path) -> int:
    """The round after the newest that the witness of a directory has seen.

    Release opens rounds, so that its witness knows them all. That of intake is behind where no
    worker has looked since: then a batch that was handed over is not in it.
    """
    try:
        from croupier.shuffler.handover import Handover  # noqa: PLC0415
        from croupier.shuffler.witness import Witness  # noqa: PLC0415 - the extra `service`
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("keys rotate", package=package, extra="service") from None
    seen, problem = Witness(directory, plan=plan.digest).read(), None
    if seen is None:
        problem = "the directory has no witness of this plan"
    elif isinstance(directory, IntakeKeys):
        known = {*seen.first_seen, *([] if seen.round is None else [seen.round.batch])}
        if not handover.is_dir():
            problem = f"{handover} does not exist to show which rounds are open (--handover)"
        elif Handover(handover).batches(plan.digest) - known:
            problem = f"{handover} has a tag key of a round that intake has not seen"
    if seen is None or problem is not None:
        raise ParameterError(
            "--from-round",
            must=f"be given: {problem}",
            hint="Give the first round that is not open yet: croupier release prints the open one.",
        )
    return max(1, seen.next_round)


def _tell(
    role: str,
    place: Path,
    public: str,
    then: str,
    *,
    from_round: int | None = None,
    version: int | None = None,
    json: bool,
) -> None:
    if json:
        print_json(
            role=role, keys=str(place), key=public, from_round=from_round, list_version=version
        )
        return
    counts = "" if from_round is None else f", for rounds from {from_round} on"
    out.print(f"Made a new key of {role} in {place}: {public[:16]}…{counts}.")
    out.print(f"Then: {then}")
