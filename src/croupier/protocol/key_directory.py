"""Private keys on disk: encrypted, and readable by their owner only."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar, TypeVar

from cryptography.exceptions import InternalError, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import CroupierError, ParameterError
from croupier.protocol import durable, encrypted_key
from croupier.protocol.encrypted_key import Derivation
from croupier.protocol.private_file import is_open_to_others
from croupier.protocol.public_keys import FILE, PublicKeys

__all__ = ["VARIABLE", "AbsentKeyError", "ClosedKeyError", "DamagedKeyError", "KeyDirectory"]
__all__ += ["KeyFileError", "RoleKeys", "destroy_file", "is_older", "passphrase"]

VARIABLE = "CROUPIER_PASSPHRASE"
_SIGNS, _OPENS = ".pem", ".hpke.pem"
_OTHERS = 0o077
_SHORTEST_PASSPHRASE = 12
_OF_A_ROLE = re.compile(
    r"(shuffler|release|intake|analyzer|approver|issuer|inviter|gateway)(?:-[0-9]+)?(?:\.hpke)?\.pem"
)
_KEPT_BY = {"gateway": "intake"}
"""Keys that lie in the directory of a role of another name."""

SigningKey = Ed25519PrivateKey
SealingKey = X25519PrivateKey
K = TypeVar("K", bound=SigningKey | SealingKey)
W = TypeVar("W", bound=SigningKey | SealingKey | RSAPrivateKey)


class KeyFileError(CroupierError):
    """A key file that is missing, readable by others, damaged, or under another passphrase."""

    def __init__(self, name: str, problem: str, *, hint: str) -> None:
        self.name = name
        self.problem = problem
        super().__init__(f"{name} {problem}. {hint}")


class DamagedKeyError(KeyFileError):
    """A key file that opens but holds a different key than was written."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path.name,
            "is damaged",
            hint=f"Put back a copy of it in {path.parent}, if there is one.",
        )


class ClosedKeyError(KeyFileError):
    """A key file that does not open: it is damaged, or under another passphrase."""

    incident = "passphrase"

    def __init__(self, path: Path) -> None:
        super().__init__(
            path.name, "does not open", hint="Check the passphrase, or restore the file."
        )


class AbsentKeyError(KeyFileError):
    """A directory that does not have the requested key."""

    incident = "signing-key"

    def __init__(self, directory: Path, name: str, public: str | None) -> None:
        super().__init__(
            str(directory),
            f"has no {name} key whose public half is {(public or '')[:16]}…",
            hint="Put it back if it was moved, or name the directory that has it.",
        )


class MissingKeyError(KeyFileError):
    """A key of a role whose file is not there."""

    incident = "signing-key"


def passphrase(file: Path | None = None, *, option: str = "--passphrase-file") -> bytes:
    """Return the passphrase of key files: the first line of a file, or an environment variable.

    Args:
        file: The file; None reads the environment variable.
        option: The option that names the file, as it is typed.
    """
    if file is None:
        given = os.fsencode(os.environ.get(VARIABLE, ""))
        if not given:
            raise ParameterError(VARIABLE, must=f"hold the passphrase if {option} is left out")
        return given
    _require_private(file, option)
    given = next(iter(file.read_bytes().splitlines()), b"")
    if not given:
        raise ParameterError(option, must="have the passphrase in its first line", got=str(file))
    return given


def _require_private(file: Path, option: str) -> None:
    if not file.is_file():
        raise ParameterError(option, must="be a file", got=str(file))
    if is_open_to_others(file):
        raise ParameterError(
            option,
            must="be readable by its owner only",
            got=str(file),
            hint=f"Run: chmod 600 {file}",
        )


