"""A sealed batch on its way out: opened, counted, and brought into its released order.

This happens in memory, by an engine if it does not fit there, or by the law of a plan's groups.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray
from psycopg import Connection

from croupier.engines.mixing import mixed
from croupier.engines.order import new_seed
from croupier.engines.scratch import scratch_directory
from croupier.errors import CroupierError
from croupier.protocol.batch_file import Rows, write_pieces
from croupier.protocol.receipt import Counts
from croupier.protocol.wire import Epoch
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.release.group_law import GroupLaw
from croupier.shuffler.release.group_mixing import GroupOpener, placed
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.noise import Noise, Wrapper
from croupier.shuffler.release.opening import Opener, OpenStep, open_envelopes
from croupier.shuffler.release.sources import Source

if TYPE_CHECKING:
    from croupier.engines.base import Engine

__all__ = ["OrderedBatch", "SealedBatch"]

_Stored = tuple[bytes | None, bytes]
"""A tag, None for a relay's row, and an envelope."""


@dataclass(frozen=True)
class OrderedBatch:
    """The releasable content of a batch.

    Attributes:
        rows: Inner ciphertexts in the order in which they are released; None if they are in the
            file already.
        counts: The fate of every envelope.
        people: The number of people, as the plan's minimum counts them.
        places: The place in the public file each row was moved to, if the plan mixes by groups.
        crowd: The smallest crowd near one of the people in a Mallows order, if the plan has a
            minimum of it.
    """

    rows: Rows | None
    counts: Counts
    people: int
    places: NDArray[np.int64] | None = None
    crowd: int | None = None


@dataclass(frozen=True, kw_only=True)
class SealedBatch:
    """A batch that nothing is added to any more, and the keys that open it.

    Attributes:
        batch: The batch.
        source: Its envelopes.
        connection: To the shuffler's database.
        keys: The keys of release.
        epoch: The epoch that its envelopes are bound to.
        hop: The shuffler that opens them: 0 is the first.
        noise: The dummies that it adds; None if it adds none.
        processes: The number of processes that open and seal.
        advance: A function that receives how many more envelopes are opened.
    """

    batch: Batch
    source: Source
    connection: Connection[Any]
    keys: ReleaseKeys
    epoch: Epoch
    hop: int = 0
    noise: Noise | None = None
    processes: int = 1
    advance: Callable[[int], None] = field(repr=False)

    def in_memory(self) -> OrderedBatch:
        """Return each person's row once, in a new order, and the fate of all envelopes.

        One envelope per credential is stored, so rows with distinct content are from distinct
        people, or from people whom a relay vouches for. Dummies are added before the order is
        drawn.
        """
        opened = open_envelopes(
            self.source.pieces(),
            Opener.of(self._key, self.epoch, self.hop),
            processes=self.processes,
            advance=self.advance,
        )
        rows = mixed(opened.inner)
        people = len(rows)
        if self.noise is not None:
            dummies = self.noise.sealed(self.epoch, processes=self.processes)
            rows = mixed(np.concatenate([self.noise.kept(rows), *dummies]))
        counts = Counts(
            received=opened.received,
            released=len(rows),
            duplicate=len(opened.inner) - people,
            wrong_length=opened.wrong_length,
            cannot_open=opened.cannot_open,
            **self._added(len(rows) - people),
        )
        return OrderedBatch(rows, counts, people=people)

    def by_engine(self, engine: "Engine", target: Path, *, scratch: Path | None) -> OrderedBatch:
        """Do the same as `in_memory` with an engine and a file, for batches larger than memory.

        The engine gets dummies as envelopes among all others.
        """
        received = self.source.count()
        with scratch_directory(scratch) as directory:
            length = self.epoch.length(self.epoch.seals[self.hop])
            files, copied = self.source.files(directory, length=length)
            more, made = self._dummy_files(directory, length=length)
            step = OpenStep(Opener.of(self._key, self.epoch, self.hop))
            found = engine.order(
                [*files, *more], target, seed=new_seed(), step=step, advance=self.advance
            )
        if found.rows + found.nulls != copied + made:
            target.unlink(missing_ok=True)
            raise CroupierError(
                f"The engine lost rows of round {self.batch.round_number}. Nothing was signed. Run "
                "again, or report it."
            )
        counts = Counts(
            received=received,
            released=found.distinct,
            duplicate=found.rows - found.distinct,
            wrong_length=received - copied,
            cannot_open=found.nulls,
            **self._added(made),
        )
        return OrderedBatch(None, counts, people=found.distinct - made)

    @property
    def _key(self) -> X25519PrivateKey:
        return self.keys.outer_key(self.batch.identity)

    def _added(self, rows: int) -> dict[str, int]:
        return {} if self.noise is None else {"added": rows}

    def _dummy_files(self, directory: Path, *, length: int) -> tuple[list[Path], int]:
        """Write the dummies as envelopes to this shuffler; return the files and their number."""
        if self.noise is None:
            return [], 0
        number = int(self.noise.counts(self.epoch.round_number).sum())
        if not number:
            return [], 0
        wrap = Wrapper(self.epoch, self.hop, self._key.public_key().public_bytes_raw())
        pieces = map(wrap, self.noise.sealed(self.epoch, processes=self.processes))
        path = directory / "dummies.parquet"
        write_pieces(pieces, path, length=length)
        return [path], number

    def by_groups(self, law: GroupLaw, secret: bytes) -> OrderedBatch:
        """Return each person's row once, moved by the law of the groups.

        The minimum batch counts everybody under a Mallows order, and those of the smallest group if
        each group is mixed by itself.
        """
        opener = GroupOpener(
            key=self.keys.outer_key(self.batch.identity),
            tag_key=self.keys.tag_key(self.batch.identity),
            secret=secret,
            epoch=self.epoch,
            people=law.people,
        )
        claims = opener.claims(self._tagged())
        rows, places = placed(claims, law)
        refused = claims.refused
        counts = Counts(
            received=len(rows) + refused.total(),
            released=len(rows),
            duplicate=refused["duplicate"],
            wrong_length=refused["length"],
            cannot_open=refused["seal"],
            unknown_owner=refused["unknown_owner"],
            wrong_owner=refused["wrong_owner"],
            second_report=refused["second_report"],
        )
        people, crowd = law.fewest(claims.owners), law.least_crowd(claims.owners)
        return OrderedBatch(rows, counts, people=people, places=places, crowd=crowd)

    def _tagged(self) -> Iterator[_Stored]:
        for piece in states.tagged_envelopes(self.connection, self.batch):
            yield from piece
            self.advance(len(piece))
