"""Two shufflers in a row and an analyzer, as clients see them."""

import os

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.plan.plan import Plan
from croupier.protocol.key_list import KeyList, Onward, ShufflerKey
from croupier.protocol.party_keys import IntakeKey, ReleaseKey, ShufflerKeys, Signers
from croupier.protocol.query import Round
from croupier.protocol.signed_document import public_half
from croupier.protocol.unsealing import open_inner, open_outer, open_second
from croupier.protocol.wire import Epoch, decode_report
from tests.unit.parties import TABLES, Parties

DUMMIES = {"epsilon": 1.0, "delta": 1e-8}
PLAIN = {"mechanism": "plain", "k": 10}


def raw(key):
    return key.public_key().public_bytes_raw()


class Mixer:
    """One shuffler: its root, its working keys and its keys of batches."""

    def __init__(self):
        self.root, self.release, self.intake = (Ed25519PrivateKey.generate() for _ in range(3))
        self.seal = X25519PrivateKey.generate()
        self.batches = {}

    def listed(self, plan, version=1, *, release=(), root=None):
        """The root's list; `release` are further keys with the rounds they begin."""
        named = [(0, self.release), *release]
        return ShufflerKeys.make(
            plan,
            version=version,
            release=[ReleaseKey(from_round=at, key=public_half(key)) for at, key in named],
            intake=[
                IntakeKey(from_round=0, key=public_half(self.intake), seal=raw(self.seal).hex())
            ],
            signing_key=root or self.root,
        )


class Pair(Parties):
    """The parties of a plan with two shufflers; the first is the one that `Parties` has."""

    def __init__(self, **tables):
        self.first, self.second = Mixer(), Mixer()
        self.analyzer, self.inner = Ed25519PrivateKey.generate(), X25519PrivateKey.generate()
        mixers = [{"key": public_half(own.root), "dummies": DUMMIES} for own in self.mixers]
        parties = {"shufflers": mixers, "analyzer": {"key": public_half(self.analyzer)}}
        self.plan = Plan.from_document(TABLES | {"randomizer": PLAIN} | parties | tables)
        self.shuffler, self.release = self.first.root, self.first.release
        self.intake, self.seal, self.outer = self.first.intake, self.first.seal, self.first.batches
        self.keys = self.first.listed(self.plan)
        self.later = {}

    @property
    def mixers(self):
        return self.first, self.second

    def signers_of(self, hop):
        return Signers.of(self.plan, self.mixers[hop].listed(self.plan), hop)

    def epoch(self, round_number=0, **changes):
        """A fresh batch, with a key of each shuffler."""
        query = self.query(round_number)
        facts = {"batch": os.urandom(16), "analyzer": raw(self.inner)} | changes
        for own in self.mixers:
            own.batches[facts["batch"].hex()] = X25519PrivateKey.generate()
        return Epoch.of(
            self.plan,
            round_number=round_number,
            query=b"" if query is None else query.digest,
            onward=(raw(self.second.batches[facts["batch"].hex()]),),
            **facts,
        )

    def opening(self, epoch, hop, signing_key=None):
        own = self.mixers[hop]
        return ShufflerKey.make(
            epoch,
            self.plan,
            key=own.batches[epoch.batch.hex()],
            signing_key=signing_key or own.release,
            hop=hop,
        )

    def open(self, round_number=0, signing_key=None):
        """Open a round at both shufflers; the opening of the first one."""
        epoch = self.epoch(round_number)
        self.later[epoch.batch.hex()] = self.opening(epoch, 1)
        return self.opening(epoch, 0, signing_key)

    def onward(self, opening, keys=None):
        """The second shuffler's part in a round."""
        keys = keys or self.second.listed(self.plan)
        return Onward(keys=keys, opening=self.later[opening.batch])

    def key_list(self, *rounds, keys=None, later=None):
        """The list of open rounds; `keys` and `later` are the lists of keys of both shufflers."""
        return KeyList.of(
            self.plan,
            analyzer=self.analyzer_key(),
            keys=keys or self.keys,
            shuffler=rounds,
            onward=tuple(self.onward(opening, later) for opening in rounds),
        )

    def rounds(self, key):
        return [
            Round.of(shuffler=key, query=self.query(key.round), onward=self.onward(key)).to_bytes()
        ]

    def read(self, envelope, key):
        """What all three find in an envelope, and its length at each step."""
        epoch = key.epoch(self.plan)
        second = open_outer(envelope, key=self.first.batches[key.batch], epoch=epoch).inner
        inner = open_second(second, key=self.second.batches[key.batch], epoch=epoch)
        data = open_inner(inner, key=self.inner, epoch=epoch)
        lengths = [len(sealed) for sealed in (envelope, second, inner, data)]
        return decode_report(self.plan, data, round_number=key.round), lengths
