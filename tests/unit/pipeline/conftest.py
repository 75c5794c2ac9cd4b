"""A plan with its keys, as an operator would make them."""

import os
from typing import NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.model.plan import Plan
from croupier.pipeline.key_list import AnalyzerKey, KeyList, NotAccepted, ShufflerKey
from croupier.pipeline.wire import Epoch, decode_report, open_inner, open_outer

TABLES = {
    "schema": 1,
    "randomizer": {"mechanism": "k-rr", "k": 10, "epsilon_local": 2.0},
    "population": {"enrolled": 100},
    "protections": {"minimum_batch": 50},
    "guarantee": {"delta": 1e-4},
}


class Opened(NamedTuple):
    report: object
    owner: int | None
    inner: bytes


class Parties:
    """The shuffler and the analyzer of one plan."""

    def __init__(self, **tables):
        self.shuffler, self.analyzer = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        trust = {
            "shuffler_key": self.shuffler.public_key().public_bytes_raw().hex(),
            "analyzer_key": self.analyzer.public_key().public_bytes_raw().hex(),
        }
        self.plan = Plan.from_document(TABLES | tables | {"trust": trust})
        self.inner = X25519PrivateKey.generate()
        self.outer = {}

    def open(self, round_number=0):
        """Open a round; its key, signed."""
        epoch = Epoch.of(self.plan, round_number=round_number, batch=os.urandom(16))
        self.outer[epoch.batch.hex()] = key = X25519PrivateKey.generate()
        return ShufflerKey.make(epoch, self.plan, key=key, signing_key=self.shuffler)

    def analyzer_key(self):
        return AnalyzerKey.make(self.plan, key=self.inner, signing_key=self.analyzer)

    def key_list(self, *rounds):
        return KeyList.of(self.plan, analyzer=self.analyzer_key(), shuffler=rounds)

    def refusal(self, batch):
        batch = bytes.fromhex(batch)
        return NotAccepted.make(self.plan, batch=batch, signing_key=self.shuffler)

    def read(self, envelope, key):
        """What shuffler and analyzer together find in an envelope."""
        epoch = key.epoch(self.plan)
        outer = open_outer(envelope, key=self.outer[key.batch], epoch=epoch)
        data = open_inner(outer.inner, key=self.inner, epoch=epoch)
        report = decode_report(self.plan, data, round_number=key.round)
        return Opened(report, outer.owner, outer.inner)


@pytest.fixture(scope="session")
def make_parties():
    return Parties


@pytest.fixture
def parties():
    return Parties()
