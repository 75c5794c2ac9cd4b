"""The released rows of a plan that mixes by groups: each person's report once, moved by its law.

An envelope names its sender's place in the public file. A person's credential was issued for one
place, so that nobody can report from another's; a relay is believed about the people it vouches
for.
"""

import hmac
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from croupier.engines.mixing import rows_of
from croupier.errors import SealError
from croupier.numerics.keystream import Keystream
from croupier.protocol.admission.credentials import owner_identity
from croupier.protocol.batch_file import Rows
from croupier.protocol.unsealing import open_outer
from croupier.protocol.wire import Epoch
from croupier.shuffler.release.group_law import GroupLaw
from croupier.shuffler.tags import person_tags
from croupier.shufflers.uniform import UniformShuffler

__all__ = ["Claims", "GroupOpener", "placed"]

_RELAYED, _PROVED = 0, 1


@dataclass(frozen=True, eq=False)
class Claims:
    """Reports whose senders may be where they claim.

    Attributes:
        inner: Inner ciphertexts, one per person, no two the same.
        owners: The person of each, by place in the public file, no two the same.
        refused: The number of others, by reason.
    """

    inner: Rows
    owners: NDArray[np.int64]
    refused: Counter[str]


@dataclass(frozen=True, repr=False)
class GroupOpener:
    """An opener of envelopes that checks senders against their places.

    Attributes:
        key: The batch's private key.
        tag_key: The key that its tags are made with.
        secret: The secret that credentials are made with: it gives the tag of each place.
        epoch: The epoch that envelopes must be bound to.
        people: The number of people in the public file.
    """

    key: X25519PrivateKey
    tag_key: bytes
    secret: bytes
    epoch: Epoch
    people: int

    def claims(
        self, rows: Iterable[tuple[bytes | None, bytes]], *, rng: Keystream | None = None
    ) -> Claims:
        """Return one report per person.

        Refused, by reason: an envelope of another length (`length`) or that does not open
        (`seal`); a place that the file does not have (`unknown_owner`); a person's envelope from a
        place that its credential was not issued for (`wrong_owner`); an inner ciphertext that
        another envelope has as well (`duplicate`); a second report from one place
        (`second_report`). Of the last two, a report that came with the person's own credential
        stays before any that a relay sent; among relayed ones a coin decides.

        Args:
            rows: Tag, None for a relay's, and envelope.
            rng: The source of coins; the operating system by default.
        """
        refused = Counter[str]()
        inner, owners, ranks = [], [], []
        for tag, envelope in rows:
            try:
                opened = open_outer(envelope, key=self.key, epoch=self.epoch)
            except SealError as error:
                refused[error.reason] += 1
                continue
            owner = -1 if opened.owner is None else opened.owner
            if not 0 <= owner < self.people:
                refused["unknown_owner"] += 1
            elif tag is not None and not hmac.compare_digest(tag, self._tag(owner)):
                refused["wrong_owner"] += 1
            else:
                inner.append(opened.inner)
                owners.append(owner)
                ranks.append(_RELAYED if tag is None else _PROVED)
        matrix = rows_of(inner, length=self.epoch.inner_length)
        people = np.array(owners, dtype=np.int64)
        # Whatever order they arrived in, a coin decides between equals.
        order = UniformShuffler().order(len(matrix), rng=rng)
        order = order[np.argsort(-np.array(ranks, dtype=np.int64)[order], kind="stable")]
        kept = order[_firsts(matrix[order])]
        refused["duplicate"] = len(order) - len(kept)
        single = kept[_firsts(people[kept])]
        refused["second_report"] = len(kept) - len(single)
        return Claims(matrix[single], people[single], refused)

    def _tag(self, owner: int) -> bytes:
        return person_tags(self.tag_key, owner_identity(self.secret, owner), 1)[0]


def placed(
    claims: Claims, law: GroupLaw, *, rng: Keystream | None = None
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows by rising place, and their places, after one draw of the law.

    All places of the file are moved, including those of people who sent nothing, and empty ones
    are left out afterwards. So the law is that of the whole file, whoever is missing, and its
    promises inside groups hold for the rest: leaving out is a function of the moved places.
    """
    holds = np.full(law.people, -1, dtype=np.int64)
    holds[claims.owners] = np.arange(len(claims.owners))
    moved = holds[law.shuffler.order(law.people, rng=rng)]
    places = np.flatnonzero(moved >= 0)
    return claims.inner[moved[places]], places


def _firsts(entries: NDArray[np.uint8] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of the first occurrence of each distinct entry, or row; ascending."""
    if not len(entries):
        return np.zeros(0, dtype=np.int64)
    return np.sort(np.unique(entries, axis=0, return_index=True)[1])
