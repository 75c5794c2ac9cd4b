"""`croupier keys migrate`: a key directory of everybody, split by role."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from croupier.analyzer.keys import ANALYZER, AnalyzerKeys
from croupier.cli.keys.directory import PassphraseFile
from croupier.cli.keys.roles import KEYS, Role
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_directory import destroy_file, passphrase
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import FILE, PublicKeys
from croupier.shuffler.handover import Handover, TagKey
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import BatchSecrets, ReleaseKeys
from croupier.shuffler.root import ROOT, RootKeys

__all__ = ["HELP", "command"]

HELP = """Split a key directory of version 0.1, which held the keys of every role.

Makes keys/shuffler with the old signing key, which is the root from now on, so that the plan stays;
keys/release and keys/intake with new keys and the witness; keys/handover with the tag keys of open
batches; shuffler.json, signed by the root; and keys/analyzer where the directory has the analyzer's
keys. Open rounds go on. Each role gets a passphrase of its own. In the end the keys in the old
directory are overwritten and removed. Stop croupier serve and croupier release before.

A run that was interrupted is repeated; it goes on where it stopped.

Example: croupier keys migrate old plan.toml --passphrase-file old.txt --shuffler-passphrase-file
root.txt --release-passphrase-file release.txt --intake-passphrase-file intake.txt
"""

Old = Annotated[Path, typer.Argument(help="The old key directory.", metavar="DIRECTORY")]
Into = Annotated[
    Path, typer.Option("--into", help="Where the directories by role go.", metavar="DIRECTORY")
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The list of the shuffler's keys.", metavar="FILE")
]
New = Annotated[Path | None, typer.Option(help="Its first line encrypts the new directory.")]


def command(
    old: Old,
    plan: PlanFile,
    into: Into = KEYS,
    output: Output = Path("shuffler.json"),
    passphrase_file: PassphraseFile = None,
    shuffler_passphrase_file: New = None,
    release_passphrase_file: New = None,
    intake_passphrase_file: New = None,
    analyzer_passphrase_file: New = None,
    json: Json = False,
) -> None:
    """Split a key directory."""
    made = read_plan(plan)
    source = ReleaseKeys(old, passphrase(passphrase_file))
    found = [name for name in (ROOT, ANALYZER) if source.has_signing_key(name)]
    if not found:
        raise ParameterError(
            "DIRECTORY",
            must=f"hold {ROOT}.pem or {ANALYZER}.pem",
            got=str(old),
            hint="Name the key directory that croupier serve of version 0.1 was given.",
        )
    batches = []
    if ROOT in found:
        files = (shuffler_passphrase_file, release_passphrase_file, intake_passphrase_file)
        phrases = [_required(name, file) for name, file in zip(_SPLIT, files, strict=True)]
        batches = _Split(made, source, into, *phrases).run(output)
    if ANALYZER in found:
        file = analyzer_passphrase_file
        _move_analyzer(source, into, source.passphrase if file is None else passphrase(file))
    for path in [old / f"{name}{end}" for name in found for end in (".pem", ".hpke.pem")]:
        if path.is_file():
            destroy_file(path)
    if json:
        print_json(keys=str(into), roles=found, open_batches=len(batches), output=str(output))
        return
    out.print(f"Split {old} into {into}; open batches that go on: {len(batches)}.")
    if ROOT in found:
        out.print(f"Wrote {output}: version 1 of the list of the shuffler's keys.")
        out.print(f"Keep {into / Role.SHUFFLER} offline. Its key was on a server until now.")


_SPLIT = (Role.SHUFFLER, Role.RELEASE, Role.INTAKE)


def _required(role: Role, file: Path | None) -> bytes:
    if file is None:
        raise ParameterError(
            f"--{role}-passphrase-file",
            must="be given",
            hint="Each role gets a passphrase of its own: openssl rand -hex 16 makes one.",
        )
    return passphrase(file)


@dataclass(frozen=True, repr=False)
class _Split:
    """The shuffler's part of an old directory, on its way into three."""

    plan: Plan
    source: ReleaseKeys
    into: Path
    root_phrase: bytes
    release_phrase: bytes
    intake_phrase: bytes

    def run(self, output: Path) -> list[bytes]:
        """Make the new directories, then destroy the old secrets; the batches that go on."""
        signer = self.source.signing_key(ROOT)
        ShufflerKeys.require_signer(self.plan, signer)
        self._require_one_plan()
        root = RootKeys(self.into / Role.SHUFFLER, self.root_phrase)
        if not root.has_signing_key(ROOT):
            root.write(root.path / f"{ROOT}.pem", signer)
        root.publish()
        release = ReleaseKeys(self.into / Role.RELEASE, self.release_phrase)
        intake = IntakeKeys(self.into / Role.INTAKE, self.intake_phrase)
        public = [_made(directory) for directory in (release, intake)]
        for directory in (release, intake):
            self._copy_witness(directory.path)
        batches = self.source.batches()
        for batch in batches:
            self._move(batch, release, seal=public[1].seal)
        if not output.exists():
            signed = ShufflerKeys.first(
                self.plan, release=public[0], intake=public[1], signing_key=signer
            )
            durable.publish(output, signed.to_bytes() + b"\n")
        for batch in batches:
            self.source.destroy(batch)
        return batches

    def _require_one_plan(self) -> None:
        others = {self.source.plan_of(batch) for batch in self.source.batches()}
        if others - {self.plan.digest}:
            raise ParameterError(
                "DIRECTORY",
                must="hold open batches of one plan only",
                got=str(self.source.path),
                hint="Release those of other plans first, with the version that opened them.",
            )

    def _copy_witness(self, target: Path) -> None:
        record = self.source.path / "witness" / f"{self.plan.digest}.json"
        copy = target / "witness" / record.name
        if record.is_file() and not copy.exists():
            durable.private_folder(copy.parent)
            durable.create(copy, record.read_bytes())

    def _move(self, batch: bytes, release: ReleaseKeys, *, seal: str) -> None:
        """Bring the secrets of a batch to release, and its tag key to intake.

        The root signs what is handed over: it has signed the opening of the round.
        """
        if not self.source.has_batch(batch, tags=True):
            return  # lost before: release disposes of it in time
        outer, tag_key = self.source.outer_key(batch), self.source.tag_key(batch)
        if not release.has_batch(batch):
            tags = self.plan.shuffling.groups is not None
            secrets = BatchSecrets(outer, tag_key)
            release.add_batch(batch, secrets, plan=self.plan.digest, tags=tags)
        handover = Handover(self.into / "handover")
        if not handover.has(batch):
            signer = self.source.signing_key(ROOT)
            handover.put(
                TagKey.make(self.plan, batch=batch, key=tag_key, seal=seal, signing_key=signer)
            )


def _made(directory: ReleaseKeys | IntakeKeys) -> PublicKeys:
    """The public keys of a role, whose directory is made if it is not there."""
    whole = (directory.path / FILE).is_file()
    return directory.publish() if whole else directory.create()


def _move_analyzer(source: ReleaseKeys, into: Path, phrase: bytes) -> None:
    target = AnalyzerKeys(into / Role.ANALYZER, phrase)
    if not target.has_signing_key(ANALYZER):
        target.write(target.path / f"{ANALYZER}.hpke.pem", source.sealing_key(ANALYZER))
        target.write(target.path / f"{ANALYZER}.pem", source.signing_key(ANALYZER))
    target.publish()
