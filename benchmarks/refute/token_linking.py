"""A linker of tokens: issuer and intake together, who try to tell whose token is spent.

They hold everything: the private key, and of each issuing the credential, the request, the blind
signature, its place and its time; of each spending the token, the proof, its place and its time.

A token's signature s and a blind signature t belong together if the blinding factor was t/s. Every
pair has exactly one such factor, and an honest client draws it uniformly: all pairs are equally
likely, so no linker does better than chance. This one looks for whatever a client that is not
honest, or is wrong, leaves in the factor, the salt, the nonce, the one-time key, the order or the
times. The salt can be read from the token, since its signature reveals the encoded message.

Games: two people were issued a token each and spent it. The linker says which token is whose.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from secrets import randbelow
from typing import NamedTuple

import gmpy2

from croupier.protocol.admission.token import Spender, Token

__all__ = ["CLUES", "Issued", "Linker", "PrivateKey", "Shown"]

_HASH = _SALT = 48
_COUNTERS = 1024
"""The first numbers of a counter that are tried as seeds of one-time keys."""


class PrivateKey(NamedTuple):
    """The issuer's key: the linker has both primes.

    Attributes:
        p: A prime.
        q: The other.
        exponent: The public exponent.
    """

    p: int
    q: int
    exponent: int = 65537

    @property
    def modulus(self) -> int:
        """The product of the primes."""
        return self.p * self.q

    @property
    def size(self) -> int:
        """The length of a signature in bytes."""
        return (self.modulus.bit_length() + 7) // 8


@dataclass(frozen=True)
class Issued:
    """An issuing, as the issuer sees it.

    Attributes:
        credential: The identity of the person.
        blinded: The blinded message.
        signature: The blind signature.
        place: The number of issuings before it.
        time: Its time, in seconds.
    """

    credential: bytes
    blinded: bytes
    signature: bytes
    place: int
    time: float

    @cached_property
    def strings(self) -> list[bytes]:
        """The strings that a token could be derived from, 32 bytes each."""
        sources = self.credential, self.blinded, self.signature, self.place.to_bytes(8)
        hashed = [hashlib.sha256(source).digest() for source in sources]
        cut = [source[:32].ljust(32, b"\0") for source in sources]
        return [*hashed, *cut, self.blinded[-32:], self.place.to_bytes(32)]

    @cached_property
    def nonces(self) -> list[bytes]:
        """The nonces of one-time keys that were made from the credential."""
        return [Spender(seed).nonce for seed in (self.strings[0], self.strings[4])]


@dataclass(frozen=True)
class Shown:
    """A spending, as intake sees it.

    Attributes:
        token: The token.
        proof: The one-time public key and its signature.
        place: The number of spendings before it.
        time: Its time, in seconds.
    """

    token: Token
    proof: bytes
    place: int
    time: float

    def encoded(self, key: PrivateKey) -> bytes:
        """Return the encoded message that was signed."""
        number = gmpy2.powmod(int.from_bytes(self.token.signature), key.exponent, key.modulus)
        return int(number).to_bytes(key.size)


class Pair(NamedTuple):
    """An issuing and a spending that might belong together, and what would then be secret.

    Attributes:
        issued: The issuing.
        shown: The spending.
        factor: The blinding factor, if they do.
        salt: The salt of the encoded message, whoever's it is.
    """

    issued: Issued
    shown: Shown
    factor: int
    salt: bytes


class Sight(NamedTuple):
    """Two pairs under one hypothesis, and what the linker has and remembers.

    Attributes:
        key: The private key.
        pairs: Both pairs, in the order of issuing.
        seen: The factors of all pairs of earlier games, true or not.
        counters: The nonces of one-time keys that count, with their numbers.
    """

    key: PrivateKey
    pairs: Sequence[Pair]
    seen: AbstractSet[int]
    counters: Mapping[bytes, int]

    @property
    def factors(self) -> list[int]:
        """The blinding factors of both pairs."""
        return [pair.factor for pair in self.pairs]


def _rises(numbers: Iterator[float] | Sequence[float]) -> int:
    """Return 1 if numbers rise, -1 if they fall, 0 if neither."""
    return sum((b > a) - (b < a) for a, b in pairwise(numbers))


def _shortness(numbers: Sequence[int], modulus: int) -> float:
    """Return how close numbers are to 0 from either side."""
    return -sum(math.log(min(number, modulus - number) or 1) for number in numbers)


def _alike(some: Sequence[bytes], others: Sequence[bytes]) -> int:
    """Return the largest number of bits in which two strings agree."""
    these, those = ([int.from_bytes(each) for each in strings] for strings in (some, others))
    return 256 - min((a ^ b).bit_count() for a in these for b in those)


def _between(sight: Sight) -> tuple[int, int]:
    """Return the difference and the quotient of the two factors."""
    one, other = sight.factors
    modulus = sight.key.modulus
    return (one - other) % modulus, int(one * gmpy2.invert(other, modulus) % modulus)


def _derived(sight: Sight) -> int:
    """Return how much of an issuing is found in the token, byte for byte or hashed."""
    total = 0
    for issued, shown, factor, salt in sight.pairs:
        token, size = shown.token, sight.key.size
        number = factor.to_bytes(size)
        ends = [number[:32], number[-32:], hashlib.sha256(number).digest()]
        places = [token.given.nonce, shown.proof[:32], salt[:32], salt[-32:]]
        total += _alike([*issued.strings, *issued.nonces, *ends], places)
        total += _alike(issued.strings[:5], ends)
    return total


CLUES: Mapping[str, Callable[[Sight], float]] = {
    "the factor is short": lambda s: _shortness(s.factors, s.key.modulus),
    "its inverse is short": lambda s: _shortness(
        [int(gmpy2.invert(each, s.key.modulus)) for each in s.factors], s.key.modulus
    ),
    "the factor is odd": lambda s: sum(each & 1 for each in s.factors),
    "bits of the factor": lambda s: sum(each.bit_count() for each in s.factors),
    "Jacobi symbol": lambda s: sum(gmpy2.jacobi(each, s.key.modulus) for each in s.factors),
    "a square modulo p": lambda s: sum(gmpy2.legendre(each, s.key.p) for each in s.factors),
    "a square": lambda s: sum(
        gmpy2.legendre(each, prime) for each in s.factors for prime in s.key[:2]
    ),
    "a factor was seen before": lambda s: (
        sum(each in s.seen for each in s.factors) + (s.factors[0] == s.factors[1])
    ),
    "factors are close": lambda s: _shortness(_between(s)[:1], s.key.modulus),
    "their quotient is short": lambda s: _shortness(_between(s)[1:], s.key.modulus),
    "derived from the issuing": _derived,
    "one-time keys count": lambda s: _rises(
        [s.counters.get(pair.shown.token.given.nonce, 0) for pair in s.pairs]
    ),
    "nonces rise": lambda s: _rises([int.from_bytes(p.shown.token.given.nonce) for p in s.pairs]),
    "signatures rise": lambda s: _rises([int.from_bytes(p.shown.token.signature) for p in s.pairs]),
    "the same order": lambda s: _rises([pair.shown.place for pair in s.pairs]),
    "close in time": lambda s: -sum(abs(p.shown.time - p.issued.time) for p in s.pairs),
}
"""Each is larger if two pairs look more as if they belonged together."""


@dataclass
class Linker:
    """A player of many games, by every clue at once, and by the one that was best so far.

    If all pairs are equally likely, each guess is right with chance 1/2, whatever happened before:
    the number of right guesses by a clue has exactly the binomial law, also that of the best so
    far, which is told the truth after every game.

    Attributes:
        key: The private key.
        clues: The clues.
        games: The number of games played.
        right: The number of right guesses, by clue.
        right_by_best: The number of right guesses by the clue that was best before each game.
    """

    key: PrivateKey
    clues: Mapping[str, Callable[[Sight], float]] = field(default_factory=lambda: CLUES)
    games: int = 0
    right: dict[str, int] = field(default_factory=dict)
    right_by_best: int = 0
    _seen: set[int] = field(default_factory=set)

    def play(self, issued: Sequence[Issued], shown: Sequence[Shown]) -> None:
        """Guess which of two tokens is whose; the first of each belong together."""
        one, other = sorted(issued, key=lambda each: each.place)
        straight = [self._pair(one, shown[0]), self._pair(other, shown[1])]
        crossed = [self._pair(one, shown[1]), self._pair(other, shown[0])]
        is_straight = one is issued[0]
        best = max(self.right, key=lambda clue: abs(2 * self.right[clue] - self.games), default="")
        inverted = 2 * self.right.get(best, 0) < self.games
        for name, clue in self.clues.items():
            ahead, behind = (clue(self._sight(pairs)) for pairs in (straight, crossed))
            # Equal ones are decided by a coin.
            says_straight = ahead > behind if ahead != behind else bool(randbelow(2))
            is_right = says_straight == is_straight
            self.right[name] = self.right.get(name, 0) + is_right
            if name == best:
                self.right_by_best += is_right != inverted
        if not best:
            self.right_by_best += randbelow(2)
        self.games += 1
        self._seen.update(pair.factor for pair in (*straight, *crossed))

    @cached_property
    def _counters(self) -> dict[bytes, int]:
        return {Spender(number.to_bytes(32)).nonce: number for number in range(1, _COUNTERS)}

    def _sight(self, pairs: Sequence[Pair]) -> Sight:
        return Sight(self.key, pairs, self._seen, self._counters)

    def _pair(self, issued: Issued, shown: Shown) -> Pair:
        modulus = self.key.modulus
        signature = int.from_bytes(shown.token.signature)
        factor = int.from_bytes(issued.signature) * gmpy2.invert(signature, modulus) % modulus
        return Pair(issued, shown, int(factor), _salt(shown.encoded(self.key)))


def _salt(encoded: bytes) -> bytes:
    """Return the salt of an encoded message (RFC 8017, section 9.1.2)."""
    masked, digest = encoded[: -_HASH - 1], encoded[-_HASH - 1 : -1]
    blocks = range(-(-len(masked) // _HASH))
    mask = b"".join(hashlib.sha384(digest + n.to_bytes(4)).digest() for n in blocks)[: len(masked)]
    block = (int.from_bytes(masked) ^ int.from_bytes(mask)).to_bytes(len(masked))
    return block[-_SALT:]
