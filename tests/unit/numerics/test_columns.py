import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from croupier.errors import DataError, ParameterError
from croupier.numerics.keystream import Keystream
from croupier.randomizers import KaryRandomizedResponse, OptimizedUnaryEncoding

VALUES = [0, 1, 2, 3, 11, 0, 0] * 20
NAME = "answer"

LIBRARIES = {
    "list": (lambda entries: entries, np.ndarray),
    "tuple": (tuple, np.ndarray),
    "numpy": (np.array, np.ndarray),
    "pandas": (lambda entries: pd.Series(entries, name=NAME), pd.Series),
    "pandas nullable": (lambda entries: pd.Series(entries, name=NAME, dtype="Int64"), pd.Series),
    "pandas arrow": (
        lambda entries: pd.Series(entries, name=NAME, dtype="int64[pyarrow]"),
        pd.Series,
    ),
    "polars": (lambda entries: pl.Series(NAME, entries), pl.Series),
    "arrow": (lambda entries: pa.chunked_array([entries[:3], entries[3:]]), pa.ChunkedArray),
}
COLUMNS = {name: build for name, (build, kind) in LIBRARIES.items() if kind is not np.ndarray}

# Twelve bits: reports of two bytes, the second of which is often zero.
RANDOMIZERS = {
    "k-rr": KaryRandomizedResponse(k=12, max_epsilon_local=3.0),
    "optimized-unary": OptimizedUnaryEncoding(k=12, max_epsilon_local=3.0),
}

every_kind = pytest.mark.parametrize(("build", "kind"), LIBRARIES.values(), ids=LIBRARIES)
every_library = pytest.mark.parametrize(
    "build", [build for build, _ in LIBRARIES.values()], ids=LIBRARIES
)
every_column = pytest.mark.parametrize("build", COLUMNS.values(), ids=COLUMNS)
every_randomizer = pytest.mark.parametrize("randomizer", RANDOMIZERS.values(), ids=RANDOMIZERS)


def randomized(randomizer, values):
    return randomizer.randomize(values, rng=Keystream(insecure_seed=3))


@every_kind
@every_randomizer
def test_the_library_and_the_name_are_kept(build, kind, randomizer):
    reports = randomized(randomizer, build(VALUES))
    assert isinstance(reports, kind)
    assert len(reports) == len(VALUES)
    assert getattr(reports, "name", NAME) == NAME


@every_library
@every_randomizer
def test_every_library_gives_the_same_estimate(build, randomizer):
    expected = randomizer.estimate(randomized(randomizer, VALUES))
    found = randomizer.estimate(randomized(randomizer, build(VALUES)))
    assert found.n == len(VALUES)
    assert (found.points == expected.points).all()


@every_column
def test_a_report_of_one_integer_is_an_integer_entry(build):
    randomizer = RANDOMIZERS["k-rr"]
    column = randomized(randomizer, build(VALUES))
    assert np.asarray(column).dtype == np.uint8
    assert np.asarray(column).tolist() == randomized(randomizer, VALUES).tolist()


@every_column
def test_a_report_of_several_integers_is_a_binary_entry(build):
    randomizer = RANDOMIZERS["optimized-unary"]
    entries = list(np.asarray(randomized(randomizer, build(VALUES)), dtype=object))
    assert entries == randomizer.report_format.to_bytes(randomized(randomizer, VALUES))
    assert {len(entry) for entry in entries} == {2}


@every_column
@every_randomizer
def test_missing_values_are_counted_and_refused(build, randomizer):
    with pytest.raises(DataError, match=r"^2 values are missing") as refusal:
        randomizer.randomize(build([0, None, 2, 3, None]))
    assert refusal.value.count == 2


@every_column
def test_missing_reports_are_counted_and_refused(build):
    with pytest.raises(DataError, match=r"^1 values are missing"):
        RANDOMIZERS["k-rr"].estimate(build([0, 1, 2, 3, None]))


@pytest.mark.parametrize("values", [[0, None, 2], [0, float("nan"), 2]])
@pytest.mark.parametrize("build", [list, np.array, lambda values: pl.Series(values, strict=False)])
def test_none_and_nan_are_missing_everywhere(build, values):
    with pytest.raises(DataError, match=r"^1 values are missing"):
        RANDOMIZERS["k-rr"].randomize(build(values))


@every_column
def test_entries_that_are_no_reports_are_counted_and_refused(build):
    with pytest.raises(DataError, match=r"^2 entries are not reports of k-rr") as refusal:
        RANDOMIZERS["k-rr"].estimate(build([0, 12, 3, -1]))
    assert refusal.value.count == 2


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([b"\x80\x00", b"\x80\x01", b"\x80"], dtype=object),
        pl.Series([b"\x80\x00", b"\x80\x01\x00", b"\x80"]),
        pa.chunked_array([[b"\x80\x00", b"", b"\x80"]]),
        pa.chunked_array([[b"\x80\x0f", b"\x00\x01"]], type=pa.binary(2)),
    ],
    ids=["pandas", "polars", "arrow", "arrow fixed size"],
)
def test_bytes_that_are_no_reports_are_refused(column):
    with pytest.raises(DataError, match=r"^[12] entries are not reports"):
        RANDOMIZERS["optimized-unary"].estimate(column)


def test_fixed_size_binary_reports_are_read():
    column = pa.chunked_array([[b"\x80\x00", b"\x00\x10"]], type=pa.binary(2))
    reports = RANDOMIZERS["optimized-unary"].read_reports(column)
    assert [np.flatnonzero(report).tolist() for report in reports] == [[0], [11]]


@pytest.mark.parametrize(
    "build",
    [
        pd.Series,
        lambda labels: pd.Series(labels, dtype="category"),
        pl.Series,
        lambda labels: pl.Series(labels, dtype=pl.Categorical),
        lambda labels: pa.chunked_array([labels]),
        np.array,
        list,
    ],
)
def test_labels_are_read_from_every_library(build):
    randomizer = KaryRandomizedResponse(labels=("no", "yes"), max_epsilon_local=20.0)
    reports = randomizer.randomize(build(["yes", "no", "yes"] * 5))
    assert len(reports) == 15
    assert set(np.asarray(reports).tolist()) <= {0, 1}


@every_kind
@every_randomizer
def test_no_values_give_no_reports_and_no_estimate(build, kind, randomizer):
    empty = build([]) if kind is not pa.ChunkedArray else pa.chunked_array([], type=pa.int64())
    reports = randomizer.randomize(empty)
    assert isinstance(reports, kind)
    assert len(reports) == 0
    with pytest.raises(ParameterError, match="at least one report"):
        randomizer.estimate(reports)
