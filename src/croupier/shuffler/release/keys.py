"""The keys of release: signing keys for openings and receipts, and keys that open envelopes.

No process that takes reports has this directory or its passphrase.
"""

import os
import re
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from pydantic import ValidationError

from croupier.errors import ParameterError
from croupier.protocol import durable
from croupier.protocol.key_directory import (
    DamagedKeyError,
    RoleKeys,
    destroy_file,
    is_older,
)
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.receipt import Receipt
from croupier.protocol.signed_document import Document
from croupier.protocol.wire import BATCH_SIZE

__all__ = ["RELEASE", "BatchSecrets", "ReleaseKeys", "TakenOver"]

RELEASE = "release"
_PARTIAL = ".partial-"
_OUTER, _TAG, _NOISE, _PLAN = "outer.pem", "tag.key", "noise.key", "plan"
_CHECKS = {_TAG: "tag.check", _NOISE: "noise.check"}
_TAKEN_OVER, _REFUSED = "taken-over", ".refused-since-"
_LAST = {_TAKEN_OVER: 1, _PLAN: 2}
"""Files that go after the secrets; the plan's digest last: by it a crash's remains are found."""
_SECRET_SIZE = 32
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, repr=False)
class BatchSecrets:
    """Secrets that the shuffler must forget when a batch is released.

    Attributes:
        outer: Opens the batch's envelopes.
        tag_key: Turns credentials into tags; intake gets it.
    """

    outer: X25519PrivateKey
    tag_key: bytes


class TakenOver(Document):
    """The first shuffler's receipt, and its list of keys, that a batch was taken over with."""

    receipt: Receipt
    keys: ShufflerKeys


