"""People and relays that report over HTTP continuously, and note requests and answers.

They are the real clients. Each report is noted by its inner ciphertext, which a batch releases; it
is found with the shuffler's key of the batch, read before anything is sent.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from itertools import count

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from httpx import AsyncHTTPTransport

from croupier.client.client import Client
from croupier.client.conversation import (
    Get,
    Outcome,
    Post,
    Response,
    Server,
    Steps,
    converse,
    submit,
)
from croupier.client.memory import MemoryState
from croupier.client.relay import send_all
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.key_directory import KeyFileError
from croupier.protocol.key_list import KeyList, ShufflerKey
from croupier.protocol.unsealing import open_outer, open_second
from croupier.shuffler.release.keys import ReleaseKeys

__all__ = ["Notes", "Senders"]

_PEOPLE, _RELAYS = 6, 2
_VALUES_A_RELAY, _ENVELOPES_A_REQUEST = 60, 20
_LONGEST_PAUSE = 1.0
"""The longest wait in seconds; with their real delays clients would mostly wait."""


@dataclass
class Notes:
    """A record of requests and answers.

    Attributes:
        person: The sender by inner ciphertext, noted before it is sent.
        acknowledged: The inner ciphertexts that a 202 was about.
        unexplained: The number of 202 answers about a batch whose key was already destroyed.
        envelopes: Everything that was sent.
        answers: The number of answers by status; 0 stands for no answer.
        retries: The number of requests that repeated an earlier one, byte for byte.
    """

    person: dict[bytes, int] = field(default_factory=dict)
    acknowledged: set[bytes] = field(default_factory=set)
    unexplained: int = 0
    envelopes: list[bytes] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    retries: int = 0

    @property
    def told(self) -> int:
        """The number of reports that were acknowledged."""
        return len(self.acknowledged)

    def lost(self, released: AbstractSet[bytes]) -> int:
        """Count acknowledged reports that are not among the released ones."""
        return len(self.acknowledged - released)


class Senders:
    """Threads of people, one report each, and of relays, several reports per request."""

    def __init__(
        self,
        plan: Plan,
        *,
        keys: ReleaseKeys,
        credentials: BearerCredentials,
        url: str,
        second: ReleaseKeys | None = None,
    ) -> None:
        self.notes = Notes()
        self._second = second
        self._plan, self._keys, self._credentials, self._url = plan, keys, credentials, url
        self._people = count()
        self._lock = threading.Lock()
        self._going = threading.Event()
        self._threads: list[threading.Thread] = []
        self._openings: dict[str, ShufflerKey] = {}
        self._outer_key = cache(lambda batch: _read_key(keys, batch))
        self._second_key = cache(lambda batch: None if second is None else _read_key(second, batch))

    def start(self) -> None:
        """Begin to send."""
        self._going.set()
        tasks = [self._one_person] * _PEOPLE + [self._one_relay] * _RELAYS
        self._threads = [threading.Thread(target=self._repeat, args=(task,)) for task in tasks]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop sending; pending senders wait for an answer as long as clients do."""
        self._going.clear()
        for thread in self._threads:
            thread.join()

    def relay(self, count: int) -> Outcome:
        """Let one relay send this number of reports in one request, and return the outcome."""
        steps = self._relayed(count, per_request=count)
        return submit(steps, transport=AsyncHTTPTransport(verify=False), sleep=_pause)

    def _repeat(self, task: Callable[[], Steps[Outcome]]) -> None:
        while self._going.is_set():
            try:
                # A transport without certificates, which would cost more than everything else.
                outcome = submit(task(), transport=AsyncHTTPTransport(verify=False), sleep=_pause)
            except ParameterError:  # no round is open: the last is being released
                outcome = Outcome.CLOSED
            if outcome is Outcome.CLOSED:
                time.sleep(0.05)

    def _one_person(self) -> Steps[Outcome]:
        memory = MemoryState()
        client = Client(
            self._plan,
            attribute="any",
            budget=9.0,
            budget_delta=0.5,
            memory=memory,
            spread=0.0,
        )
        steps = converse(client, 1, server=self._server(relay=False))
        return self._noted(steps, person=next(self._people))

    def _one_relay(self) -> Steps[Outcome]:
        return self._relayed(_VALUES_A_RELAY, per_request=_ENVELOPES_A_REQUEST)

    def _relayed(self, count: int, *, per_request: int) -> Steps[Outcome]:
        steps = send_all(
            self._plan,
            [np.zeros(count, dtype=int)],
            server=self._server(relay=True),
            per_request=per_request,
            sent=lambda _: None,
        )
        return self._noted(steps, person=None)

    def _server(self, *, relay: bool) -> Server:
        return Server(url=self._url, credential=self._credentials.issue(relay=relay))

    def _noted(self, steps: Steps[Outcome], person: int | None) -> Steps[Outcome]:
        """The same steps, with a note before every request and after every answer."""
        answer: Response | None = None
        sent: Post | None = None
        inner: list[bytes] = []
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return Outcome(end.value)
            if isinstance(step, Post) and step is not sent:
                sent, inner = step, self._note_sealed(step, person)
            elif isinstance(step, Post):
                with self._lock:
                    self.notes.retries += 1
            answer = yield step
            if isinstance(step, Post):
                self._note_answer(answer, inner)
            elif isinstance(step, Get) and answer is not None and answer.status == 200:
                listed = KeyList.verified(answer.body, self._plan).shuffler
                self._openings |= {opening.batch: opening for opening in listed}

    def _note_sealed(self, step: Post, person: int | None) -> list[bytes]:
        """The inner ciphertexts of a request; none if its batch was released in between."""
        batch = step.headers["Croupier-Batch"]
        key, second = self._outer_key(batch), self._second_key(batch)
        if key is None or (self._second is not None and second is None):
            return []
        epoch = self._openings[batch].epoch(self._plan)
        size = epoch.envelope_length
        envelopes = [step.body[start : start + size] for start in range(0, len(step.body), size)]
        inner = [open_outer(envelope, key=key, epoch=epoch).inner for envelope in envelopes]
        if second is not None:
            inner = [open_second(each, key=second, epoch=epoch) for each in inner]
        with self._lock:
            self.notes.envelopes += envelopes
            for entry in inner:
                self.notes.person[entry] = next(self._people) if person is None else person
        return inner

    def _note_answer(self, answer: Response | None, inner: list[bytes]) -> None:
        with self._lock:
            self.notes.answers[0 if answer is None else answer.status] += 1
            if answer is not None and answer.status == 202:
                self.notes.acknowledged.update(inner)
                self.notes.unexplained += not inner


def _read_key(keys: ReleaseKeys, batch: str) -> X25519PrivateKey | None:
    try:
        return keys.outer_key(bytes.fromhex(batch))
    except KeyFileError:
        return None


def _pause(seconds: float) -> None:
    time.sleep(min(seconds, _LONGEST_PAUSE))
