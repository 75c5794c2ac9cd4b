import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from croupier.engines.order import first_of_equal, keys_of, new_seed
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream

SEED = bytes(range(32))


def by_the_book(row, seed):
    """CBC-MAC as the library's own CBC mode gives it: the last block."""
    padded = row.ljust(-(-len(row) // 16) * 16, b"\0")
    return Cipher(algorithms.AES(seed), modes.CBC(bytes(16))).encryptor().update(padded)[-16:]


@pytest.mark.parametrize("length", [1, 15, 16, 17, 80, 128])
@pytest.mark.parametrize("count", [0, 1, 4095, 4097])
def test_a_key_is_the_last_block_of_cbc(length, count):
    rows = np.frombuffer(os.urandom(count * length), dtype=np.uint8).reshape(count, length)
    keys = keys_of(rows, seed=SEED)
    assert keys.shape == (count, 2)
    expected = [by_the_book(row.tobytes(), SEED) for row in rows]
    assert [int(high).to_bytes(8) + int(low).to_bytes(8) for high, low in keys] == expected


def test_the_rows_stay_as_they_were():
    rows = np.arange(64, dtype=np.uint8).reshape(2, 32)
    keys_of(rows, seed=SEED)
    assert rows.ravel().tolist() == list(range(64))


def test_a_view_with_gaps_has_the_keys_of_its_copy():
    rows = np.arange(256, dtype=np.uint8).reshape(8, 32)[::2, 3:20]
    assert (keys_of(rows, seed=SEED) == keys_of(rows.copy(), seed=SEED)).all()


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_seed_of_another_size_is_refused(size):
    with pytest.raises(ParameterError, match="be 32 bytes") as refusal:
        keys_of(np.zeros((1, 16), dtype=np.uint8), seed=b"\x77" * size)
    assert "77" not in str(refusal.value)


def test_seeds_are_fresh_unless_asked():
    assert len(new_seed()) == 32
    assert new_seed() != new_seed()
    again = [new_seed(Keystream(insecure_seed=1)) for _ in range(2)]
    assert again[0] == again[1]


@given(st.lists(st.binary(min_size=9, max_size=9).map(lambda row: bytes(8) + row[:1])))
def test_of_equal_neighbours_the_first_stays(values):
    values.sort()
    rows = np.frombuffer(b"".join(values), dtype=np.uint8).reshape(-1, 9)
    assert [row.tobytes() for row in first_of_equal(rows)] == sorted(set(values))


def test_the_row_before_counts_too():
    rows = np.array([[1], [1], [2]], dtype=np.uint8)
    assert first_of_equal(rows, before=rows[:1]).tolist() == [[2]]
    assert first_of_equal(rows[:0], before=rows[:1]).shape == (0, 1)
