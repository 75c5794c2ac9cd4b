"""What Spark leaves on disk: no seed, no key, no row."""

import base64
import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.engines.base import Ordered, engine
from croupier.errors import ParameterError
from croupier.protocol.batch_file import write_batch
from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.release.opening import Opener, OpenStep

pytestmark = pytest.mark.slow

EPOCH = Epoch(plan="ab" * 32, round_number=3, batch=bytes(16), analyzer=bytes(32), report_size=32)


def spellings(secret):
    """How bytes may stand in a text or a file."""
    yield secret
    yield secret.hex().encode()
    yield base64.b64encode(secret)[:-4]
    yield repr(secret)[2:-1].encode()
    yield ", ".join(map(str, secret)).encode()


@pytest.fixture(scope="module")
def job(spark_engine, tmp_path_factory):
    """An order with a seed and a key that are known here."""
    directory = tmp_path_factory.mktemp("job")
    key, seed = X25519PrivateKey.generate(), os.urandom(32)
    inner = [os.urandom(EPOCH.inner_length) for _ in range(500)]
    sealed = [seal_outer(row, key=key.public_key(), epoch=EPOCH) for row in inner]
    rows = np.frombuffer(b"".join(sealed), dtype=np.uint8).reshape(500, -1)
    write_batch(rows, directory / "in")
    step = OpenStep(Opener.of(key, EPOCH))
    found = spark_engine.order([directory / "in"], directory / "out", seed=seed, step=step)
    assert found == Ordered(500, 500)
    return seed, key.private_bytes_raw(), inner, sealed


def test_plans_and_events_hold_neither_seed_nor_key(job, event_log):
    text = b"".join(path.read_bytes() for path in event_log.rglob("*") if path.is_file())
    assert b"MapInArrow" in text
    assert b"place" in text
    assert b"SparkListenerTaskEnd" in text
    for secret in job[:2]:
        assert not any(spelling in text for spelling in spellings(secret))


def test_scratch_space_holds_nothing_that_can_be_read(job, spark_engine):
    seed, key, inner, sealed = job
    files = [path for path in spark_engine.scratch.rglob("*") if path.is_file()]
    shuffled = b"".join(path.read_bytes() for path in files)
    assert any(path.name.startswith("shuffle_") for path in files)
    assert len(shuffled) > 500 * EPOCH.inner_length
    for secret in [seed, key, *(row[:16] for row in inner), *(row[:16] for row in sealed)]:
        assert secret not in shuffled


@pytest.mark.usefixtures("spark_engine")
def test_the_session_of_somebody_else_is_not_taken():
    with pytest.raises(ParameterError, match="only session"):
        engine("spark")


def test_memory_that_java_would_refuse_is_refused():
    with pytest.raises(ParameterError, match="1,073,741,824 bytes"):
        engine("spark", memory=800_000_000)