@dataclass(frozen=True, repr=False)
class ReleaseKeys(RoleKeys):
    """The key directory of release.

    release.pem, release-2.pem, …   keys that sign openings and receipts
    batches/BATCH/outer.pem         the key that opens the envelopes of a batch
    batches/BATCH/tag.key           the key of its tags, if a plan mixes by groups
    batches/BATCH/noise.key         the secret of its dummies, if the shuffler makes any
    batches/BATCH/tag.check, …      a keyed hash that reveals a damaged tag.key or noise.key
    batches/BATCH/taken-over        the receipt that it was taken over with, no secret
    batches/BATCH/refused-because   the cause of the last refusal, no secret
    batches/BATCH/plan              the digest of the batch's plan, no secret
    batches/.refused-since-BATCH    the time when a hand-over of it could first not be released
    witness/PLAN.json               the progress of a plan, no secret
    unpublished/PLAN/               rows on their way to an object store, until they are there
    """

    role = RELEASE

    def rotate(self) -> PublicKeys:
        """Make a signing key that replaces the newest, which stays on disk."""
        self.add_signing_key(RELEASE)
        return self.publish()

    def signer(self, public: str) -> Ed25519PrivateKey:
        """Return the signing key with a public half, in hexadecimal."""
        return self.signing_key(RELEASE, public)

    def create_batch(
        self, batch: bytes, *, plan: str, tags: bool = False, noise: bool = False
    ) -> BatchSecrets:
        """Make secrets for a plan's batch: after a crash they are there as a whole or not at all.

        Args:
            batch: Its name.
            plan: The digest of the plan.
            tags: True to keep the tag key here too, to check senders against their places.
            noise: True to make the secret of dummies: they are a function of it, so that a release
                that is killed and repeated makes as many of each report as before.
        """
        secrets = BatchSecrets(X25519PrivateKey.generate(), os.urandom(_SECRET_SIZE))
        self.add_batch(
            batch,
            secrets.outer,
            secrets.tag_key if tags else None,
            plan=plan,
            noise=os.urandom(_SECRET_SIZE) if noise else None,
        )
        return secrets

    def add_batch(
        self,
        batch: bytes,
        outer: X25519PrivateKey,
        tag_key: bytes | None,
        *,
        plan: str,
        noise: bytes | None = None,
    ) -> None:
        """Keep the secrets of a batch, as `create_batch` does."""
        folder = self._folder(batch)
        partial = folder.with_name(_PARTIAL + folder.name)
        _destroy(partial)  # the remains of an attempt that crashed
        self.write(partial / _OUTER, outer)
        for name, secret in ((_TAG, tag_key), (_NOISE, noise)):
            if secret is not None:
                # Any 32 bytes are the seed of an Ed25519 key: one format stores all secrets.
                self.write(partial / name, Ed25519PrivateKey.from_private_bytes(secret))
                durable.create(partial / _CHECKS[name], _check(name, secret))
        durable.create(partial / _PLAN, plan.encode())
        partial.rename(folder)
        durable.sync(folder.parent)

    def has_batch(self, batch: bytes, *, tags: bool = False, noise: bool = False) -> bool:
        """Tell whether the key of a batch's envelopes exists, and if asked its other secrets.

        A file that exists but cannot be read is not missing: a passphrase may be wrong.
        """
        names = [_OUTER, *([_TAG] if tags else []), *([_NOISE] if noise else [])]
        return all((self._folder(batch) / name).is_file() for name in names)

    def outer_key(self, batch: bytes) -> X25519PrivateKey:
        """Return the key that opens the envelopes of a batch."""
        return self.read_sealing(self._folder(batch) / _OUTER)

    def tag_key(self, batch: bytes) -> bytes:
        """Return the key that the tags of a batch are made with."""
        return self._secret(batch, _TAG)

    def noise_secret(self, batch: bytes) -> bytes:
        """Return the secret that the dummies of a batch are drawn from."""
        return self._secret(batch, _NOISE)

    def _secret(self, batch: bytes, name: str) -> bytes:
        path = self._folder(batch) / name
        secret = self.read_signing(path).private_bytes_raw()
        check = path.with_name(_CHECKS[name])
        # Nothing else can tell: any 32 bytes will do. Batches of version 0.1 have no check.
        if check.is_file() and check.read_bytes() != _check(name, secret):
            raise DamagedKeyError(path)
        return secret

    def taken_over(self, batch: bytes) -> TakenOver | None:
        """Return what a batch was taken over with; None before that."""
        file = self._folder(batch) / _TAKEN_OVER
        try:
            return TakenOver.model_validate_json(file.read_bytes()) if file.is_file() else None
        except ValidationError:
            raise DamagedKeyError(file) from None

    def take_over(self, batch: bytes, taken: TakenOver) -> None:
        """Record what a batch is taken over with, durably and once and for all."""
        durable.create(self._folder(batch) / _TAKEN_OVER, taken.to_bytes())

    def refused_since(self, batch: bytes, now: datetime) -> datetime:
        """Return when a hand-over of a batch was first refused: now, if it was not before.

        The time is recorded beside the batch's folder, which may be lost.
        """
        file = self._refused(batch)
        if not file.is_file():
            self._make_folders(file.parent)
            durable.create(file, now.isoformat().encode())
        return datetime.fromisoformat(file.read_text())

    def batches(self) -> list[bytes]:
        """Return the batches whose secrets still exist."""
        found = (self.path / "batches").glob("[!.]*")
        return sorted(bytes.fromhex(folder.name) for folder in found)

    def plan_of(self, batch: bytes) -> str | None:
        """Return the digest of the plan that a batch belongs to; None if it is not recorded."""
        file = self._folder(batch) / _PLAN
        # A crash may have left it overwritten.
        return file.read_text(errors="replace") if file.is_file() else None

    def has_of_another_plan(self, batch: bytes, plan: str) -> bool:
        """Tell whether secrets of that name are here that are not recorded to be of a plan."""
        if not self._folder(batch).is_dir() or self.is_half_destroyed(batch):
            return False
        return self.plan_of(batch) != plan

    def is_half_destroyed(self, batch: bytes) -> bool:
        """Tell whether a crash left the folder of a batch behind whose secrets are destroyed."""
        folder = self._folder(batch)
        if not folder.is_dir():  # another plan's job has removed it meanwhile
            return False
        left = {path.name for path in folder.iterdir()}
        return left <= {_PLAN} and not _DIGEST.fullmatch(self.plan_of(batch) or "")

    def destroy(self, batch: bytes) -> None:
        """Overwrite and remove a batch's secrets; do nothing if none are left.

        Journals, snapshots and flash storage may keep old blocks: those are encrypted.
        """
        _destroy(self._folder(batch))
        if (refused := self._refused(batch)).exists():
            refused.unlink()

    def made_before(self, moment: datetime, *, plan: str) -> list[bytes]:
        """Return the batches of a plan whose secrets are older than a moment."""
        return [
            batch
            for batch in self.batches()
            if is_older(self._folder(batch), moment) and self.plan_of(batch) == plan
        ]

    def sweep(self, moment: datetime) -> None:
        """Destroy what a crash left half made before a moment."""
        for partial in (self.path / "batches").glob(f"{_PARTIAL}*"):
            if is_older(partial, moment):
                _destroy(partial)

    def _folder(self, batch: bytes) -> Path:
        if len(batch) != BATCH_SIZE:
            raise ParameterError("batch", must=f"be {BATCH_SIZE} bytes", got=len(batch))
        return self.path / "batches" / batch.hex()

    def _refused(self, batch: bytes) -> Path:
        return self._folder(batch).with_name(_REFUSED + batch.hex())


def _check(name: str, secret: bytes) -> bytes:
    """Return a hash of a secret from which nobody can compute it."""
    label = f"croupier {name.replace('.', ' ')}".encode()
    return blake2b(label, key=secret, digest_size=16).hexdigest().encode()


def _destroy(folder: Path) -> None:
    if not folder.exists():
        return
    for path in sorted(folder.iterdir(), key=lambda path: _LAST.get(path.name, 0)):
        if path.name == _TAKEN_OVER:  # no secret: a crash must not leave it damaged
            path.unlink()
        else:
            destroy_file(path)
    folder.rmdir()
    durable.sync(folder.parent)
