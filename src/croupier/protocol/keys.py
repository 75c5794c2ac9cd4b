"""Private keys on disk: encrypted, readable by their owner only, destroyed with their batch."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from cryptography.exceptions import InternalError, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import CroupierError, ParameterError
from croupier.protocol import durable, encrypted_key
from croupier.protocol.encrypted_key import Derivation
from croupier.protocol.wire import BATCH_SIZE

__all__ = [
    "SHUFFLER",
    "VARIABLE",
    "BatchSecrets",
    "DamagedKeyError",
    "KeyDirectory",
    "KeyFileError",
]
__all__ += ["passphrase"]

SHUFFLER = "shuffler"
"""The name of the shuffler's signing key in its key directory."""
VARIABLE = "CROUPIER_PASSPHRASE"
_PARTIAL = ".partial-"
_PLAN = "plan"
_TAG_CHECK = "tag.check"
_TAG_KEY_SIZE = 32
_OTHERS = 0o077
_SHORTEST_PASSPHRASE = 12

SigningKey = Ed25519PrivateKey
SealingKey = X25519PrivateKey


class KeyFileError(CroupierError):
    """A key file that is missing, readable by others, damaged, or under another passphrase."""

    def __init__(self, name: str, problem: str, *, hint: str) -> None:
        self.name = name
        self.problem = problem
        super().__init__(f"{name} {problem}. {hint}")


