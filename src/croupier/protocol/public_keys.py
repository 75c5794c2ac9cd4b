"""The public keys of a role, in a file that holds no secret: what the owner of a root signs."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from croupier.errors import ParameterError
from croupier.protocol import durable

__all__ = ["FILE", "PublicKeys", "is_sealable"]

FILE = "public.json"
_KEY = re.compile("[0-9a-f]{64}")
_SEALED_TO = ("intake", "analyzer")


def is_sealable(public: str) -> bool:
    """Tell whether something can be sealed to an X25519 public key, given in hexadecimal."""
    try:
        key = X25519PublicKey.from_public_bytes(bytes.fromhex(public))
        X25519PrivateKey.generate().exchange(key)
    except ValueError:  # of low order: the shared secret would always be zero
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class PublicKeys:
    """The newest public keys of a role, in hexadecimal.

    Attributes:
        role: The owner: shuffler, release, intake, analyzer or approver.
        key: The key that its signatures are checked with.
        seal: The key that is sealed to; empty if there is none.
    """

    role: str
    key: str
    seal: str = ""

    def save(self, directory: Path) -> None:
        """Write the keys into a key directory."""
        document = {"schema_version": 1} | {
            name: text for name, text in asdict(self).items() if text
        }
        durable.publish(directory / FILE, json.dumps(document, indent=1).encode() + b"\n")

    @classmethod
    def load(cls, place: Path, *, role: str, option: str) -> Self:
        """Read the keys of a role from their file or from the directory that holds it.

        Raises:
            ParameterError: It is not such a file, or belongs to another role.
        """
        file = place / FILE if place.is_dir() else place
        got = str(file)
        try:
            document = json.loads(file.read_bytes())
            entries = {name: document[name] for name in ("role", "key", "seal") if name in document}
            read = cls(**entries)
            if read.role == role and read._is_whole:
                return read
            got = got if read.role == role else f"those of {read.role}"
        except (OSError, ValueError, TypeError, RecursionError):
            pass
        raise ParameterError(
            option,
            must=f"be the public keys of {role}",
            got=got,
            hint=f"Give {FILE} from the key directory of {role}: croupier keys create {role}.",
        )

    @property
    def _is_whole(self) -> bool:
        """Tell whether every key that the role has is there, in its one spelling, and no other."""
        keys = [self.key, self.seal] if self.role in _SEALED_TO else [self.key]
        good = all(_KEY.fullmatch(key) for key in keys)
        return good and (is_sealable(self.seal) if self.role in _SEALED_TO else not self.seal)
