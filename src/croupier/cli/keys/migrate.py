"""`croupier keys migrate`: split a key directory of version 0.1 by role."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.analyzer.keys import ANALYZER, AnalyzerKeys
from croupier.cli.keys.roles import KEYS, Role
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_directory import (
    KeyDirectory,
    KeyFileError,
    RoleKeys,
    destroy_file,
    passphrase,
)
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.public_keys import FILE, PublicKeys
from croupier.shuffler.handover import Handover, TagKey
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.root import ROOT, RootKeys

__all__ = ["HELP", "command"]

HELP = """Split a key directory of version 0.1, which held the keys of every role.

Makes keys/shuffler with the old signing key, which is the root from now on; keys/release and
keys/intake with new keys and the witness; keys/handover with the tag keys of open batches;
shuffler.json, signed by the root; and keys/analyzer where the directory has the analyzer's keys.
Each role gets a passphrase of its own. In the end the copies are read again, and the keys in
the old directory are overwritten and removed. Stop croupier serve and croupier release first.

Open batches of this plan continue. Batches of version 0.1 belong to no plan that this version
reads, since croupier plan upgrade changes the digest. While such batches exist, nothing is split:
release them with version 0.1 first.

An interrupted run can be repeated; it continues where it stopped.

Example: croupier keys migrate old plan.toml --passphrase-file old.txt --shuffler-passphrase-file
root.txt --release-passphrase-file release.txt --intake-passphrase-file intake.txt
"""

Old = Annotated[Path, typer.Argument(help="The old key directory.", metavar="DIRECTORY")]
Into = Annotated[
    Path, typer.Option("--into", help="Parent of the roles' directories.", metavar="DIRECTORY")
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The list of the shuffler's keys.", metavar="FILE")
]
New = Annotated[Path | None, typer.Option(help="File whose first line encrypts it.")]


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
    _require_apart(old, into)
    source = ReleaseKeys(old, passphrase(passphrase_file))
    found = [name for name in (ROOT, ANALYZER) if source.has_signing_key(name)]
    doomed = old / ".migrated"
    if not found and not doomed.is_dir():
        raise ParameterError(
            "DIRECTORY",
            must=f"hold {ROOT}.pem or {ANALYZER}.pem",
            got=str(old),
            hint="Name the key directory that croupier serve of version 0.1 was given.",
        )
    batches: list[bytes] = []
    if ROOT in found:
        files = (shuffler_passphrase_file, release_passphrase_file, intake_passphrase_file)
        batches = _Split(made, source, into, *_phrases(files)).run(output)
    if ANALYZER in found:
        file = analyzer_passphrase_file
        option = "--analyzer-passphrase-file"
        phrase = source.passphrase if file is None else passphrase(file, option=option)
        _copy_analyzer(source, into, phrase)
    # Each name that a run looks for comes last, so that a second run does the rest.
    names = [f"{ANALYZER}.hpke.pem", f"{ANALYZER}.pem"] if ANALYZER in found else []
    names += ["batches", f"{ROOT}.pem"] if ROOT in found else []
    _destroy([old / name for name in names], doomed)
    if json:
        print_json(keys=str(into), roles=found, open_batches=len(batches), output=str(output))
        return
    if not found:
        out.print(f"{old} was split before. The rest of its keys is destroyed.")
        return
    out.print(f"Split {old} into {into}; open batches that continue: {len(batches)}.")
    if ROOT in found:
        version = ShufflerKeys.read(output.read_bytes()).version
        out.print(f"{output} is version {version} of the list of the shuffler's keys.")
        out.print(f"Keep {into / Role.SHUFFLER} offline. Its key was on a server until now.")


_SPLIT = (Role.SHUFFLER, Role.RELEASE, Role.INTAKE)
_HANDOVER = "handover"


def _require_apart(old: Path, into: Path) -> None:
    """Refuse to split a directory into itself: what is destroyed in the end would be the copy."""
    for place in (into / name for name in (*Role, _HANDOVER)):
        if place.exists() and old.exists() and place.samefile(old):
            raise ParameterError(
                "DIRECTORY",
                must="not be the directory of a role",
                got=str(old),
                hint=f"{place} is the same directory. Name another place with --into.",
            )


def _phrases(files: Sequence[Path | None]) -> list[bytes]:
    """The passphrases of the shuffler's roles, of which no two are the same."""
    phrases: list[bytes] = []
    for role, file in zip(_SPLIT, files, strict=True):
        option = f"--{role}-passphrase-file"
        phrase = None if file is None else passphrase(file, option=option)
        if phrase is None or phrase in phrases:
            raise ParameterError(
                option,
                must="be given"
                if phrase is None
                else "hold a different passphrase from the others",
                hint="Each role gets a passphrase of its own: openssl rand -hex 16 makes one.",
            )
        phrases.append(phrase)
    return phrases


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
        """Make the new directories, read them again, and return the batches that continue."""
        signer = self.source.signing_key(ROOT)
        ShufflerKeys.require_signer(self.plan, signer)
        self._require_one_plan()
        root = RootKeys(self.into / Role.SHUFFLER, self.root_phrase)
        _copy(self.source, root, f"{ROOT}.pem", KeyDirectory.read_signing)
        root.publish()
        release = ReleaseKeys(self.into / Role.RELEASE, self.release_phrase)
        intake = IntakeKeys(self.into / Role.INTAKE, self.intake_phrase)
        for directory in (release, intake):
            if not (directory.path / FILE).is_file():
                directory.create()
            self._copy_witness(directory.path)
        public = {"release": release.publish(), "intake": intake.publish()}
        if not output.exists():
            signed = ShufflerKeys.first(self.plan, **public, signing_key=signer)
            durable.publish(output, signed.to_bytes() + b"\n")
        listed = self._listed(output, **public)
        batches = self.source.batches()
        for batch in batches:
            self._copy_batch(batch, release, intake, listed)
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

    def _listed(self, output: Path, release: PublicKeys, intake: PublicKeys) -> ShufflerKeys:
        """Return the list, unless an existing one names other keys than those that were made."""
        with suppress(UntrustedError):
            listed = ShufflerKeys.verified(output.read_bytes(), self.plan)
            newest = listed.intake[-1]
            named = (listed.release[-1].key, newest.key, newest.seal)
            if named == (release.key, intake.key, intake.seal):
                return listed
        raise ParameterError(
            "--output",
            must=f"be a list of this plan and of the keys in {self.into}, or not exist yet",
            got=str(output),
            hint="Nothing was destroyed. Move the list away, or name another file.",
        )

    def _copy_witness(self, target: Path) -> None:
        record = self.source.path / "witness" / f"{self.plan.digest}.json"
        copy = target / "witness" / record.name
        if record.is_file() and not copy.exists():
            durable.private_folder(copy.parent)
            durable.create(copy, record.read_bytes())

    def _copy_batch(
        self, batch: bytes, release: ReleaseKeys, intake: IntakeKeys, listed: ShufflerKeys
    ) -> None:
        """Copy the secrets of a batch to release, and its tag key, if it has one, to intake.

        The root signs what is handed over: it has signed the opening of the round.
        """
        if not self.source.has_batch(batch):
            return  # lost before: release disposes of it in time
        outer, tag_key = self.source.outer_key(batch), None
        if self.source.has_batch(batch, tags=True):
            tag_key = self.source.tag_key(batch)
            self._hand_over(batch, tag_key, intake, listed)
        kept = None if self.plan.shuffling.groups is None else tag_key
        if not release.has_batch(batch):
            release.add_batch(batch, outer, kept, plan=self.plan.digest)
        old, new = (keys.path / "batches" / batch.hex() for keys in (self.source, release))
        copy = release.outer_key(batch).private_bytes_raw()
        _require_copy(old / "outer.pem", new / "outer.pem", same=copy == outer.private_bytes_raw())
        if kept is not None:
            same = release.tag_key(batch) == kept
            _require_copy(old / "tag.key", new / "tag.key", same=same)

    def _hand_over(
        self, batch: bytes, tag_key: bytes, intake: IntakeKeys, listed: ShufflerKeys
    ) -> None:
        handover, seal = Handover(self.into / _HANDOVER), listed.intake[-1].seal
        if not handover.has(batch):
            signer = self.source.signing_key(ROOT)
            handover.put(
                TagKey.make(self.plan, batch=batch, key=tag_key, seal=seal, signing_key=signer)
            )
        taken = handover.take(
            batch, round_number=0, key=intake.opener(seal), signers=Signers.of(self.plan, listed)
        )
        old = self.source.path / "batches" / batch.hex() / "tag.key"
        _require_copy(old, handover.file(batch), same=taken == tag_key)


