"""A shuffler that signs files which release does not write: refused before a row is read."""

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from croupier.analyzer.analyzer import analyze
from croupier.analyzer.keys import KeySource
from croupier.engines.base import engine
from croupier.errors import UnreadableFileError
from croupier.plan.plan import Plan
from croupier.plan.upgrade import upgraded_text
from croupier.protocol.batch_file import require_released, write_batch
from croupier.protocol.receipt import Counts, Receipt, ReceiptError, ReleasedFile

LENGTH = 80
KIND = pa.binary(LENGTH)
GROUPS = {"shuffling": {"groups": {"sha256": "ab" * 32}}}
MEGABYTE = 1 << 20


def table(array, name="inner"):
    return pa.table([array], schema=pa.schema([pa.field(name, array.type, nullable=False)]))


def values(count=60, length=LENGTH):
    return [os.urandom(length) for _ in range(count)]


def signed(site, path, rows):
    """The receipt of a shuffler that signs whatever it likes."""
    counts = Counts(received=rows, released=rows)
    file = ReleasedFile.of(path, name=path.name)
    site.last = None
    analyzer = site.inner.public_bytes_raw().hex()
    names = {"event": "released", "round": 0, "batch": "00" * 16, "analyzer": analyzer}
    site.receipt(path, **names, counts=counts, file=file)
    return site.last


def refused(site, path, rows, match):
    """No engine is there: none would have read the file."""
    signed(site, path, rows)
    before = resident()
    key = KeySource(site.keys.path)
    with pytest.raises(ReceiptError, match=match) as error:
        analyze(site.plan, [path], key=key, engine=None, shuffler=site.listed)
    assert str(error.value).endswith("Do not use the batches that it names.")
    assert resident() - before < 32


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MEGABYTE


OTHER_COLUMNS = {
    "strings": table(pa.array(["x" * LENGTH] * 60)),
    "numbers": table(pa.array(range(60))),
    "lists": table(pa.array([[b"a"]] * 60)),
    "no column": table(pa.array(values(), KIND), "x"),
    "nulls": pa.table({"inner": pa.array([None] * 30 + values(30), KIND)}),
    "may be null": pa.table({"inner": pa.array(values(), KIND)}),
    "mixed lengths": table(pa.array([b"abc", *values(59)], pa.binary())),
    "another length": table(pa.array(values(length=3), pa.binary(3))),
    "a place": table(pa.array(values(), KIND)).append_column("place", pa.array(range(60))),
}


@pytest.mark.parametrize("name", OTHER_COLUMNS)
def test_other_columns(released, name):
    path = released.out / "b.parquet"
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    parquet.write_table(OTHER_COLUMNS[name], path, **options)
    refused(released, path, 60, r"other columns than inner \(fixed_size_binary\[80\]\)")


@pytest.mark.parametrize(
    "data",
    [b"", b"hello" * 99, b"PAR1" + bytes(1000) + b"\xff\xff\xff\x7fPAR1", b"PAR1\0\0\0\0PAR1"],
)
def test_what_is_not_parquet(released, data):
    path = released.out / "b.parquet"
    path.write_bytes(data)
    refused(released, path, 60, "is not a Parquet file")


def test_a_file_that_is_cut_off(released):
    path = released.out / "b.parquet"
    write_batch(np.zeros((60, LENGTH), dtype=np.uint8), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100] + whole[-8:])
    refused(released, path, 60, "is not a Parquet file")


def test_a_long_footer(released):
    path = released.out / "b.parquet"
    told = table(pa.array(values(), KIND)).replace_schema_metadata({"x": "y" * (9 * MEGABYTE)})
    parquet.write_table(told, path)
    refused(released, path, 60, "is not a Parquet file that release writes")


@pytest.mark.parametrize("packed", ["none", "zstd"])
def test_a_small_file_of_many_equal_rows(released, packed):
    """400 MB of rows in less than a megabyte."""
    path, piece = released.out / "b.parquet", table(pa.array([bytes(LENGTH)] * 250_000, KIND))
    with parquet.ParquetWriter(path, piece.schema, compression=packed) as writer:
        for _ in range(20):
            writer.write_table(piece)
    assert path.stat().st_size < MEGABYTE
    refused(released, path, 5_000_000, "rows that are packed")
    refused(released, path, 60, "names 60 rows, but its file has 5,000,000")


