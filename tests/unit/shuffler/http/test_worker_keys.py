"""A worker is given everything that intake has, and cannot open one envelope (N36)."""

import os
import shlex
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import SealError
from croupier.protocol import encrypted_key
from croupier.protocol.party_keys import Signers
from croupier.protocol.unsealing import open_outer
from croupier.protocol.wire import Epoch, seal_outer
from tests.unit.shuffler.http.conftest import PASSPHRASE, RELEASE_PASSPHRASE
from tests.unit.shuffler.http.test_readiness import children, start


class Loot:
    """What somebody finds who has broken into a process: environment, arguments and files."""

    def __init__(self, pid, parent):
        self.pid = pid
        self.environment = Path(f"/proc/{pid}/environ").read_bytes()
        arguments = [Path(f"/proc/{one}/cmdline").read_bytes() for one in (pid, parent)]
        self.arguments = b"\0".join(arguments)
        named = [Path(os.fsdecode(part)) for part in self.arguments.split(b"\0") if b"/" in part]
        found = [path for path in named if path.exists()]
        # What Python runs on is no loot: only what lies where the deployment does.
        own = [path for path in found if path.is_relative_to(Path("/tmp"))]  # noqa: S108
        files = [inner for path in own for inner in ([path] if path.is_file() else path.rglob("*"))]
        self.files = sorted({path for path in files if path.is_file()})
        self.contents = [path.read_bytes() for path in self.files]

    @property
    def passphrases(self):
        """Every value of the environment, and the first line of every file."""
        values = [entry.partition(b"=")[2] for entry in self.environment.split(b"\0")]
        lines = [next(iter(content.splitlines()), b"") for content in self.contents]
        return {value for value in (*values, *lines) if value}

    @property
    def keys(self):
        """Every private key that opens with what was found, as 32 bytes that open seals."""
        for content in self.contents:
            for phrase in self.passphrases if b"PRIVATE KEY" in content else ():
                try:
                    key = encrypted_key.decrypt(content, phrase)
                except (ValueError, TypeError):
                    continue
                assert isinstance(key, Ed25519PrivateKey | X25519PrivateKey)
                yield key.private_bytes_raw()

    @property
    def memory(self):
        """All that the process has in memory."""
        with Path(f"/proc/{self.pid}/mem").open("rb", buffering=0) as memory:
            for line in Path(f"/proc/{self.pid}/maps").read_text().splitlines():
                place, mode, *_ = line.split()
                start, end = (int(part, 16) for part in place.split("-"))
                if mode.startswith("rw") and end - start < 1 << 28:
                    try:
                        memory.seek(start)
                        yield memory.read(end - start)
                    except (OSError, ValueError, OverflowError):
                        continue


@pytest.fixture
def stored(service):
    """A running service that has stored one report: its workers' loot, and what opens it."""
    start(service, "--workers", "2")
    batch = bytes.fromhex(service.batch)
    outer = service.keys.outer_key(batch)
    analyzer = service.analyzer.sealing_key("analyzer").public_key().public_bytes_raw()
    epoch = Epoch.of(service.plan, round_number=0, batch=batch, analyzer=analyzer)
    inner = os.urandom(epoch.inner_length)
    sent = seal_outer(inner, key=outer.public_key(), epoch=epoch)
    assert service.send(sent).status == 202
    (envelope,) = service.stored()
    assert open_outer(envelope, key=outer, epoch=epoch).inner == inner, "what release can do"
    loot = [Loot(pid, service.process.pid) for pid in children(service.process.pid)]
    assert len(loot) == 2
    return service, loot, envelope, epoch


def test_no_key_that_a_worker_can_read_opens_what_it_stores(stored):
    service, loot, envelope, epoch = stored
    signers = Signers.of(service.plan, service.listed)
    opener = service.house.intake.sealing_key("intake")
    tag_key = service.handover.take(epoch.batch, round_number=0, key=opener, signers=signers)
    for found in loot:
        assert PASSPHRASE.encode() in found.passphrases
        keys = {*found.keys, tag_key, *(c for c in found.passphrases if len(c) == 32)}
        assert opener.private_bytes_raw() in keys, "it has what opens the tag keys"
        assert len(keys) >= 3
        for key in keys:
            with pytest.raises(SealError):
                open_outer(envelope, key=X25519PrivateKey.from_private_bytes(key), epoch=epoch)


def test_a_worker_knows_neither_where_releases_keys_are_nor_their_passphrase(stored):
    service, loot, _, _ = stored
    release = service.keys.path
    for found in loot:
        told = found.environment + found.arguments
        for secret in (str(release), RELEASE_PASSPHRASE, str(service.phrase)):
            assert secret.encode() not in told, shlex.quote(secret)
        assert not [path for path in found.files if path.is_relative_to(release)]
        names = {path.name for path in found.files}
        assert {"intake.pem", "intake.hpke.pem", f"{service.batch}.tag"} <= names
        assert not {"release.pem", "outer.pem", "shuffler.pem", "analyzer.pem"} & names
        assert not any(RELEASE_PASSPHRASE.encode() in content for content in found.contents)


def test_a_worker_has_no_key_of_release_in_memory(stored):
    service, loot, _, epoch = stored
    outer = service.keys.outer_key(epoch.batch).private_bytes_raw()
    signing = service.keys.signing_key("release").private_bytes_raw()
    secrets = {"outer": outer, "release": signing, "phrase": RELEASE_PASSPHRASE.encode()}
    for found in loot:
        pieces = list(found.memory)
        if not pieces:
            pytest.skip("needs the right to read another process's memory")
        assert any(PASSPHRASE.encode() in piece for piece in pieces), "so much is found"
        for name, secret in secrets.items():
            assert not any(secret in piece for piece in pieces), name
