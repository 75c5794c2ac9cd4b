import copy
import hashlib
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from croupier.errors import ParameterError
from croupier.numerics import keystream
from croupier.numerics.keystream import WORD, Keystream
from croupier.testing import law_p_value

WORDS_A_MEBIBYTE = (1 << 20) // 8


class FedStream(Keystream):
    """Gives out chosen words instead of random ones."""

    def __init__(self, fed):
        super().__init__(insecure_seed=0)
        self.fed = list(fed)

    def words(self, size):
        taken, self.fed = self.fed[:size], self.fed[size:]
        assert len(taken) == size, "more words were asked for than expected"
        return np.array(taken, dtype=np.uint64)


def counter_mode_words(seed, size):
    """AES-256 of the counters 0, 1, … as little-endian words, one block at a time."""
    key = hashlib.sha256(b"croupier insecure seed " + str(seed).encode()).digest()
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - the oracle's counters never repeat
    counters = b"".join(counter.to_bytes(16, "big") for counter in range(-(-size // 2)))
    return np.frombuffer(block.update(counters), dtype="<u8")[:size]


@pytest.mark.parametrize("bound", [3, 6, 10**18, (1 << 63) + 1, WORD - 1])
def test_words_at_and_above_the_largest_multiple_are_drawn_again(bound):
    multiple = WORD // bound * bound
    stream = FedStream([multiple, WORD - 1, multiple - 1, 0])
    assert stream.integers(bound, 1).tolist() == [bound - 1]
    assert stream.fed == [0]


@pytest.mark.parametrize("bound", [1, 2, 1 << 63, WORD])
def test_a_bound_that_divides_the_word_accepts_every_word(bound):
    words = [0, 1, bound - 1, bound % WORD, WORD - 1]
    stream = FedStream(words)
    assert stream.integers(bound, 5).tolist() == [word % bound for word in words]


@pytest.mark.parametrize("bound", [3, (1 << 63) + 1, WORD - 1])
def test_only_rejected_entries_are_replaced(bound):
    multiple = WORD // bound * bound
    stream = FedStream([1, WORD - 1, 2, multiple, 0, WORD - 1, 7, 8])
    assert stream.integers(bound, 5).tolist() == [1, 8 % bound, 2, 7 % bound, 0]


@pytest.mark.parametrize("bound", range(1, 17))
def test_every_integer_has_equally_many_words(bound, monkeypatch):
    monkeypatch.setattr(keystream, "WORD", 16)
    refused = 16 % bound
    stream = FedStream([*range(16), *[0] * refused])
    integers = stream.integers(bound, 16)[: 16 - refused]
    assert np.bincount(integers.astype(int), minlength=bound).tolist() == [16 // bound] * bound
    assert stream.fed == []


def test_words_are_aes_in_counter_mode_across_the_block_boundary():
    size = 2 * WORDS_A_MEBIBYTE + 301
    words = Keystream(insecure_seed=7).words(size)
    assert words.dtype == np.uint64
    assert (words == counter_mode_words(7, size)).all()


@pytest.mark.parametrize("step", [1001, WORDS_A_MEBIBYTE - 1, WORDS_A_MEBIBYTE])
def test_many_small_draws_are_one_large_draw(step):
    size = WORDS_A_MEBIBYTE + 2003
    stream = Keystream(insecure_seed=-3)
    parts = [stream.words(min(step, size - start)) for start in range(0, size, step)]
    assert (np.concatenate(parts) == Keystream(insecure_seed=-3).words(size)).all()


def test_different_seeds_give_different_words():
    assert (Keystream(insecure_seed=1).words(4) != Keystream(insecure_seed=2).words(4)).all()


def test_streams_without_a_seed_differ():
    assert (Keystream().words(4) != Keystream().words(4)).all()


# In a process of its own: forking one in which a library started threads is not safe.
FORKING = """
    import os
    from croupier.numerics.keystream import Keystream

    stream = Keystream()
    stream.words({drawn_before})
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, stream.words(4).tobytes().hex().encode())
        os._exit(0)
    os.waitpid(child, 0)
    print(stream.words(4).tobytes().hex(), os.read(reader, 64).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.parametrize("drawn_before", [0, 3])
def test_parent_and_child_of_a_fork_draw_different_words(drawn_before):
    script = textwrap.dedent(FORKING.format(drawn_before=drawn_before))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    parent, child = run.stdout.split()
    assert len(parent) == len(child) == 64
    assert parent != child


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_the_secret_is_neither_pickled_nor_copied(leak):
    with pytest.raises(TypeError, match="cannot be pickled"):
        leak(Keystream())


@pytest.mark.parametrize("bound", [0, -1, WORD + 1])
def test_bounds_outside_one_to_two_to_the_64_are_refused(bound):
    with pytest.raises(ParameterError) as refusal:
        Keystream().integers(bound, 1)
    assert refusal.value.parameter == "below"


def test_a_table_keeps_every_column_below_its_bound_and_in_its_place():
    bounds = (1, 5, 5, 2, WORD, 5)
    stream = FedStream([9, 9, *range(4), 3, 4, 7, WORD - 1, 8, 9])
    table = stream.table(bounds, 2)
    assert table.tolist() == [[0, 0, 1, 1, 7, 3], [0, 2, 3, 0, WORD - 1, 4]]


def thirds(n):
    """Which third of [0, 3 * 2**62) each draw falls in; without rejection the first has half."""
    return np.bincount((Keystream().integers(3 << 62, n) >> np.uint64(62)).astype(int))


def test_integers_are_uniform(alarm):
    assert law_p_value(thirds(200_000), np.full(3, 1 / 3)) > alarm


def test_a_law_five_percent_off_is_rejected(alarm):
    assert law_p_value(thirds(200_000), np.array([1.05, 0.95, 1.0]) / 3) < alarm