class DamagedKeyError(KeyFileError):
    """A key file that opens, and holds another key than was written."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path.name,
            "is damaged",
            hint=f"Put back a copy of it in {path.parent}, if there is one.",
        )


def passphrase(file: Path | None = None) -> bytes:
    """What key files are encrypted with: the first line of a file, or an environment variable."""
    if file is None:
        given = os.fsencode(os.environ.get(VARIABLE, ""))
    else:
        _require_private(file)
        given = next(iter(file.read_bytes().splitlines()), b"")
    if not given:
        raise ParameterError(
            "passphrase",
            must="not be empty",
            hint=f"Set {VARIABLE}, or give --passphrase-file.",
        )
    return given


def _require_private(file: Path) -> None:
    if not file.is_file():
        raise ParameterError("passphrase file", must="be a file", got=str(file))
    if file.stat().st_mode & _OTHERS:
        raise ParameterError(
            "passphrase file",
            must="be readable by its owner only",
            got=str(file),
            hint=f"Run: chmod 600 {file}",
        )


@dataclass(frozen=True, repr=False)
class BatchSecrets:
    """What the shuffler must forget when a batch is released.

    Attributes:
        outer: Opens the batch's envelopes.
        tag_key: Turns credentials into tags.
    """

    outer: X25519PrivateKey
    tag_key: bytes


@dataclass(frozen=True, repr=False)
class KeyDirectory:
    """The private keys of one party.

    Every secret is PKCS#8 under the passphrase, mode 0600, in directories of mode 0700:

        shuffler.pem, analyzer.pem      what signs (Ed25519)
        analyzer.hpke.pem               what opens reports (X25519)
        batches/BATCH/outer.pem         what opens the envelopes of a batch
        batches/BATCH/tag.key           what its tags are made with
        batches/BATCH/tag.check         a keyed hash by which a damaged tag.key is noticed
        batches/BATCH/plan              whose batch it is: the digest of a plan, no secret
        witness/PLAN.json               how far a plan has come, no secret

    Attributes:
        path: The directory; made if it is not there.
        passphrase: Encrypts every file.
    """

    path: Path
    passphrase: bytes

    def create_signing_key(self, name: str) -> Ed25519PrivateKey:
        """A new key that signs, in a file that must not be there yet."""
        key = Ed25519PrivateKey.generate()
        self._write(self.path / f"{name}.pem", key)
        return key

    def create_sealing_key(self, name: str) -> X25519PrivateKey:
        """A new key that opens seals, in a file that must not be there yet."""
        key = X25519PrivateKey.generate()
        self._write(self.path / f"{name}.hpke.pem", key)
        return key

    def has_signing_key(self, name: str) -> bool:
        """Whether the file of a key that signs is there."""
        return (self.path / f"{name}.pem").is_file()

    def signing_key(self, name: str) -> Ed25519PrivateKey:
        """The key that signs."""
        return self._read_signing(self.path / f"{name}.pem")

    def sealing_key(self, name: str) -> X25519PrivateKey:
        """The key that opens seals."""
        return self._read_sealing(self.path / f"{name}.hpke.pem")

    def create_batch(self, batch: bytes, *, plan: str) -> BatchSecrets:
        """New secrets for a plan's batch: after a crash they are there as a whole or not at all."""
        folder = self._folder(batch)
        partial = folder.with_name(_PARTIAL + folder.name)
        secrets = BatchSecrets(X25519PrivateKey.generate(), os.urandom(_TAG_KEY_SIZE))
        self._write(partial / "outer.pem", secrets.outer)
        # Any 32 bytes are the seed of an Ed25519 key: one format keeps all secrets.
        self._write(partial / "tag.key", Ed25519PrivateKey.from_private_bytes(secrets.tag_key))
        durable.create(partial / _TAG_CHECK, _check(secrets.tag_key))
        durable.create(partial / _PLAN, plan.encode())
        partial.rename(folder)
        durable.sync(folder.parent)
        return secrets

    def has_batch(self, batch: bytes, *, tag_key: bool = False) -> bool:
        """Whether the file that opens a batch's envelopes is there, and if asked that of its tags.

        A file that is there and cannot be read is not missing: a passphrase may be wrong.
        """
        names = ["outer.pem", "tag.key"] if tag_key else ["outer.pem"]
        return all((self._folder(batch) / name).is_file() for name in names)

    def outer_key(self, batch: bytes) -> X25519PrivateKey:
        """What opens the envelopes of a batch."""
        return self._read_sealing(self._folder(batch) / "outer.pem")

    def tag_key(self, batch: bytes) -> bytes:
        """What the tags of a batch are made with; intake needs no other secret."""
        path = self._folder(batch) / "tag.key"
        key = self._read_signing(path).private_bytes_raw()
        check = path.with_name(_TAG_CHECK)
        # Nothing else tells: any 32 bytes make tags. Batches of version 0.1 have no check.
        if check.is_file() and check.read_bytes() != _check(key):
            raise DamagedKeyError(path)
        return key

    def batches(self) -> list[bytes]:
        """The batches whose secrets are still there."""
        found = (self.path / "batches").glob("[!.]*")
        return sorted(bytes.fromhex(folder.name) for folder in found)

    def destroy(self, batch: bytes) -> None:
        """Overwrite and remove a batch's secrets; nothing happens where none are left.

        Journals, snapshots and flash storage may keep old blocks: those are encrypted.
        """
        _destroy(self._folder(batch))

    def made_before(self, moment: datetime, *, plan: str) -> list[bytes]:
        """The batches of a plan whose secrets are older than a moment."""
        folders = map(self._folder, self.batches())
        return [
            bytes.fromhex(folder.name)
            for folder in folders
            if _is_older(folder, moment) and _is_of(folder, plan)
        ]

    def sweep(self, moment: datetime) -> None:
        """Destroy what a crash left half made before a moment."""
        for partial in (self.path / "batches").glob(f"{_PARTIAL}*"):
            if _is_older(partial, moment):
                _destroy(partial)

    def _folder(self, batch: bytes) -> Path:
        if len(batch) != BATCH_SIZE:
            raise ParameterError("batch", must=f"be {BATCH_SIZE} bytes", got=len(batch))
        return self.path / "batches" / batch.hex()

    def _write(self, path: Path, key: SigningKey | SealingKey) -> None:
        self._require_long_passphrase()
        self._make_folders(path.parent)
        pem = encrypted_key.encrypt(key, self.passphrase, self._shared_derivation(path.parent))
        try:
            durable.create(path, pem)
        except FileExistsError:
            raise KeyFileError(
                path.name, "is there already", hint="Move it away; keys are not replaced."
            ) from None

    def _require_long_passphrase(self) -> None:
        if len(self.passphrase.decode(errors="replace")) < _SHORTEST_PASSPHRASE:
            raise ParameterError(
                "passphrase",
                must=f"have at least {_SHORTEST_PASSPHRASE} characters to encrypt new keys",
                hint="docs/operating.md, Keys, says how keys get a longer one.",
            )

    def _make_folders(self, folder: Path) -> None:
        """Make the directory and what is between it and a folder in it, closed to others."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise KeyFileError(
                str(self.path), "is not a directory", hint="Name another for the keys."
            ) from None
        if self.path.stat().st_mode & _OTHERS:
            raise KeyFileError(
                str(self.path), "can be entered by others", hint=f"Run: chmod 700 {self.path}"
            )
        inside = [parent for parent in folder.parents if self.path in parent.parents]
        for made in [*reversed(inside), *([folder] if folder != self.path else [])]:
            durable.private_folder(made)

    def _shared_derivation(self, folder: Path) -> Derivation:
        """That of a file which is there, so that one key opens all; a new one for the first.

        A file that somebody encrypted again with less work does not hand it on.
        """
        paths = filter(Path.is_file, sorted([*folder.glob("*"), *self.path.glob("*.pem")]))
        found = (Derivation.of(path.read_bytes()) for path in paths)
        shared = (how for how in found if how is not None and how.suffices)
        return next(shared, None) or Derivation.new()

    def _read_signing(self, path: Path) -> Ed25519PrivateKey:
        key = self._read(path)
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFileError(path.name, "is no Ed25519 key", hint="Check which file it is.")
        return key

    def _read_sealing(self, path: Path) -> X25519PrivateKey:
        key = self._read(path)
        if not isinstance(key, X25519PrivateKey):
            raise KeyFileError(path.name, "is no X25519 key", hint="Check which file it is.")
        return key

    def _read(self, path: Path) -> object:
        if not path.is_file():
            raise KeyFileError(str(path), "is not there", hint=self._missing(path))
        if path.stat().st_mode & _OTHERS:
            raise KeyFileError(path.name, "can be read by others", hint="Run: chmod 600.")
        with _no_secrets_in_errors(path):
            return encrypted_key.decrypt(path.read_bytes(), self.passphrase)

    def _missing(self, path: Path) -> str:
        if path.parent == self.path:
            return "Make it with croupier keys create, or check --keys."
        return (
            "Put the key of the batch back if it was moved. Else its reports cannot be opened any "
            "more, and croupier release disposes of them at the plan's disposal_age."
        )


@contextmanager
def _no_secrets_in_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, UnsupportedAlgorithm, InternalError):
        raise KeyFileError(
            path.name, "does not open", hint="Check the passphrase, or restore the file."
        ) from None


def _check(tag_key: bytes) -> bytes:
    """What only this key gives; nobody can work out the key from it."""
    return blake2b(b"croupier tag key", key=tag_key, digest_size=16).hexdigest().encode()


def _is_older(folder: Path, moment: datetime) -> bool:
    return folder.stat().st_mtime < moment.timestamp()


def _is_of(folder: Path, plan: str) -> bool:
    file = folder / _PLAN
    return file.is_file() and file.read_bytes() == plan.encode()


def _destroy(folder: Path) -> None:
    if not folder.exists():
        return
    # Whose they are goes last: what a crash leaves is found again.
    for path in sorted(folder.iterdir(), key=lambda path: path.name == _PLAN):
        with path.open("r+b") as file:
            file.write(os.urandom(path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        durable.sync(folder)
    folder.rmdir()
    durable.sync(folder.parent)