@dataclass(frozen=True, repr=False)
class KeyDirectory:
    """The private keys of one role.

    Every secret is PKCS#8 under the passphrase, mode 0600, in directories of mode 0700. A key that
    replaces another lies beside it under the next number, as NAME-2.pem beside NAME.pem:
    the old one may still be needed for what it signed or what was sealed to it.

            NAME.pem, NAME-2.pem, …             signing keys (Ed25519)
            NAME.hpke.pem, NAME-2.hpke.pem, …   keys that open seals (X25519)
            public.json                         public halves of the newest ones, no secret

    Attributes:
        path: The directory; created if it does not exist.
        passphrase: Encrypts every file.
    """

    path: Path
    passphrase: bytes

    def create_signing_key(self, name: str) -> Ed25519PrivateKey:
        """Create a signing key, in a file that must not exist yet."""
        return self.write(self.path / f"{name}.pem", Ed25519PrivateKey.generate())

    def create_sealing_key(self, name: str) -> X25519PrivateKey:
        """Create a key that opens seals, in a file that must not exist yet."""
        return self.write(self.path / f"{name}.hpke.pem", X25519PrivateKey.generate())

    def add_signing_key(self, name: str) -> Ed25519PrivateKey:
        """Add a signing key for use from now on, beside the earlier ones."""
        return self.write(self._next(name, _SIGNS), Ed25519PrivateKey.generate())

    def add_sealing_key(self, name: str) -> X25519PrivateKey:
        """Add a key for what is sealed from now on, beside the earlier ones."""
        return self.write(self._next(name, _OPENS), X25519PrivateKey.generate())

    def has_signing_key(self, name: str) -> bool:
        """Tell whether the file of a signing key exists."""
        return (self.path / f"{name}.pem").is_file()

    def signing_key(self, name: str, public: str | None = None) -> Ed25519PrivateKey:
        """Return the newest signing key, or the one with a public half, in hexadecimal."""
        return self._found(self.read_signing, name, _SIGNS, public)

    def sealing_key(self, name: str, public: str | None = None) -> X25519PrivateKey:
        """Return the newest key that opens seals, or the one with a public half, in hexadecimal."""
        return self._found(self.read_sealing, name, _OPENS, public)

    def sealing_keys(self, name: str, *, most: int) -> dict[int, X25519PrivateKey]:
        """Return the newest keys that open seals by their numbers, the newest first; or none."""
        return {
            _number(path, name, _OPENS): self.read_sealing(path)
            for path in self._numbered(name, _OPENS)[:most]
            if path.is_file()
        }

    def destroy_sealing_keys(self, name: str, *, keep: int) -> None:
        """Destroy all keys of one name that open seals, but for the newest."""
        for path in self._numbered(name, _OPENS)[keep:]:
            destroy_file(path)

    def _found(self, read: Callable[[Path], K], name: str, suffix: str, public: str | None) -> K:
        """Return the newest key, or the one with a public half: then others need not open."""
        closed: KeyFileError | None = None
        for path in self._numbered(name, suffix):
            try:
                key = read(path)
            except KeyFileError as error:
                if public is None:
                    raise
                closed = closed or error
                continue
            if public in {None, key.public_key().public_bytes_raw().hex()}:
                return key
        raise closed or AbsentKeyError(self.path, f"{name}{suffix.removesuffix('.pem')}", public)

    def _numbered(self, name: str, suffix: str) -> list[Path]:
        """Return the files of keys of one name, newest first; the first file's path if none."""
        found = {
            int(match[1] or 1): path
            for path in self.path.glob(f"{name}*{suffix}")
            if (match := re.fullmatch(rf"{name}(?:-([0-9]+))?{re.escape(suffix)}", path.name))
        }
        return [found[number] for number in sorted(found, reverse=True)] or [
            self.path / f"{name}{suffix}"
        ]

    def _next(self, name: str, suffix: str) -> Path:
        newest, *_ = self._numbered(name, suffix)
        if not newest.is_file():
            return newest
        return self.path / f"{name}-{_number(newest, name, suffix) + 1}{suffix}"

    def write(self, path: Path, key: W) -> W:
        """Encrypt a key into a file of the directory that must not exist yet."""
        self._require_long_passphrase()
        self._make_folders(path.parent)
        pem = encrypted_key.encrypt(key, self.passphrase, self._shared_derivation(path.parent))
        try:
            durable.create(path, pem)
        except FileExistsError:
            raise KeyFileError(
                path.name, "is there already", hint="Move it away; keys are not replaced."
            ) from None
        return key

    def _require_long_passphrase(self) -> None:
        if len(self.passphrase.decode(errors="replace")) < _SHORTEST_PASSPHRASE:
            raise ParameterError(
                "passphrase",
                must=f"have at least {_SHORTEST_PASSPHRASE} characters to encrypt new keys",
                hint="docs/operating.md, Keys, says how keys get a longer one.",
            )

    def _make_folders(self, folder: Path) -> None:
        """Make the directory and the folders between it and a folder in it, closed to others."""
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
        """Return that of an existing file, so that one key opens all; a new one for the first.

        A file that was re-encrypted with less work is not taken as a model.
        """
        paths = filter(Path.is_file, sorted([*folder.glob("*"), *self.path.glob("*.pem")]))
        found = (Derivation.of(path.read_bytes()) for path in paths)
        shared = (how for how in found if how is not None and how.suffices)
        return next(shared, None) or Derivation.new()

    def read_signing(self, path: Path) -> Ed25519PrivateKey:
        """Return the signing key in a file of the directory."""
        key = self._read(path)
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFileError(path.name, "is no Ed25519 key", hint="Check which file it is.")
        return key

    def read_sealing(self, path: Path) -> X25519PrivateKey:
        """Return the key that opens seals in a file of the directory."""
        key = self._read(path)
        if not isinstance(key, X25519PrivateKey):
            raise KeyFileError(path.name, "is no X25519 key", hint="Check which file it is.")
        return key

    def _read(self, path: Path) -> object:
        if not path.is_file():
            kind = MissingKeyError if path.parent == self.path else KeyFileError
            raise kind(str(path), "is not there", hint=self._missing(path))
        if path.stat().st_mode & _OTHERS:
            raise KeyFileError(path.name, "can be read by others", hint="Run: chmod 600.")
        with _no_secrets_in_errors(path):
            return encrypted_key.decrypt(path.read_bytes(), self.passphrase)

    def _missing(self, path: Path) -> str:
        if path.parent == self.path and (self.path / FILE).exists():
            return "Put it back from its copy, or check --keys."
        if path.parent == self.path:
            return (
                "Mount the directory, or check --keys. Only for a new installation, make it: "
                "croupier keys create."
            )
        return (
            "Put the key of the batch back if it was moved. Else its reports cannot be opened any "
            "more, and croupier release disposes of them at the plan's disposal_age."
        )


