"""Opening of seals: envelopes for release, reports for the analyzer, and for no other part.

An import contract lists the modules that may import this one.
"""

from collections.abc import Callable
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import SealError
from croupier.protocol.hpke import SUITE
from croupier.protocol.wire import OWNER_SIZE, Epoch, Seal

__all__ = ["Outer", "open_inner", "open_outer", "open_second", "opener", "outer_of"]


class Outer(NamedTuple):
    """The content of an envelope for the first shuffler.

    Attributes:
        inner: The report, still sealed to everybody after this shuffler.
        owner: The sender's public place, if the plan mixes by groups.
    """

    inner: bytes
    owner: int | None


def open_outer(envelope: bytes, *, key: X25519PrivateKey, epoch: Epoch) -> Outer:
    """Open an envelope.

    Raises:
        SealError: It has another length, or was not sealed to this key, plan, round, batch and
            query, with these keys of everybody after it.
    """
    return outer_of(opener(Seal.OUTER, key=key, epoch=epoch)(envelope), epoch=epoch)


def outer_of(plaintext: bytes, *, epoch: Epoch) -> Outer:
    """Split the plaintext of an envelope into its parts."""
    if not epoch.owned:
        return Outer(plaintext, None)
    return Outer(plaintext[:-OWNER_SIZE], int.from_bytes(plaintext[-OWNER_SIZE:]))


def open_second(second: bytes, *, key: X25519PrivateKey, epoch: Epoch) -> bytes:
    """Open the second shuffler's seal and return the report, still sealed to the analyzer.

    Raises:
        SealError: See `open_outer`.
    """
    return opener(Seal.SECOND, key=key, epoch=epoch)(second)


def open_inner(inner: bytes, *, key: X25519PrivateKey, epoch: Epoch) -> bytes:
    """Open the inner seal and return the bytes of a report, for `decode_report`.

    Raises:
        SealError: See `open_outer`.
    """
    return opener(Seal.INNER, key=key, epoch=epoch)(inner)


def opener(seal: Seal, *, key: X25519PrivateKey, epoch: Epoch) -> Callable[[bytes], bytes]:
    """Return a function that opens many seals of one kind; their binding is computed once.

    That saves a fifth of the time per seal. It raises what `open_outer` raises.
    """
    length = epoch.length(seal)
    info = epoch.info(seal, key.public_key())

    def plaintext(sealed: bytes) -> bytes:
        if len(sealed) != length:
            raise SealError("length")
        try:
            return SUITE.decrypt(sealed, key, info)
        except InvalidTag:
            raise SealError("seal") from None

    return plaintext
