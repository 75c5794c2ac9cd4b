import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.release.opening import Opener, open_envelopes

KEY = X25519PrivateKey.generate()
EPOCH = Epoch(plan="ab" * 32, round_number=3, batch=bytes(16), analyzer=bytes(32), report_size=32)
INNER = [os.urandom(EPOCH.inner_length) for _ in range(100)]
ENVELOPES = [seal_outer(inner, key=KEY.public_key(), epoch=EPOCH) for inner in INNER]


def opened(*pieces, **settings):
    return open_envelopes(pieces, Opener.of(KEY, EPOCH), **settings)


def other(**changes):
    return replace(EPOCH, **changes)


def test_everything_that_is_meant_for_the_batch_opens_in_its_order():
    found = opened(ENVELOPES[:60], [], ENVELOPES[60:])
    assert [row.tobytes() for row in found.inner] == INNER
    assert found.received == 100


def test_an_empty_batch_has_rows_of_the_right_length():
    assert opened().inner.shape == (0, EPOCH.inner_length)


@pytest.mark.parametrize(
    "epoch",
    [
        other(plan="cd" * 32),
        other(round_number=4),
        other(batch=bytes(15) + b"1"),
        other(analyzer=bytes(31) + b"1"),
        other(query=bytes(32)),
    ],
    ids=["plan", "round", "batch", "analyzer", "query"],
)
def test_what_was_sealed_for_something_else_does_not_open(epoch):
    sealed = [seal_outer(inner, key=KEY.public_key(), epoch=epoch) for inner in INNER[:3]]
    assert opened(sealed).cannot_open == 3


@given(st.integers(0, len(ENVELOPES[0]) * 8 - 1))
def test_a_flipped_bit_is_noticed_wherever_it_is(bit):
    flipped = bytearray(ENVELOPES[0])
    flipped[bit // 8] ^= 1 << bit % 8
    found = opened([bytes(flipped)])
    # The top bit of an X25519 public key carries nothing, and HPKE binds the key as it was sent.
    assert (len(found.inner), found.cannot_open) == (0, 1)


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_noise_is_counted_and_never_raises(noise):
    found = opened(noise)
    assert found.received == len(noise)
    assert found.wrong_length == sum(len(entry) != EPOCH.envelope_length for entry in noise)


@pytest.mark.slow
def test_a_hundred_thousand_malformed_envelopes_are_counted_by_reason():
    size = EPOCH.envelope_length
    noise = [os.urandom(size) for _ in range(40_000)]
    low_order = [bytes(32) + os.urandom(size - 32) for _ in range(10_000)]
    flipped = [
        envelope[:place] + bytes([envelope[place] ^ 1]) + envelope[place + 1 :]
        for envelope in ENVELOPES
        for place in range(100)
    ]
    spliced = [
        first[:32] + second[32:] for first in ENVELOPES for second in ENVELOPES if first != second
    ]
    short = [os.urandom(length % size) for length in range(30_100)]
    malformed = [*noise, *low_order, *flipped, *spliced, *short]
    assert len(malformed) == 100_000

    pieces = [malformed[start : start + 4000] for start in range(0, len(malformed), 4000)]
    found = opened(*pieces, ENVELOPES, processes=2)
    assert [row.tobytes() for row in found.inner] == INNER
    assert (found.wrong_length, found.cannot_open) == (len(short), 100_000 - len(short))


ENDLESS = """
from itertools import repeat
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from croupier.shuffler.release.opening import Opener, open_envelopes
from croupier.protocol.wire import Epoch
if __name__ == "__main__":
    open_envelopes(
        repeat([bytes(128)] * 10),
        Opener.of(
            X25519PrivateKey.generate(),
            Epoch(
                plan="ab" * 32, round_number=0, batch=bytes(16), analyzer=bytes(32), report_size=32
            ),
        ),
        processes=2,
        advance=lambda _: print("opened", flush=True),
    )
"""


def _children(process):
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks into /proc")
def test_no_process_outlives_a_killed_job_with_the_key(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as job:
        assert job.stdout.readline() == b"opened\n"
        children = _children(job.pid)
        assert len(children) >= 2
        job.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while left := [child for child in children if _runs(child)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def _runs(process):
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
