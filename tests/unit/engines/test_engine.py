"""What every engine does alike."""

import os
import secrets
from collections import Counter

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from engine_steps import Shorten, failing, last_byte, nothing
from pyarrow import parquet

from croupier.engines import base
from croupier.engines.base import COUNTS, Ordered, engine
from croupier.engines.mixing import ordered
from croupier.errors import MissingExtraError, UnknownNameError
from croupier.protocol.batch_file import rows_in, write_batch, write_pieces
from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.release.opening import Opener, OpenStep

SEED = bytes(range(32))
LENGTH = 80


def random_rows(count, length=LENGTH):
    return np.frombuffer(os.urandom(count * length), dtype=np.uint8).reshape(count, length)


def with_duplicates(count, repeated):
    """Distinct rows, some of which occur twice or three times, in any order."""
    rows = random_rows(count)
    every = np.concatenate([rows, rows[:repeated], rows[: repeated // 2]])
    return rows, every[np.random.default_rng(1).permutation(len(every))]


def in_files(rows, directory, parts):
    paths = [directory / f"part-{number}.parquet" for number in range(parts)]
    for part, path in zip(np.array_split(rows, parts), paths, strict=True):
        write_batch(part, path)
    return paths


def read(path, column="inner"):
    return rows_in(parquet.read_table(path).column(column))


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def made(request):
    return request.getfixturevalue(f"{request.param}_engine")


def test_the_order_is_that_of_one_process(made, tmp_path):
    _, rows = with_duplicates(30_000, 900)
    told = []
    result = made.order(
        in_files(rows, tmp_path, 3), tmp_path / "out", seed=SEED, advance=told.append
    )
    assert result == Ordered(31_350, 30_000)
    assert (read(tmp_path / "out") == ordered(rows, seed=SEED)).all()
    assert sum(told) == len(rows)


def test_the_file_is_as_that_of_one_process(made, tmp_path):
    rows, every = with_duplicates(70_000, 10)
    made.order(in_files(every, tmp_path, 2), tmp_path / "out", seed=SEED)
    write_batch(ordered(rows, seed=SEED), tmp_path / "plain")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "plain").read_bytes()


def test_another_seed_is_another_order(made, tmp_path):
    files = in_files(random_rows(100), tmp_path, 1)
    for name, seed in [("a", SEED), ("b", bytes(32))]:
        made.order(files, tmp_path / name, seed=seed)
    assert (read(tmp_path / "a") != read(tmp_path / "b")).any()


def test_equal_rows_are_found_after_the_step(made, tmp_path):
    rows = random_rows(2000)
    every = np.concatenate([rows, rows])
    every[2000:, 40:] ^= 1
    column = "envelope"
    write_pieces([every], tmp_path / "in", length=LENGTH, column=column)
    step = Shorten(40, column)
    result = made.order([tmp_path / "in"], tmp_path / "out", seed=SEED, step=step, column=column)
    left = rows[rows[:, 0] != 0, :40]
    assert result == Ordered(2 * len(left), len(left))
    assert (read(tmp_path / "out", column) == ordered(left, seed=SEED)).all()


def test_envelopes_are_opened_and_what_does_not_open_is_counted(made, tmp_path):
    key = X25519PrivateKey.generate()
    epoch = Epoch(
        plan="ab" * 32, round_number=3, batch=bytes(16), analyzer=bytes(32), report_size=32
    )
    inner = random_rows(200)
    envelopes = [
        seal_outer(row.tobytes(), key=key.public_key(), epoch=epoch) for row in [*inner, inner[0]]
    ]
    noise = [secrets.token_bytes(epoch.envelope_length) for _ in range(20)]
    data = np.frombuffer(b"".join([*envelopes, *noise]), dtype=np.uint8)
    files = in_files(data.reshape(-1, epoch.envelope_length), tmp_path, 2)
    step = OpenStep(Opener.of(key, epoch))
    assert made.order(files, tmp_path / "out", seed=SEED, step=step) == Ordered(201, 200, 20)
    assert (read(tmp_path / "out") == ordered(inner, seed=SEED)).all()

    other = OpenStep(Opener.of(X25519PrivateKey.generate(), epoch))
    assert made.order(files, tmp_path / "none", seed=SEED, step=other) == Ordered(0, 0, 221)
    assert not (tmp_path / "none").exists()


def test_a_batch_without_rows_has_no_file(made, tmp_path):
    files = in_files(random_rows(0), tmp_path, 1)
    assert made.order(files, tmp_path / "out", seed=SEED) == Ordered(0, 0)
    rows = random_rows(10).copy()
    rows[:, 0] = 0
    (tmp_path / "dropped").mkdir()
    files = in_files(rows, tmp_path / "dropped", 1)
    assert made.order(files, tmp_path / "out", seed=SEED, step=Shorten(9)) == Ordered(0, 0)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_there_stays(made, tmp_path):
    (tmp_path / "out").write_text("precious")
    with pytest.raises(FileExistsError):
        made.order(in_files(random_rows(9), tmp_path, 1), tmp_path / "out", seed=SEED)
    assert (tmp_path / "out").read_text() == "precious"


def test_every_distinct_row_is_counted_once(made, tmp_path):
    rows, every = with_duplicates(20_000, 500)
    told = []
    table = made.count(in_files(every, tmp_path, 3), last_byte, advance=told.append)
    assert table.schema == COUNTS
    found = {(name, entry): count for name, entry, count in map(dict.values, table.to_pylist())}
    expected = Counter(rows[:, -1].tolist())
    assert found.pop(("row", 0)) == len(every) == sum(told)
    assert found.pop(("duplicate", 0)) == 750
    assert found == {("value", entry): expected[entry] for entry in range(256)}
    assert list(found) == sorted(found)


def test_a_step_may_count_nothing(made, tmp_path):
    table = made.count(in_files(random_rows(10), tmp_path, 1), nothing)
    assert table.to_pylist() == [
        {"name": "duplicate", "entry": 0, "count": 0},
        {"name": "row", "entry": 0, "count": 10},
    ]


def test_a_step_that_fails_ends_the_job(made, tmp_path):
    files = in_files(random_rows(10), tmp_path, 1)
    with pytest.raises(Exception, match="the step broke"):
        made.order(files, tmp_path / "out", seed=SEED, step=failing)
    assert not (tmp_path / "out").exists()


def test_rows_of_two_lengths_are_refused(made, tmp_path):
    write_batch(random_rows(1000), tmp_path / "long.parquet")
    write_batch(random_rows(1000, LENGTH // 2), tmp_path / "short.parquet")
    files = [tmp_path / "long.parquet", tmp_path / "short.parquet"]
    with pytest.raises(Exception, match="length"):
        made.order(files, tmp_path / "out", seed=SEED)
    assert not (tmp_path / "out").exists()


def test_unknown_engines_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean duckdb"):
        engine("duckbd")


def test_a_missing_package_is_named(monkeypatch):
    def no_package(name):
        raise ModuleNotFoundError(name=name.rpartition(".")[2])

    monkeypatch.setattr(base, "import_module", no_package)
    with pytest.raises(MissingExtraError, match=r"\.\[spark\]"):
        engine("spark")
