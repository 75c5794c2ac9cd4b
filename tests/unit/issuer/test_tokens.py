"""Issuing tokens: once per person and round, before the round opens, verifiable by anybody."""

import asyncio
import os

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.errors import UntrustedError
from croupier.issuer.admission import OpenCheck
from croupier.issuer.database.people import People
from croupier.issuer.hardware import HardwareError
from croupier.issuer.http.app import IssuerLimits
from croupier.issuer.http.worker import IssuerSettings, IssuerWorker
from croupier.issuer.keys import TokenKeyFiles
from croupier.issuer.tokens import TokenPlan
from croupier.plan.plan import Plan
from croupier.protocol.admission.token import Spender, Token, TokenInput, challenge, request_of
from croupier.protocol.admission.token_keys import TokenKeys, key_id

ROOT = Ed25519PrivateKey.generate()
PLAN = Plan.from_toml(f"""schema = 2
randomizer = {{mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}}
population.enrolled = 100
protections.minimum_batch = 10
admission = {{by = "token", key = "{ROOT.public_key().public_bytes_raw().hex()}"}}
""")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return TokenKeyFiles(tmp_path_factory.mktemp("keys") / "tokens", b"a long passphrase")


@pytest.fixture(scope="module")
def keys(store):
    made = [store.create(PLAN.digest, number) for number in range(4)]
    return TokenKeys.make(PLAN, first=0, keys=made, signing_key=ROOT)


def wanted(keys, round_number):
    """A blinded request, and what makes a token of its answer."""
    key, spender = keys.key(round_number), Spender(os.urandom(32))
    given = TokenInput(
        spender.nonce,
        challenge(PLAN.digest, round_number, issuer=PLAN.issuer_key),
        key_id(key),
    )
    blinded = key.blind(given.to_bytes())

    def finish(answer):
        return Token(given, key.finalize(given.to_bytes(), answer, inverse=blinded.inverse))

    return request_of(blinded, key_id(key)), finish


def issuing(database, work):
    async def run():
        people = await People.connect(database)
        try:
            await people.migrate()
            await people.close_rounds(PLAN.digest)
            return await work(people)
        finally:
            await people.close()

    return asyncio.run(run())


def test_a_person_gets_one_token_per_round(database, store, keys):
    plan = TokenPlan(PLAN, keys, store)
    who = os.urandom(16)

    async def work(people):
        request, finish = wanted(keys, 0)
        first = await plan.issue(who, 0, request, people)
        again = await plan.issue(who, 0, request, people)
        other = await plan.issue(who, 0, wanted(keys, 0)[0], people)
        somebody = await plan.issue(os.urandom(16), 0, wanted(keys, 0)[0], people)
        return finish(first), first == again, other, somebody

    token, same, other, somebody = issuing(database, work)
    assert same
    assert other == "other"
    assert len(somebody) == 256
    key = keys.key(0)
    asked = challenge(PLAN.digest, 0, issuer=PLAN.issuer_key)
    assert token.is_valid(key, key_id=key_id(key), challenge=asked)
    other_key = keys.key(1)
    assert not token.is_valid(other_key, key_id=key_id(other_key), challenge=asked)


def test_tokens_are_given_out_before_the_round_opens_and_not_long_before(database, store, keys):
    plan = TokenPlan(PLAN, keys, store, newest_open=0)
    assert plan.coming == range(1, 3)

    async def work(people):
        found = []
        for number in range(4):
            request, _ = wanted(keys, number)
            found.append(await plan.issue(os.urandom(16), number, request, people))
        await people.close_rounds(PLAN.digest, 1)  # another worker has seen it open
        found.append(await plan.issue(os.urandom(16), 1, wanted(keys, 1)[0], people))
        return found

    closed, first, second, early, late = issuing(database, work)
    assert (closed, early, late) == ("closed", "early", "closed")
    assert len(first) == len(second) == 256


def test_a_malformed_request_takes_nobodys_token(database, store, keys):
    plan = TokenPlan(PLAN, keys, store)
    who = os.urandom(16)

    async def work(people):
        request, finish = wanted(keys, 0)
        wrong = [b"", request[:-1], b"\0\1" + request[2:], request[:3] + b"\xff" * 256]
        wrong += [request[:3] + bytes(256), request[:2] + bytes([request[2] ^ 1]) + request[3:]]
        found = [await plan.issue(who, 0, each, people) for each in wrong]
        return found, finish(await plan.issue(who, 0, request, people))

    found, token = issuing(database, work)
    assert {*found} == {"malformed"}
    assert token


