"""Opens seals: envelopes for release, reports for the analyzer, and for nobody else.

An import contract names who may import this module.
"""

from collections.abc import Callable
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import SealError
from croupier.protocol.hpke import SUITE
from croupier.protocol.wire import OWNER_SIZE, Epoch, Seal

__all__ = ["Outer", "open_inner", "open_outer", "opener", "outer_of"]


class Outer(NamedTuple):
    """What the shuffler finds in an envelope.

    Attributes:
        inner: The report, still sealed to the analyzer.
        owner: The sender's public place, where the plan mixes by groups.
    """

    inner: bytes
    owner: int | None


def open_outer(envelope: bytes, *, key: X25519PrivateKey, epoch: Epoch) -> Outer:
    """What is in an envelope.

    Raises:
        SealError: It has another length, or was not sealed to this key, plan, round, batch, query
            and analyzer.
    """
    return outer_of(opener(Seal.OUTER, key=key, epoch=epoch)(envelope), epoch=epoch)


def outer_of(plaintext: bytes, *, epoch: Epoch) -> Outer:
    """What the plaintext of an envelope says."""
    if not epoch.owned:
        return Outer(plaintext, None)
    return Outer(plaintext[:-OWNER_SIZE], int.from_bytes(plaintext[-OWNER_SIZE:]))


def open_inner(inner: bytes, *, key: X25519PrivateKey, epoch: Epoch) -> bytes:
    """The bytes of a report, for `decode_report`.

    Raises:
        SealError: As `open_outer`.
    """
    return opener(Seal.INNER, key=key, epoch=epoch)(inner)


def opener(seal: Seal, *, key: X25519PrivateKey, epoch: Epoch) -> Callable[[bytes], bytes]:
    """What opens many seals of one kind: what they are bound to is put together once.

    That is a fifth of the time of one seal. Raises what `open_outer` raises.
    """
    length = epoch.inner_length if seal is Seal.INNER else epoch.envelope_length
    info = epoch.info(seal, key.public_key())

    def plaintext(sealed: bytes) -> bytes:
        if len(sealed) != length:
            raise SealError("length")
        try:
            return SUITE.decrypt(sealed, key, info)
        except InvalidTag:
            raise SealError("seal") from None

    return plaintext
