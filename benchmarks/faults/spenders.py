"""People who spend tokens of one round at two hosts, each at least twice, and note the answers.

The rig holds the issuer's private key and signs tokens without blinding, which takes a quarter of
the time and makes the same signatures. Inner ciphertexts are random bytes: nothing opens them.
"""

import os
import random
import threading
import time
from collections import deque
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count

from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA384

from benchmarks.senders import Notes
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token import Spender, Token, TokenInput, challenge
from croupier.protocol.admission.token_keys import key_id
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.signed_document import named_root
from croupier.protocol.wire import seal_outer

__all__ = ["REPEATED", "Mint", "Spend", "SpendNotes", "Spenders"]

REPEATED = frozenset({0, 429, 503})
"""Answers after which a client sends the same again; 0 stands for silence."""
_THREADS = 8
_DEADLINE = 20.0
_RECENT = 200
_PAUSES = (0.1, 0.5, 2.0, 5.0)
"""Seconds between tries; a host takes 12 requests per minute of one token."""


@dataclass(frozen=True)
class Body:
    """A report, and the headers that spend a token on it."""

    inner: bytes
    sealed: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Spend:
    """A token with one report or two different ones that it is spent on."""

    number: int
    bodies: tuple[Body, ...]


@dataclass(frozen=True)
class Mint:
    """A maker of tokens of one round, and of what they are spent on.

    Attributes:
        plan: The plan.
        private: The issuer's key of the round.
        round_number: The round of the tokens.
        opening: The batch that they are spent on, of the same round or of another.
    """

    plan: Plan
    private: RSAPrivateKey
    round_number: int
    opening: ShufflerKey

    def make(self, number: int, *, bodies: int) -> Spend:
        """Make a token, and so many different reports."""
        spender = Spender(os.urandom(32))
        key = key_id(BlindKey(self.private.public_key().public_numbers().n))
        issuer = named_root(self.plan.issuer_key, "admission.key")
        asked = challenge(self.plan.digest, self.round_number, issuer=issuer)
        given = TokenInput(spender.nonce, asked, key)
        signature = self.private.sign(given.to_bytes(), PSS(MGF1(SHA384()), 48), SHA384())
        header = Token(given, signature).authorization
        return Spend(number, tuple(self._body(spender, header) for _ in range(bodies)))

    def _body(self, spender: Spender, authorization: str) -> Body:
        epoch, batch = self.opening.epoch(self.plan), self.opening.batch
        inner = os.urandom(epoch.inner_length)
        sealed = seal_outer(inner, key=self.opening.public_key, epoch=epoch)
        proof = spender.proof(plan=self.plan.digest, batch=bytes.fromhex(batch), body=sealed)
        headers = {
            "Authorization": authorization,
            "Content-Type": "application/octet-stream",
            "Croupier-Batch": batch,
            "Croupier-Proof": proof.hex(),
        }
        return Body(inner, sealed, headers)


@dataclass
class SpendNotes(Notes):
    """Notes of spent tokens: a token is a person, and may have sent two different reports.

    Attributes:
        hosts: The hosts that acknowledged a token, by its number.
    """

    hosts: dict[int, set[int]] = field(default_factory=dict)

    @property
    def told(self) -> int:
        """The number of tokens that were acknowledged."""
        return len(self.hosts)

    def lost(self, released: AbstractSet[bytes]) -> int:
        """Count acknowledged tokens of which no report was released."""
        found = {self.person[inner] for inner in released if inner in self.person}
        return len(self.hosts.keys() - found)


