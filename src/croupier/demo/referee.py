"""The referee, who holds every key and can tell whether the attacker was right."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from croupier.demo.collection import Collection
from croupier.protocol.batch_file import COLUMN, rows_in
from croupier.protocol.unsealing import open_inner, open_outer, open_second
from croupier.protocol.wire import Epoch, decode_reports
from croupier.shuffler.release.noise import Noise

__all__ = ["dummies_of", "inner_of", "opened", "places_of"]


def inner_of(collection: Collection, envelopes: Sequence[bytes], epoch: Epoch) -> list[bytes]:
    """Return the content of everybody's envelope for the analyzer; only while the keys exist."""
    first, *later = (mixer.keys.outer_key(epoch.batch) for mixer in collection.mixers)
    rows = [open_outer(envelope, key=first, epoch=epoch).inner for envelope in envelopes]
    for key in later:
        rows = [open_second(row, key=key, epoch=epoch) for row in rows]
    return rows


def dummies_of(collection: Collection, epoch: Epoch) -> list[NDArray[np.int64]]:
    """Return each shuffler's dummies by answer, if it adds any; only while their secrets exist."""
    drawn = (
        Noise.of(collection.plan, hop, partial(mixer.keys.noise_secret, epoch.batch))
        for hop, mixer in enumerate(collection.mixers)
    )
    return [noise.counts(epoch.round_number) for noise in drawn if noise is not None]


def places_of(file: Path, inner: Sequence[bytes]) -> Mapping[int, int]:
    """Return the place of everybody's report in the released file."""
    rows = pyarrow.parquet.read_table(file)[COLUMN].to_pylist()
    place = {row: number for number, row in enumerate(rows)}
    return {person: place[own] for person, own in enumerate(inner)}


def opened(collection: Collection, file: Path, epoch: Epoch) -> NDArray[np.int64]:
    """Return the reports of the released file, in its order."""
    table = pyarrow.parquet.read_table(file)[COLUMN].combine_chunks()
    key = collection.analyzer_key.load()
    plain = [open_inner(bytes(row), key=key, epoch=epoch) for row in rows_in(table)]
    rows = np.frombuffer(b"".join(plain), dtype=np.uint8).reshape(len(plain), -1)
    decoded = decode_reports(collection.plan, rows, round_number=epoch.round_number)
    return np.asarray(decoded.reports)
