import os
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from croupier.engines.buckets import Buckets
from croupier.engines.mixing import ordered
from croupier.engines.order import keys_of
from croupier.errors import DataError, ParameterError

SEED = bytes(range(32))
MANY = 1 << 30


def rows_of_noise(count, length=48):
    return np.frombuffer(os.urandom(count * length), dtype=np.uint8).reshape(count, length)


@pytest.fixture
def buckets_for(tmp_path):
    with ExitStack() as held:

        def make(size, memory=MANY):
            return held.enter_context(
                closing(Buckets(tmp_path, seed=SEED, size=size, memory=memory))
            )

        yield make


@pytest.mark.parametrize("memory", [MANY, 100_000, 20_000])
def test_many_buckets_give_the_order_of_one(buckets_for, memory):
    rows = rows_of_noise(10_000)
    buckets = buckets_for(rows.nbytes, memory)
    for piece in (rows[:6000], rows[6000:6000], rows[6000:], rows[:300]):
        buckets.add(piece)
    assert (np.concatenate(list(buckets.ordered())) == ordered(rows, seed=SEED)).all()
    assert (buckets.rows, buckets.length) == (10_300, 48)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_files_have_no_name_and_each_is_under_its_own_keystream(buckets_for, tmp_path):
    rows = rows_of_noise(2001)  # odd: the two files differ in length
    buckets_for(rows.nbytes).add(rows)
    assert list(tmp_path.iterdir()) == []
    descriptors = Path("/proc/self/fd").iterdir()
    files = [path for path in descriptors if str(tmp_path) in str(os.path.realpath(path))]
    # One bit tells the buckets apart: the top bit of the key.
    is_high = keys_of(rows, seed=SEED)[:, 0] >> np.uint64(63) == 1
    parts = {part.size: part.tobytes() for part in (rows[~is_high], rows[is_high])}
    found = [path.read_bytes() for path in files]
    assert sorted(map(len, found)) == sorted(parts)
    streams = [
        np.bitwise_xor(*(np.frombuffer(half, np.uint8) for half in (data, parts[len(data)])))
        for data in found
    ]
    shorter = min(map(len, streams))
    # Of random bytes one in 256 agrees.
    assert (streams[0][:shorter] == streams[1][:shorter]).mean() < 0.05
    assert all(0.45 < np.unpackbits(stream).mean() < 0.55 for stream in streams)


def test_rows_of_another_length_are_refused(buckets_for):
    buckets = buckets_for(100)
    buckets.add(rows_of_noise(2, 48))
    with pytest.raises(DataError, match="another length"):
        buckets.add(rows_of_noise(2, 47))


def test_too_little_memory_is_refused(buckets_for):
    with pytest.raises(ParameterError, match="memory"):
        buckets_for(MANY, 1 << 20)