def test_a_key_that_is_not_the_listed_one_signs_nothing(database, keys, tmp_path):
    other = TokenKeyFiles(tmp_path / "tokens", b"a long passphrase")
    other.create(PLAN.digest, 0)
    plan = TokenPlan(PLAN, keys, other)
    assert plan.missing() == [0, 1]

    async def work(people):
        return await plan.issue(os.urandom(16), 0, wanted(keys, 0)[0], people)

    assert issuing(database, work) == "unlisted"


def test_a_key_that_is_put_back_signs_at_once(keys, store, tmp_path):
    place = TokenKeyFiles(tmp_path / "tokens", b"a long passphrase")
    (place.path / PLAN.digest).mkdir(parents=True)
    plan = TokenPlan(PLAN, keys, place)
    assert plan.missing() == [0, 1]
    for number in (0, 1):
        name = f"{PLAN.digest}/{number}.rsa.pem"
        (place.path / name).write_bytes((store.path / name).read_bytes())
        (place.path / name).chmod(0o600)
    assert plan.missing() == []


class Broken:
    """A place of keys whose module fails until it is repaired."""

    def __init__(self, store):
        self._store, self.is_broken = store, False

    def signer(self, plan, round_number):
        if self.is_broken:
            raise HardwareError("failed")
        found = self._store.signer(plan, round_number)
        power = found._power  # noqa: SLF001 - to break it

        def signed(number):
            if self.is_broken:
                raise HardwareError("failed")
            return power(number)

        found._power = signed  # noqa: SLF001 - as above
        return found


def test_a_module_that_fails_is_noticed_and_used_again_once_it_works(database, store, keys):
    place = Broken(store)
    plan = TokenPlan(PLAN, keys, place)
    assert plan.missing() == []
    place.is_broken = True
    who, (request, finish) = os.urandom(16), wanted(keys, 0)

    async def work(people):
        with pytest.raises(HardwareError):
            await plan.issue(who, 0, request, people)
        with pytest.raises(HardwareError):
            plan.missing()
        place.is_broken = False
        return finish(await plan.issue(who, 0, request, people))

    assert issuing(database, work)


def test_a_database_that_was_set_back_gives_out_no_second_token(database, store, keys):
    """Set back while the service runs: by a standby that was behind, say."""
    plan = TokenPlan(PLAN, keys, store)
    settings = IssuerSettings(
        database=database, credential_secret=bytes(32), check=OpenCheck(), most=9, served=()
    )
    worker = IssuerWorker(settings, IssuerLimits(enrolments=9, tokens=9))

    async def work(people):
        await people.close_rounds(PLAN.digest, 0)
        await worker._advance(plan, people)  # noqa: SLF001 - what it does each second
        assert plan.newest_open == 0
        with psycopg.connect(database) as connection:
            connection.execute("UPDATE issuer.opened SET round = -1")
        await worker._advance(plan, people)  # noqa: SLF001 - as above
        return await people.newest_open(PLAN.digest), list(plan.coming)

    assert issuing(database, work) == (2, [3])


def test_a_list_is_followed_unless_it_changes_a_key(store, keys):
    plan = TokenPlan(PLAN, keys, store)
    later = [store.create(PLAN.digest, number) for number in range(2, 6)]
    plan.follow(TokenKeys.make(PLAN, first=2, keys=later, signing_key=ROOT, earlier=keys))
    assert plan.keys.rounds == range(2, 6)
    with pytest.raises(UntrustedError, match="version 1, and 2 was seen before"):
        plan.follow(keys)
    changed = [store.create(PLAN.digest, number) for number in (3, 2, 4, 5)]
    with pytest.raises(UntrustedError, match="another key of round 2"):
        TokenKeys.make(PLAN, first=2, keys=changed, signing_key=ROOT, earlier=plan.keys)
    with pytest.raises(UntrustedError, match="uses the key of one round for another"):
        TokenKeys.make(PLAN, first=6, keys=later[:1], signing_key=ROOT, earlier=plan.keys)
