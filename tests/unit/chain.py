"""Two shufflers in a row, each with its own keys, database and output, and an analyzer."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.engines.mixing import rows_of
from croupier.protocol.batch_file import write_batch
from croupier.protocol.key_list import Onward
from croupier.protocol.party_keys import Signers
from croupier.protocol.receipt import Receipt, ReleasedFile
from croupier.protocol.seen_lists import SeenLists
from croupier.protocol.unsealing import open_inner
from croupier.protocol.wire import decode_report, encode_report, seal_report
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release.output import publish_openings
from croupier.shuffler.release.predecessor import Predecessor
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.second_release import SecondReleaser
from croupier.shuffler.release.storage import DirectoryStorage
from tests.unit.parties import House, Shuffler

SENT = [0, 0, 0, 1, 1, 2, 0, 3]
PLAIN = {"mechanism": "plain", "k": 4}
SMALL = {"epsilon": 4.0, "delta": 0.1}
"""A table of few dummies, whose counts are quick to seal: it protects little."""


class Chain:
    """A plan with two shufflers; `first` and `second` are their sides.

    Two plans may share the houses of both.
    """

    def __init__(self, first, second, root, *, dummies=SMALL, keep=None, houses=None, **tables):
        names = ("first", "second")
        houses = houses or [House(root / name / "keys", b"a passphrase") for name in names]
        given = {"dummies": dummies, "keep": keep}
        extra = {name: value for name, value in given.items() if value is not None}
        given = {
            "randomizer": PLAIN,
            "shufflers": [{"key": house.public} | extra for house in houses],
        } | tables
        made = zip((first, second), names, houses, strict=True)
        sides = [Shuffler(db, root / name, house=house, **given) for db, name, house in made]
        self.first, self.second = sides
        self.plan = self.first.plan
        self.analyzer = X25519PrivateKey.generate()
        self.epochs = {}

    @property
    def sealed_to(self):
        return self.analyzer.public_key().public_bytes_raw()

    def predecessor(self, storage=None):
        """The first shuffler's output, as the second reads it."""
        lists = SeenLists(self.second.keys.path)
        return Predecessor(self.plan, storage or DirectoryStorage(self.first.out), lists)

    def open_round(self):
        """Open the next round, at the second shuffler first; its batch at the first one."""
        self.open_second()
        return self.opened_at_first(offered=self.offered())

    def opened_at_first(self, **settings):
        """Open a round at the first shuffler."""
        batch = self.open_at(self.first, **settings)
        opening = signed_opening(batch, Signers.of(self.plan, self.first.listed))
        self.epochs[batch.round_number] = opening.epoch(self.plan)
        return batch

    def open_second(self):
        """Open rounds at the second shuffler, and show them to the first."""
        self.open_at(self.second, least=self.predecessor().next_round)
        batches = self.second.with_store(lambda store: store.batches(self.plan.digest))
        publish_openings(DirectoryStorage(self.second.out), self.second.listed, batches)

    def offered(self):
        """The rounds that the second shuffler has opened."""
        found = DirectoryStorage(self.second.out).openings()
        return [Onward.model_validate_json(text) for text in found.values()]

    def open_at(self, side, **settings):
        return side.with_store(
            lambda store: open_round(
                self.plan, store=store, analyzer=self.sealed_to, **side.own, **settings
            )
        )

    def send(self, batch, reports):
        """Seal and store one report per credential."""
        epoch = self.epochs[batch.round_number]
        key = self.first.keys.outer_key(batch.identity).public_key()
        envelopes = [
            seal_report(
                encode_report(self.plan, report, round_number=batch.round_number),
                key=key,
                epoch=epoch,
            )
            for report in reports
        ]
        assert self.first.accept(epoch, envelopes) == "open"
        return envelopes

    def release_first(self, **settings):
        return self.first.release(**settings)

    def release_second(self, *, now=None, storage=None, processes=1, output=None, **settings):
        now = datetime.now(UTC) + timedelta(days=1) if now is None else now
        with psycopg.connect(self.second.database, autocommit=True) as connection:
            releaser = SecondReleaser(
                plan=self.plan,
                connection=connection,
                **self.second.own,
                storage=DirectoryStorage(output or self.second.out),
                first=self.predecessor(storage),
                processes=processes,
                now=lambda: now,
                host_now=lambda: now,
                **settings,
            )
            return list(releaser.run())

    def rows(self, side):
        """The released rows of a shuffler, by file."""
        return {path.name: read_rows(path) for path in sorted(side.out.glob("[!.]*.parquet"))}

    def counts(self, round_number=0):
        """The number of each report in what the second shuffler released in a round."""
        epoch = self.epochs[round_number]
        (rows,) = [
            rows
            for name, rows in self.rows(self.second).items()
            if f"round-{round_number}." in name
        ]
        opened = [open_inner(row, key=self.analyzer, epoch=epoch) for row in rows]
        reports = (decode_report(self.plan, data, round_number=round_number) for data in opened)
        found = Counter(int(report) for report in reports)
        return np.array([found[value] for value in range(self.plan.randomizer.domain.size)])


def read_rows(path):
    return pq.read_table(path)["inner"].to_pylist()


def collected(chain, reports=SENT):
    batch = chain.open_round()
    chain.send(batch, reports)
    chain.release_first()
    return batch


class CrashError(Exception):
    pass


def crash(*_, **__):
    raise CrashError


def sign_another(chain, batch, change):
    """Sign another receipt of the batch for other rows, as a corrupt first shuffler would."""
    (path,) = chain.first.out.glob("*.parquet")
    rows = change(read_rows(path))
    path.unlink()
    write_batch(rows_of(rows, length=len(rows[0])), path)
    (beside,) = chain.first.out.glob("*.receipt.json")
    old = Receipt.read(beside.read_bytes())
    left_out = old.counts.released - len(rows)
    counts = old.counts.model_copy(
        update={"released": len(rows), "received": old.counts.received - left_out}
    )
    file = ReleasedFile.of(path, name=path.name)
    key = chain.first.keys.signer(chain.first.listed.release_key(batch.round_number))
    beside.write_text(old.model_copy(update={"counts": counts, "file": file}).signed(key).text)
