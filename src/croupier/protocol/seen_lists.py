"""The newest lists of a shuffler's keys that somebody has seen who takes over its batches.

The analyzer, and a second shuffler, keep them beside their own keys.

The list that verifies receipts lies beside them, so an attacker who replaces receipts can replace
it too. An old list still names a key that was replaced, perhaps because it was stolen: only those
who remember the newer list can tell.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from croupier.protocol import durable
from croupier.protocol.key_directory import KeyFileError
from croupier.protocol.party_keys import SeenList, ShufflerKeys

__all__ = ["SeenLists"]


@dataclass(frozen=True)
class SeenLists:
    """The newest list of each plan: lists/PLAN.json in a key directory.

    Attributes:
        directory: The key directory of whoever reads the lists.
        hop: The shuffler whose lists they are: 0 is the first.
    """

    directory: Path
    hop: int = 0

    def require(self, keys: ShufflerKeys) -> None:
        """Refuse a list that is older than one that was seen, or another of the same version.

        Raises:
            KeyFileError: The remembered list cannot be read.
            UntrustedError: The list is refused.
        """
        seen = self.read(keys.plan)
        if seen is not None:
            keys.require_not_before(seen)

    def remember(self, keys: ShufflerKeys) -> None:
        """Remember a list, and refuse as `require` does.

        Raises:
            KeyFileError: The remembered list cannot be read, or nothing can be written.
            UntrustedError: See `require`.
        """
        self.require(keys)
        if self.read(keys.plan) == keys.seen:
            return
        path = self._path(keys.plan)
        try:
            durable.private_folder(path.parent)
            with durable.locked(path.parent):
                self.require(keys)
                durable.replace(path, keys.seen.model_dump_json().encode() + b"\n")
        except OSError as error:
            raise KeyFileError(
                str(path),
                f"cannot be written ({type(error).__name__})",
                hint="The newest list of the shuffler's keys is remembered there.",
            ) from None

    def read(self, plan: str) -> SeenList | None:
        """Return the newest list of a plan that was seen; None if none was.

        Raises:
            KeyFileError: The remembered list cannot be read.
        """
        path = self._path(plan)
        try:
            return SeenList.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            raise KeyFileError(
                str(path),
                "cannot be read",
                hint="It names the newest list of the shuffler's keys that was seen: put it back "
                "from a copy of the directory.",
            ) from None

    def _path(self, plan: str) -> Path:
        which = f"-{self.hop + 1}" if self.hop else ""
        return self.directory / "lists" / f"{plan}{which}.json"
