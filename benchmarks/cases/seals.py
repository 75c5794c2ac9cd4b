"""Seals, beside plain HPKE."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from benchmarks.case import Case, Peer, Sides
from croupier.plan.plan import Plan
from croupier.protocol.unsealing import opener
from croupier.protocol.wire import Epoch, Seal, seal_inner

__all__ = ["CASES"]

HPKE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
PLAN = {"schema": 2, "randomizer": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0}}
PEOPLE = {"population": {"enrolled": 10**6}, "protections": {"minimum_batch": 50}}


def prepared(many: int) -> tuple[X25519PrivateKey, Epoch, list[bytes]]:
    """A key, the data that seals are bound to, and reports."""
    plan = Plan.model_validate(PLAN | PEOPLE)
    key = X25519PrivateKey.generate()
    analyzer = key.public_key().public_bytes_raw()
    epoch = Epoch.of(plan, round_number=0, batch=os.urandom(16), analyzer=analyzer)
    return key, epoch, [os.urandom(epoch.report_size) for _ in range(many)]


@contextmanager
def seal(many: int) -> Iterator[Sides]:
    """Seal reports to the analyzer."""
    key, epoch, reports = prepared(many)
    public = key.public_key()
    info = epoch.info(Seal.INNER, public)

    def ours() -> list[bytes]:
        return [seal_inner(report, epoch=epoch) for report in reports]

    def theirs() -> list[bytes]:
        return [HPKE.encrypt(report, public, info) for report in reports]

    def difference() -> float:
        """The number of seals of either side that the other one does not open to the report."""
        ours_opens = opener(Seal.INNER, key=key, epoch=epoch)
        crossed = [ours_opens(sealed) for sealed in theirs()]
        crossed += [HPKE.decrypt(sealed, key, info) for sealed in ours()]
        return sum(found != report for found, report in zip(crossed, reports * 2, strict=True))

    yield Sides.calling(
        ours, theirs, difference=difference, tolerance=0, unit="seals the other side cannot open"
    )


@contextmanager
def opened(many: int) -> Iterator[Sides]:
    """Open sealed reports."""
    key, epoch, reports = prepared(many)
    info = epoch.info(Seal.INNER, key.public_key())
    sealed = [seal_inner(report, epoch=epoch) for report in reports]

    def ours() -> list[bytes]:
        return list(map(opener(Seal.INNER, key=key, epoch=epoch), sealed))

    def theirs() -> list[bytes]:
        return [HPKE.decrypt(entry, key, info) for entry in sealed]

    yield Sides.calling(
        ours,
        theirs,
        difference=lambda: sum(a != b for a, b in zip(ours(), theirs(), strict=True)),
        tolerance=0,
        unit="reports that differ",
    )


CASES = [
    Case(
        name="seal",
        question="Seal {size} reports to the analyzer, one process; bare HPKE",
        peer=Peer("cryptography"),
        sides=seal,
        size=5_000,
        small=20,
    ),
    Case(
        name="open",
        question="Open {size} reports, one process; bare HPKE",
        peer=Peer("cryptography"),
        sides=opened,
        size=5_000,
        small=20,
    ),
]
