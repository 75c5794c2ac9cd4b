"""The sender of an envelope: linking by credential or token, by address, and by time of token.

The first shuffler and whoever admits people put together what each of them saw of two people. Both
sent one envelope, and the two parties say who sent a given one. By luck they are right in half of
all games. The contents stay sealed: nothing here is about answers.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from cryptography.hazmat.primitives.asymmetric import rsa
from numpy.typing import NDArray

from croupier.model.result import Result
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.rounding import AtLeast, AtMost
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import EXPONENT, BlindKey
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.admission.token import Spender, Token, TokenInput, challenge, request_of

__all__ = ["Link", "SenderGame", "sender_games"]

_BITS = 2048
Hits = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, repr=False)
class Link(Result):
    """The share of envelopes that were linked to their sender, of two people, by one trace.

    Attributes:
        by: The trace.
        measured: The share of games in which the sender was named.
        lower: The lower end of the interval.
        upper: The upper end of the interval.
        confidence: The probability that the interval covers the truth.
        games: The number of games played.
    """

    by: str
    measured: float
    lower: float
    upper: float
    confidence: float
    games: int

    @classmethod
    def of(cls, by: str, hits: Hits, *, confidence: float) -> "Link":
        """Return the share of hits with its interval."""
        found = clopper_pearson(int(hits.sum()), len(hits), confidence=confidence)
        return cls(
            by=by,
            measured=float(hits.mean()),
            lower=found.lower,
            upper=found.upper,
            confidence=confidence,
            games=len(hits),
        )

    @property
    def _summary(self) -> str:
        return f"by {self.by}: {self.measured:.4g}; by luck 0.5"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "by": self.by,
                "measured": self.measured,
                "lower": AtLeast(self.lower),
                "upper": AtMost(self.upper),
                "confidence": self.confidence,
                "games": self.games,
            }
        ]


class SenderGame(ABC):
    """A game of two people and one envelope.

    Attributes:
        by: The trace that is followed.
        most: The number of games that take a few seconds.
    """

    by: str
    most: ClassVar[int] = 10_000

    @abstractmethod
    def play(self, games: int, rng: np.random.Generator) -> Hits:
        """Return the games in which the sender is named; where a trace fits both, by a coin."""


def sender_games(plan: Plan) -> Iterator[SenderGame]:
    """Yield the games for the traces that a report of a plan leaves."""
    if plan.admission.by == "token":
        yield TokenGame(plan)
        yield TimeGame(begin_together=True)
        yield TimeGame(begin_together=False)
    else:
        yield CredentialGame()
    yield AddressGame(relay=plan.admission.relay is not None)


class CredentialGame(SenderGame):
    """Compare the credential of the envelope with those that were given out."""

    by = "credential"

    def play(self, games: int, rng: np.random.Generator) -> Hits:
        """Return the games in which the sender is named."""
        check = BearerCredentials(os.urandom(32))
        senders, hits = rng.integers(2, size=games), []
        for sender in senders:
            given = [check.issue() for _ in range(2)]
            seen = check.check(f"Bearer {given[sender]}".encode())
            known = [check.check(f"Bearer {each}".encode()) for each in given]
            hits.append(known.index(seen) == sender)
        return np.array(hits)


class AddressGame(SenderGame):
    """Compare the address that an envelope came from with those that people enrolled from.

    Args:
        relay: True if envelopes come through a relay, which shows the shuffler its own address.
    """

    by = "address"

    def __init__(self, *, relay: bool) -> None:
        self._relay = relay

    def play(self, games: int, rng: np.random.Generator) -> Hits:
        """Return the games in which the sender is named."""
        senders, coins = rng.integers(2, size=(2, games))
        named: Hits = np.equal(senders, coins if self._relay else senders)
        return named


class TimeGame(SenderGame):
    """Let whoever fetched a token first be the sender of the envelope that came first.

    A client draws both times at its beginning, each on its own, over half a round. They are
    independent of each other only among people whose clients begin at the same time.

    Args:
        begin_together: True if all clients begin with the round; otherwise each begins at a time of
            its own, uniform over a round.
    """

    def __init__(self, *, begin_together: bool) -> None:
        self._together = begin_together
        begun = "begun together" if begin_together else "begun at any hour"
        self.by = f"time of token, {begun}"

    def play(self, games: int, rng: np.random.Generator) -> Hits:
        """Return the games in which the sender is named."""
        begun = np.zeros((2, games)) if self._together else rng.random((2, games))
        fetched, sent = begun + rng.random((2, 2, games)) / 2
        named: Hits = np.equal(fetched[0] < fetched[1], sent[0] < sent[1])
        return named


class TokenGame(SenderGame):
    """Look for the blinded message that belongs to a token, with the issuer's private key.

    Every pair of a blinded message and a token fits with exactly one blinding factor. It is
    computed for both people, and whoever has the smaller one is named: so a factor that is short,
    or none at all, is noticed. Keys and tokens are made by the code that clients run, and with the
    randomness of the operating system also where a seed is given.

    Args:
        plan: The plan that tokens are for.
    """

    by = "token"
    most = 200

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @cached_property
    def _private(self) -> rsa.RSAPrivateNumbers:
        return rsa.generate_private_key(EXPONENT, _BITS).private_numbers()

    def _signed(self, number: int) -> int:
        """Return a number to the power of the private exponent."""
        own = self._private
        by_p, by_q = pow(number, own.dmp1, own.p), pow(number, own.dmq1, own.q)
        return by_q + own.q * ((by_p - by_q) * own.iqmp % own.p)

    def play(self, games: int, rng: np.random.Generator) -> Hits:
        """Return the games in which the sender is named."""
        modulus = self._private.public_numbers.n
        key = BlindKey(modulus)
        size = key.size
        key_id = sha256(modulus.to_bytes(size)).digest()
        asked = challenge(self._plan.digest, 0, issuer=self._plan.admission.key or "0" * 64)
        senders, hits = rng.integers(2, size=games), []
        for sender in senders:
            inputs = [TokenInput(Spender(os.urandom(32)).nonce, asked, key_id) for _ in range(2)]
            blinded = [key.blind(each.to_bytes()) for each in inputs]
            requests = [int.from_bytes(request_of(each, key_id)[3:]) for each in blinded]
            answers = [self._signed(each) for each in requests]
            own, mine = inputs[sender].to_bytes(), blinded[sender]
            answer = answers[sender].to_bytes(size)
            token = Token(inputs[sender], key.finalize(own, answer, inverse=mine.inverse))
            inverse = pow(int.from_bytes(token.signature), -1, modulus)
            factors = [each * inverse % modulus for each in answers]
            hits.append(factors.index(min(factors)) == sender)
        return np.array(hits)
