"""Batches that an engine opens and orders."""

import os

import psycopg
import pyarrow.parquet
import pytest

from croupier.engines.base import engine
from croupier.engines.duckdb import DuckDB
from croupier.errors import CroupierError
from croupier.protocol.receipt import require_chain
from croupier.protocol.wire import seal_outer
from croupier.shuffler.database.statements import envelope_table
from croupier.shuffler.release import segments
from croupier.shuffler.release.segments import copy_segments

MINIMUM = 5


@pytest.fixture
def engine_release(shuffler, tmp_path):
    """Release by DuckDB, and look whether scratch space is left."""
    scratch = tmp_path / "scratch"

    def run():
        with engine("duckdb", processes=1, scratch=scratch) as made:
            outcomes = shuffler.release(engine=made, scratch=scratch)
        assert list(scratch.iterdir()) == []
        return outcomes

    return run


def sealed(inner, epoch, key):
    return [seal_outer(report, key=key, epoch=epoch) for report in inner]


def rows_in(path):
    return pyarrow.parquet.read_table(path)["inner"].to_pylist()


def test_an_engine_releases_what_one_process_releases(shuffler, engine_release):
    epoch, key = shuffler.open_round()
    inner = [os.urandom(epoch.inner_length) for _ in range(40)]
    envelopes = sealed(inner, epoch, key)
    again = sealed(inner[:3], epoch, key)
    noise = [os.urandom(epoch.envelope_length) for _ in range(7)]
    shuffler.accept(epoch, envelopes + again + noise)
    shuffler.accept(epoch, [b"short", b"small"])

    (settled,) = engine_release()
    counts = settled.receipt.counts
    assert counts.explained == ("52 = 40 released + 3 duplicate + 2 wrong length + 7 cannot open")
    path = shuffler.out / settled.receipt.file.name
    assert settled.receipt.file.is_at(path)
    assert sorted(rows_in(path)) == sorted(inner)
    assert rows_in(path) != inner
    require_chain([settled.receipt], shuffler.signers)
    shuffler.require_shredded()
    assert engine_release() == []


@pytest.mark.parametrize("people", [0, MINIMUM - 1])
def test_a_batch_that_is_too_small_after_opening_leaves_no_file(shuffler, engine_release, people):
    epoch, key = shuffler.open_round()
    inner = [os.urandom(epoch.inner_length) for _ in range(people)]
    noise = [os.urandom(epoch.envelope_length) for _ in range(MINIMUM)]
    shuffler.accept(epoch, sealed(inner, epoch, key) + noise)
    (held,) = engine_release()
    assert (held.receipt, held.people) == (None, people)
    assert shuffler.states() == ["open"]
    assert list(shuffler.out.iterdir()) == []


def test_what_a_killed_job_left_of_a_small_batch_is_removed(shuffler, engine_release, monkeypatch):
    epoch, key = shuffler.open_round()
    inner = [os.urandom(epoch.inner_length) for _ in range(MINIMUM - 1)]
    noise = [os.urandom(epoch.envelope_length) for _ in range(MINIMUM)]
    shuffler.accept(epoch, sealed(inner, epoch, key) + noise)
    order = DuckDB.order

    def order_and_die(*given, **named):
        order(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DuckDB, "order", order_and_die)
        with pytest.raises(KeyboardInterrupt):
            engine_release()
    (left,) = shuffler.out.iterdir()
    assert left.stat().st_mode & 0o777 == 0o600

    (held,) = engine_release()
    assert held.people == MINIMUM - 1
    assert list(shuffler.out.iterdir()) == []

    shuffler.accept(epoch, sealed([os.urandom(epoch.inner_length)], epoch, key))
    (settled,) = engine_release()
    plain = shuffler.out / "plain"
    plain.touch()
    assert (shuffler.out / settled.receipt.file.name).stat().st_mode == plain.stat().st_mode


class Forgetful:
    """A step that is not given the last row of each batch."""

    def __init__(self, step):
        self.step = step

    def __call__(self, batches):
        return self.step(batch.slice(0, len(batch) - 1) for batch in batches)


def test_rows_that_an_engine_loses_are_not_signed_as_refused(shuffler, engine_release, monkeypatch):
    epoch, key = shuffler.open_round()
    inner = [os.urandom(epoch.inner_length) for _ in range(2 * MINIMUM)]
    noise = [os.urandom(epoch.envelope_length) for _ in range(MINIMUM)]
    shuffler.accept(epoch, sealed(inner, epoch, key) + noise)
    order = DuckDB.order

    def lose(*given, step, **named):
        return order(*given, step=Forgetful(step), **named)

    with monkeypatch.context() as patch:
        patch.setattr(DuckDB, "order", lose)
        with pytest.raises(CroupierError, match="lost rows of round 0"):
            engine_release()
    assert shuffler.states() == ["sealed"]
    assert not shuffler.receipts()
    assert list(shuffler.out.iterdir()) == []
    (settled,) = engine_release()
    assert settled.receipt.counts.explained == "15 = 10 released + 5 cannot open"


class OneTable:
    """As much of a batch as a copy needs."""

    identity = bytes(16)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 1000])
def test_every_envelope_is_copied_into_some_segment(database, tmp_path, monkeypatch, count):
    monkeypatch.setattr(segments, "_ROWS_A_PIECE", 10)
    monkeypatch.setattr(segments, "_ROWS_A_SEGMENT", 100)
    rows = [os.urandom(128) for _ in range(count)]
    with psycopg.connect(database) as connection:
        table = envelope_table(OneTable.identity)
        connection.execute("CREATE SCHEMA croupier")
        connection.execute(f"CREATE TABLE {table} (envelope bytea)")
        with connection.cursor() as cursor:
            stored = [(row,) for row in [*rows, b"other"]]
            cursor.executemany(f"INSERT INTO {table} VALUES (%s)", stored)  # noqa: S608
        files, copied = copy_segments(connection, OneTable, tmp_path, length=128)
    assert copied == count
    assert len(files) <= 1 + count / 100
    assert sorted(row for path in files for row in rows_in(path)) == sorted(rows)
