from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from croupier.protocol import batch_file
from croupier.protocol.batch_file import array_of, rows_in, write_batch, write_pieces

ROWS = np.random.default_rng(1).integers(256, size=(60, 5), dtype=np.uint8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.integers(0, 20), max_size=8))
def test_a_file_does_not_show_in_which_pieces_it_was_written(tmp_path, monkeypatch, sizes):
    monkeypatch.setattr(batch_file, "ROWS_A_GROUP", 7)
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    for path in (whole, pieces):
        path.unlink(missing_ok=True)
    ends = np.cumsum([0, *sizes])
    rows = np.resize(ROWS, (ends[-1], 5))
    write_batch(rows, whole)
    parts = (rows[start:end] for start, end in pairwise(ends))
    write_pieces(parts, pieces, length=5)
    assert whole.read_bytes() == pieces.read_bytes()
    assert (rows_in(parquet.read_table(pieces)["inner"]) == rows).all()
    about = parquet.read_metadata(pieces)
    groups = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
    assert all(size == 7 for size in groups[:-1])


@pytest.mark.parametrize("kind", [pa.binary(5), pa.binary(), pa.large_binary()])
def test_rows_survive_the_way_through_arrow(kind):
    array = pa.array([row.tobytes() for row in ROWS], kind)
    assert (rows_in(array) == ROWS).all()
    assert (rows_in(array[10:20]) == ROWS[10:20]).all()
    assert (rows_in(pa.chunked_array([array[:3], array[3:9]])) == ROWS[:9]).all()
    assert len(rows_in(array[:0])) == 0


def test_a_view_with_gaps_becomes_an_array():
    assert array_of(ROWS[::2, 1:4]).to_pylist() == [row.tobytes() for row in ROWS[::2, 1:4]]


def test_values_of_several_lengths_are_refused():
    with pytest.raises(pa.ArrowInvalid):
        rows_in(pa.array([b"ab", b"abc"]))
