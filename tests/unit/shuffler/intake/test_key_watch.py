"""A running service and the files of its keys: those of the gateway go forward only."""

import pytest

from croupier.shuffler.intake.key_watch import KeyWatch
from croupier.shuffler.intake.keys import IntakeKeys

NOBODY = frozenset()


@pytest.fixture
def keys(tmp_path):
    made = IntakeKeys(tmp_path / "intake", b"a passphrase of a test")
    made.path.mkdir(mode=0o700)
    return made


def numbers(watch):
    return [key.number for key in watch.gateway]


def test_a_gateway_follows_its_keys_and_says_when_the_newest_are_gone(keys):
    watch = KeyWatch(keys)
    assert watch.occurrences(NOBODY) == ()
    assert numbers(watch) == []
    keys.rotate_gateway()
    keys.rotate_gateway()
    assert watch.occurrences(NOBODY) == ()
    assert numbers(watch) == [2, 1]
    newest = keys.path / "gateway-2.hpke.pem"
    kept = newest.read_bytes()
    newest.unlink()
    assert [one.name for one in watch.occurrences(NOBODY)] == ["signing-key"]
    assert numbers(watch) == [2, 1]
    (keys.path / "gateway.hpke.pem").unlink()
    assert [one.name for one in watch.occurrences(NOBODY)] == ["signing-key"]
    assert numbers(watch) == [2, 1]
    newest.write_bytes(kept)
    newest.chmod(0o600)
    assert watch.occurrences(NOBODY) == ()
    assert numbers(watch) == [2]
