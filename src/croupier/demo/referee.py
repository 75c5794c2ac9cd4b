"""The referee, who holds every key and can tell whether the attacker was right."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from croupier.demo.site import Site
from croupier.protocol.batch_file import COLUMN, rows_in
from croupier.protocol.unsealing import open_inner, open_outer
from croupier.protocol.wire import Epoch, decode_reports

__all__ = ["inner_of", "opened", "places_of"]


def inner_of(site: Site, envelopes: Sequence[bytes], epoch: Epoch) -> list[bytes]:
    """Return the content of everybody's envelope; only while the batch's key exists."""
    key = site.keys.outer_key(epoch.batch)
    return [open_outer(envelope, key=key, epoch=epoch).inner for envelope in envelopes]


def places_of(file: Path, inner: Sequence[bytes]) -> Mapping[int, int]:
    """Return the place of everybody's report in the released file."""
    rows = pyarrow.parquet.read_table(file)[COLUMN].to_pylist()
    place = {row: number for number, row in enumerate(rows)}
    return {person: place[own] for person, own in enumerate(inner)}


def opened(site: Site, file: Path, epoch: Epoch) -> NDArray[np.int64]:
    """Return the reports of the released file, in its order."""
    table = pyarrow.parquet.read_table(file)[COLUMN].combine_chunks()
    key = site.analyzer_key.load()
    plain = [open_inner(bytes(row), key=key, epoch=epoch) for row in rows_in(table)]
    rows = np.frombuffer(b"".join(plain), dtype=np.uint8).reshape(len(plain), -1)
    return np.asarray(decode_reports(site.plan, rows, round_number=epoch.round_number).reports)
