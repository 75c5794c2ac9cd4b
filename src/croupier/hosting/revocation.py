"""Revoked credentials: a file of ids that a running service reads again when it changes."""

import os
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from croupier.errors import ParameterError
from croupier.hosting.incidents import Occurrence
from croupier.protocol import durable
from croupier.protocol.admission.credentials import ID_BYTES, TOKEN_LENGTH

__all__ = [
    "RevocationList",
    "UnreadableListError",
    "identity_of",
    "read_revoked",
    "revoke",
    "write_revoked",
]

_KIND_DIGITS = 2
_ID_DIGITS = 2 * ID_BYTES
_OPTION = "--revoked"
_UNREADABLE = "the list of revoked credentials cannot be read: those read before stay revoked"


class UnreadableListError(ParameterError):
    """A list of revoked credentials that cannot be read.

    Attributes:
        cause: The reason, without names: it may be shown to anybody.
    """

    def __init__(self, file: Path, option: str, error: OSError | ValueError) -> None:
        number = error.errno if isinstance(error, OSError) else None
        self.cause = os.strerror(number) if number else "a line is not an id"
        super().__init__(
            option,
            must="be a file of ids, one per line",
            got=f"{file} ({self.cause})",
            hint="Put it back. Only the first list is made: croupier credentials revoke --new.",
        )


class RevocationList:
    """The ids of a file, as last read.

    Ids are kept and looked up as hashes under a key of this process, so the time of a lookup does
    not reveal how much of an id is right.

    Args:
        file: One id per line; None for an empty list.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._key = os.urandom(32)
        self._hashes: frozenset[bytes] = frozenset()
        self._seen: tuple[int, int, int] | None = None

    def occurrences(self) -> tuple[Occurrence, ...]:
        """Read the file again if it changed; return what keeps it from being read."""
        try:
            self.renew()
        except UnreadableListError as error:
            return (Occurrence("revoked-list", f"{_UNREADABLE} ({error.cause})"),)
        return ()

    def renew(self) -> None:
        """Read the file again if it was replaced or changed.

        Raises:
            UnreadableListError: It cannot be read; the ids read before stay in force.
        """
        if self._file is None:
            return
        try:
            found = self._file.stat()
        except OSError as error:
            raise UnreadableListError(self._file, _OPTION, error) from None
        seen = (found.st_ino, found.st_mtime_ns, found.st_size)
        if seen != self._seen:
            self._hashes = frozenset(map(self._hashed, read_revoked(self._file)))
            self._seen = seen

    def __contains__(self, identity: object) -> bool:
        """Tell whether the credential with that id is revoked."""
        return isinstance(identity, bytes) and self._hashed(identity) in self._hashes

    def _hashed(self, identity: bytes) -> bytes:
        return blake2b(identity, digest_size=16, key=self._key).digest()


def identity_of(text: str) -> bytes:
    """Return the id in a text: an id, or a whole credential, in hexadecimal.

    >>> identity_of("00" * 16) == identity_of("70" + "00" * 16 + "ff" * 16)
    True
    """
    digits = text[_KIND_DIGITS:][:_ID_DIGITS] if len(text) == TOKEN_LENGTH else text
    try:
        identity = bytes.fromhex(digits)
    except ValueError:
        identity = b""
    if len(digits) != _ID_DIGITS or len(identity) != ID_BYTES:
        raise ParameterError(
            "ID",
            must=f"be {_ID_DIGITS} hexadecimal digits, or a whole credential",
            hint="Digits 3 to 34 of a credential are its id.",
        )
    return identity


def read_revoked(file: Path, *, option: str = _OPTION) -> frozenset[bytes]:
    """Read the ids in a file.

    Args:
        file: The file.
        option: The option or argument that names it, as it is typed.
    """
    try:
        return frozenset(map(identity_of, file.read_text(encoding="ascii").split()))
    except (OSError, ValueError) as error:
        raise UnreadableListError(file, option, error) from None


def revoke(file: Path, identities: Iterable[bytes], *, new: bool = False) -> tuple[int, int]:
    """Add ids to a file.

    Concurrent calls wait for each other, so that no id is lost.

    Args:
        file: The file.
        identities: The ids.
        new: True to create the file, which must not exist. A list that was lost must not be
            replaced by one that lacks its ids.

    Returns:
        The number of ids that are new, and of all ids.

    Raises:
        ParameterError: It is not such a file, belongs to somebody else, or is there although it
            should be new.
    """
    try:
        with durable.locked(file.parent):
            if new and file.exists():
                raise ParameterError("--new", must="be left out: there is a list", got=str(file))
            before = frozenset() if new else read_revoked(file, option="FILE")
            after = before | frozenset(identities)
            write_revoked(file, after)
    except PermissionError:
        raise ParameterError(
            "FILE",
            must="be a file that keeps its owner when it is replaced",
            got=str(file),
            hint="Run this as the owner of the file and its folder.",
        ) from None
    return len(after) - len(before), len(after)


def write_revoked(file: Path, identities: Iterable[bytes]) -> None:
    """Write ids to a file atomically, sorted: the file does not show when each was revoked."""
    lines = sorted(identity.hex() + "\n" for identity in identities)
    durable.update(file, "".join(lines).encode())