class Spenders:
    """Threads that spend tokens, one after the other.

    Each token goes to both hosts: at once or one after the other, with the same report or with two
    different ones, by chance. A request without an answer, or with one that asks to come back, is
    repeated, at the same host or at the other.

    Args:
        mint: The maker of tokens.
        ports: The ports of the hosts.
        tokens: The number of tokens.
        seed: Chooses what is sent where.
    """

    def __init__(self, mint: Mint, ports: Sequence[int], *, tokens: int, seed: int) -> None:
        self.notes = SpendNotes()
        self.sent_again = 0
        self._mint, self._ports, self._tokens, self._seed = mint, tuple(ports), tokens, seed
        self._numbers = count()
        self._lock = threading.Lock()
        self._recent: deque[Spend] = deque(maxlen=_RECENT)
        self._again: deque[Spend] = deque()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(_THREADS)]
        self._going = threading.Event()

    def start(self) -> None:
        """Begin to spend."""
        self._going.set()
        for thread in self._threads:
            thread.start()

    @property
    def is_done(self) -> bool:
        """True if every token was sent to both hosts, and answered."""
        return not any(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        """Give up what is left."""
        self._going.clear()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def send_again(self) -> None:
        """Send the tokens that were acknowledged last once more, to both hosts at once."""
        with self._lock:
            self._again.extend(self._recent)
            self.sent_again += len(self._recent)

    def _run(self, number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")  # noqa: S311 - chooses what is sent where
        post = _Posts(self._mint.plan, self._ports)
        while self._going.is_set():
            again = self._next_again()
            if again is not None:
                self._spend(again, post, chance, at_once=True)
                continue
            with self._lock:
                token = next(self._numbers)
            if token >= self._tokens:
                break
            spend = self._mint.make(token, bodies=chance.randint(1, 2))
            with self._lock:
                self.notes.person |= {body.inner: token for body in spend.bodies}
            self._spend(spend, post, chance, at_once=chance.random() < 0.5)
            with self._lock:
                self._recent.append(spend)
        post.close()

    def _next_again(self) -> Spend | None:
        with suppress(IndexError):
            return self._again.popleft()
        return None

    def _spend(self, spend: Spend, post: "_Posts", chance: random.Random, *, at_once: bool) -> None:
        hosts = chance.sample(range(len(self._ports)), len(self._ports))
        pending = [(host, chance.choice(spend.bodies)) for host in hosts]
        if len(spend.bodies) > 1:
            pending = list(zip(hosts, spend.bodies, strict=False))
        tries = 0
        while pending and self._going.is_set():
            groups = [pending] if at_once else [[each] for each in pending]
            told = [status for group in groups for status in post.send(group)]
            self._note(spend, pending, told)
            pending = [
                (chance.choice(hosts), body)
                for (_, body), status in zip(pending, told, strict=True)
                if status in REPEATED
            ]
            if pending:
                with self._lock:
                    self.notes.retries += len(pending)
                time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)] * chance.uniform(0.5, 1.0))
                tries += 1

    def _note(self, spend: Spend, sent: Sequence[tuple[int, Body]], told: Sequence[int]) -> None:
        with self._lock:
            for (host, body), status in zip(sent, told, strict=True):
                self.notes.answers[status] += 1
                if status == 202:
                    self.notes.acknowledged.add(body.inner)
                    self.notes.hosts.setdefault(spend.number, set()).add(host)


class _Posts:
    """One connection to every host, of one thread."""

    def __init__(self, plan: Plan, ports: Sequence[int]) -> None:
        self._path = f"/v1/plans/{plan.digest}/reports"
        self._connections = [HTTPConnection("127.0.0.1", port, timeout=_DEADLINE) for port in ports]

    def send(self, requests: Sequence[tuple[int, Body]]) -> list[int]:
        """Send all requests before the first answer is read; return the statuses, 0 for silence."""
        if len({host for host, _ in requests}) < len(requests):
            return [status for each in requests for status in self.send([each])]
        begun = [self._begin(self._connections[host], body) for host, body in requests]
        return [
            self._end(self._connections[host]) if is_sent else 0
            for (host, _), is_sent in zip(requests, begun, strict=True)
        ]

    def _begin(self, connection: HTTPConnection, body: Body) -> bool:
        try:
            connection.request("POST", self._path, body.sealed, body.headers)
        except (OSError, HTTPException):
            connection.close()
            return False
        return True

    def _end(self, connection: HTTPConnection) -> int:
        try:
            with connection.getresponse() as answer:
                answer.read()
                return answer.status
        except (OSError, HTTPException):
            connection.close()
            return 0

    def close(self) -> None:
        """Close both."""
        for connection in self._connections:
            connection.close()
