"""A watch over the key files of intake: a running service notices when they vanish or change.

The keys themselves stay in memory. Without their files no worker could be replaced, and nobody
would notice before the next restart.
"""

from typing import TYPE_CHECKING

from croupier.hosting.incidents import Occurrence
from croupier.protocol.key_directory import ClosedKeyError, KeyFileError
from croupier.shuffler.intake.keys import IntakeKeys

if TYPE_CHECKING:
    from croupier.protocol.oblivious.capsule import GatewayKey

__all__ = ["KeyWatch"]

_MISSING = Occurrence("signing-key", "a key of intake is missing from its directory")
_CLOSED = Occurrence("passphrase", "a key of intake does not open under the passphrase")


class KeyWatch:
    """The files of a key directory, opened again only when one of them changes.

    Args:
        keys: The key directory of intake.

    Attributes:
        gateway: The gateway's keys, the newest first; those read before if one does not open or
            is gone.
    """

    def __init__(self, keys: IntakeKeys) -> None:
        self._keys = keys
        self._seen: object = None
        self._found: tuple[Occurrence, ...] = ()
        self.gateway: tuple[GatewayKey, ...] = ()

    def occurrences(self, needed: frozenset[tuple[str, str]]) -> tuple[Occurrence, ...]:
        """Return what is wrong with the files now.

        Args:
            needed: The public halves of the keys in use: one that signs, one that opens.
        """
        seen = (needed, self._files())
        if seen != self._seen:
            self._found, self._seen = (_MISSING,), None  # unless the look ends
            self._found = self._look(needed)
            self._seen = seen
        return self._found

    def _files(self) -> frozenset[tuple[str, int, int, int]]:
        found = set()
        for path in self._keys.path.glob("*.pem"):
            try:
                facts = path.stat()
            except FileNotFoundError:  # removed since it was listed
                continue
            found.add((path.name, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns))
        return frozenset(found)

    def _look(self, needed: frozenset[tuple[str, str]]) -> tuple[Occurrence, ...]:
        try:
            for key, seal in needed:
                self._keys.signer(key)
                self._keys.opener(seal)
            gateway = self._keys.gateway_keys()
        except ClosedKeyError:
            return (_CLOSED,)
        except KeyFileError:
            return (_MISSING,)
        if self.gateway and (not gateway or gateway[0].number < self.gateway[0].number):
            return (_MISSING,)  # clients that saw the newest one believe no older list
        self.gateway = gateway
        return ()
