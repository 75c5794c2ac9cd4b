"""Inputs at the border of what is accepted, each of which once went wrong."""

import copy
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from croupier.errors import DataError, ParameterError
from croupier.model import Channel, Grid
from croupier.numerics.rounding import ceiling_digits, exp_enclosure
from croupier.randomizers import randomizer
from croupier.shufflers import UniformShuffler

RESPONSE = randomizer("k-rr", k=4, max_epsilon_local=1.0)
UNARY = randomizer("optimized-unary", k=16, max_epsilon_local=1.0)


def test_randomize_keeps_a_pandas_index_and_shuffle_does_not():
    values = pd.Series([0, 1, 2], index=[5, 9, 7], name="pet")
    reports = RESPONSE.randomize(values)
    assert reports.index.tolist() == [5, 9, 7]
    assert UniformShuffler().shuffle(reports).index.tolist() == [0, 1, 2]


def test_bytes_keep_their_final_zeros():
    assert sorted(UniformShuffler().shuffle([b"\1\0", b"\2\0"]).tolist()) == [b"\1\0", b"\2\0"]
    assert UNARY.estimate([b"\x80\x00", b"\x01\x01"]).n == 2


def test_arrow_arrays_that_are_not_chunked_are_columns_too():
    assert RESPONSE.estimate(RESPONSE.randomize(pa.array([0, 1, 2, 3]))).n == 4


def test_what_is_no_column_is_refused():
    with pytest.raises(ParameterError, match="list, an array or a column"):
        RESPONSE.randomize({1, 2})


def test_exact_weights_up_to_the_whole_word():
    channel = Channel.from_weights([[2**64 - 1, 1], [1, 2**64 - 1]], 2**64)
    assert channel.weights.dtype == np.uint64
    assert (channel | channel).denominator == 2**128


def test_channels_can_be_copied_and_sent():
    channel = Channel.from_weights([[3, 1], [1, 3]], 4)
    assert pickle.loads(pickle.dumps(channel)) == channel  # noqa: S301 - made here
    assert copy.deepcopy(channel) == channel


@pytest.mark.parametrize("value", [1e19, -1e300, 10**400, "1", 1j, np.datetime64("2020-01-01")])
def test_numbered_categories_take_whole_numbers_only(value):
    with pytest.raises(DataError):
        RESPONSE.randomize(np.array([value], dtype=object))


def test_a_grid_may_have_one_step_and_clamps_anything():
    grid = Grid(0.02, 0.03, 0.01)
    assert grid.encode(np.array([-1.7e308, 1.7e308])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("value", "printed"), [(9.999, "10.0"), (0.9999, "1.00"), (99_999, "100000")]
)
def test_rounding_up_to_a_new_digit_keeps_three_of_them(value, printed):
    assert ceiling_digits(value) == printed


def test_exponentials_do_not_vanish():
    low, high = exp_enclosure(-3e6)
    assert 0 < low < high
