"""People who are issued a token each and spend it, by the client's own code, for a linker to see.

Everything that a person draws comes from the client: the one-time key, the salt and the blinding
factor from `client.tokens`, the times from `Client` and `conversation`. The issuer signs with half
the length of a real key: the algebra is the same, and it takes a seventh of the time.

A person's report is sent in the conversation in which a token is fetched, as the client does it.
The linker is even told that it is the same token; a real one is spent in the next round.
"""

import base64
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from secrets import SystemRandom
from typing import TypeVar

import gmpy2
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.refute.token_linking import Issued, PrivateKey, Shown
from croupier.client import conversation, tokens
from croupier.client.client import Client
from croupier.client.fetch_token import TokenOutcome
from croupier.client.memory import MemoryState, State
from croupier.client.steps import Passing, Steps, Wait
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import EXPONENT
from croupier.protocol.admission.token import Token, TokenInput
from croupier.protocol.admission.token_keys import TokenKeys

__all__ = ["World"]

_BITS = 1024
_ROUND = 0
_PLAN = """schema = 2
randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}}
population.enrolled = 1_000
protections.minimum_batch = 10
collection.every = "24h"
admission = {{by = "token", key = "{root}"}}
"""


Seen = TypeVar("Seen", Issued, Shown)


class World:
    """An issuer, and people who come two by two.

    Args:
        begins: Returns the time at which a person's client begins, in seconds of the round; the
            same for everybody if left out.

    Attributes:
        key: The issuer's private key.
        person: The identity of the person whose token is made at the moment.
    """

    def __init__(self, begins: Callable[[], float] = lambda: 0.0) -> None:
        root = Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
        self._plan = Plan.from_toml(_PLAN.format(root=root))
        private = rsa.generate_private_key(public_exponent=EXPONENT, key_size=_BITS)
        numbers = private.private_numbers()
        self.key = PrivateKey(numbers.p, numbers.q)
        self._d = numbers.dmp1, numbers.dmq1
        self._keys = TokenKeys.model_construct(first=_ROUND, keys=(f"{self.key.modulus:x}",))
        self._client = Client(self._plan, attribute="any", budget=9.0, memory=MemoryState())
        self._begins = begins
        self.person = b""

    def two(self) -> tuple[list[Issued], list[Shown]]:
        """Issue a token to two people; return both sides, the first of each belong together."""
        by_fetching = sorted(self._times() for _ in range(2))
        people = [self._one(*times) for times in by_fetching]
        SystemRandom().shuffle(people)
        issued, shown = zip(*people, strict=True)
        return _in_order(issued), _in_order(shown)

    def _one(self, fetched: float, reported: float) -> tuple[Issued, Shown]:
        self.person = credential = os.urandom(16)
        state, plan, keys = State(), self._plan, self._keys
        held = tokens.begin(state, plan, keys, _ROUND)
        blinded = bytes.fromhex(held.request or "")[3:]
        signature = self._sign(blinded)
        tokens.finish(state, plan, keys, _ROUND, blind_signature=signature)
        body, batch = os.urandom(64), bytes(16).hex()
        spent = tokens.spent_on(state, plan, round_number=_ROUND, batch=batch, body=body)
        if spent is None:
            raise SystemExit("the client holds no token")
        return (
            Issued(credential, blinded, signature, 0, fetched),
            Shown(_read(spent.authorization), bytes.fromhex(spent.proof), 0, reported),
        )

    def _times(self) -> tuple[float, float]:
        """Return when a token is fetched and a report is sent, beside each other in one round."""
        at: dict[str, float] = {}
        now = self._begins()

        def reporting() -> Steps[conversation.Outcome]:
            yield Wait(self._client._delay())  # noqa: SLF001 - as `Client.report` draws it
            at["reported"] = now
            return conversation.Outcome.ACCEPTED

        def fetching() -> Steps[TokenOutcome]:
            at["fetched"] = now
            yield from ()
            return TokenOutcome.HELD

        delay, passing = self._client.token_delay(), Passing(lambda: now)
        for step in conversation._beside(reporting(), fetching(), passing, at=delay):  # noqa: SLF001
            if isinstance(step, Wait):
                now += step.seconds
        return at["fetched"], at["reported"]

    def _sign(self, blinded: bytes) -> bytes:
        """Sign as the issuer does, without hiding the time that it takes."""
        number, (p, q) = int.from_bytes(blinded), self.key[:2]
        of_p, of_q = (
            gmpy2.powmod(number % prime, d, prime) for prime, d in zip((p, q), self._d, strict=True)
        )
        both = of_q + q * ((of_p - of_q) * gmpy2.invert(q, p) % p)
        return int(both).to_bytes(self.key.size)


def _in_order(seen: Sequence[Seen]) -> list[Seen]:
    """Number what was seen by its time."""
    times = sorted(each.time for each in seen)
    return [replace(each, place=times.index(each.time)) for each in seen]


def _read(authorization: str) -> Token:
    """Return the token of a header, also with a signature of another length."""
    data = base64.urlsafe_b64decode(authorization.split('"')[1])
    return Token(TokenInput(data[2:34], data[34:66], data[66:98]), data[98:])