def test_one_huge_value(released):
    path = released.out / "b.parquet"
    huge = table(pa.array([bytes(64 * MEGABYTE)], pa.large_binary()))
    parquet.write_table(huge, path, compression="zstd")
    del huge
    refused(released, path, 1, "other columns")


def test_a_page_that_is_none(released):
    """The footer is right, and what it describes is not."""
    path = released.collect([0] * 60)
    data = bytearray(path.read_bytes())
    data[6] ^= 0xFF
    path.write_bytes(data)
    signed(released, path, 60)
    with (
        engine("duckdb", processes=1) as runner,
        pytest.raises(UnreadableFileError, match=path.name),
    ):
        analyze(released.plan, [path], key=KeySource(released.keys.path), engine=runner)


@pytest.mark.parametrize("rows", [0, 1, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("tables", [{}, GROUPS])
def test_what_release_writes_is_what_it_should_be(make_released, rows, tables):
    site = make_released(**tables)
    path = site.out / "b.parquet"
    places = np.arange(rows) if tables else None
    write_batch(np.zeros((rows, LENGTH), dtype=np.uint8), path, places=places)
    require_released(path, signed(site, path, rows), plan=site.plan)
    with pytest.raises(ReceiptError, match=f"has {rows:,}"):
        require_released(path, signed(site, path, rows + 1), plan=site.plan)


def test_a_plan_that_mixes_by_groups_needs_places(make_released):
    site = make_released(**GROUPS)
    path = site.out / "b.parquet"
    write_batch(np.zeros((60, LENGTH), dtype=np.uint8), path)
    refused(site, path, 60, r"place \(int64\)")


@pytest.mark.parametrize("name", ["uniform", "parallel", "adaptive", "groups"])
def test_files_of_0_1_0(name):
    folder = Path(__file__).parents[2] / "kept" / "0.1.0" / name
    plan = Plan.from_toml(upgraded_text((folder / "plan.toml").read_text()))
    files = sorted((folder / "released").glob("*.parquet"))
    assert files
    for file in files:
        receipt = Receipt.read(file.with_suffix(".receipt.json").read_bytes())
        require_released(file, receipt, plan=plan)


def footer_of(path):
    """Where the footer of a file begins and ends."""
    size = path.stat().st_size
    length = int.from_bytes(path.read_bytes()[-8:-4], "little")
    return size - 8 - length, size - 8


def test_no_byte_of_a_footer_ends_the_process(make_released, tmp_path):
    """Unknown codecs, types and encodings end it inside of the library, with no error to catch."""
    site = make_released()
    path = tmp_path / "b.parquet"
    write_batch(np.zeros((60, LENGTH), dtype=np.uint8), path)
    good, (start, end) = path.read_bytes(), footer_of(path)
    receipt = signed(site, path, 60)
    require_released(path, receipt, plan=site.plan)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for place in range(start, end):
                for byte in {0x7E, 0xFF, good[place] ^ 0x02} - {good[place]}:
                    changed = bytearray(good)
                    changed[place] = byte
                    path.write_bytes(changed)
                    with suppress(ReceiptError):
                        require_released(path, receipt, plan=site.plan)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    codec = bytearray(good)
    codec[good.index(CODEC_AND_VALUES, start) + 1] = 0x7E
    path.write_bytes(codec)
    refused(site, path, 60, "packed")


CODEC_AND_VALUES = bytes.fromhex("15001678")
"""In a footer of 60 rows: codec = 0, num_values = 60."""


def test_groups_of_rows_do_not_share_their_bytes(make_released, tmp_path):
    """A file of 5 MB would be read as gigabytes."""
    site = make_released()
    path = tmp_path / "b.parquet"
    write_batch(np.zeros((1000, LENGTH), dtype=np.uint8), path)
    start, _ = footer_of(path)
    described = parquet.read_metadata(path)
    for _ in range(63):
        described.append_row_groups(parquet.read_metadata(path))
    described.write_metadata_file(tmp_path / "footer")
    alone = (tmp_path / "footer").read_bytes()
    path.write_bytes(path.read_bytes()[:start] + alone[4:])
    refused(site, path, 64_000, "packed")
