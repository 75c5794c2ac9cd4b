"""Checks that the secrets of a batch are there, and are those that its round began with."""

from dataclasses import dataclass

from croupier.protocol.key_directory import DamagedKeyError, KeyFileError
from croupier.protocol.party_keys import Signers
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release.keys import ReleaseKeys

__all__ = ["KeyCheck"]


@dataclass(frozen=True)
class KeyCheck:
    """A check of the secrets that a release needs.

    Attributes:
        keys: The keys of release.
        signers: The keys that sign for the shuffler.
        tags: True if the key of tags is needed.
        noise: True if the secret of dummies is needed.
    """

    keys: ReleaseKeys
    signers: Signers
    tags: bool
    noise: bool

    def problem(self, batch: Batch) -> str | None:
        """Say what is wrong with a batch's key: it is missing, or is not the one announced.

        Raises:
            KeyFileError: It does not open, for example under another passphrase.
        """
        folder = self.keys.path / "batches" / batch.identity.hex()
        if not self.keys.has_batch(batch.identity, tags=self.tags, noise=self.noise):
            problem = f"Its key is not in {folder}. Put it back if it was moved"
        elif self._is_damaged(batch):
            problem = f"Its key is damaged in {folder}. Put back a copy if there is one"
        else:
            return None
        return (
            f"{problem}; otherwise the batch can never be opened, and is disposed of, with a "
            "receipt, at the plan's disposal age."
        )

    def incident(self, batch: Batch) -> tuple[str | None, str | None]:
        """Return the name of the incident that a batch's key is, and the problem, if there is one.

        Returns:
            None and None if there is none.
        """
        try:
            problem = self.problem(batch)
        except KeyFileError as error:
            return "passphrase", str(error)
        return (None, None) if problem is None else ("batch-key", problem)

    def _is_damaged(self, batch: Batch) -> bool:
        """Tell whether a key opens but is not the one that the round began with."""
        public = self.keys.outer_key(batch.identity).public_key().public_bytes_raw().hex()
        try:
            if self.tags:
                self.keys.tag_key(batch.identity)
            if self.noise:
                self.keys.noise_secret(batch.identity)
        except DamagedKeyError:
            return True
        return public != signed_opening(batch, self.signers).key