@dataclass(frozen=True, repr=False)
class RoleKeys(KeyDirectory):
    """The key directory of a role, whose files are named after it.

    Attributes:
        role: Its name.
        is_sealed_to: True if it has a key that opens seals beside the signing key.
    """

    role: ClassVar[str]
    is_sealed_to: ClassVar[bool] = False

    def create(self) -> PublicKeys:
        """Make the keys; write their public halves beside them, last.

        If public.json is missing, complete what a crash left half made.

        Raises:
            KeyFileError: The keys exist already, or belong to another role.
        """
        self.require_no_other()
        if (self.path / FILE).exists():
            raise KeyFileError(
                f"{self.path}/{FILE}",
                "is there already",
                hint="Move the directory away, or name another; keys are not replaced.",
            )
        if self.is_sealed_to:
            there = (self.path / f"{self.role}{_OPENS}").is_file()
            # Existing keys must open before another is made with the same passphrase.
            _ = self.sealing_key(self.role) if there else self.create_sealing_key(self.role)
        if not self.has_signing_key(self.role):
            self.create_signing_key(self.role)
        return self.publish()

    def publish(self) -> PublicKeys:
        """Record which public keys are the newest."""
        key = self.signing_key(self.role).public_key().public_bytes_raw().hex()
        seal = ""
        if self.is_sealed_to:
            seal = self.sealing_key(self.role).public_key().public_bytes_raw().hex()
        public = PublicKeys(role=self.role, key=key, seal=seal)
        public.save(self.path)
        return public

    def require_no_other(self) -> None:
        """Refuse a directory that also holds keys of another role, as in version 0.1."""
        names = (path.name for path in sorted(self.path.glob("*")))
        other = next((name for name in names if self._is_foreign(name)), None)
        if other is not None:
            raise KeyFileError(
                str(self.path),
                f"holds {other}, which is not of {self.role}",
                hint="Each role has a directory and a passphrase of its own: name another "
                f"directory, or move what is not of {self.role} out of this one.",
            )

    def _is_foreign(self, name: str) -> bool:
        named = _OF_A_ROLE.fullmatch(name)
        owner = "release" if name == "batches" else named and _KEPT_BY.get(named[1], named[1])
        return owner not in {None, self.role}


def _number(path: Path, name: str, suffix: str) -> int:
    """Return the number of a key in the name of its file; the first has none."""
    return int(path.name.removeprefix(name).removesuffix(suffix).removeprefix("-") or 1)


@contextmanager
def _no_secrets_in_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, UnsupportedAlgorithm, InternalError):
        raise ClosedKeyError(path) from None


def is_older(path: Path, moment: datetime) -> bool:
    """Tell whether a file or folder was last changed before a moment."""
    return path.stat().st_mtime < moment.timestamp()


def destroy_file(path: Path) -> None:
    """Overwrite and remove a file; both survive a crash."""
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
    durable.sync(path.parent)
