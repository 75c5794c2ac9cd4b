"""The hand-over of tag keys: all that intake needs of a batch, and all that release gives it.

Release makes the tag key of a batch and seals it to intake. The file lies in a directory that
release writes and intake reads, never in the database, and is destroyed with the batch's other
secrets.

    HPKE, info = "croupier" || "tag key" || plan digest || batch, each after its length in 2 bytes

The release key of the round signs it: an attacker who could put another file there could choose a
key whose tags reveal senders.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pydantic import Field

from croupier.errors import UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.hpke import SUITE
from croupier.protocol.key_directory import DamagedKeyError, KeyFileError, destroy_file
from croupier.protocol.party_keys import Signers
from croupier.protocol.signed_document import Bytes16, SignedDocument

__all__ = ["Handover", "TagKey"]

_SUFFIX = ".tag"


class TagKey(SignedDocument):
    """The tag key of a batch, sealed to intake and signed by release."""

    what = "the tag key of a batch"
    purpose = "tag key"

    kind: Literal["tag key"]
    batch: Bytes16
    sealed: Annotated[str, Field(pattern="^[0-9a-f]{160}$")]

    @classmethod
    def make(
        cls, plan: Plan, *, batch: bytes, key: bytes, seal: str, signing_key: Ed25519PrivateKey
    ) -> Self:
        """Seal a tag key to a public key of intake, in hexadecimal."""
        public = X25519PublicKey.from_public_bytes(bytes.fromhex(seal))
        sealed = SUITE.encrypt(key, public, _info(plan.digest, batch)).hex()
        return cls.written(
            plan, signing_key=signing_key, kind="tag key", batch=batch.hex(), sealed=sealed
        )

    def opened(self, key: X25519PrivateKey) -> bytes:
        """Return the 32 bytes that tags are made with.

        Raises:
            InvalidTag: It was sealed to another key.
        """
        info = _info(self.plan, bytes.fromhex(self.batch))
        return SUITE.decrypt(bytes.fromhex(self.sealed), key, info)


@dataclass(frozen=True)
class Handover:
    """The directory through which tag keys go from release to intake, one file per batch.

    Attributes:
        path: The directory, which only release should be able to write.
    """

    path: Path

    def put(self, tag_key: TagKey) -> None:
        """Hand a tag key over: after a crash it is there as a whole or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)
        durable.publish(self.file(bytes.fromhex(tag_key.batch)), tag_key.to_bytes())

    def has(self, batch: bytes) -> bool:
        """Tell whether the tag key of a batch is there."""
        return self.file(batch).is_file()

    def batches(self, plan: str) -> set[str]:
        """Return the batches of a plan whose tag keys are here, including unreadable files."""
        found = set()
        for file in self.path.glob(f"[!.]*{_SUFFIX}"):
            with suppress(UntrustedError, FileNotFoundError):
                if TagKey.read(file.read_bytes()).plan != plan:
                    continue
            found.add(file.stem)
        return found

    def signed_for(self, plan: str) -> list[bytes]:
        """Return the batches whose tag keys here name a plan; unreadable files are left out."""
        found = []
        for file in self.path.glob(f"[!.]*{_SUFFIX}"):
            with suppress(UntrustedError, FileNotFoundError):
                read = TagKey.read(file.read_bytes())
                if read.plan == plan and self.file(bytes.fromhex(read.batch)) == file:
                    found.append(bytes.fromhex(read.batch))
        return found

    def take(
        self, batch: bytes, *, round_number: int, key: X25519PrivateKey, signers: Signers
    ) -> bytes:
        """Return the tag key of a batch.

        Raises:
            KeyFileError: It is missing, unreadable, damaged, not signed by release, or sealed to
                another key.
        """
        file = self.file(batch)
        by, called = signers.release(round_number), signers.called("release", round_number)
        try:
            read = TagKey.read(file.read_bytes())
        except FileNotFoundError:
            raise KeyFileError(
                str(file), "is not there", hint="Put it back if it was moved."
            ) from None
        except OSError as error:
            raise KeyFileError(
                str(file),
                f"cannot be read ({error.strerror})",
                hint="Let the user of croupier serve read it.",
            ) from None
        except UntrustedError:
            raise DamagedKeyError(file) from None
        if (read.plan, read.batch) != (signers.plan, batch.hex()):
            raise DamagedKeyError(file)
        try:
            read.require_signed(plan=signers.plan, by=by, called=called)
            return read.opened(key)
        except UntrustedError:
            raise KeyFileError(
                file.name,
                f"is damaged, or is not signed by {called}",
                hint="Put back a copy, or give the list of keys that the round was opened with.",
            ) from None
        except InvalidTag:
            raise KeyFileError(
                file.name,
                f"is sealed to another key of intake than {signers.called('intake', round_number)}",
                hint="Give the list of keys that the round was opened with, or name the key "
                "directory of intake that it names.",
            ) from None

    def destroy(self, batch: bytes) -> None:
        """Overwrite and remove the tag key of a batch, and what a crash left of it."""
        file = self.file(batch)
        for path in (file, durable.partial(file)):
            if path.exists():
                destroy_file(path)

    def file(self, batch: bytes) -> Path:
        """Return the path of a batch's tag key."""
        return self.path / f"{batch.hex()}{_SUFFIX}"


def _info(plan: str, batch: bytes) -> bytes:
    fields = [b"croupier", b"tag key", bytes.fromhex(plan), batch]
    return b"".join(len(field).to_bytes(2) + field for field in fields)
