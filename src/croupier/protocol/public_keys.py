"""The public keys of a role, in a file that holds no secret: what the owner of a root signs."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from croupier.errors import ParameterError
from croupier.protocol import durable

__all__ = ["FILE", "PublicKeys"]

FILE = "public.json"
_KEY_DIGITS = 64


@dataclass(frozen=True, kw_only=True)
class PublicKeys:
    """The newest public keys of a role, in hexadecimal.

    Attributes:
        role: Whose: shuffler, release, intake or analyzer.
        key: What its signatures are checked with.
        seal: What is sealed to it; empty where nothing is.
    """

    role: str
    key: str
    seal: str = ""

    def save(self, directory: Path) -> None:
        """Write them into a key directory."""
        document = {"schema_version": 1} | {
            name: text for name, text in asdict(self).items() if text
        }
        durable.publish(directory / FILE, json.dumps(document, indent=1).encode() + b"\n")

    @classmethod
    def load(cls, place: Path, *, role: str, option: str) -> Self:
        """Those of a role, from their file or from the directory that it lies in.

        Raises:
            ParameterError: It is not such a file, or is of another role.
        """
        file = place / FILE if place.is_dir() else place
        hint = f"Give {FILE} from the key directory of {role}: croupier keys create {role}."
        try:
            document = json.loads(file.read_bytes())
            entries = {name: document[name] for name in ("role", "key", "seal") if name in document}
            read = cls(**entries)
            digits = read.key + read.seal
            good = len(bytes.fromhex(digits)) * 2 in {_KEY_DIGITS, 2 * _KEY_DIGITS}
        except (OSError, ValueError, TypeError, KeyError):
            raise ParameterError(
                option, must=f"be the public keys of {role}", got=str(file), hint=hint
            ) from None
        if read.role != role or not good:
            raise ParameterError(
                option, must=f"be the public keys of {role}", got=f"those of {read.role}", hint=hint
            )
        return read
