"""Open the envelopes of a sealed batch, in several processes, and count what does not open."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.engines.mixing import rows_of
from croupier.engines.workers import map_pieces
from croupier.errors import SealError
from croupier.protocol.batch_file import COLUMN, Rows, array_of, rows_in
from croupier.protocol.unsealing import opener, outer_of
from croupier.protocol.wire import Epoch, Seal

__all__ = ["OpenStep", "Opened", "Opener", "open_envelopes"]

Piece = tuple[Rows, Counter[str]]
"""The ciphertexts that opened, and the number that did not, by reason."""


@dataclass(frozen=True)
class Opened:
    """The opened content of a batch.

    Attributes:
        inner: The inner ciphertexts, in the order of their envelopes.
        wrong_length: The number of envelopes whose length is not the plan's.
        cannot_open: The number that were sealed for something else, or altered.
    """

    inner: Rows
    wrong_length: int
    cannot_open: int

    @property
    def received(self) -> int:
        """The number of envelopes."""
        return len(self.inner) + self.wrong_length + self.cannot_open


def open_envelopes(
    pieces: Iterable[list[bytes]],
    opener: "Opener",
    *,
    processes: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Opened:
    """Open every envelope; count by reason and drop what does not open.

    Args:
        pieces: Some thousand envelopes each.
        opener: Opens a piece.
        processes: The number of processes; 1 opens in this process.
        advance: A function that receives how many more are done.
    """
    found, refused = [rows_of([], length=opener.length)], Counter[str]()
    for inner, reasons in map_pieces(opener, pieces, processes=processes):
        found.append(inner)
        refused += reasons
        advance(len(inner) + reasons.total())
    return Opened(np.concatenate(found), refused["length"], refused["seal"])


@dataclass(frozen=True)
class Opener:
    """A picklable opener of pieces, so that it can be sent to another process.

    Attributes:
        key: The bytes of the batch's private key.
        epoch: The epoch that envelopes must be bound to.
        hop: The shuffler that opens them: 0 is the first.
    """

    key: bytes = field(repr=False)
    epoch: Epoch
    hop: int = 0

    @classmethod
    def of(cls, key: X25519PrivateKey, epoch: Epoch, hop: int = 0) -> Self:
        """Return an opener for a key."""
        return cls(key.private_bytes_raw(), epoch, hop)

    @property
    def length(self) -> int:
        """The bytes of what is in an envelope, without the sender's place."""
        return self.epoch.length(self.epoch.seals[self.hop + 1])

    def __call__(self, envelopes: Iterable[bytes]) -> Piece:
        """Return the inner ciphertexts, and the number of envelopes that did not open."""
        key = X25519PrivateKey.from_private_bytes(self.key)
        seal = self.epoch.seals[self.hop]
        plaintext = opener(seal, key=key, epoch=self.epoch)
        inner, refused = [], Counter[str]()
        for envelope in envelopes:
            try:
                opened = plaintext(envelope)
                whole = seal is Seal.OUTER
                inner.append(outer_of(opened, epoch=self.epoch).inner if whole else opened)
            except SealError as error:
                refused[error.reason] += 1
        return rows_of(inner, length=self.length), refused


@dataclass(frozen=True)
class OpenStep:
    """The step that opens envelopes that an engine streams; failures become null and are counted.

    Attributes:
        opener: The opener.
        column: The column of the envelopes, and of the inner ciphertexts.
    """

    opener: Opener
    column: str = COLUMN

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield one output batch per input batch, of as many rows: opened first, then nulls."""
        for batch in batches:
            inner, refused = self.opener(
                row.tobytes() for row in rows_in(batch.column(self.column))
            )
            rows = array_of(inner, nulls=refused.total())
            yield type(batch).from_arrays([rows], names=[self.column])
