from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from croupier.errors import DataError
from croupier.numerics.keystream import Keystream
from croupier.randomizers import OptimizedUnaryEncoding
from croupier.shufflers import SHUFFLERS, UniformShuffler
from croupier.testing import check_shuffler, law_p_value

ORDERS_OF_FOUR = list(permutations(range(4)))


class FedStream(Keystream):
    """Gives out chosen words instead of random ones."""

    def __init__(self, fed):
        super().__init__(insecure_seed=0)
        self.fed = list(fed)

    def words(self, size):
        taken, self.fed = self.fed[:size], self.fed[size:]
        return np.array(taken, dtype=np.uint64)


def counted(orders):
    """How often each order of four occurs among the rows."""
    codes = orders @ np.array([64, 16, 4, 1])
    return [np.count_nonzero(codes == order @ np.array([64, 16, 4, 1])) for order in ORDERS_OF_FOUR]


def orders_in_one_batch(quadruples):
    """In which order reports 4j, …, 4j + 3 of one batch come out, for every j."""
    position = np.argsort(UniformShuffler().order(4 * quadruples))
    return np.argsort(position.reshape(-1, 4), axis=1)


@pytest.mark.parametrize("shuffler", SHUFFLERS.values(), ids=SHUFFLERS)
def test_every_shuffler_keeps_the_contract(shuffler):
    check_shuffler(shuffler())


def test_every_order_of_the_keys_is_another_order_of_the_reports():
    keys = [0, 1 << 31, 1 << 63, (1 << 64) - 1]
    orders = {
        tuple(UniformShuffler().order(4, rng=FedStream(arranged)).tolist())
        for arranged in permutations(keys)
    }
    assert orders == set(ORDERS_OF_FOUR)


@pytest.mark.parametrize(
    "fed",
    [
        [5, 5, 1, 30, 20, 10],
        [0, 1, 0, 30, 20, 10],
        [(1 << 64) - 1, (1 << 64) - 1, 0, 30, 20, 10],
        [7, 7, 7, 8, 8, 9, 30, 20, 10],
    ],
)
def test_equal_keys_are_drawn_again_all_of_them(fed):
    stream = FedStream(fed)
    assert UniformShuffler().order(3, rng=stream).tolist() == [2, 1, 0]
    assert stream.fed == []


def test_every_order_of_four_is_equally_likely(alarm):
    orders = np.array([UniformShuffler().order(4) for _ in range(24_000)])
    assert law_p_value(counted(orders), np.full(24, 1 / 24)) > alarm


def test_every_order_inside_a_batch_is_equally_likely(alarm):
    assert law_p_value(counted(orders_in_one_batch(600_000)), np.full(24, 1 / 24)) > alarm


def test_a_law_five_percent_off_is_rejected(alarm):
    off = np.resize([1.05, 0.95], 24) / 24
    assert law_p_value(counted(orders_in_one_batch(600_000)), off) < alarm


REPORTS = [b"\x00\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x04\x00"]


@pytest.mark.parametrize(
    ("column", "entries"),
    [
        (pd.Series([10, 11, 12, 13, 14], name="report"), range(10, 15)),
        (pl.Series("report", [10, 11, 12, 13, 14]), range(10, 15)),
        (pa.chunked_array([[10, 11], [12, 13, 14]]), range(10, 15)),
        (pd.Series(REPORTS, name="report"), REPORTS),
        (pl.Series("report", REPORTS), REPORTS),
        (pa.chunked_array([REPORTS]), REPORTS),
        (pd.Series(list("abcde"), name="report"), "abcde"),
        (pl.Series("report", list("abcde")), "abcde"),
        (pa.chunked_array([list("abcde")]), "abcde"),
    ],
)
def test_columns_are_shuffled_into_their_own_kind(column, entries):
    batch = UniformShuffler().shuffle(column, rng=Keystream(insecure_seed=1))
    order = UniformShuffler().order(5, rng=Keystream(insecure_seed=1)).tolist()
    assert order != sorted(order)
    assert type(batch) is type(column)
    assert getattr(batch, "name", "report") == "report"
    assert getattr(batch, "dtype", None) == getattr(column, "dtype", None)
    shuffled = batch.to_pylist() if isinstance(batch, pa.ChunkedArray) else batch.to_list()
    assert shuffled == [entries[position] for position in order]


def test_rows_of_an_array_stay_together():
    rows = np.arange(20).reshape(10, 2)
    batch = UniformShuffler().shuffle(rows)
    assert (batch[:, 1] == batch[:, 0] + 1).all()
    assert sorted(batch[:, 0]) == rows[:, 0].tolist()


@pytest.mark.parametrize(
    "build", [pd.Series, pl.Series, lambda entries: pa.chunked_array([entries])]
)
def test_the_estimate_does_not_depend_on_the_order(build):
    randomizer = OptimizedUnaryEncoding(k=16, max_epsilon_local=2.0)
    reports = randomizer.randomize(build([0, 3, 15] * 30))
    shuffled = UniformShuffler().shuffle(reports)
    assert (randomizer.estimate(shuffled).points == randomizer.estimate(reports).points).all()


@pytest.mark.parametrize(
    "build", [pd.Series, pl.Series, lambda entries: pa.chunked_array([entries])]
)
def test_missing_reports_are_refused(build):
    with pytest.raises(DataError, match=r"^1 values are missing"):
        UniformShuffler().shuffle(build([1, None, 3]))
