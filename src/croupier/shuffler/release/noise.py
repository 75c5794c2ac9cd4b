"""The dummies of a batch: how many of each report, and their seals."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from numpy.typing import NDArray

from croupier.engines.mixing import rows_of
from croupier.engines.order import keys_of
from croupier.engines.workers import map_pieces
from croupier.numerics.keystream import WORD, Keystream
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import Rows
from croupier.protocol.wire import (
    Epoch,
    encode_report,
    question,
    seal_after,
    seal_outer,
    seal_second,
)

__all__ = ["Noise", "Wrapper"]

_AT_ONCE = 4096


@dataclass(frozen=True)
class Noise:
    """The dummies that a shuffler adds to a batch, and the reports that it leaves out.

    Both are a function of a secret that is made with the batch's key and destroyed with it. A
    release that is killed and repeated, however often, adds as many dummies of each report as the
    first time: nobody can choose among several draws by killing it.

    Attributes:
        plan: The plan of the collection.
        hop: The shuffler: 0 is the first.
        secret: The secret of the batch.
    """

    plan: Plan
    hop: int
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, plan: Plan, hop: int, secret: Callable[[], bytes]) -> Self | None:
        """Return the noise of a shuffler; None if the plan asks it for none."""
        return cls(plan, hop, secret()) if plan.shufflers[hop].dummies is not None else None

    def counts(self, round_number: int) -> NDArray[np.int64]:
        """Draw the number of dummies of each possible report; every call returns the same."""
        bins = question(self.plan, round_number).alphabet_size
        section = self.plan.shufflers[self.hop].dummies
        if section is None or bins is None:  # the plan was checked when it was read
            return np.zeros(0, dtype=np.int64)
        return section.table.draw(bins, Keystream(secret=self._derived("dummies")))

    def kept(self, rows: Rows) -> Rows:
        """Return the rows that are kept, each independently with the plan's chance.

        A row is kept if its key under a secret seed is small enough, so that it is kept or left
        out again when a release is repeated.
        """
        share = self.plan.shufflers[self.hop].kept
        if share == 1:
            return rows
        below = np.uint64(share * WORD)
        return rows[keys_of(rows, seed=self._derived("sample"))[:, 0] < below]

    def sealed(self, epoch: Epoch, *, processes: int = 1) -> Iterator[Rows]:
        """Yield the dummies in pieces, sealed afresh as an honest client's reports leave here."""
        reports = [
            encode_report(self.plan, report, round_number=epoch.round_number)
            for report in range(len(self.counts(epoch.round_number)))
        ]
        every = np.repeat(np.arange(len(reports)), self.counts(epoch.round_number))
        pieces = (
            [reports[index] for index in every[start : start + _AT_ONCE]]
            for start in range(0, len(every), _AT_ONCE)
        )
        seal = _SealAfter(epoch, self.hop)
        yield from map_pieces(seal, pieces, processes=processes if len(every) > _AT_ONCE else 1)

    def _derived(self, purpose: str) -> bytes:
        return blake2b(purpose.encode(), key=self.secret, digest_size=32).digest()


@dataclass(frozen=True)
class _SealAfter:
    """A picklable function that seals encoded reports to all parties after a shuffler."""

    epoch: Epoch
    hop: int

    def __call__(self, reports: Sequence[bytes]) -> Rows:
        sealed = [seal_after(report, hop=self.hop, epoch=self.epoch) for report in reports]
        return rows_of(sealed, length=self.epoch.length(self.epoch.seals[self.hop + 1]))


@dataclass(frozen=True)
class Wrapper:
    """A function that seals rows to the shuffler itself, so that an engine opens them as others.

    Attributes:
        epoch: Plan, round and batch.
        hop: The shuffler: 0 is the first.
        key: Its public key for the batch.
    """

    epoch: Epoch
    hop: int
    key: bytes

    def __call__(self, rows: Rows) -> Rows:
        """Return the rows as envelopes."""
        key = X25519PublicKey.from_public_bytes(self.key)
        sealed = [
            seal_second(row.tobytes(), epoch=self.epoch)
            if self.hop
            else seal_outer(row.tobytes(), key=key, epoch=self.epoch)
            for row in rows
        ]
        return rows_of(sealed, length=self.epoch.length(self.epoch.seals[self.hop]))
