"""A shuffler and an issuer that sign for real, for tests of clients with tokens."""

import asyncio
import re

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.client.client import Client
from croupier.client.conversation import Get, Post, Response, Server, converse
from croupier.client.fetch_token import fetch_token
from croupier.client.memory import MemoryState
from croupier.issuer.signing import MemorySigner
from croupier.issuer.tokens import TokenPlan
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_list import KeyList
from croupier.protocol.signed_document import public_half
from tests.unit.client.script import Script
from tests.unit.parties import Parties

ISSUER = "https://issuer.example"
CREDENTIAL = "ab" * 33
SERVER = Server(url="https://reports.example", issuer=ISSUER, credential=CREDENTIAL)
ROUNDS = 4


@pytest.fixture(scope="module")
def signers():
    """One key per round, and one that is nobody's."""
    return [
        MemorySigner(rsa.generate_private_key(public_exponent=65537, key_size=2048))
        for _ in range(ROUNDS + 1)
    ]


class People:
    """Records one message per person and round, as the issuer's database does."""

    def __init__(self):
        self.issued = {}

    async def issue(self, identity, *, plan, round_number, blinded):
        first = self.issued.setdefault((identity, plan, round_number), blinded)
        return "issued" if first == blinded else "other"


class Site:
    """A shuffler and an issuer that sign for real, and what they were sent."""

    def __init__(self, signers, **tables):
        self.root = Ed25519PrivateKey.generate()
        admission = {"by": "token", "key": public_half(self.root)}
        self.parties = Parties(**{"collection": {"rounds": 9}, "admission": admission} | tables)
        self.plan, self.signers = self.parties.plan, signers
        self.tokens = self.listed(signers[:ROUNDS])
        self.people, self.keys = People(), {}
        self.issuer = TokenPlan(self.plan, self.tokens, self)
        self.steps, self.answers, self.posts = [], [], []
        self.open(0)

    def listed(self, signers, **given):
        keys = [signer.key for signer in signers]
        return TokenKeys.make(self.plan, first=0, keys=keys, signing_key=self.root, **given)

    def signer(self, _, round_number):
        return self.signers[round_number]

    def open(self, *rounds):
        """Leave these rounds open, and no others."""
        for number in rounds:
            if number not in self.keys:
                self.keys[number] = self.parties.open(number)
        self.opened = rounds
        self.issuer.newest_open = max(self.keys)

    def key_list(self):
        return KeyList.of(
            self.plan,
            analyzer=self.parties.analyzer_key(),
            keys=self.parties.keys,
            shuffler=tuple(self.keys[number] for number in self.opened),
            tokens=self.tokens,
        ).to_bytes()

    def __call__(self, step, _=None):
        self.steps.append(step)
        if isinstance(step, Get):
            return Response(200, self.key_list())
        if step.url.startswith(ISSUER):
            return self.answers.pop(0) if self.answers else self.issue(step)
        if self.posts:
            answer = self.posts.pop(0)
            return answer(step) if callable(answer) else answer
        return Response(202, b"")

    def issue(self, step):
        number = int(
            re.fullmatch(rf".*/v1/plans/{self.plan.digest}/rounds/(\d+)/token", step.url)[1]
        )
        assert step.headers["Authorization"] == f"Bearer {CREDENTIAL}"
        given = asyncio.run(self.issuer.issue(b"person", number, step.body, self.people))
        known = {"closed": 410, "early": 410, "other": 409, "unlisted": 404, "malformed": 400}
        return Response(200, given) if isinstance(given, bytes) else Response(known[given], b"")

    def asked(self):
        return [s for s in self.steps if isinstance(s, Post) and s.url.startswith(ISSUER)]

    def reports(self):
        return [s for s in self.steps if isinstance(s, Post) and s.url.endswith("/reports")]


@pytest.fixture
def site(signers):
    return Site(signers)


@pytest.fixture
def memory():
    return MemoryState()


def make(site, memory, **given):
    return Client(
        site.plan, attribute="emoji", budget=given.pop("budget", 99.0), memory=memory, **given
    )


def state_of(memory):
    with memory.update() as state:
        return state


def held(memory, site, number):
    return state_of(memory).tokens.get(f"{site.plan.digest}/{number}")


def fetch(client, site, server=SERVER):
    return Script(fetch_token(client, server=server), site).outcome


def talk(client, site, value=1):
    return Script(converse(client, value, server=SERVER), site)