def _copy_analyzer(source: ReleaseKeys, into: Path, phrase: bytes) -> None:
    target = AnalyzerKeys(into / Role.ANALYZER, phrase)
    _copy(source, target, f"{ANALYZER}.hpke.pem", KeyDirectory.read_sealing)
    _copy(source, target, f"{ANALYZER}.pem", KeyDirectory.read_signing)
    target.publish()


def _copy(
    source: KeyDirectory,
    target: RoleKeys,
    name: str,
    read: Callable[[KeyDirectory, Path], Ed25519PrivateKey | X25519PrivateKey],
) -> None:
    """Write a key under another passphrase, unless an earlier run did, and read it again."""
    old, new = source.path / name, target.path / name
    target.require_no_other()
    if not old.is_file():
        return  # an earlier run has done with it
    key = read(source, old)
    if not new.is_file():
        target.write(new, key)
    same = read(target, new).private_bytes_raw() == key.private_bytes_raw()
    _require_copy(old, new, same=same)


def _require_copy(old: Path, new: Path, *, same: bool) -> None:
    """Refuse to destroy the old secret where the new one is not a copy, or is the same file."""
    if not same or new.samefile(old):
        raise KeyFileError(
            str(new),
            f"is no copy of {old}",
            hint="Nothing was destroyed. Move it away, or name another place with --into.",
        )


def _destroy(paths: Iterable[Path], doomed: Path) -> None:
    """Destroy secrets that were copied, and the remains of an earlier run.

    They are moved first: what a crash leaves half overwritten is never taken for a key. The empty
    folder stays, so that a run which is repeated after its end is told so.
    """
    durable.private_folder(doomed)
    _empty(doomed)
    for path in [path.resolve() for path in paths if path.exists()]:
        path.rename(doomed / path.name)
        durable.sync(path.parent)
    durable.sync(doomed)
    _empty(doomed)


def _empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            destroy_file(path)
